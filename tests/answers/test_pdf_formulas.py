"""Which words of rows are formulas, and how a formula goes on in the next row of its paragraph."""

from __future__ import annotations

import time

import pytest

from grader.answers.pdf_formulas import cut_rows
from grader.answers.pdf_layout.row_text import Word


def _rows(*rows: str) -> list[list[Word]]:
    """A word that begins with $ is set in a font for formulas."""
    return [
        [Word(word.removeprefix("$"), 0, 0, word.startswith("$"), False, False, False) for word in row.split()]
        for row in rows
    ]


def _formulas(rows: list[list[Word]], goes_on: list[bool]) -> list[str]:
    cuts = cut_rows(rows, goes_on)
    return [piece.text for cut in cuts if cut.words for piece in cut.pieces(1) if piece.kind == "math"]


@pytest.mark.parametrize(
    ("first", "second", "formulas"),
    [
        ("so that $U $=", "$W_{x} and more", ["U = W_{x}"]),
        ("so that U $=", "50·(ga $+ gb). Then", ["U = 50·(ga + gb)"]),
        ("where P $=", "ZZᵀ. Indeed it is", ["P = ZZᵀ"]),
        ("we have $x_{j} $+", "r, otherwise none", ["x_{j} + r"]),
        ("is $y $= $f(u", "$+ $w) for all", ["y = f(u + w)"]),
        ("is $y $= $u_{1}", "$+ $u_{2} for all", ["y = u_{1} + u_{2}"]),
        ("with $G $= $W $∈", "$R^{p×r}", ["G = W ∈ R^{p×r}"]),
        # what is no formula that goes on
        ("for $s $≤ $1,", "0 otherwise it is", ["s ≤ 1"]),
        ("take $U $= $I.", "$Y $= $Z follows", ["U = I", "Y = Z"]),
        ("take $U $= $I", "$Y $= $Z follows", ["U = I", "Y = Z"]),
        ("the first $U", "- $V is another", ["U", "- V"]),
        ("stride $=", "size of a patch", ["="]),
    ],
)
def test_a_formula_goes_on_in_the_next_row(first: str, second: str, formulas: list[str]) -> None:
    assert _formulas(_rows(first, second), [False, True]) == formulas


def test_a_new_paragraph_begins_a_new_formula() -> None:
    assert _formulas(_rows("so $U $=", "$W holds"), [False, False]) == ["U =", "W"]


def test_a_formula_over_three_rows_is_one() -> None:
    assert _formulas(_rows("$y $= $a $+", "$b $+", "$c here"), [False, True, True]) == ["y = a + b + c"]


def test_a_row_that_names_a_part_goes_on_with_no_formula() -> None:
    assert _formulas(_rows("stride $=", "(b) $W is"), [False, True]) == ["=", "W"]


@pytest.mark.parametrize(
    ("row", "formulas"),
    [
        ("only the $i-th column, the $d_{k}-dimensional one and the $n-grams change", []),
        ("since $u-vw and $k-i are small", ["u-vw", "k-i"]),
        ("is $Y $= $Z $g_{β}(Gᵀ U). Here", ["Y = Z g_{β}(Gᵀ U)"]),
        ("is $Y $= $[Y_{1}; … ; $Y_{r}] with", ["Y = [Y_{1}; … ; Y_{r}]"]),
        ("$U $= $W_{u} X where X", ["U = W_{u} X"]),
        ("the score $g_i^T u, so", ["g_i^T u"]),
        ("so Δyⱼ $≈ β·wᵢⱼ·(ηᵀuⱼ)·(zᵢ $− yⱼ). All", ["Δyⱼ ≈ β·wᵢⱼ·(ηᵀuⱼ)·(zᵢ − yⱼ)"]),
        ("so $w $= exp(βs) / (exp(βs) $+ $1) here", ["w = exp(βs) / (exp(βs) + 1)"]),
        # words stay words
        ("the map $G^{T} is linear", ["G^{T}"]),
        ("for $h A layer without", ["h"]),
        ("attention $(x and position codes)", ["(x"]),
        ("so $x is in (or at) it", ["x"]),
    ],
)
def test_formulas_end_where_words_begin(row: str, formulas: list[str]) -> None:
    assert _formulas(_rows(row), [False]) == formulas


def test_a_word_as_long_as_a_page_takes_no_time() -> None:
    began = time.process_time()
    assert _formulas(_rows("a" * 60_000 + " ends in $x"), [False]) == ["x"]
    assert time.process_time() - began < 1
