"""Span corruption: a data set of (x, y) pairs judged by its items and by what thousands of draws of them say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Annotated

import numpy as np
from pydantic import Field

from grader import (
    Crashed,
    Killed,
    NotImportable,
    Outcome,
    Partial,
    Share,
    Status,
    Student,
    StudentFault,
    StudentFile,
    TimedOut,
    WrongKind,
    check,
    failed,
    passed,
    scored,
)

from .item_mistakes import (
    Mistake,
    judged_items,
    misformed,
    not_shifted,
    strays,
    uneven,
    unreadable,
)
from .item_set import BLOCK, FITS, ORDINARY, Items, Sample, together
from .items import LONG_TENSOR, Draws, Question, draw, draw_each, questions
from .span_statistics import (
    DRAWS,
    EDITIONS,
    MOST,
    WITHIN,
    Finding,
    is_slip,
    is_surely_a_quarter,
    is_surely_rarely_empty,
    judge_bounds,
    judge_emptiness,
    judge_every_length,
    judge_masked_lengths,
    judge_positions,
    judge_what_is_left,
    longest_kept,
)
from .spans import MASK, PAD, UNKNOWN, Span, measured, read_span

_FEW = 100
_SOME = 300
_GOES = (8, 4, 2, 1)  # an eighth of the draws, a quarter, half, all of them


_BlockShare = Annotated[Share, Field(gt=0, lt=1)]
_STRAYS = Partial(stray_items="9/10")
_Within = Annotated[Share, Field(gt=0, lt=Fraction(1, 4))]


def _mistake(question: Question, finding: Finding, trial: int, partial: Mapping[str, Fraction] = {}) -> Outcome:
    outcome = scored(
        partial.get(finding.earns, Fraction(0)),
        f"{finding.summary} ({question.label})",
        question.shown,
        evidence={"block": question.block, "characters": len(question.document), **finding.evidence},
        trial=trial,
        code=finding.code,
    )
    return replace(outcome, status=Status.REVIEW) if finding.undecided else outcome


def _sampled_until(
    items: Items, lengths: tuple[int, ...], draws: int, certain: Callable[..., bool]
) -> tuple[Sample, ...]:
    """Draws of these documents, in goes until it is certain that all of them would pass.

    Some draws may fail, as a share of all, and of few draws too many or too few may by chance: where any fails, all are
    made in one go.
    """
    samples: tuple[Sample, ...] = ()
    try:
        for share in _GOES:
            samples = tuple(items.sample(length, BLOCK, draws // share) for length in lengths)
            if not all(sample.faultless for sample in samples):
                break
            if certain(*samples):
                return samples
        else:
            return samples
    except (NotImportable, TimedOut, Killed):  # as it would be however often it is asked
        raise
    except (Crashed, WrongKind):
        pass
    return tuple(items.sample_at_once(length, BLOCK, draws) for length in lengths)


def _decided(
    items: Items,
    lengths: tuple[int, ...],
    draws: int,
    certain: Callable[..., bool],
    judge: Callable[..., Finding | None],
) -> tuple[Question, Finding | None]:
    """What the draws say, of so many as it takes to tell: more where a mean is near the edge of what is accepted."""
    samples = _sampled_until(items, lengths, draws, certain)
    finding, times = judge(*samples), 1
    while finding and finding.undecided and times < MOST:
        try:
            samples = tuple(items.more(*pair, BLOCK, DRAWS) for pair in zip(samples, lengths, strict=True))
        except StudentFault:  # so many are asked of hardly anybody else
            break
        finding, times = judge(*samples), times + 1
    return samples[-1].question, finding


def _masked_lengths(items: Items, within: Fraction = WITHIN) -> tuple[Question, Finding | None]:
    """Draws of two documents, one far longer than the block, and what their masked lengths say."""

    def certain(shorter: Sample, longer: Sample) -> bool:
        return is_surely_a_quarter(shorter.spans, longer.spans, BLOCK, DRAWS, within)

    def judge(shorter: Sample, longer: Sample) -> Finding | None:
        return judge_masked_lengths(shorter.spans, longer.spans, BLOCK, within)

    return _decided(items, (130, 500), DRAWS, certain, judge)


def _sized_on_whole(items: Items) -> bool:
    """Whether the mask is sized on the document before it is truncated, and items of documents that fit are right.

    What follows from that, items that are too long or miss their masked part, costs where masked lengths are judged.
    """
    try:
        _, finding = _masked_lengths(items)
        drawn = items.first(60, BLOCK)
    except StudentFault:
        return False
    document = drawn.question.document
    untruncated = [text for text in drawn.texts if _kept(text, document) == len(document)]
    readable = (isinstance(read_span(text, document), Span) for text in untruncated)
    return finding is not None and finding.sized_on_whole and bool(untruncated) and all(readable)


def _kept(text: str, document: str) -> int:
    span = measured(text, document)
    return span.kept if span else 0


def _judged(mistakes: list[Mistake], draws: int, right: str, items: Items, partial: Partial) -> Outcome:
    overfull = sum(mistake.overfull for mistake in mistakes)
    if overfull:
        mistakes = [mistake for mistake in mistakes if not mistake.overfull]
        right += f"; {overfull:,} of {draws:,} are too long because more is kept than fits, which costs nothing here"
    following = [mistake for mistake in mistakes if mistake.may_follow]
    if following and not is_slip(len(mistakes), draws) and _sized_on_whole(items):
        mistakes = [mistake for mistake in mistakes if not mistake.may_follow]
        right += (
            f"; {len(following):,} of {draws:,} follow from a mask taken from the whole document and cost nothing here"
        )
    return judged_items(mistakes, draws, right, partial["stray_items"])


@check(group="draws")
def items_are_shifted_pairs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, partial: Partial = _STRAYS
) -> Outcome:
    """An item is a pair of Long tensors, x = s[:-1] and y = s[1:], as long as the block or one less, always."""
    items = Items(student, file, name)
    mistakes, draws = list[Mistake](), 0
    for trial, (length, block) in enumerate(ORDINARY):
        drawn = items.first(length, block)
        if drawn.kinds != (LONG_TENSOR,):
            found = f"it gives {', '.join(drawn.kinds)}"
            message = f"x and y should be Long tensors (torch.long), one row each ({drawn.question.label})"
            return failed(message, found, code="not_long_tensors")
        mistakes += [*strays(drawn, trial), *uneven(drawn, trial), *not_shifted(drawn, trial)]
        draws += drawn.question.times
    return _judged(mistakes, draws, "x and y are Long tensors, y is x moved by one", items, partial)


@check(group="draws")
def items_rebuild_the_document(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, partial: Partial = _STRAYS
) -> Outcome:
    """An item is prefix ⁇ suffix ⁇ masked and pads; prefix, masked and suffix in order are a piece of its document."""
    items = Items(student, file, name)
    mistakes, draws = list[Mistake](), 0
    for trial, (length, block) in enumerate(ORDINARY):
        drawn = items.first(length, block)
        mistakes += unreadable(drawn, trial)
        draws += drawn.question.times
    return _judged(mistakes, draws, "the items can be put together again", items, partial)


@check(group="draws")
def truncates_to_every_length(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str,
    longest: _BlockShare = EDITIONS[0],
    partial: Partial = Partial(stray_items="9/10", longest_never_occurs="1/2", shortest_never_occurs="1/2"),
) -> Outcome:
    """A document is truncated to a random length from 4 to ⌊longest·block⌋, and each of these can occur."""
    items = Items(student, file, name)
    slips: list[Outcome] = []
    whole: bool | None = None
    for trial, sample in enumerate(_truncated(items, longest, rng)):
        block = sample.question.block
        finding = judge_bounds(sample.spans, len(sample.question.document), block, longest)
        if finding and not finding.earns:
            whole = _sized_on_whole(items) if whole is None else whole
            if whole:
                continue
        if len(sample.spans) > 2 * _SOME and (finding is None or finding.earns):
            finding = judge_every_length(sample.spans, block, longest) or finding
        if finding:
            outcome = _mistake(sample.question, finding, trial, partial)
            if not finding.earns:
                return outcome
            slips.append(outcome)
    return min(
        slips, key=lambda slip: slip.score, default=passed("the truncated length is random and stays in its bounds")
    )


def _truncated(items: Items, longest: Fraction, rng: np.random.Generator) -> Iterator[Sample]:
    """All draws of documents that are longer than any truncation: a length beyond the bounds may be rare."""
    yield items.sample(30, 32, 2 * _SOME)
    yield items.sample(49, 50, 2 * _SOME)
    yield items.sample(200, 50, 2 * _SOME)
    if longest in EDITIONS:
        yield items.sample(90, 32, DRAWS)
    else:  # the document of the set may have a blank where this one ends, and stripped it would be shorter
        (question,) = questions(rng, (90,), 32, DRAWS, solid=(longest_kept(32, longest),))
        yield items.sample_of_other(question)
    yield together([items.sample(500, BLOCK, 3 * DRAWS // 8), items.sample(130, BLOCK, DRAWS // 8)])


@check(group="draws")
def masks_a_quarter_on_average(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str,
    within: _Within = WITHIN,
    partial: Partial = Partial(masked_share_undecided="1/2", masked_from_drawn_length="1/2"),
) -> Outcome:
    """The masked length is random, a quarter of the truncated length on average, at times more and at times less."""
    items = Items(student, file, name)
    question, finding = _masked_lengths(items, within)
    if finding:
        return _mistake(question, finding, 0, partial)

    def judge(sample: Sample) -> Finding | None:
        return judge_what_is_left(sample.spans, len(sample.question.document), within)

    question, finding = _decided(items, (FITS,), DRAWS // 2, lambda sample: judge(sample) is None, judge)
    if finding:
        return _mistake(question, finding, 1, partial)
    return passed("the masked length varies around a quarter")


@check(group="draws")
def masked_part_is_rarely_empty(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Something is masked in nearly all draws, unless masked lengths are wrong anyway: that costs elsewhere."""

    def certain(sample: Sample) -> bool:
        return is_surely_rarely_empty(sample.spans, BLOCK, len(sample.question.document), DRAWS // 2)

    items = Items(student, file, name)
    for trial, length in enumerate((60, 500)):
        (sample,) = _sampled_until(items, (length,), DRAWS // 2, certain)
        if finding := judge_emptiness(sample.spans, BLOCK, len(sample.question.document)):
            if _masked_lengths(items)[1]:
                return passed(f"{finding.summary}; as the masked lengths are wrong, it costs nothing more here")
            return _mistake(sample.question, finding, trial)
    return passed("the masked part is rarely empty")


@check(group="draws")
def masks_at_any_place(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Where the masked part stands is left open, but there are a prefix and a suffix at times."""
    items = Items(student, file, name)
    sample = items.sample(90, 32, 1)
    if judge_positions(sample.spans):  # of so few it may be chance
        sample = items.sample(90, 32, DRAWS)
    if finding := judge_positions(sample.spans):
        return _mistake(sample.question, finding, trial=0)
    return passed("there is text before the masked part, and behind it")


def _but_for_slips(mistakes: list[Mistake], draws: int) -> list[Mistake]:
    """A stray item costs among ordinary documents."""
    return [] if is_slip(len(mistakes), draws) else mistakes


def _uneven_alone(student: Student, rng: np.random.Generator, file: str, name: str, drawn: Draws) -> list[Mistake]:
    """Items of another length than the block's, unless ordinary documents have such too: that costs elsewhere."""
    mistakes = uneven(drawn, 0)
    if not mistakes:
        return []
    (question,) = questions(rng, (60,), drawn.question.block, _FEW)
    ordinary = draw(student, file, name, question)
    return [] if uneven(ordinary, 0) and not misformed(ordinary, 0) else mistakes


@check(group="draws")
def handles_short_documents(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Documents of 1 to 29 characters give items of the same form. Which part of them is masked does not matter."""
    mistakes, draws = list[Mistake](), 0
    by_block = [questions(rng, (5, 1, 3, 2, 4, 6, 12, 25), block, _FEW // 2) for block in (32, BLOCK)]
    in_turn = chain.from_iterable(draw_each(student, file, name, asked) for asked in by_block)
    for trial, drawn in enumerate(in_turn):
        mistakes += [*strays(drawn, trial), *misformed(drawn, trial)]
        mistakes += _uneven_alone(student, rng, file, name, drawn)
        draws += drawn.question.times
    return judged_items(_but_for_slips(mistakes, draws), draws, "short documents are handled")


@check(group="draws")
def handles_empty_documents(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An empty document gives an item without text, or no item at all; it does not stop the training."""
    mistakes, draws = list[Mistake](), 0
    for block in (32, BLOCK):
        _, question = questions(rng, (60, 0), block, _FEW)
        built = draw(student, file, name, replace(question, times=0))
        if built.length == 1:  # the data set leaves empty documents out, so there is none to draw
            continue
        drawn = draw(student, file, name, question)
        if set("".join(drawn.texts)) - {PAD, MASK, " "}:
            message = f"its item holds text, though the document has none ({question.label})"
            return failed(message, code="empty_item_has_text")
        mistakes += [*strays(drawn, 0), *_uneven_alone(student, rng, file, name, drawn)]
        draws += question.times
    return judged_items(_but_for_slips(mistakes, draws), draws, "an empty document is handled")


@check(group="draws")
def draws_afresh_at_each_access(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Asking for the same item again gives another corruption of the same document."""
    drawn = Items(student, file, name).first(90, 32)
    texts = drawn.texts[:_FEW]
    if any(UNKNOWN in text for text in texts):
        message = "some ids are in no vocabulary, so one draw cannot be told from another"
        raise WrongKind(message, code="unknown_ids")
    if len(set(texts)) == 1:
        hint = "draw in __getitem__, not once in __init__, and set no seed there"
        message, shown = f"item 0 is the same in all {_FEW} draws; {hint}", drawn.question.shown
        return failed(message, shown, evidence={"draws": _FEW}, code="item_never_changes")
    lengths = [len(text.rstrip(PAD)) for text in texts]
    if lengths[0] > lengths[-1] and lengths == sorted(lengths, reverse=True):
        hint = "each access shortens the stored document; work on a copy"
        message = f"item 0 only ever gets shorter, from {lengths[0]} to {lengths[-1]} characters: {hint}"
        return failed(message, code="item_shrinks")
    return passed("each access draws anew")
