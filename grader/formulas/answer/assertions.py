"""Whether a sentence states an equation, mentions it beside the answer, or turns it down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Literal

from grader.formulas.lexing.tokens import Token
from grader.notation.denials import CONSEQUENCES, DENIALS_OF_A_FORMULA, VERDICTS

Assertion = Literal["stated", "beside", "denied"]

_NEAR = 3  # words within which a "not" is about the formula
_LINKS = frozenset(["is", "does", "would", "will", "do", "can", "could", "was", "alone", "itself", "also"])
# What comes with a formula that is there to be compared, supposed, or is somebody else's.
_BESIDE_BEFORE = frozenset(["if", "than", "classmate", "friend", "someone", "somebody", "had", "compare", "compared"])
_COMPARING_PAIRS = frozenset([("instead", "of"), ("or", "else")])
_ENDS = (".", "?", "!")


def assertion_of(tokens: Sequence[Token], start: int, end: int) -> Assertion:
    """What the sentence says of the equation that its tokens from `start` to `end` spell."""
    first, last = sentence_around(tokens, start, end)
    before = since_a_consequence(words_in(tokens[first:start]))
    after = words_in(tokens[end:last])
    near_before = _next_words(tokens[max(0, start - _NEAR - 1) : start][::-1])
    near_after = _next_words(tokens[end : end + _NEAR + 1])
    asked = last < len(tokens) and tokens[last].value == "?"
    said_next = words_in(tokens[last + 1 : last + 10])
    turned_down = next((word for word in near_after if word not in _LINKS), "") in DENIALS_OF_A_FORMULA | VERDICTS
    if asked or turned_down or any(word in DENIALS_OF_A_FORMULA for word in near_before):
        return "denied"
    if any(word in VERDICTS for word in (*before, *after)) or "contradiction" in said_next:
        return "denied" if "would" not in after else "beside"
    compared = any(word in _BESIDE_BEFORE for word in before) or not _COMPARING_PAIRS.isdisjoint(pairwise(before))
    if compared or near_after[:1] == ["would"]:
        return "beside"
    return "stated"


def sentence_around(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """Where the sentence round these tokens begins, and the place of what ends it."""
    first = next((at + 1 for at in range(start - 1, -1, -1) if ends_a_sentence(tokens, at)), 0)
    last = next((at for at in range(end, len(tokens)) if ends_a_sentence(tokens, at)), len(tokens))
    return first, last


def since_a_consequence(words: list[str]) -> list[str]:
    """What is said after the last "so"."""
    last = max((at for at, word in enumerate(words) if word in CONSEQUENCES), default=-1)
    return words[last + 1 :]


def ends_a_sentence(tokens: Sequence[Token], at: int) -> bool:
    token, before = tokens[at], tokens[at - 1] if at else None
    if token.kind == "BREAK" and token.value == "." and before is not None and before.end - before.start == 1:
        return False  # i.e. and e.g.
    return token.kind == "ROW" or (token.kind == "BREAK" and token.value in _ENDS)


def word_of(token: Token) -> str:
    return str(token.value).lower() if token.kind == "WORD" else ""


def words_in(tokens: Sequence[Token]) -> list[str]:
    return [word for token in tokens if (word := word_of(token))]


def _next_words(tokens: Sequence[Token]) -> list[str]:
    """The words that stand next to each other from the first on, across the border of mathematics and prose."""
    if tokens and tokens[0].kind == "BREAK" and tokens[0].value in ("", "soft"):
        tokens = tokens[1:]
    return [word_of(token) for token in takewhile(word_of, tokens)][:_NEAR]
