"""Span corruption: a data set of (x, y) pairs judged by its items and by what thousands of draws of them say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from grader.checks.datasets.drawn_items import (
    LONG_TENSOR,
    UNKNOWN,
    Drawn,
    Question,
    draw,
    draw_by_chance,
    joined,
    questions,
)
from grader.checks.datasets.item_mistakes import (
    Mistake,
    judged_items,
    misformed,
    not_shifted,
    strays,
    uneven,
    unreadable,
)
from grader.checks.datasets.span_columns import Spans
from grader.checks.datasets.span_statistics import (
    DRAWS,
    EDITIONS,
    Finding,
    is_slip,
    is_surely_a_quarter,
    is_surely_of_what_is_left,
    is_surely_rarely_empty,
    judge_bounds,
    judge_emptiness,
    judge_every_length,
    judge_masked_lengths,
    judge_positions,
    judge_what_is_left,
    longest_kept,
)
from grader.checks.datasets.spans import Span, measured, read_span
from grader.errors import Crashed, Killed, NotImportable, StudentFault, TimedOut, WrongKind
from grader.model import Outcome, Student, failed, passed, scored
from grader.registry import StudentFile, check
from reference.handout_constants import MASK_CHARACTER as MASK
from reference.handout_constants import PAD_CHARACTER as PAD

_FEW = 100
_SOME = 300
_READABLE = 0.9  # of the items: with fewer, nothing can be said about lengths
_BLOCK = 128  # the course's
_FITS = 40  # characters of a document: half of most lengths that are drawn for that block


def _exact(value: Any) -> Any:
    try:
        return Fraction(str(getattr(value, "text", value)))
    except (ValueError, ZeroDivisionError):
        raise ValueError("should be a share of the block between 0 and 1, such as 7/8") from None


_BlockShare = Annotated[Fraction, BeforeValidator(_exact), Field(gt=0, lt=1)]


def _ordinary(rng: np.random.Generator) -> Iterator[Question]:
    for lengths, block in (((60, 45, 30), 32), ((200, 45), 50), ((300, 90), _BLOCK)):
        yield from questions(rng, lengths, block, _SOME)


def _mistake(drawn: Drawn, finding: Finding, trial: int) -> Outcome:
    return scored(
        finding.score,
        f"{finding.summary} ({drawn.question.label})",
        drawn.question.shown,
        evidence={"block": drawn.question.block, "characters": len(drawn.question.document), **finding.evidence},
        trial=trial,
    )


def _spans(drawn: Drawn) -> Spans:
    """The draws that have three pieces. One check points out a mistake in the form, so that not all do."""
    if len(drawn) > _FEW and drawn.stays_the_same:
        hint = "so nothing can be said about chance; draw in __getitem__, not once in __init__"
        raise WrongKind(f"the item is the same in all {len(drawn):,} draws, {hint} ({drawn.question.label})")
    if len(drawn.spans) < _READABLE * len(drawn):
        unread, asked = len(drawn) - len(drawn.spans), f"prefix {MASK} suffix {MASK} masked"
        raise WrongKind(f"{unread:,} of {len(drawn):,} draws are not {asked} ({drawn.question.label})")
    return drawn.spans


_Draw = Callable[[Question], Drawn]
_GOES = (8, 8, 4, 2)  # an eighth of the draws, another eighth, a quarter, a half: all of them


def _drawn_until(ask: _Draw, asked: list[Question], certain: Callable[..., bool]) -> list[Drawn]:
    """Draws of these questions, in goes until it is certain that all of them would pass.

    Some draws may fail, as a share of all, and of few draws too many or too few may by chance: where any fails, all are
    made in one go.
    """
    drawn: list[Drawn] = []
    try:
        for go in _GOES:
            more = [ask(replace(question, times=question.times // go)) for question in asked]
            drawn = [joined(*both) for both in zip(drawn, more, strict=True)] if drawn else more
            if any(one.strays or len(_spans(one)) < len(one) for one in more):
                return [ask(question) for question in asked]
            if certain(*drawn):
                break
    except (NotImportable, TimedOut, Killed):  # as it would be however often it is asked
        raise
    except (Crashed, WrongKind):
        return [ask(question) for question in asked]
    return drawn


def _masked_lengths(ask: _Draw, rng: np.random.Generator) -> tuple[Drawn, Finding | None]:
    """Draws of two documents, one far longer than the block, and what their masked lengths say."""

    def certain(shorter: Drawn, longer: Drawn) -> bool:
        return is_surely_a_quarter(_spans(shorter), _spans(longer), _BLOCK, DRAWS)

    shorter, longer = _drawn_until(ask, questions(rng, (130, 500), _BLOCK, DRAWS), certain)
    return longer, judge_masked_lengths(_spans(shorter), _spans(longer), _BLOCK)


def _sized_on_whole(ask: _Draw, rng: np.random.Generator) -> bool:
    """Whether the mask is sized on the document before it is truncated, and items of documents that fit are right.

    What follows from that, items that are too long or miss their masked part, costs where masked lengths are judged.
    """
    (question,) = questions(rng, (60,), _BLOCK, _SOME)
    try:
        _, finding = _masked_lengths(ask, rng)
        drawn = ask(question)
    except StudentFault:
        return False
    document = drawn.question.document
    untruncated = [text for text in drawn.texts if _kept(text, document) == len(document)]
    readable = (isinstance(read_span(text, document), Span) for text in untruncated)
    return finding is not None and finding.sized_on_whole and bool(untruncated) and all(readable)


def _kept(text: str, document: str) -> int:
    span = measured(text, document)
    return span.kept if span else 0


def _judged(mistakes: list[Mistake], draws: int, right: str, ask: _Draw, rng: np.random.Generator) -> Outcome:
    overfull = sum(mistake.overfull for mistake in mistakes)
    if overfull:
        mistakes = [mistake for mistake in mistakes if not mistake.overfull]
        right += f"; {overfull:,} of {draws:,} are too long because more is kept than fits, which costs nothing here"
    following = [mistake for mistake in mistakes if mistake.may_follow]
    if following and not is_slip(len(mistakes), draws) and _sized_on_whole(ask, rng):
        mistakes = [mistake for mistake in mistakes if not mistake.may_follow]
        right += (
            f"; {len(following):,} of {draws:,} follow from a mask taken from the whole document and cost nothing here"
        )
    return judged_items(mistakes, draws, right)


@check(asked_first=True)  # chance has one try
def items_are_shifted_pairs(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An item is a pair of Long tensors, x = s[:-1] and y = s[1:], as long as the block or one less, always."""
    ask = partial(draw, student, file, name)
    mistakes, draws = list[Mistake](), 0
    for trial, question in enumerate(_ordinary(rng)):
        drawn = ask(question)
        if drawn.kinds != (LONG_TENSOR,):
            found = f"it gives {', '.join(drawn.kinds)}"
            return failed(f"x and y should be Long tensors (torch.long), one row each ({question.label})", found)
        mistakes += [*strays(drawn, trial), *uneven(drawn, trial), *not_shifted(drawn, trial)]
        draws += question.times
    return _judged(mistakes, draws, "x and y are Long tensors, y is x moved by one", ask, rng)


