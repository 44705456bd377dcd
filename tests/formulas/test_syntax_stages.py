"""The stages from tokens to a tree, each alone: the parser, sums, dots, and what is refused for its size."""

from __future__ import annotations

import pytest

from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import Add, Domain, Symbol
from grader.formulas.syntax.size_limits import MAX_PARTS, refuse_unbounded
from grader.formulas.syntax.sum_ranges import domain
from grader.formulas.syntax.writer import latex, plain
from tests.formulas.spelling_out import BASES, read


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A A^T - 2 B B^T", "A Aᵀ - 2 B Bᵀ"),
        ("2^3^2", "2^(3^2)"),
        ("1/2 A", "1/2 A"),
        ("A^{-1}", "A^(-1)"),
        ("A^+", "A⁺"),
        ("A'", "Aᵀ"),
        ("x'", "x′"),
        ("A^*", "Aᵀ"),
        ("k^T_a", "k_aᵀ"),
        ("A[:, i]", "a_i"),
        (r"[a_1, \dots, a_m]", "A"),
        (r"\sqrt{d}", "sqrt(d)"),
        ("softmax_β(A, axis=0)", "softmax_β(A, axis=0)"),
        ("np.outer(a_1, b_1)", "a_1 ⊗ b_1"),
        ("np.linalg.inv(A)", "A^(-1)"),
        ("‖a_1‖ |d|", "‖a_1‖ |d|"),
        ("-(A + B)", "-(A + B)"),
    ],
)
def test_text_becomes_a_tree_that_is_written_out(text: str, tree: str) -> None:
    assert plain(read(text)) == tree


@pytest.mark.parametrize(
    ("text", "cause", "place"),
    [
        ("A +", "the formula breaks off here", 3),
        ("(A", "the bracket '(' is never closed", 0),
        ("A)", "the bracket ')' closes nothing, or too early", 1),
        ("A + * B", "'*' cannot stand here", 4),
        ("", "one side of '=' is empty", 0),
        ("inv(A, B)", "'inverse' takes 1 argument", 0),
        ("B (A, B)", "a list of values cannot stand here; write sums and products", 2),
        ("M[:, i]", "only columns of the question's own matrices are read", 2),
        ("A" + " + A" * 200, "a formula of 401 symbols; up to 400 are read", 0),
        (r"A \begin{pmatrix} 1 \end{pmatrix}", "is not read; use symbols", 2),
    ],
)
def test_what_is_no_tree_is_told_with_its_place(text: str, cause: str, place: int) -> None:
    with pytest.raises(Unreadable) as caught:
        read(text)
    assert cause in caught.value.cause
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("A A^T", r"A A^\top"),
        ("1/2 β", r"\frac{1}{2} \beta "),
        ("β_1", r"\beta_{1}"),
        (r"\sum_{i \neq a,b} a_i", r"\sum_{i \neq a, b} a_{i}"),
        (r"\sum_{i=1}^m a_i", r"\sum_{i=1}^{m} a_{i}"),
        ("exp(-d)", r"\exp\left(-d\right)"),
        ("(A + B)^2", "(A + B)^{2}"),
        ("A^+", "A^{+}"),
        ("sqrt(d)", r"\sqrt{d}"),
    ],
)
def test_a_tree_is_written_in_latex(text: str, written: str) -> None:
    assert latex(read(text)) == written


@pytest.mark.parametrize(
    ("low", "high", "runs"),
    [
        ("i=1", "m", Domain("i", "1", "m")),
        ("i", "", Domain("i")),
        ("", "", Domain("")),
        ("i=0", "n-1", Domain("i", "0", "n-1")),
        ("i", r"\ell", Domain("i", "", "ℓ")),
        (r"1 \le i \le m", "", Domain("i", "1", "m")),
        (r"i \in \{a,b\}", "", Domain("i", only=("a", "b"))),
        ("i ∈ m", "", Domain("i", high="m")),
        (r"i \neq a,b", "", Domain("i", without=("a", "b"))),
        (r"i \not= j", "", Domain("i", without=("j",))),
        (r"j=1, j \ne a", "n", Domain("j", "1", "n", ("a",))),
    ],
)
def test_a_sum_runs_over_what_stands_below_and_above(low: str, high: str, runs: Domain) -> None:
    assert domain(low, high, 0) == runs


@pytest.mark.parametrize("low", ["i + j", "i=1, k", "= 1", "i ∈ {}", "i ≠", "1 + 1"])
def test_a_sum_over_something_odd_is_not_read(low: str) -> None:
    with pytest.raises(Unreadable, match="is not understood") as caught:
        domain(low, "m", 7)
    assert caught.value.place == 7


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("a_1 + a_2 + ... + a_m", "Σ_{i=1}^{m} a_i"),
        ("a_1 + ... + a_m", "Σ_{i=1}^{m} a_i"),
        ("a_1 a_1^T + ... + a_m a_m^T", "Σ_{i=1}^{m} a_i a_iᵀ"),
        ("2 a_1 + ... + 2 a_m", "Σ_{i=1}^{m} 2 a_i"),
        ("(a_1 + ... + a_m)/m", "(Σ_{i=1}^{m} a_i)/m"),
        ("a_1 + ... + 2 a_m", "the term after the dots does not follow the pattern; write a sum"),
        ("a_1 + a_3 + ... + a_m", "the terms before the dots do not follow one pattern; write a sum"),
        ("a_1 + ... + b_m", "the dots stand where they cannot be filled in; write a sum"),
        ("A + ... + A", "the dots stand where they cannot be filled in; write a sum"),
        ("... + a_m", "the dots stand where they cannot be filled in; write a sum"),
        ("a_1 + ... + a_m + a_1", "the dots stand where they cannot be filled in; write a sum"),
    ],
)
def test_dots_are_filled_in_where_a_pattern_is_clear(text: str, filled: str) -> None:
    assert _written_or_refused(text) == filled


def _written_or_refused(text: str) -> str:
    try:
        return plain(read(text))
    except Unreadable as fault:
        return fault.cause


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("2^1000", ""),
        ("2^1001", "the exponent 1001 is too large"),
        ("2^(10^9)", "the exponent 10^9 is too large"),
        ("2^(1/0)", "the exponent 1/0 is too large"),
        ("2^{exp(6)}", ""),
        ("2^{exp(9)}", "the exponent exp(9) is too large"),
        ("2^d", ""),
        (r"\sum_{i=1}^{m-1} a_i", ""),
        (r"\sum_{i=1}^{1000} a_i", "a sum up to 1000 is not read"),
        ("M A", "M is what is asked for"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_computed(text: str, refused: str) -> None:
    expression = read(text)
    if not refused:
        refuse_unbounded(expression, BASES)
        return
    with pytest.raises(Unreadable) as caught:
        refuse_unbounded(expression, BASES)
    assert refused in caught.value.cause


def test_a_formula_may_have_so_many_parts_and_no_more() -> None:
    refuse_unbounded(Add((Symbol("A"),) * MAX_PARTS), BASES)
    with pytest.raises(Unreadable, match="too long to be judged"):
        refuse_unbounded(Add((Symbol("A"),) * (MAX_PARTS + 1)), BASES)
