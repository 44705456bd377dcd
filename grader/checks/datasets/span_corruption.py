"""Span corruption: a data set of (x, y) pairs judged by its items and by what thousands of draws of them say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from grader.checks.datasets.drawn_items import LONG_TENSOR, UNKNOWN, Drawn, Question, draw, questions
from grader.checks.datasets.span_statistics import (
    DRAWS,
    Finding,
    judge_bounds,
    judge_emptiness,
    judge_emptiness_of_long_pieces,
    judge_masked_lengths,
    judge_positions,
    judge_truncation,
)
from grader.checks.datasets.spans import Span, read_span
from grader.errors import WrongKind
from grader.model import Outcome, Status, Student, failed, passed
from grader.quoting import quote
from grader.registry import StudentFile, check
from reference.handout_constants import MASK_CHARACTER as MASK
from reference.handout_constants import PAD_CHARACTER as PAD
from reference.handout_constants import SHORTEST

_FEW = 100
_READABLE = 0.9  # of the items: with fewer, nothing can be said about lengths


def _ordinary(rng: np.random.Generator) -> Iterator[Question]:
    for lengths, block in (((60, 9, 30), 32), ((200, 45), 50), ((300, 90), 128)):
        yield from questions(rng, lengths, block, _FEW)


def _mistake(drawn: Drawn, finding: Finding, trial: int) -> Outcome:
    score = finding.score
    return Outcome(
        Status.PARTIAL if score else Status.FAILED,
        score,
        f"{finding.summary} ({drawn.question.label})",
        drawn.question.shown,
        {"block": drawn.question.block, "characters": len(drawn.question.document), **finding.evidence},
        trial=trial,
    )


def _spans(drawn: Drawn) -> list[Span]:
    """The draws that can be read. One check points out a mistake in the form, so that not all do."""
    document, texts = drawn.question.document, drawn.texts
    if len(texts) > _FEW and len(document) > SHORTEST and len(set(texts)) == 1:
        hint = "so nothing can be said about chance; draw in __getitem__, not once in __init__"
        raise WrongKind(f"the item is the same in all {len(texts):,} draws, {hint} ({drawn.question.label})")
    read = (read_span(text, document, any_order=True) for text in texts)
    spans = [span for span in read if isinstance(span, Span)]
    if len(spans) < _READABLE * len(texts):
        unread = len(texts) - len(spans)
        asked = f"prefix {MASK} suffix {MASK} masked, a piece of the document"
        raise WrongKind(f"{unread:,} of {len(texts):,} draws are not {asked} ({drawn.question.label})")
    return spans


@check
def items_are_shifted_pairs(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An item is a pair of Long tensors, x = s[:-1] and y = s[1:], as long as the block or one less, always."""
    for trial, question in enumerate(_ordinary(rng)):
        drawn = draw(student, file, name, question)
        if finding := _uneven(drawn) or _not_shifted(drawn):
            return _mistake(drawn, finding, trial)
        if drawn.kinds != (LONG_TENSOR,):
            found = f"it gives {', '.join(drawn.kinds)}"
            return failed(f"x and y should be Long tensors (torch.long), one row each ({question.label})", found)
    return passed("x and y are Long tensors, y is x moved by one")


def _uneven(drawn: Drawn) -> Finding | None:
    block = drawn.question.block
    lengths = {(len(x), len(y)) for x, y in zip(drawn.x, drawn.y, strict=True)}
    sizes = sorted({length for pair in lengths for length in pair})
    evidence = {"draws": len(drawn.x), "shortest": sizes[0], "longest": sizes[-1]}
    if any(x != y for x, y in lengths):
        return Finding("x and y differ in length; cut both from one string, s[:-1] and s[1:]", evidence)
    if len(lengths) > 1:
        hint = "pad the string to one length"
        return Finding(f"x has {sizes[0]} ids in one draw and {sizes[-1]} in another; {hint}", evidence)
    if sizes[0] not in (block - 1, block):
        return Finding(f"x has {sizes[0]} ids; it should have {block - 1} or {block}", evidence)
    return None


def _not_shifted(drawn: Drawn) -> Finding | None:
    pairs = list(zip(drawn.x, drawn.y, strict=True))
    wrong = [(x, y) for x, y in pairs if x[1:] != y[:-1]]
    if not wrong:
        return None
    evidence = {"draws": len(pairs), "wrong": len(wrong)}
    if all(x == y for x, y in wrong):
        return Finding("y equals x; it should be one character ahead, y = s[1:]", evidence)
    if all(x[:-1] == y[1:] for x, y in wrong):
        return Finding("x and y are swapped: x = s[:-1] and y = s[1:]", evidence)
    return Finding(f"in {len(wrong)} of {len(pairs)} draws y is not x moved by one character", evidence)


