"""A verdict is about what a formula does: rewriting it without changing its meaning never changes the verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings

from benchmarks.formula_corpus import Entry, Grader
from grader.formulas.syntax.expressions import Expression, Identity
from grader.formulas.syntax.writer import latex, plain
from tests.formulas.expressions_drawn import (
    K_A,
    distributed,
    matrices,
    queries,
    renamed,
    reordered,
    with_zero_added,
)

Write = Callable[[Expression], str]


@pytest.fixture(scope="module")
def verdict(grader: Grader) -> Callable[[str, str], str]:
    def judge(part: str, text: str) -> str:
        judged = grader(Entry("drawn", part, f"# {part}\n\n${text}$\n", "answers.md", "", ""))
        assert judged.verdict != "unreadable", f"{text}: {judged.message}"
        return judged.verdict

    return judge


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(queries())
def test_rewriting_a_query_changes_no_verdict(verdict: Callable[[str, str], str], query: Expression) -> None:
    first = verdict("1.b.ii", f"q = {latex(query)}")
    rewritten = [distributed(query), reordered(query), renamed(query), with_zero_added(query, K_A)]
    for other in rewritten:
        assert verdict("1.b.ii", f"q = {latex(other)}") == first, f"{plain(query)} and {plain(other)}"


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(matrices())
def test_rewriting_a_matrix_changes_no_verdict(verdict: Callable[[str, str], str], matrix: Expression) -> None:
    assume(len(latex(matrix)) < 400)
    first = verdict("1.b.i", f"M = {latex(matrix)}")
    for other in (distributed(matrix), reordered(matrix), with_zero_added(matrix, Identity("d"))):
        assert verdict("1.b.i", f"M = {latex(other)}") == first, f"{plain(matrix)} and {plain(other)}"
