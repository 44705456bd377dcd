"""The words of decisions: what a person wants, what they decided, and where people stand on one part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from fractions import Fraction

from grader.errors import UsageError
from grader.model import Status

LONGEST_COMMENT = 10_000  # characters: two pages
FINEST = 10**6  # no points are cut finer than into so many parts of one: exact fractions stay short
OPEN = (Status.REVIEW, Status.UNGRADED)


class Kind(StrEnum):
    """What sort of act it was."""

    OVERRIDE = "override"
    ACCEPT = "accept"
    REVIEW = "review"
    BULK = "bulk"
    REGRADE = "regrade"
    SETTLE = "settle"  # of two people who marked the same answer differently
    ITEM = "item"  # an item was added or changed, and every answer that has it
    GROUP = "group"  # answers were put together or apart
    UNDO = "undo"


class Mark(IntEnum):
    """Whose mark a decision is, where an answer is given to two people. The second one's does not count by itself."""

    ONLY = 0
    FIRST = 1
    SECOND = 2


class NothingToUndo(UsageError):
    """This person did nothing that is not undone already."""


class AnswerChanged(UsageError):
    """What the person read is no longer what is judged."""


@dataclass(frozen=True)
class Ruling:
    """What a person wants to stand for one part. Without points, nothing: the decision in force is withdrawn."""

    student: str
    part: str
    points: Fraction | None
    comment: str = ""  # the student reads it
    items: tuple[str, ...] = ()
    judged: str | None = None  # the hash of what the person read; another one by now is refused
    after: int | None = None  # the act whose decision the person saw, 0 if none; another one by now is refused
    adjust: Fraction | None = None  # beside the items' points; without it, points were given and follow no item
    mark: Mark = Mark.ONLY
    rests_on: int | None = None  # the act of the decision that is only brought up to date


@dataclass(frozen=True)
class Decision:
    act: int
    at: str
    by: str
    kind: Kind
    student: str
    part: str
    judged: str
    was: Fraction  # what stood before
    points: Fraction | None
    items: tuple[str, ...]
    comment: str
    undone: bool = False
    adjust: Fraction | None = None
    mark: Mark = Mark.ONLY
    rests_on: int | None = None  # the act in which a person decided, if a change of items only brought it up to date
    changed_by: str = ""  # who changed an item that it has


@dataclass(frozen=True)
class Act:
    """What a person did at once."""

    id: int
    kind: Kind
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Standing:
    """Where people stand on one part: what is decided, or what was decided on an answer that has changed since."""

    decision: Decision | None = None
    earlier: Decision | None = None
    second: Decision | None = None  # by another person, where an answer is given to two

    @property
    def awaits(self) -> str:
        """What a decision that stands still waits for, if it was to be marked twice."""
        if self.decision is None or self.decision.mark is Mark.ONLY:
            return ""
        if self.second is None:
            return "a second person"
        return "" if self.second.points == self.decision.points else "a last word"


@dataclass(frozen=True)
class PartState:
    """One part of one student's latest result, and what people decided about it."""

    student: str
    part: str
    found: Status  # by the grader
    points: Fraction  # by the grader
    worth: Fraction
    judged: str
    all_found: bool  # it waits for a person, and every idea asked for was found
    standing: Standing = field(default_factory=Standing)

    @property
    def is_open(self) -> bool:
        return self.standing.decision is None and (self.found in OPEN or self.standing.earlier is not None)


def on_what(earlier: Decision) -> str:
    """What a decision was about, now that the part rests on something else; where grading failed, nobody knows."""
    return "another answer" if earlier.judged else "an answer that was not recorded"


def by_part(states: Sequence[PartState]) -> Mapping[str, list[PartState]]:
    """In the order of the rubric."""
    found: dict[str, list[PartState]] = {}
    for state in states:
        found.setdefault(state.part, []).append(state)
    return found
