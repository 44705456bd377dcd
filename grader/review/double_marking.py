"""Answers that two people mark. The first decision stands; the second person does not see it, and where they differ, a
third act has the last word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.batch.decision_log import DecisionLog
from grader.batch.rulings import Decision, Mark, PartState
from grader.review.refs import Ref, is_drawn_twice, ref_of


@dataclass(frozen=True)
class Difference:
    ref: Ref
    first: Decision
    second: Decision


@dataclass(frozen=True)
class Agreement:
    part: str
    both: int  # answers that two people marked
    same: int
    kappa: float | None  # of points; None where chance alone would agree always
    differences: tuple[Difference, ...]  # that nobody settled yet


@dataclass(frozen=True)
class Sight:
    """One answer as one reviewer may see it."""

    decision: Decision | None
    is_open: bool
    mark: Mark  # as which a decision of theirs would count

    @property
    def is_second(self) -> bool:
        return self.mark is Mark.SECOND


def as_seen_by(reviewer: str, state: PartState, share: Fraction = Fraction(0)) -> Sight:
    """The second of two sees nothing of the first; who is neither sees what stands."""
    standing = state.standing
    first, second = standing.decision, standing.second
    if first is None:
        mark = Mark.FIRST if is_drawn_twice(ref_of(state), share) else Mark.ONLY
        return Sight(None, state.is_open, mark)
    if first.mark is Mark.FIRST and first.by == reviewer:
        return Sight(first, False, Mark.FIRST)
    if first.mark is Mark.FIRST and (second is None or second.by == reviewer):
        return Sight(second, second is None, Mark.SECOND)
    return Sight(first, False, Mark.ONLY)


def agreement_in(decisions: DecisionLog) -> list[Agreement]:
    """By part, where two people marked anything."""
    pairs: dict[str, list[tuple[Difference, bool]]] = {}
    for student, part in decisions.second_marks():
        for state in decisions.states(student=student, part=part):
            first, second = _first_mark(decisions, state), state.standing.second
            if first is not None and second is not None:
                waits = bool(state.standing.awaits)
                pairs.setdefault(part, []).append((Difference(ref_of(state), first, second), waits))
    found = []
    for part, own in pairs.items():
        points = [(pair.first.points, pair.second.points) for pair, _ in own]
        same = sum(one == other for one, other in points)
        differences = tuple(pair for pair, waits in own if waits)
        found.append(Agreement(part, len(own), same, cohens_kappa(points), differences))
    return found


def _first_mark(decisions: DecisionLog, state: PartState) -> Decision | None:
    """Before anybody had the last word."""
    log = decisions.of_student(state.student, state.part)
    own = [one for one in log if one.mark is Mark.FIRST and one.judged == state.judged and not one.undone]
    return own[-1] if own else None


def cohens_kappa(pairs: Sequence[tuple[object, object]]) -> float | None:
    """(observed − expected) / (1 − expected), where expected is how often chance would agree, given how often each
    person gives each mark."""
    if not pairs:
        return None
    count = len(pairs)
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    observed = Fraction(sum(one == other for one, other in pairs), count)
    expected = sum((Fraction(firsts[mark] * seconds[mark], count**2) for mark in firsts), Fraction(0))
    return None if expected == 1 else float((observed - expected) / (1 - expected))
