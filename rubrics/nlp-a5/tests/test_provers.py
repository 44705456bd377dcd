"""Each prover alone: a formula goes in, and a score with a line that says why comes out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rubric_nlp_a5.checks.formulas import costs
from rubric_nlp_a5.public.formulas import by_hand, extraction, heads, rewriting, weights
from rubric_nlp_a5.public.formulas.closed_weights import by_scale, proved
from rubric_nlp_a5.public.formulas.weight_limits import Query, Setting, limit_weights, orthonormal_keys

from grader.formulas import HALF, Declared, Expression, GrowthClaim, Symbol, Typed, Vocabulary, typed
from tests.formulas.spelling_out import read

ONE, NONE = Fraction(1), Fraction(0)
BASES = extraction.VOCABULARY
LARGE = GrowthClaim("large", "+")


def _rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize(
    ("text", "score", "code"),
    [
        ("A A^T", ONE, ""),
        (r"\sum_i a_i a_i^T", ONE, ""),
        ("A (A^T A)^{-1} A^T", ONE, ""),
        ("I - B B^T", HALF, "uses_other_basis"),
        ("A^T", NONE, "wrong_shape"),
        ("A^T A", NONE, "wrong_shape"),
        ("I", NONE, "changes_nothing"),
        ("B B^T", NONE, "gives_other_part"),
        ("2 A A^T", NONE, "wrong_factor"),
        ("β A A^T", NONE, "wrong_factor"),
        ("A A^T + 10^{-9} B B^T", NONE, "wrong_factor"),
        ("A A^T B B^T", NONE, "formula_is_zero"),
        ("A A^T/(1 - 1)", NONE, "not_finite"),
        ("0", NONE, "formula_is_zero"),
        ("v_a s^T", NONE, "uses_unknowns"),
    ],
)
def test_extraction(text: str, score: Fraction, code: str) -> None:
    verdict = extraction.judge(typed(read(text, BASES), BASES, extraction.EXPECTED), _rng())
    assert (verdict.score, verdict.code) == (score, code)


SETTING = Setting()
KEYS = SETTING.vocabulary("q")
EVEN = {"a": HALF, "b": HALF}


def _query(text: str, claims: dict[str, GrowthClaim], setting: Setting = SETTING) -> tuple[Typed, Query]:
    vocabulary = setting.vocabulary("q")
    found = typed(read(text, vocabulary), vocabulary, ("d", "1"))
    said = {symbol: claims.get(str(symbol), GrowthClaim()) for symbol in vocabulary.free(found.expression)}
    return found, Query(found.expression, said, setting)


@pytest.mark.parametrize(
    ("text", "claims", "score", "code"),
    [
        ("β(k_a + k_b)", {"β": LARGE}, ONE, ""),
        ("β(k_a + k_b)", {}, ONE, ""),
        ("1000(k_a + k_b)", {}, ONE, ""),
        ("(k_a + k_b)^T 1000", {}, ONE, ""),
        ("(k_a + k_b)/τ", {"τ": GrowthClaim("small")}, ONE, ""),
        ("β k_a + C k_b", {}, HALF, "scales_differ"),
        ("k_a + k_b", {}, HALF, "scale_too_small"),
        (
            "β(k_a + k_b)",
            {"β": GrowthClaim("small")},
            HALF,
            "scale_too_small",
        ),
        ("β k_a", {}, NONE, "one_key_weighted"),
        ("β(k_a - k_b)", {}, NONE, "one_key_weighted"),
        ("β(k_a + k_b)", {"β": GrowthClaim("large", "−")}, NONE, "other_keys_weighted"),
        (r"β \sum_i k_i", {}, NONE, "uniform_weights"),
        ("β(v_a + v_b)", {}, NONE, "uses_values"),
        ("0", {}, NONE, "formula_is_zero"),
        ("β", {}, NONE, "wrong_shape"),
        ("(k_a + k_b)/(1 - 1)", {}, NONE, "not_finite"),
    ],
)
def test_weights(text: str, claims: dict[str, GrowthClaim], score: Fraction, code: str) -> None:
    found, query = _query(text, claims)
    verdict = weights.judge(found, query, EVEN, "q", _rng())
    assert (verdict.score, verdict.code) == (score, code)


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("β(k_a + k_b)", [0.5, 0.5]),
        ("β k_a", [1, 0]),
        ("-β k_a", [0, 1 / 9]),
        ("(1/β) k_a", [0.1, 0.1]),
        (r"β \sum_i k_i", [0.1, 0.1]),
        ("β k_a + k_b", [1, 0]),
        (r"β \sum_{i \neq a, b} k_i", [0, 0]),
        ("k_a + 0 β k_b", [np.e / (np.e + 9), 1 / (np.e + 9)]),
    ],
)
def test_limits_of_weights(text: str, reached: list[float]) -> None:
    _, query = _query(text, {})
    found = limit_weights(query, orthonormal_keys(10, _rng()))
    assert found is not None
    np.testing.assert_allclose(found[:2], reached, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "targets", "closed", "is_proved"),
    [
        ("β(k_a + k_b)", EVEN, "exp(β)/(n + 2·exp(β) - 2)", True),
        ("k_a + k_b", EVEN, "e/(n - 2 + 2·e)", False),
        ("β k_a", {"a": ONE, "b": NONE}, "exp(β)/(n + exp(β) - 1)", True),
        ("β k_a", EVEN, "exp(β)/(n + exp(β) - 1)", False),
        ("β k_b", {"a": ONE, "b": NONE}, "1/(n + exp(β) - 1)", False),
        ("β k_a + C k_b", EVEN, "exp(β)/(n + exp(C) + exp(β) - 2)", False),
        (r"β \sum_i k_i", EVEN, "exp(β)/((n - 2)·exp(β) + 2·exp(β))", False),
        ("β k_5", EVEN, None, False),
    ],
)
def test_closed_forms_of_weights(text: str, targets: dict[str, Fraction], closed: str | None, is_proved: bool) -> None:
    _, query = _query(text, {"β": LARGE})
    found = proved(query, targets)
    assert (found.get("weights", {}).get("a"), found["proved"]) == (closed, is_proved)


def test_weights_at_growing_scales_are_evidence() -> None:
    keys = orthonormal_keys(10, _rng())
    rows = by_scale(_query("β(k_a + k_b)", {})[1], keys)["weights_by_scale"]
    assert [row["scale"] for row in rows] == [1, 2, 5, 10, 20]
    assert rows[0]["a"] == pytest.approx(np.e / (2 * np.e + 8))
    assert len(by_scale(_query("k_a + k_b", {})[1], keys)["weights_by_scale"]) == 1


MEANS = Setting("μ", "k")


@pytest.mark.parametrize(
    ("first", "second", "score", "code"),
    [
        ("β μ_a", "β μ_b", ONE, ""),
        ("β μ_b", "C μ_a", ONE, ""),
        ("1000 μ_a", "1000 μ_b", ONE, ""),
        ("β k_a", "β k_b", HALF, "uses_random_keys"),
        ("β(μ_a + μ_b)", "β(μ_a + μ_b)", HALF, "heads_alike"),
        ("μ_a", "μ_b", HALF, "scale_too_small"),
        ("β μ_a", "β μ_a", NONE, "misses_targets"),
        ("β μ_a", "0", NONE, "formula_is_zero"),
        ("β v_a", "β v_b", NONE, "uses_values"),
        ("β", "β μ_b", NONE, "wrong_shape"),
    ],
)
def test_heads(first: str, second: str, score: Fraction, code: str) -> None:
    pair = {name: _query(text, {}, MEANS) for name, text in (("q_1", first), ("q_2", second))}
    verdict = heads.judge(pair, HALF, _rng())
    assert (verdict.score, verdict.code) == (score, code)


SIZES = Vocabulary(tuple(Declared(name) for name in ("L", "l", "m", "d")))


@pytest.mark.parametrize(
    ("cost", "key", "faster"),
    [
        ("L l^2", "L l^2", None),
        ("3 L l^2 + 5 l", "L l^2", None),
        ("(L - 2) l^2", "L l^2", None),
        ("d L l^2", "L l^2", None),
        ("l m + L m^2", "L m^2 + 2 l m", None),
        ("L l^3", "L l^2", True),
        ("L l", "L l^2", False),
        ("L m^2", "l m + L m^2", False),
        ("d^{100} L l^2", "L l^2", True),
        ("L l^2 log(l)", "L l^2", True),
        ("0 L", "L l^2", True),
    ],
)
def test_growth(cost: str, key: str, faster: bool | None) -> None:
    found = costs.compared(read(cost, SIZES), read(key, SIZES), ["L", "l", "m"], [("m", "l")], ["d"])
    assert (found and found.faster) == faster


TOKENS = {1: {"d": ONE, "b": ONE}, 2: {"a": ONE}, 3: {"c": ONE, "b": ONE}}
TARGETS = {2: {"b": ONE}, 1: {"b": ONE, "c": -ONE}}


@pytest.mark.parametrize(
    ("key", "query", "value", "reached"),
    [
        ("I", "u_d u_a^T + u_c u_d^T", "(u_b u_b^T - u_c u_c^T)/β^2", {2, 1}),
        ("I", "β(u_d u_a^T + u_c u_d^T)", "(u_b u_b^T - u_c u_c^T)/β^2", {2, 1}),
        ("I", "u_d u_a^T", "u_b u_b^T/β^2", {2}),
        ("I", "u_d u_a^T + u_c u_d^T", "(u_b u_b^T + u_c u_c^T)/β^2", {2}),
        ("I", "I", "I", set()),
        ("I", "u_d u_a^T + u_c u_d^T", "I", set()),
        ("2 I", "u_c u_d^T", "(u_b u_b^T - u_c u_c^T)/β^2", {1}),
        ("u_a u_a^T", "u_b u_b^T", "u_b u_b^T/β^2", set()),
    ],
)
def test_three_tokens(key: str, query: str, value: str, reached: set[int]) -> None:
    vocabulary = by_hand.VOCABULARY

    def matrix(text: str) -> Expression:
        return typed(read(text, vocabulary), vocabulary, by_hand.EXPECTED).expression

    matrices = {"K": matrix(key), "Q": matrix(query), "V": matrix(value)}
    free: list[Symbol] = []
    found = by_hand.outputs(matrices, free, TOKENS, TARGETS, _rng())
    assert {token for token in TARGETS if found.reaches(token)} == reached


def test_a_right_matrix_is_told_with_how_it_was_read_and_proved() -> None:
    evidence = extraction.judge(typed(read("A A^T", BASES), BASES, extraction.EXPECTED), _rng()).evidence
    assert (evidence["read_as"], evidence["proved"]) == ("A Aᵀ", True)
    assert evidence["largest_error"] < 1e-9


@pytest.mark.parametrize(
    ("text", "form", "extracts"),
    [
        ("A A^T", "A Aᵀ", True),
        ("(A A^T)^2", "A Aᵀ", True),
        ("A (A^T A)^{-1} A^T", "A Aᵀ", True),
        (r"\sum_i a_i a_i^T", "A Aᵀ", True),
        ("A A^+", "A Aᵀ", True),
        ("I - B B^T", "I − B Bᵀ", True),
        ("2 A A^T", "2 A Aᵀ", False),
        ("A A^T + B B^T / 10^9", "A Aᵀ + 1/1000000000 B Bᵀ", False),
        ("A A^T / (2/2)", "A Aᵀ", True),
        ("A A^T - A A^T", "0", False),
        ("A^T A", "I", False),
        ("A^T B", "0", False),
        ("A A^T B B^T", "0", False),
        (r"\sum_{i=2}^m a_i a_i^T", None, False),
        ("β A A^T", None, False),
        ("(A A^T)^{-1}", None, False),
    ],
)
def test_orthonormal_words_are_shortened(text: str, form: str | None, extracts: bool) -> None:
    words = rewriting.normal_form(typed(read(text, BASES), BASES, ("d", "d")).expression)
    assert (None if words is None else rewriting.shown(words)) == form
    assert (words is not None and rewriting.extracts(words)) is extracts
