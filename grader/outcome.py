"""What a check found: a status, a score, and words for every reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

Evidence = Mapping[str, Any]
_FULL, _NOTHING = Fraction(1), Fraction(0)


class Status(StrEnum):
    """Whose fault it is, in one word."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"  # ran, and is wrong
    CRASHED = "crashed"  # the student's code raised, hung or hit a limit
    MISSING = "missing"  # nothing handed in
    SKIPPED = "skipped"  # a check it needs did not pass
    REVIEW = "review"  # a person decides; points are provisional
    UNGRADED = "ungraded"  # our fault; never silently zero or full


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    `code` names the reason and stays the same however the message is worded: tests, groups and programs that read
    reports rely on it. `message` and `evidence` are for every reader. `detail` and `revealing` may give away inputs or
    expected values: they are shown for public checks and dropped for hidden ones.
    """

    status: Status
    score: Fraction
    message: str
    detail: str = ""
    evidence: Evidence = field(default_factory=dict)
    revealing: Evidence = field(default_factory=dict)
    trial: int | None = None  # which of the inputs it drew; with the seed, enough to draw it again
    code: str = ""

    def __post_init__(self) -> None:
        if not self.code or self.status is Status.PASSED:
            object.__setattr__(self, "code", str(self.status))
        if self.score is _FULL and self.status is Status.PASSED:  # as most are: comparing fractions takes its time
            return
        full, none = self.score == 1, self.score == 0
        if not (full or none or 0 < self.score < 1):
            raise ValueError(f"a score lies between 0 and 1, not at {self.score}")
        if (self.status is Status.PASSED and not full) or (self.status is Status.PARTIAL and (full or none)):
            raise ValueError(f"'{self.status}' does not go with a score of {self.score}")
        if self.status not in (Status.PASSED, Status.PARTIAL, Status.REVIEW) and not none:
            raise ValueError(f"'{self.status}' earns nothing, but the score is {self.score}")


def passed(message: str, **more: Any) -> Outcome:
    return Outcome(Status.PASSED, _FULL, message, **more)


def failed(message: str, detail: str = "", **more: Any) -> Outcome:
    return Outcome(Status.FAILED, _NOTHING, message, detail, **more)


def scored(score: Fraction, message: str, detail: str = "", **more: Any) -> Outcome:
    """Passed at full marks, failed at nothing, partial in between."""
    status = Status.PASSED if score == 1 else Status.PARTIAL if score else Status.FAILED
    return Outcome(status, score, message, detail, **more)