@check(asked_first=True)  # chance has one try
def items_rebuild_the_document(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An item is prefix ⁇ suffix ⁇ masked and pads; prefix, masked and suffix in order are a piece of its document."""
    ask = partial(draw, student, file, name)
    mistakes, draws = list[Mistake](), 0
    for trial, question in enumerate(_ordinary(rng)):
        mistakes += unreadable(ask(question), trial)
        draws += question.times
    return _judged(mistakes, draws, "the items can be put together again", ask, rng)


@check(asked_first=True)  # chance has one try
def truncates_to_every_length(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str,
    longest: _BlockShare = EDITIONS[0],
) -> Outcome:
    """A document is truncated to a random length from 4 to ⌊longest·block⌋, and each of these can occur."""
    ask = partial(draw_by_chance, student, file, name)
    slips: list[Outcome] = []
    whole: bool | None = None
    for trial, question in enumerate(
        [
            *questions(rng, (30,), 32, 2 * _SOME),
            *questions(rng, (49, 200), 50, 2 * _SOME),
            *questions(rng, (90,), 32, DRAWS, solid=(longest_kept(32, longest),)),
            *questions(rng, (300,), _BLOCK, DRAWS // 2),
        ]
    ):
        drawn = ask(question)  # all of them: a length beyond the bounds may be rare
        spans = _spans(drawn)
        finding = judge_bounds(spans, len(drawn.question.document), question.block, longest)
        if finding and not finding.score:
            whole = _sized_on_whole(ask, rng) if whole is None else whole
            if whole:
                continue
        if question.times > 2 * _SOME and (finding is None or finding.score):
            finding = judge_every_length(spans, question.block, longest) or finding
        if finding:
            outcome = _mistake(drawn, finding, trial)
            if not finding.score:
                return outcome
            slips.append(outcome)
    return min(
        slips, key=lambda slip: slip.score, default=passed("the truncated length is random and stays in its bounds")
    )


@check(asked_first=True)  # chance has one try
def masks_a_quarter_on_average(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """The masked length is random, a quarter of the truncated length on average, at times more and at times less."""
    drawn, finding = _masked_lengths(partial(draw_by_chance, student, file, name), rng)
    if finding:
        return _mistake(drawn, finding, trial=0)

    def certain(drawn: Drawn) -> bool:
        return is_surely_of_what_is_left(_spans(drawn), len(drawn.question.document), DRAWS // 2)

    ask = partial(draw_by_chance, student, file, name)
    (fitting,) = _drawn_until(ask, questions(rng, (_FITS,), _BLOCK, DRAWS // 2), certain)
    if finding := judge_what_is_left(_spans(fitting), len(fitting.question.document)):
        return _mistake(fitting, finding, trial=1)
    return passed("the masked length varies around a quarter")


@check(asked_first=True)  # chance has one try
def masked_part_is_rarely_empty(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Something is masked in nearly all draws, unless masked lengths are wrong anyway: that costs elsewhere."""

    def certain(drawn: Drawn) -> bool:
        return is_surely_rarely_empty(_spans(drawn), _BLOCK, len(drawn.question.document), DRAWS // 2)

    ask = partial(draw_by_chance, student, file, name)
    for trial, question in enumerate(questions(rng, (60, 300), _BLOCK, DRAWS // 2)):
        (drawn,) = _drawn_until(ask, [question], certain)
        if finding := judge_emptiness(_spans(drawn), question.block, len(drawn.question.document)):
            _, length = _masked_lengths(partial(draw_by_chance, student, file, name), rng)
            if length:
                return passed(f"{finding.summary}; as the masked lengths are wrong, it costs nothing more here")
            return _mistake(drawn, finding, trial)
    return passed("the masked part is rarely empty")


@check(asked_first=True)  # chance has one try
def masks_at_any_place(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Where the masked part stands is left open, but there are a prefix and a suffix at times."""
    (question,) = questions(rng, (60,), 32, 2 * _SOME)
    ask = partial(draw_by_chance, student, file, name)
    (drawn,) = _drawn_until(ask, [question], lambda drawn: judge_positions(_spans(drawn)) is None)
    if finding := judge_positions(_spans(drawn)):
        return _mistake(drawn, finding, trial=0)
    return passed("there is text before the masked part, and behind it")


def _but_for_slips(mistakes: list[Mistake], draws: int) -> list[Mistake]:
    """A stray item costs among ordinary documents."""
    return [] if is_slip(len(mistakes), draws) else mistakes


def _uneven_alone(student: Student, rng: np.random.Generator, file: str, name: str, drawn: Drawn) -> list[Mistake]:
    """Items of another length than the block's, unless ordinary documents have such too: that costs elsewhere."""
    mistakes = uneven(drawn, 0)
    if not mistakes:
        return []
    (question,) = questions(rng, (60,), drawn.question.block, _FEW)
    ordinary = draw(student, file, name, question)
    return [] if uneven(ordinary, 0) and not misformed(ordinary, 0) else mistakes


@check(asked_first=True)  # chance has one try
def handles_short_documents(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Documents of 1 to 29 characters give items of the same form. Which part of them is masked does not matter."""
    mistakes, draws = list[Mistake](), 0
    for trial, question in enumerate(
        [
            question
            for block in (32, _BLOCK)
            for question in questions(rng, (5, 1, 3, 2, 4, 6, 12, 25), block, _FEW // 2)
        ]
    ):
        drawn = draw(student, file, name, question)
        mistakes += [*strays(drawn, trial), *misformed(drawn, trial)]
        mistakes += _uneven_alone(student, rng, file, name, drawn)
        draws += question.times
    return judged_items(_but_for_slips(mistakes, draws), draws, "short documents are handled")


@check(asked_first=True)  # chance has one try
def handles_empty_documents(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An empty document gives an item without text, or no item at all; it does not stop the training."""
    mistakes, draws = list[Mistake](), 0
    for block in (32, _BLOCK):
        _, question = questions(rng, (60, 0), block, _FEW)
        built = draw(student, file, name, replace(question, times=0))
        if built.length == 1:  # the data set leaves empty documents out, so there is none to draw
            continue
        drawn = draw(student, file, name, question)
        if set("".join(drawn.texts)) - {PAD, MASK, " "}:
            return failed(f"its item holds text, though the document has none ({question.label})")
        mistakes += [*strays(drawn, 0), *_uneven_alone(student, rng, file, name, drawn)]
        draws += question.times
    return judged_items(_but_for_slips(mistakes, draws), draws, "an empty document is handled")


@check(asked_first=True)  # chance has one try
def draws_afresh_at_each_access(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Asking for the same item again gives another corruption of the same document."""
    (question,) = questions(rng, (60,), 32, _FEW)
    drawn = draw(student, file, name, question)
    if any(UNKNOWN in text for text in drawn.texts):
        raise WrongKind("some ids are in no vocabulary, so one draw cannot be told from another")
    if len(set(drawn.texts)) == 1:
        hint = "draw in __getitem__, not once in __init__, and set no seed there"
        return failed(f"item 0 is the same in all {_FEW} draws; {hint}", question.shown, evidence={"draws": _FEW})
    lengths = [len(text.rstrip(PAD)) for text in drawn.texts]
    if lengths[0] > lengths[-1] and lengths == sorted(lengths, reverse=True):
        hint = "each access shortens the stored document; work on a copy"
        return failed(f"item 0 only ever gets shorter, from {lengths[0]} to {lengths[-1]} characters: {hint}")
    return passed("each access draws anew")