@check
def items_rebuild_the_document(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An item is prefix ⁇ suffix ⁇ masked and pads; prefix, masked and suffix in order are a piece of its document."""
    for trial, question in enumerate(_ordinary(rng)):
        drawn = draw(student, file, name, question)
        if outcome := _unreadable(drawn, trial):
            return outcome
    return passed("every item can be put together again")


def _unreadable(drawn: Drawn, trial: int) -> Outcome | None:
    question = drawn.question
    others = tuple(other for idx, other in enumerate(question.documents) if idx != question.idx)
    read = ((text, read_span(text, question.document, others)) for text in drawn.texts)
    found = [(text, cause) for text, cause in read if isinstance(cause, str)]
    if not found:
        return None
    counts = {cause: sum(cause == other for _, other in found) for _, cause in found}
    cause = max(counts, key=lambda cause: counts[cause])
    text = next(text for text, other in found if other == cause)
    share = f"{100 * len(found) / len(drawn.texts):.0f} % of {len(drawn.texts)} draws"
    return failed(
        f"{cause} ({question.label}; wrong in {share})",
        f"from '{quote(question.document)}' it makes '{quote(text)}'",
        evidence={"draws": len(drawn.texts), "wrong": len(found), "block": question.block},
        trial=trial,
    )


@check
def truncates_to_every_length(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """A document is truncated to a random length from 4 to ⌊7/8·block⌋, and each of these can occur."""
    for trial, question in enumerate(
        [
            *questions(rng, (30,), 32, _FEW),
            *questions(rng, (49, 200), 50, _FEW),
            *questions(rng, (90,), 32, DRAWS),
            *questions(rng, (300,), 128, DRAWS // 2),
        ]
    ):
        drawn = draw(student, file, name, question)
        judge = judge_truncation if question.times > _FEW else judge_bounds
        if finding := judge(_spans(drawn), len(question.document), question.block):
            return _mistake(drawn, finding, trial)
    return passed("the truncated length is random and stays in its bounds")


@check
def masks_a_quarter_on_average(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """The masked length is random, a quarter of the truncated length on average, at times more and at times less."""
    shorter, longer = (draw(student, file, name, question) for question in questions(rng, (130, 400), 128, DRAWS))
    if finding := judge_masked_lengths(_spans(shorter), _spans(longer), shorter.question.block):
        return _mistake(longer, finding, trial=0)
    return passed("the masked length varies around a quarter", evidence={"draws": 2 * DRAWS})


@check
def masked_part_is_rarely_empty(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Something is masked in most draws from a short document, and in nearly all from a long one."""
    for trial, question in enumerate([*questions(rng, (4,), 128, DRAWS), *questions(rng, (12, 300), 128, DRAWS // 2)]):
        drawn = draw(student, file, name, question)
        spans = _spans(drawn)
        long = len(question.document) > question.block
        if finding := judge_emptiness_of_long_pieces(spans, question.block) if long else judge_emptiness(spans):
            hint = "" if long else "; take its length and place from the characters there really are"
            return _mistake(drawn, replace(finding, summary=finding.summary + hint), trial)
    return passed("the masked part is rarely empty")


@check
def masks_at_any_place(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Where the masked part begins is random."""
    (question,) = questions(rng, (60,), 32, DRAWS // 2)
    drawn = draw(student, file, name, question)
    if finding := judge_positions(_spans(drawn)):
        return _mistake(drawn, finding, trial=0)
    return passed("the masked part moves about")


@check
def handles_short_documents(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """Documents of one to six characters give whole items too, with nothing lost."""
    for trial, question in enumerate(
        [question for block in (32, 128) for question in questions(rng, (5, 1, 3, 2, 4, 6), block, _FEW)]
    ):
        drawn = draw(student, file, name, question)
        if outcome := _unreadable(drawn, trial):
            return outcome
        if finding := judge_bounds(_spans(drawn), len(question.document), question.block):
            return _mistake(drawn, finding, trial)
        if finding := _uneven(drawn):
            return _mistake(drawn, finding, trial)
    return passed("documents of one to six characters are handled")


@check
def handles_empty_documents(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str) -> Outcome:
    """An empty document gives an item without text, or no item at all; it does not stop the training."""
    for block in (32, 128):
        _, question = questions(rng, (60, 0), block, _FEW)
        built = draw(student, file, name, replace(question, times=0))
        if built.length == 1:  # the data set leaves empty documents out, so there is none to draw
            continue
        drawn = draw(student, file, name, question)
        if any(letter not in (PAD, MASK) for drawn_text in drawn.texts for letter in drawn_text):
            return failed(f"its item holds text, though the document has none ({question.label})")
        if finding := _uneven(drawn):
            return _mistake(drawn, finding, trial=0)
    return passed("an empty document is handled")


@check
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
