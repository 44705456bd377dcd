"""Items: words and points that many answers have. A decision holds their ids, so a change of one changes them all.

The grader makes the first ones (answer_traits.py). What people add or change are rows that are only added, each part of
an act; every answer that has the item is decided anew in the same act, and is undone with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.batch.answer_traits import MISTAKE, PERSON
from grader.batch.decision_log import DecisionLog
from grader.batch.gradebook_file import GradebookFile
from grader.batch.rulings import FINEST, Act, Decision, Kind
from grader.errors import UsageError

MOST_POINTS = 1000  # of one item, either way: no part is worth more, and exact fractions stay short
_LONGEST = 2000  # characters of an item
_LATEST = "(SELECT MAX(id) AS id FROM results GROUP BY student)"
_NOT_UNDONE = "NOT EXISTS (SELECT 1 FROM acts u WHERE u.undoes = c.act)"


@dataclass(frozen=True)
class Item:
    id: str
    part: str
    text: str
    points: Fraction
    origin: str  # idea | mistake | person
    given: int = 0  # how many answers of the class have it, as the grader found


class ItemLog:
    def __init__(self, file: GradebookFile, decisions: DecisionLog) -> None:
        self._file = file
        self._decisions = decisions

    def of_part(self, part: str) -> list[Item]:
        """Those to choose from: ideas in the order of the rubric, mistakes that occur, then what people added."""
        with self._file.faults_in_words():
            rows = self._file.base.execute(
                f"SELECT i.item, i.part, i.text, i.points, i.origin, SUM(f.found) FROM {_LATEST} l "
                "JOIN findings f ON f.result = l.id AND f.part = ? JOIN initial_items i ON i.item = f.item "
                "GROUP BY i.item ORDER BY i.origin, i.place, 6 DESC, i.item",
                (part,),
            ).fetchall()
            offered = [Item(id_, own, text, Fraction(points), *more) for id_, own, text, points, *more in rows]
            changed = self._changed(offered, part)
        return [item for item in changed if item.given or item.origin != MISTAKE]

    def suggested(self, student: str, part: str) -> tuple[str, ...]:
        """The items that the grader would give to this answer."""
        with self._file.faults_in_words():
            rows = self._file.base.execute(
                "SELECT f.item FROM findings f JOIN initial_items i ON i.item = f.item WHERE f.found AND f.part = ? "
                "AND f.result = (SELECT MAX(id) FROM results WHERE student = ?) ORDER BY i.origin, i.place, i.item",
                (part, student),
            )
            return tuple(item for (item,) in rows)

    def known(self, ids: Iterable[str]) -> dict[str, Item]:
        """Each with the words and points it has now; also one whose addition was undone, where a decision holds it."""
        wanted = list(dict.fromkeys(ids))
        with self._file.faults_in_words():
            marks = ", ".join("?" * len(wanted))
            rows = self._file.base.execute(
                f"SELECT item, part, text, points, origin FROM initial_items WHERE item IN ({marks}) "
                f"UNION ALL SELECT item, part, text, points, '{PERSON}' FROM item_changes c "
                f"WHERE item IN ({marks}) AND id IN (SELECT MIN(id) FROM item_changes GROUP BY item) "
                "AND NOT EXISTS (SELECT 1 FROM initial_items i WHERE i.item = c.item)",
                (*wanted, *wanted),
            ).fetchall()
            items = {id_: Item(id_, part, text, Fraction(points), origin) for id_, part, text, points, origin in rows}
            for part in dict.fromkeys(item.part for item in items.values()):
                for item in self._changed([one for one in items.values() if one.part == part], part):
                    if item.id in items:
                        items[item.id] = item
        return {one: items[one] for one in wanted if one in items}

    def add(self, part: str, text: str, points: Fraction, *, by: str) -> Item:
        text = _checked_text(text)
        check_points(points)
        with self._file.faults_in_words(), self._file.transaction():
            if not self._decisions.has_part(part):
                raise UsageError(f"there is no part '{part}'")
            act = self._decisions.begin_act(by, Kind.ITEM)
            item = Item(f"p{act}", part, text, points, PERSON)
            self._add_change(act, item.id, part, text, points)
        return item

    def edit(self, item: str, *, text: str | None, points: Fraction | None, by: str) -> Act:
        """Change its words or points, and with them every answer that has it."""
        text = None if text is None else _checked_text(text)
        if points is not None:
            check_points(points)
        with self._file.faults_in_words(), self._file.transaction():
            before = self.known([item]).get(item)
            if before is None:
                raise UsageError(f"there is no item '{item}'")
            if text in (None, before.text) and points in (None, before.points):
                raise UsageError("the item is like this already")
            act = self._decisions.begin_act(by, Kind.ITEM)
            self._add_change(act, item, before.part, text, points)
            return Act(act, Kind.ITEM, self._follow(item, before.part, act, everybody=True))

    def undo(self, by: str) -> Act:
        """Take back this person's last act, whatever it was. Answers decided with an item meanwhile follow it."""
        with self._file.faults_in_words(), self._file.transaction():
            undone, undoing = self._decisions.begin_undo(by)
            changed = self._file.base.execute("SELECT item, part FROM item_changes WHERE act = ?", (undone.id,))
            for item, part in changed.fetchall():
                self._follow(item, part, undoing, everybody=False)
        return undone

    def _follow(self, item: str, part: str, act: int, *, everybody: bool) -> tuple[Decision, ...]:
        """Within a transaction: the decisions that have this item get the points it says now, also on answers that were
        replaced and may be handed in again. Everybody's are logged when it is changed; when a change is taken back,
        only what was decided with it meanwhile needs a row."""
        having = [(one, worth) for one, worth in self._decisions.in_force(part) if item in one.items]
        known = self.known(held for decision, _ in having for held in decision.items)
        changed = []
        for decision, worth in having:
            points = decision.points  # given by hand, unless it says what was added to the items
            if decision.adjust is not None:
                points = clamped(known, decision.items, decision.adjust, worth)
            if everybody or points != decision.points:
                changed.append(replace(decision, points=points))
        return self._decisions.bring_up_to_date(changed, act)

    def _add_change(self, act: int, item: str, part: str, text: str | None, points: Fraction | None) -> None:
        self._file.base.execute(
            "INSERT INTO item_changes (act, item, part, text, points) VALUES (?, ?, ?, ?, ?)",
            (act, item, part, text, None if points is None else str(points)),
        )

    def _changed(self, items: Sequence[Item], part: str) -> list[Item]:
        """With what people changed, and what they added behind."""
        found = {item.id: item for item in items}
        rows = self._file.base.execute(
            f"SELECT item, text, points FROM item_changes c WHERE part = ? AND {_NOT_UNDONE} ORDER BY id", (part,)
        )
        for item, text, points in rows:
            if item in found:
                text = found[item].text if text is None else text
                exact = found[item].points if points is None else Fraction(points)
                found[item] = replace(found[item], text=text, points=exact)
            elif text is not None and points is not None:
                found[item] = Item(item, part, text, Fraction(points), PERSON)
        return list(found.values())


def clamped(known: Mapping[str, Item], items: Sequence[str], adjust: Fraction, worth: Fraction) -> Fraction:
    """The points of an answer that has these items: never below nothing, never above what the part is worth."""
    if unknown := [item for item in items if item not in known]:
        raise UsageError(f"there is no item '{unknown[0]}'")
    earned = sum((known[item].points for item in items), adjust)
    return min(max(earned, Fraction(0)), worth)


def _checked_text(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    if not text:
        raise UsageError("an item needs words")
    if len(text) > _LONGEST:
        raise UsageError(f"an item has at most {_LONGEST} characters, not {len(text)}")
    return text


def check_points(points: Fraction) -> None:
    """Of an item, or beside items."""
    if abs(points) > MOST_POINTS or points.denominator > FINEST:
        raise UsageError(f"at most {MOST_POINTS} points can be given or taken at once, in parts of 1/{FINEST} at least")
