"""Tokens in clauses, with what a short clause leaves out: "ViT hasn't" after "the Transformer has a decoder"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from grader.notation.denials import CONSEQUENCES, CONTRASTS
from grader.notation.word_lists import words
from grader.prose.word_tokens import FUNCTION_WORDS, PAUSE, STOP, FormsOf, Token, tokens_of

_BEGINS = FormsOf(CONTRASTS | CONSEQUENCES | words("while whereas because since which where"))
_JOINS = words("and or")  # words as well as clauses; a clause if one of these follows
_SUBJECTS = words("it they the a an we this that these those its their there here now all then so no c h")
# What begins so belongs to what follows its comma: "in ViT, …", "if γ > 1, …".
_INTRODUCES = words("in if when for with without at during under on by after before while whereas given once as")
_INTRODUCTION = 4  # words; a longer one has a verb of its own, as a rule
_OPENING, _CLOSING = "([", ")]"
_BRACKETS = _OPENING + _CLOSING

_SHORT = 9  # tokens; a clause that leaves its verb out is short
_REPEATED = 16  # words of the fuller clause that are repeated: with the short one still within reach of a phrasing
_ENOUGH = 3  # words that a clause needs to be the fuller one
_LEFT_OUT = re.compile(
    r"(?:\bnot|\bnever|\bcannot|n't)(?: (?:do|did|does|have|has|had|be|get|got|see|seen))?"
    r"(?: (?:this|it|so|that|them|any|one|yet|either|anymore|now))?$"
)
_TAKEN_UP = re.compile(
    r"\b(?:it|this|that|one|model|c|output|they|now|here) (?:do|does|did|has|have|is|are|was|can)(?: so)?$"
)


def clauses_of(text: str) -> tuple[str, list[Token]]:
    """The text as it was cut, and its words and symbols: each knows its sentence and its clause."""
    text, tokens = tokens_of(text)
    spoken = _completed(list(_numbered(tokens)))
    return text, [token for token in spoken if token.form not in (PAUSE, STOP)]


def _numbered(tokens: list[Token]) -> Iterator[Token]:
    clause, length, is_introduction, depth = 0, 0, False, 0
    for index, token in enumerate(tokens):
        depth = max(0, depth + (token.raw in _OPENING) - (token.raw in _CLOSING)) if token.form != STOP else 0
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.form == STOP:
            clause, length, is_introduction = clause + 1, 0, False
        elif token.form == PAUSE:
            lists = depth or (index > 1 and tokens[index - 2].raw == "<")  # (q, k) and <q, k>
            if length and not (token.raw in _BRACKETS or lists or (is_introduction and length <= _INTRODUCTION)):
                clause, length = clause + 1, 0
            is_introduction = is_introduction and token.raw in _BRACKETS
        else:
            if length and (token.form in _BEGINS or _joins_clauses(token, following)):
                clause, length = clause + 1, 0
            if not length:
                is_introduction = any(one and one.raw.lower() in _INTRODUCES for one in (token, following))
            length += 1
        yield token.in_clause(clause)


def _joins_clauses(token: Token, following: Token | None) -> bool:
    return token.form in _JOINS and following is not None and following.raw.lower() in _SUBJECTS | _INTRODUCES


def _completed(tokens: list[Token]) -> Iterator[Token]:
    """A clause that ends in its verb says again what was said before it, denied or not."""
    before: list[Token] = []  # in this sentence, or in the one before while this one has said nothing
    sentence = -1
    for _, group in groupby(tokens, key=lambda token: token.clause):
        clause = list(group)
        yield from clause
        spoken = [token for token in clause if token.form not in (PAUSE, STOP)]
        if not spoken:
            continue
        if len(spoken) <= _SHORT and len(before) >= _ENOUGH:
            said = " ".join(token.raw.lower() for token in spoken)
            at, content = spoken[-1], [token for token in before if token.raw.lower() not in FUNCTION_WORDS]
            if _LEFT_OUT.search(said):
                yield from (_again(token, at, denied=True) for token in content[-_REPEATED:])
            elif _TAKEN_UP.search(said):
                yield from (_again(token, at, denied=False) for token in content[-_REPEATED:] if token.denied)
        goes_on = spoken[0].sentence == sentence or len(spoken) < _ENOUGH  # "Without it, it doesn't."
        before = [*before, *spoken] if goes_on else spoken
        sentence = spoken[0].sentence


def _again(token: Token, at: Token, denied: bool) -> Token:
    """The token as if it stood where the verb was left out, so that a quotation shows that place."""
    return token._replace(start=at.start, end=at.end, sentence=at.sentence, clause=at.clause, denied=denied)
