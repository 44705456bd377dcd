"""The reviewer's desk: all that a person does to a class's answers. One is made for each request, and costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from grader.batch.gradebook import Gradebook
from grader.batch.item_log import Item, check_points, clamped
from grader.batch.request_log import Request
from grader.batch.rulings import Act, Kind, NothingToUndo, PartState, Ruling
from grader.errors import UsageError
from grader.model import Status
from grader.quoting import quote
from grader.review.answer_views import AnswerView, seen, version_of, view_of
from grader.review.bulk import Bulk, bulk_of
from grader.review.double_marking import Agreement, agreement_in, as_seen_by
from grader.review.grouping import Group, Grouping
from grader.review.leases import Lease, LeasedByAnother, Leases
from grader.review.part_list import PartOverview, part_list
from grader.review.refs import Ref, aliases, drawn_order, drawn_sample, no_such_answer, ref_of

SAMPLE = 10  # answers to look at before all that are alike in having every idea are accepted


class Desk:
    def __init__(self, gradebook: Gradebook, reviewer: str, *, double: Fraction = Fraction(0)) -> None:
        if not reviewer.strip():
            raise UsageError("a decision needs --by: who decided")
        self.reviewer = quote(reviewer)
        self._book = gradebook
        self._decisions = gradebook.decisions
        self._double = double
        self._leases = Leases(gradebook.file, self.reviewer)
        self._grouping = Grouping(gradebook.file, gradebook.decisions)

    # ---- what there is ----

    def parts(self) -> list[PartOverview]:
        with self._book.file.faults_in_words():
            return part_list(self._book, self.reviewer)

    def groups(self, part: str) -> list[Group]:
        with self._book.file.faults_in_words():
            return self._grouping.groups(part, set(self._waiting(part)) - self._leases.of_others(part))

    def group_of(self, ref: Ref) -> Group:
        return next((group for group in self.groups(ref.part) if ref in group.members), Group("", "alone", (), ()))

    def take_out(self, ref: Ref) -> None:
        self._grouping.take_out(ref, by=self.reviewer)

    def join(self, part: str, group_ids: Sequence[str]) -> None:
        known = {group.id: group for group in self.groups(part)}
        if unknown := [one for one in group_ids if one not in known]:
            raise UsageError(f"the groups of {part} have changed meanwhile: there is no group '{unknown[0]}' any more")
        self._grouping.join([known[one] for one in dict.fromkeys(group_ids)], by=self.reviewer)

    def view(self, ref: Ref) -> AnswerView:
        with self._book.file.faults_in_words():
            return view_of(self._book, ref, self.reviewer, self._leases.of(ref))

    def beginnings(self, refs: Sequence[Ref]) -> dict[Ref, str]:
        """The first words of each answer, for lists: no report is opened."""
        found: dict[Ref, str] = {}
        with self._book.file.faults_in_words():
            for part in dict.fromkeys(ref.part for ref in refs):
                found |= self._grouping.beginnings(part)
        return {ref: found[ref] for ref in refs if ref in found}

    def next(self, part: str, after: Ref | None = None, *, back: bool = False) -> Ref | None:
        """The next open answer of this part in this reviewer's own order, round and round; its lease is taken."""
        waiting = set(self._waiting(part))
        order = drawn_order({*waiting, *([after] if after else [])}, self.reviewer)
        if back:
            order.reverse()
        place = order.index(after) + 1 if after else 0
        for ref in (*order[place:], *order[:place]):
            if ref in waiting and self._take_if_open(ref):
                return ref
        return None

    def lease(self, ref: Ref) -> Lease:
        with self._book.file.faults_in_words(), self._book.file.transaction():
            return self._leases.take(ref)

    # ---- items ----

    def items(self, part: str) -> list[Item]:
        return self._book.items.of_part(part)

    def add_item(self, part: str, text: str, points: Fraction) -> Item:
        return self._book.items.add(part, text, points, by=self.reviewer)

    def edit_item(self, item: str, text: str | None = None, points: Fraction | None = None) -> Act:
        """Everybody who has it is decided anew, in one act."""
        return self._book.items.edit(item, text=text, points=points, by=self.reviewer)

    # ---- deciding ----

    def decide(
        self,
        refs: Sequence[Ref],
        *,
        items: Sequence[str] = (),
        adjust: Fraction = Fraction(0),
        points: Fraction | None = None,
        comment: str = "",
        versions: Mapping[Ref, str],
    ) -> Act:
        """One act on all of them: by items, or by points that follow no item."""
        kind = Kind.REVIEW if len(refs) == 1 else Kind.BULK
        return self._act(
            kind, lambda: [self._ruling(ref, items, adjust, points, comment, versions) for ref in _once(refs)]
        )

    def accept(self, refs: Sequence[Ref], versions: Mapping[Ref, str], *, comment: str = "") -> Act:
        """What the grader found, with the items it would give."""
        return self._act(
            Kind.ACCEPT,
            lambda: [self._as_found(self._state(ref), versions.get(ref, ""), comment) for ref in _once(refs)],
        )

    def undo(self) -> Act | None:
        """This reviewer's last act, all of it; None if nothing is left."""
        try:
            return self._book.items.undo(self.reviewer)
        except NothingToUndo:
            return None

    def bulk(self, part: str) -> Bulk:
        """The answers that would be accepted together now."""
        others = self._leases.of_others(part)
        states = [state for state in self._decisions.states(part=part) if ref_of(state) not in others]
        return bulk_of(self._book, states, part)

    def sample(self, bulk: Bulk) -> list[Ref]:
        """Of the answers that would be accepted together, some to look at first."""
        return drawn_sample(map(ref_of, bulk.ready), SAMPLE)

    def accept_found(self, part: str, seen: Sequence[Ref]) -> Act:
        """Accept every answer that only waits for a person's word; the sample must have been looked at."""

        def ready() -> list[Ruling]:
            bulk = self.bulk(part)
            if not bulk.ready:
                raise UsageError(f"no answer to {part} waits that can be accepted together with others")
            if unseen := set(self.sample(bulk)) - set(seen):
                raise UsageError(f"look at the drawn sample first: {len(unseen)} of its answers were not seen yet")
            return [self._as_found(state, None) for state in bulk.ready]

        return self._act(Kind.ACCEPT, ready)

    # ---- two people, and students who ask again ----

    def agreement(self) -> list[Agreement]:
        with self._book.file.faults_in_words():
            return agreement_in(self._decisions)

    def settle(
        self,
        ref: Ref,
        *,
        items: Sequence[str] = (),
        adjust: Fraction = Fraction(0),
        points: Fraction | None = None,
        comment: str = "",
    ) -> Act:
        """The last word on an answer that two people marked differently."""

        def last_word() -> list[Ruling]:
            state = self._state(ref)
            if state.standing.second is None or state.standing.awaits == "":
                raise UsageError("two people do not differ on this answer")
            earned = self._earned(state, items, adjust, points)
            fixed = None if points is not None else adjust
            return [Ruling(ref.student, ref.part, earned, comment, tuple(items), state.judged, adjust=fixed)]

        return self._act(Kind.SETTLE, last_word)

    def requests(self, *, open_only: bool = True) -> list[Request]:
        return self._book.requests.all(open_only=open_only)

    def answer_request(self, request: int, reply: str, points: Fraction | None = None) -> Act:
        """The student reads the reply; with points, they are decided anew."""
        return self._book.requests.answer(request, reply, points, by=self.reviewer)

    # ---- lists for pages ----

    def versions(self, refs: Sequence[Ref]) -> dict[Ref, str]:
        """What a decision on each of them has to be sent with."""
        found = {}
        for part in {ref.part for ref in refs}:
            for state in self._decisions.states(part=part):
                sight = as_seen_by(self.reviewer, state, self._double)
                found[ref_of(state)] = version_of(state, sight.mark)
        return {ref: found[ref] for ref in refs if ref in found}

    def aliases(self, part: str) -> dict[Ref, str]:
        return aliases(Ref(student, part) for student in self._book.students())

    # ---- within ----

    def _act(self, kind: Kind, wanted: Callable[[], Sequence[Ruling]]) -> Act:
        """What is wanted is worked out where nobody else can write: an item may be changed at this very moment."""
        file = self._book.file
        with file.faults_in_words(), file.transaction():
            rulings = wanted()
            if not rulings:
                raise UsageError("there is nothing to decide")
            self._leases.refuse_others(Ref(one.student, one.part) for one in rulings)
            act = self._decisions.begin_act(self.reviewer, kind)
            return Act(act, kind, self._decisions.add(rulings, act))

    def _ruling(
        self,
        ref: Ref,
        items: Sequence[str],
        adjust: Fraction,
        points: Fraction | None,
        comment: str,
        versions: Mapping[Ref, str],
    ) -> Ruling:
        state = self._state(ref)
        earned = self._earned(state, items, adjust, points)
        return self._signed(
            state, earned, comment, tuple(items), None if points is not None else adjust, versions.get(ref, "")
        )

    def _as_found(self, state: PartState, version: str | None, comment: str = "") -> Ruling:
        if state.found is Status.UNGRADED:
            raise UsageError(f"{state.part} of this answer could not be graded, so nothing was found to accept")
        items = self._book.items.suggested(state.student, state.part)
        known = self._book.items.known(items)
        adjust = state.points - sum((known[item].points for item in items), Fraction(0))
        return self._signed(state, state.points, comment, items, adjust, version)

    def _signed(
        self,
        state: PartState,
        points: Fraction,
        comment: str,
        items: tuple[str, ...],
        adjust: Fraction | None,
        version: str | None,
    ) -> Ruling:
        """On what the person saw, and as the first or second of two where two people mark."""
        sight = as_seen_by(self.reviewer, state, self._double)
        judged, after = seen(version_of(state, sight.mark) if version is None else version)
        more = {"judged": judged, "after": after, "adjust": adjust, "mark": sight.mark}
        return Ruling(state.student, state.part, points, comment, items, **more)  # type: ignore[arg-type]

    def _earned(self, state: PartState, items: Sequence[str], adjust: Fraction, points: Fraction | None) -> Fraction:
        known = self._book.items.known(items)
        if strange := [item for item in known.values() if item.part != state.part]:
            raise UsageError(f"the item '{quote(strange[0].text, 60)}' belongs to {strange[0].part}")
        check_points(adjust)
        earned = clamped(known, items, adjust, state.worth)
        return earned if points is None else points

    def _state(self, ref: Ref) -> PartState:
        found = next(iter(self._decisions.states(student=ref.student, part=ref.part)), None)
        if found is None:
            raise UsageError(no_such_answer(ref))
        return found

    def _waiting(self, part: str) -> list[Ref]:
        states = self._decisions.states(part=part)
        return [ref_of(state) for state in states if as_seen_by(self.reviewer, state).is_open]

    def _take_if_open(self, ref: Ref) -> bool:
        """Looked at again where nobody else can write: another reviewer may have been quicker."""
        try:
            with self._book.file.faults_in_words(), self._book.file.transaction():
                if not as_seen_by(self.reviewer, self._state(ref)).is_open:
                    return False
                self._leases.take(ref)
        except LeasedByAnother:
            return False
        return True


def _once(refs: Sequence[Ref]) -> list[Ref]:
    return list(dict.fromkeys(refs))
