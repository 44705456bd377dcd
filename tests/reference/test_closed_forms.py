"""Each theorem is proved by sympy while this runs, confirmed on three seeds, and in the docs as proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy

from reference.closed_forms import THEOREMS, Theorem, described, markdown_table, vanishes
from reference.closed_forms.averaging import ALPHA_TWO, BETA, A, B, N, c, e, using_orthonormality
from reference.closed_forms.counting import LENGTH, PERCEIVER, D, L, M, has_no_negative_coefficient
from reference.closed_forms.random_keys import GAMMA, LOGISTIC, ONE_HEAD
from reference.closed_forms.sensitivity import OUTPUT, VALUE, WEIGHT, S
from reference.closed_forms.theorem import Confirmation
from tests.conftest import sampled

DOCS = Path(__file__).parents[2] / "docs" / "ground_truth.md"
every_theorem = pytest.mark.parametrize("theorem", sampled(THEOREMS, 8), ids=lambda theorem: theorem.name)


@every_theorem
def test_sympy_proves_every_claim(theorem: Theorem):
    residuals = theorem.prove()
    assert residuals
    assert {claim: residual for claim, residual in residuals.items() if not vanishes(residual)} == {}


@every_theorem
def test_running_code_confirms_it(theorem: Theorem):
    for seed in range(3):
        confirmation = theorem.confirm(seed)
        assert confirmation.holds, str(confirmation)


@pytest.mark.parametrize(
    ("mistake", "residual"),
    [
        ("M = 2AAᵀ", lambda: using_orthonormality(2 * A * A.T * (A * c + B * e) - A * c)),
        ("M = AAᵀ with v_b in A too", lambda: using_orthonormality(A * A.T * (A * c + A * c) - A * c)),
        (
            "α_a = e^β/(e^β+n−2)",
            lambda: sympy.simplify(ALPHA_TWO - sympy.exp(BETA) / (sympy.exp(BETA) + N - 2)),
        ),
        ("the logistic is exact for n = 3", lambda: sympy.simplify(ONE_HEAD.subs(N, 3) - LOGISTIC)),
        ("the sign of β(1−γ)", lambda: sympy.simplify(ONE_HEAD.subs(N, 2) - LOGISTIC.subs(GAMMA, 2 - GAMMA))),
        ("dh/ds = βav", lambda: sympy.simplify(sympy.diff(OUTPUT, S) - BETA * WEIGHT * VALUE)),
        ("Perceiver in ℓm alone", lambda: has_no_negative_coefficient(9 * LENGTH * M * D - PERCEIVER)),
        (
            "Perceiver at least 3(ℓm + Lm²)",
            lambda: has_no_negative_coefficient(PERCEIVER - 3 * D * L * M**2, L=3),
        ),
    ],
)
def test_a_wrong_formula_leaves_a_residual(mistake, residual):
    assert not vanishes(residual()), mistake


def test_a_measurement_outside_its_error_does_not_confirm():
    assert Confirmation("x", 1.0, 1.1, 0.2).holds
    assert not Confirmation("x", 1.0, 1.3, 0.2).holds


def test_the_docs_table_has_every_theorem_as_the_code_states_it():
    lines = DOCS.read_text().splitlines()
    rows = lines[lines.index(markdown_table([]).splitlines()[0]) + 2 :][: len(THEOREMS)]
    for row, theorem in zip(rows, THEOREMS, strict=True):
        assert row.startswith(described(theorem) + " (")


def test_a_row_is_written_only_for_what_holds():
    (theorem, *_) = THEOREMS
    assert f"{described(theorem)} (3 residuals) | {theorem.confirm(0)} |" in markdown_table([theorem])
    unproved = replace(theorem, prove=lambda: {"1 − 2": sympy.Integer(1) - 2})
    unconfirmed = replace(theorem, confirm=lambda seed: Confirmation("x", 1.0, 2.0, 0.5))
    for wrong in (unproved, unconfirmed):
        with pytest.raises(ValueError, match="extraction does not hold"):
            markdown_table([wrong])


def test_all_parts_the_homework_names_have_a_theorem():
    covered = " ".join(theorem.part for theorem in THEOREMS)
    for part in (
        "1.b.i",
        "1.b.ii",
        "1.c.i",
        "1.c.ii",
        "1.d",
        "1.e",
        "1.1.b",
        "1.1.c",
        "1.1.d",
        "1.1.e",
        "1.1.f",
        "2.g.ii",
    ):
        assert part in covered
