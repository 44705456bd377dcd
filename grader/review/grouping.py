"""Answers that are the same thing stand together. A person may take one out, or join groups; both are logged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.batch.answer_traits import ALONE
from grader.batch.decision_log import DecisionLog
from grader.batch.gradebook_file import GradebookFile
from grader.batch.rulings import Kind
from grader.errors import UsageError
from grader.review.refs import Ref, no_such_answer

JOINED = "joined by hand"
SAME_TEXT = "same text"
_OWN = "own"  # the place of an answer that was taken out of its group


@dataclass(frozen=True)
class Group:
    id: str
    why: str
    members: tuple[Ref, ...]
    open: tuple[Ref, ...]  # for this reviewer: nobody else looks at them


@dataclass(frozen=True)
class _Traits:
    text: str
    likeness: str
    why: str
    judged: str
    beginning: str


class Grouping:
    def __init__(self, file: GradebookFile, decisions: DecisionLog) -> None:
        self._file = file
        self._decisions = decisions

    def groups(self, part: str, waiting: Collection[Ref]) -> list[Group]:
        """Those with open answers first, the largest first."""
        traits = self._traits(part)
        placed = self._placed(part, traits)
        members: dict[str, list[Ref]] = {}
        for ref, one in traits.items():
            members.setdefault(placed.get(ref, one.likeness), []).append(ref)
        found = [
            Group(id_, _why(id_, own, traits, placed), tuple(own), tuple(ref for ref in own if ref in waiting))
            for id_, own in members.items()
        ]
        return sorted(found, key=lambda group: (not group.open, -len(group.open), -len(group.members), group.id))

    def beginnings(self, part: str) -> dict[Ref, str]:
        return {ref: one.beginning for ref, one in self._traits(part).items()}

    def take_out(self, ref: Ref, *, by: str) -> None:
        """It stands alone from now on, while it is this answer."""
        self._place({ref: f"{_OWN}-{{act}}"}, by)

    def join(self, groups: Sequence[Group], *, by: str) -> None:
        if len(groups) < 2:
            raise UsageError("it takes two groups to join")
        self._place({ref: "joined-{act}" for group in groups for ref in group.members}, by)

    def _place(self, places: Mapping[Ref, str], by: str) -> None:
        with self._file.faults_in_words(), self._file.transaction():
            part = next(iter(places)).part
            traits = self._traits(part)
            if gone := [ref for ref in places if ref not in traits]:
                raise UsageError(no_such_answer(gone[0]))
            act = self._decisions.begin_act(by, Kind.GROUP)
            self._file.base.executemany(
                "INSERT INTO placements (act, student, part, judged, place) VALUES (?, ?, ?, ?, ?)",
                [(act, ref.student, part, traits[ref].judged, place.format(act=act)) for ref, place in places.items()],
            )

    def _traits(self, part: str) -> dict[Ref, _Traits]:
        rows = self._file.base.execute(
            "SELECT l.student, t.text, t.likeness, t.why, p.judged, t.beginning FROM "
            "(SELECT student, MAX(id) AS id FROM results GROUP BY student) l "
            "JOIN traits t ON t.result = l.id AND t.part = :part JOIN parts p ON p.result = l.id AND p.part = :part "
            "ORDER BY l.student",
            {"part": part},
        )
        return {Ref(student, part): _Traits(*more) for student, *more in rows}

    def _placed(self, part: str, traits: Mapping[Ref, _Traits]) -> dict[Ref, str]:
        """By hand, on this very answer; the last word counts."""
        rows = self._file.base.execute(
            "SELECT student, judged, place FROM placements c WHERE part = ? "
            "AND NOT EXISTS (SELECT 1 FROM acts u WHERE u.undoes = c.act) ORDER BY id",
            (part,),
        )
        found = {}
        for student, judged, place in rows:
            ref = Ref(student, part)
            if ref in traits and traits[ref].judged == judged:
                found[ref] = place
        return found


def _why(id_: str, members: Sequence[Ref], traits: Mapping[Ref, _Traits], placed: Mapping[Ref, str]) -> str:
    if len(members) == 1:
        return ALONE
    if members[0] in placed:
        return JOINED
    first = traits[members[0]]
    if first.text and all(traits[ref].text == first.text for ref in members):
        return SAME_TEXT
    return first.why
