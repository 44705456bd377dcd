"""One set of items that all checks of a data set's chance judge: what one of them has drawn, the others need not draw.

The set belongs to a box (`Student.in_common`), and the draws of a question follow from the question alone, whatever was
asked before it (`Question.stream`): a check finds the same whether others have drawn for it or not. Code that keeps
nothing would give every check the same draws in any case, because its random numbers begin anew with each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from grader import Student, WrongKind

from .items import Draws, Question, draw, draw_by_chance, questions
from .span_columns import Spans, joined
from .span_statistics import EDITIONS, longest_kept
from .spans import MASK

BLOCK = 128  # the course's
FITS = 40  # characters of a document: half of most lengths that are drawn for that block
_READABLE = 0.9  # of the items: with fewer, nothing can be said about lengths
_FEW = 100
_TELLING = 500  # characters: four items and more, which are not the same by chance

# By block, the lengths of the documents of one data set; of each, after how many draws there is a break, where checks
# that need no more can stop.
DOCUMENTS: dict[int, dict[int, tuple[int, ...]]] = {
    32: {90: (600, 4000), 30: (350, 600)},
    50: {200: (350, 600), 49: (350, 600)},
    BLOCK: {
        500: (500, 1500, 2000, 4000),
        130: (500, 1000, 2000, 4000),
        60: (350, 500, 1000, 2000),
        FITS: (250, 500, 1000, 2000),
    },
}
# Longer than any truncation, and one that fits: the form of items is looked at in their first draws, 2,500 in all.
ORDINARY = ((90, 32), (30, 32), (200, 50), (49, 50), (500, BLOCK), (60, BLOCK))


@dataclass(frozen=True)
class Sample:
    """What draws of a question say of lengths. It is `faultless` if each of them gave a pair with three pieces."""

    question: Question
    spans: Spans
    faultless: bool = True

    def first(self, draws: int) -> Sample:
        return self if len(self.spans) <= draws else replace(self, spans=self.spans[:draws])


def together(samples: Sequence[Sample]) -> Sample:
    """As one sample, of the shortest document."""
    shortest = min(samples, key=lambda sample: len(sample.question.document))
    return Sample(
        shortest.question, joined([sample.spans for sample in samples]), all(sample.faultless for sample in samples)
    )


def sample_of(drawn: Draws) -> Sample:
    """The draws that have three pieces. One check points out a mistake in the form, so that not all do."""
    if len(drawn) > _FEW and drawn.stays_the_same:
        hint = "so nothing can be said about chance; draw in __getitem__, not once in __init__"
        message = f"the item is the same in all {len(drawn):,} draws, {hint} ({drawn.question.label})"
        raise WrongKind(message, code="item_never_changes")
    if len(drawn.spans) < _READABLE * len(drawn):
        unread, asked = len(drawn) - len(drawn.spans), f"prefix {MASK} suffix {MASK} masked"
        message = f"{unread:,} of {len(drawn):,} draws are not {asked} ({drawn.question.label})"
        raise WrongKind(message, code="malformed_items")
    return Sample(drawn.question, drawn.spans, not drawn.strays and len(drawn.spans) == len(drawn))


def _begin_alike(one: Draws, other: Draws) -> bool:
    """Whether a data set that is built anew draws the same again, as one does that seeds a generator of its own: then
    two goes are no more than the longer of them."""
    return np.array_equal(one.sides[0].codes[:_TELLING], other.sides[0].codes[:_TELLING])


class _Set:
    """The questions, and what was drawn of them so far."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.questions: dict[tuple[int, int], Question] = {}
        for block, documents in DOCUMENTS.items():
            solid = tuple(longest_kept(block, share) for share in EDITIONS)
            of_block = questions(rng, tuple(documents), block, 0, solid)
            self.questions |= {(length, block): one for length, one in zip(documents, of_block, strict=True)}
        self.drawn: dict[Question, Draws] = {}
        self.samples: dict[Question, Sample] = {}


@dataclass(frozen=True)
class Items:
    """The items of one data set."""

    student: Student
    file: str
    name: str

    @cached_property
    def _set(self) -> _Set:
        kept: _Set = self.student.in_common(f"items of {self.name} in {self.file}", _Set)
        return kept

    def first(self, length: int, block: int) -> Draws:
        """Draws up to the first break, as they came."""
        return self._drawn(next(iter(self._goes(length, block, 1))))

    def sample(self, length: int, block: int, draws: int) -> Sample:
        """So many draws of the set, or a few less where some gave nothing that could be measured."""
        goes = self._goes(length, block, draws)
        samples = [self._sample(go) for go in goes]
        if len(goes) > 1 and _begin_alike(*map(self._drawn, goes[:2])):
            return self.sample_at_once(length, block, draws)
        return together(samples).first(draws)

    def sample_at_once(self, length: int, block: int, draws: int) -> Sample:
        """So many draws that are made in one go: a share of them may fail, and of few draws too many may by chance."""
        return self._sample(replace(self._set.questions[length, block], times=draws))

    def more(self, sample: Sample, length: int, block: int, draws: int) -> Sample:
        """The sample, and so many draws beside it that nobody else needs."""
        question = replace(self._set.questions[length, block], times=draws, after=len(sample.spans))
        return together([sample, self.sample_of_other(question)])

    def sample_of_other(self, question: Question) -> Sample:
        return sample_of(draw_by_chance(self.ask, question))

    @cached_property
    def ask(self) -> partial[Draws]:
        return partial(draw, self.student, self.file, self.name)

    def _goes(self, length: int, block: int, draws: int) -> list[Question]:
        """The questions that make so many draws and more, from break to break: the same whoever asks."""
        breaks = DOCUMENTS[block][length]
        begins = [begin for begin in (0, *breaks[:-1]) if begin < draws]
        asked = self._set.questions[length, block]
        return [replace(asked, times=end - begin, after=begin) for begin, end in zip(begins, breaks, strict=False)]

    def _drawn(self, question: Question) -> Draws:
        kept = self._set.drawn
        if question not in kept:
            kept[question] = self.ask(question)
        return kept[question]

    def _sample(self, question: Question) -> Sample:
        kept = self._set.samples
        if question not in kept:
            kept[question] = sample_of(draw_by_chance(self.ask, question, self._drawn(question)))
        return kept[question]
