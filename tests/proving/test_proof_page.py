"""What an author reads of a proof, and the faults that it needs of calls and formulas."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from grader.model import Answer, Piece
from grader.proving.bench import Fate
from grader.proving.formula_mutants import formula_mutants
from grader.proving.listing import print_proof
from grader.proving.mutants import Mutant, code_mutants
from grader.proving.proof_results import PartProven, Proven, Tried


def _tried(*fates: tuple[str, str]) -> tuple[Tried, ...]:
    mutant = Mutant("work.py", "f", 3, "return x", "return 2 * x", "")
    return tuple(Tried(mutant, Fate(noticed_by=by), because) for by, because in fates)


def _said(parts: list[PartProven], faults: tuple[str, ...] = ()) -> str:
    out = StringIO()
    print_proof(Proven("ada", 2, faults, tuple(parts), ("line 9 fits nothing",)), Console(file=out, width=100))
    return out.getvalue()


def test_a_proof_is_told_part_by_part() -> None:
    noticed, alive = ("a_check", ""), ("", "")
    parts = [
        PartProven("2.1 work.py", _tried(*[noticed] * 18, ("", "it is the same")), 40),
        PartProven("2.2", _tried(noticed, alive), 2),
    ]
    said = _said(parts)
    assert "Gold (ada) full, stub nothing, 2 samples as declared: all as they should be" in said
    assert [line.split("│")[1:-1] for line in said.splitlines() if "Total" in line or "│ 2." in line] == [
        [f" {cell:{width}} " for cell, width in zip(row, (11, 8, 6, 9, 8, 7), strict=True)]
        for row in (
            ("2.1 work.py", "19 of 40", "18", "1", "0", "100.0 %"),
            ("2.2", "2", "1", "0", "1", "50.0 %"),
            ("Total", "21 of 42", "19", "1", "1", "95.0 %"),
        )
    ]
    unexplained, explained = said.partition("Not noticed, and not explained")[2].split("and why nobody could")
    assert "  2.2, line 3 in f\n    return x\n  → return 2 * x\n" in unexplained
    assert "  2.1 work.py, line 3 in f\n    return x\n  → return 2 * x\n    it is the same\n" in explained
    assert "line 9 fits nothing" in said
    assert "Verdict: proved (at most 5 % of mutants may survive unexplained)" in said


@pytest.mark.parametrize("faults", [("frank is not as declared",), ()])
def test_a_fault_or_too_many_survivors_leave_it_unproved(faults: tuple[str, ...]) -> None:
    said = _said([PartProven("2.1", _tried(("a_check", ""), *([] if faults else [("", "")])), 2)], faults)
    assert ("not so, see above" in said) == bool(faults)
    assert all(line in said for line in faults)
    assert "Verdict: NOT proved" in said


def test_each_keyword_is_dropped_and_a_count_is_one_off() -> None:
    found = {one.becomes for one in code_mutants("def f(n):\n    y = g(n, a=1, b=n)\n    return y", "work.py")}
    assert {"y = g(n, b=n)", "y = g(n, a=1)"} <= found
    counts = {one.becomes for one in code_mutants("def f(n):\n    y = range(1, n)\n    return y", "work.py")}
    assert {"y = range(1, n + 1)", "y = range(1, n - 1)"} <= counts


@pytest.mark.parametrize(
    ("formula", "faulty"),
    [
        ("b^{k + m}", {"b^k", "b^m", "b^(k - m)", "b", "k^(k + m)"}),
        (r"\frac{b}{k m}", {"b/k", "b/m", "b/(k k)", "b"}),
        (r"\operatorname{softmax}_\beta(K q)", {"softmax(K q)", "K q"}),
    ],
)
def test_exponents_and_denominators_have_faults_of_their_own(formula: str, faulty: set[str]) -> None:
    answer = Answer("1", "answers.md", 1, (Piece("math", formula, 1),))
    assert faulty <= {one.becomes for one in formula_mutants(formula, answer, formula)}
