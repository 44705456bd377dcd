"""How many parts are right, how many wait for a person: `7 right, 13 wait for a person`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from grader.model import Status

# In the order they are told; of one part, and of several.
_WORDS = {
    Status.PASSED: ("right", "right"),
    Status.PARTIAL: ("partly right", "partly right"),
    Status.FAILED: ("wrong", "wrong"),
    Status.CRASHED: ("crashed", "crashed"),
    Status.REVIEW: ("waits for a person", "wait for a person"),
    Status.MISSING: ("missing", "missing"),
    Status.SKIPPED: ("not tried", "not tried"),
    Status.UNGRADED: ("could not be graded", "could not be graded"),
}


def counted(statuses: Iterable[Status]) -> str:
    """A part of which a person decides anything counts among those that wait, whatever points it has so far."""
    counts = Counter(statuses)
    told = [f"{counts[one]} {words[counts[one] > 1]}" for one, words in _WORDS.items() if counts[one]]
    return ", ".join(told) or "none"
