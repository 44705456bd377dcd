"""What is wrong with single items of a data set, and what it costs: an item in a thousand is a slip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader import Outcome, passed, quote, scored

from .items import Draws, Question, whole_text
from .span_statistics import is_slip
from .spans import (
    CUT_OUT_IS_ANOTHER,
    CUT_OUT_IS_MISSING,
    CUT_OUT_STILL_STANDS,
    Cause,
    form_mistake,
    measured,
    read_span,
)

_MAY_FOLLOW = (CUT_OUT_IS_MISSING, CUT_OUT_IS_ANOTHER, CUT_OUT_STILL_STANDS)


@dataclass(frozen=True)
class Mistake:
    """One wrong item. It `may_follow` from a mask that was sized on the whole document, which costs elsewhere; so does
    keeping more than fits, which makes items `overfull`."""

    cause: Cause
    detail: str
    question: Question
    trial: int
    may_follow: bool = False
    overfull: bool = False


def judged_items(mistakes: Sequence[Mistake], draws: int, right: str, stray_items: Fraction = Fraction(0)) -> Outcome:
    """Full marks without a mistake, this share with a stray one, else none; the commonest is told."""
    if not mistakes:
        return passed(right)
    cause = Counter(mistake.cause for mistake in mistakes).most_common(1)[0][0]
    one = next(mistake for mistake in mistakes if mistake.cause == cause)
    return scored(
        stray_items if is_slip(len(mistakes), draws) else Fraction(0),
        f"{cause.text} ({one.question.label}; {len(mistakes):,} of {draws:,} draws are wrong)",
        one.detail,
        evidence={"draws": draws, "wrong": len(mistakes), "block": one.question.block},
        trial=one.trial,
        code=cause.code,
    )


def strays(drawn: Draws, trial: int) -> list[Mistake]:
    """Draws that raised, or gave no pair."""
    cause = Cause("asking for an item fails at times", "item_fails")
    return [Mistake(cause, f"it {stray}; {drawn.question.shown}", drawn.question, trial) for stray in drawn.strays]


def uneven(drawn: Draws, trial: int) -> list[Mistake]:
    """Items that are not as long as the block or one less, or not as long as most."""
    question, block = drawn.question, drawn.question.block
    if drawn.whole is not None and drawn.whole.shape[1] in (block, block + 1):
        return []
    sizes = Counter(map(len, drawn.x))
    usual = max((block - 1, block), key=lambda size: sizes[size])
    wrong = [(x, y) for x, y in zip(drawn.x, drawn.y, strict=True) if not len(x) == len(y) == usual]
    if len(sizes) > 1:
        told = f"x has {min(sizes)} ids in one draw and {max(sizes)} in another; pad the string to one length"
        cause = Cause(told, "lengths_vary")
    else:
        cause = Cause(f"x has {max(sizes)} ids; it should have {block - 1} or {block}", "wrong_length")
    apart = Cause("x and y differ in length; cut both from one string, s[:-1] and s[1:]", "pair_lengths_differ")
    return [
        Mistake(apart, question.shown, question, trial)
        if len(x) != len(y)
        else Mistake(
            cause, question.shown, question, trial, may_follow=len(x) > usual, overfull=_is_overfull(x, y, drawn)
        )
        for x, y in wrong
    ]


def _is_overfull(x: str, y: str, drawn: Draws) -> bool:
    """Whether so much of the document is kept that two masks have no room beside it."""
    span = measured(whole_text(x, y), drawn.question.document)
    return span is not None and span.kept > drawn.question.block - 2


def not_shifted(drawn: Draws, trial: int) -> list[Mistake]:
    """Items of which y is not x moved by one."""
    question = drawn.question
    if drawn.whole is not None:
        return []
    wrong = [(x, y) for x, y in zip(drawn.x, drawn.y, strict=True) if len(x) == len(y) and x[1:] != y[:-1]]
    cause = Cause("y is not x moved by one character", "not_shifted")
    if all(x == y for x, y in wrong):
        cause = Cause("y equals x; it should be one character ahead, y = s[1:]", "y_equals_x")
    elif all(x[:-1] == y[1:] for x, y in wrong):
        cause = Cause("x and y are swapped: x = s[:-1] and y = s[1:]", "x_and_y_swapped")
    return [
        Mistake(cause, f"x is '{quote(x)}' and y is '{quote(y)}'; {question.shown}", question, trial) for x, y in wrong
    ]


def unreadable(drawn: Draws, trial: int) -> list[Mistake]:
    """Items whose pieces cannot be put together to a piece of the document."""
    question = drawn.question
    others = tuple(other for idx, other in enumerate(question.documents) if idx != question.idx)
    read = ((text, read_span(text, question.document, others)) for text in drawn.unread)
    return [_unread(cause, text, drawn, trial) for text, cause in read if isinstance(cause, Cause)]


def misformed(drawn: Draws, trial: int) -> list[Mistake]:
    """Items that are not prefix ⁇ suffix ⁇ masked and pads, whatever their text."""
    read = ((text, form_mistake(text, drawn.question.document)) for text in drawn.unread)
    return [_unread(cause, text, drawn, trial) for text, cause in read if cause]


def _unread(cause: Cause, text: str, drawn: Draws, trial: int) -> Mistake:
    detail = f"from '{quote(drawn.question.document)}' it makes '{quote(text)}'"
    return Mistake(cause, detail, drawn.question, trial, cause in _MAY_FOLLOW)
