"""Sums by sign and by name: `\\sum_{i=1}^m`, `sum_i`, and whether Σ is a sum at all."""

from __future__ import annotations

import re

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.sum_ranges import domain
from grader.formulas.typing.vocabulary import Vocabulary

_BOUND = re.compile(r"\s*(?:\\limits\s*)?([_^])")
_AFTER_SUM = re.compile(r"\s*[_({]")
_LABELLED_SIGMA = re.compile(r"\s*_\s*\{?\s*([^\W\d_])\s*\}?(?!\s*=)")
_BIG_SUM = re.compile(r"\s*(?:\^|_\s*\{[^{}]*(?:=|≠|∈|\\ne|\\in)|_\s*\w\s*\^)")


def opens_a_sum(cursor: Cursor, vocabulary: Vocabulary, word: str) -> bool:
    """Whether a word that has just been taken is the sign of a sum."""
    if word not in ("sum", "Sum", "Σ", "summation"):
        return False
    if word != "Σ":
        return cursor.ahead(_AFTER_SUM) is not None or not cursor.prose
    labelled = cursor.ahead(_LABELLED_SIGMA)
    known = {label for one in vocabulary.declared for label in one.labels}
    return not (labelled and labelled[1] in known) or has_bounds(cursor)


def has_bounds(cursor: Cursor) -> bool:
    """\\Sigma is a covariance unless it has bounds."""
    return cursor.ahead(_BIG_SUM) is not None


def read_sum(cursor: Cursor, start: int) -> Token:
    """\\sum with its bounds, or `sum_i`, `Σ_{i=1}^m`."""
    bounds = {"_": "", "^": ""}
    for _ in range(2):
        if sign := cursor.take(_BOUND):
            bounds[sign[1]] = cursor.group()
    return cursor.token("SUM", domain(bounds["_"], bounds["^"], start), start)
