"""Lines → what was written for each part, and notes on what could not be placed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from grader.answers.labels import Label, read_label
from grader.answers.lines import Line
from grader.answers.outline import Node, Outline
from grader.answers.part_cursor import Elsewhere, PartCursor
from grader.answers.questions import is_prompt, without_the_question
from grader.answers.sheet_notes import SheetNotes
from grader.answers.swallowed import far_too_long, labels_within
from grader.model import Answer, Answers, Piece
from grader.quoting import quote

_TITLE_WORDS = 8  # under a question that has parts, so few words without a formula are its title
_SUBSTANTIAL_WORDS = 25  # name, date and course come to fewer
# Headings within an answer, not after it.
_WITHIN = re.compile(
    r"\s*(?:solution|answer|proof|justification|explanation|derivation|reason|why|argument|result|remark|note|"
    r"discussion|conclusion|verification|check|example|intuition|claim|step|case)",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"\W*(?:continued|cont\b|cont'd)", re.IGNORECASE)


@dataclass
class _Stretch:
    """What stands between one label and the next."""

    node: Node | None  # None: it belongs to no part
    begins: Line  # the one with the label
    lines: list[Line] = field(default_factory=list)
    pieces: tuple[Piece, ...] = ()

    @property
    def items(self) -> frozenset[int]:
        return frozenset(line.number for line in self.lines if line.opens_item)

    @property
    def words(self) -> int:
        return sum(len(piece.text.split()) for piece in self.pieces)

    @property
    def has_formula(self) -> bool:
        return any(piece.kind != "prose" or "=" in piece.text for piece in self.pieces)


def split(lines: Iterable[Line], file: str, outline: Outline) -> Answers:
    splitter = _Splitter(file, outline)
    labelled = _with_lone_numbers(
        [(line, read_label(line.lead, heading=line.level > 0 or line.bold)) for line in lines]
    )
    ahead = splitter.cursor.ahead
    ahead.update((label.styles[0], label.steps[0]) for _, label in labelled if label)
    for line, label in labelled:
        if label:
            ahead[(label.styles[0], label.steps[0])] -= 1
        splitter.take(line, label)
    return splitter.finish()


def _with_lone_numbers(labelled: list[tuple[Line, Label | None]]) -> list[tuple[Line, Label | None]]:
    """`3` alone on its line is the number of a question where its parts begin right behind it: `a. …`."""
    found = list(labelled)
    for at, ((line, label), (_, after)) in enumerate(pairwise(labelled)):
        begins = after is not None and after.steps[0] in ("a", "i")
        if label is None and begins and not line.level and re.fullmatch(r"\d{1,2}", line.text.strip()):
            found[at] = (line, read_label(f"Question {line.text.strip()}"))
    return found


class _Splitter:
    def __init__(self, file: str, outline: Outline) -> None:
        self._file = file
        self._outline = outline
        self._notes = SheetNotes(file, outline)
        self.cursor = PartCursor(outline)
        self._stretches = [_Stretch(None, Line(1, []))]
        self._last_words = ""
        self._unplaced: dict[str, str] = {}
        self._guessed: set[Node] = set()
        self._solves: Node = ()  # where the answer that is marked as one began

    def take(self, line: Line, label: Label | None) -> None:
        if line.level:
            self._take_heading(line, label)
        else:
            self._take_text(line, label)
        for written, node, several in self.cursor.notes:
            others = f"may mean {self._names(several)}; it " if several else ""
            self._notes.add(line, f"'{quote(written, 40)}' {others}is taken for {self._outline.name(node)}")
            self._guessed.add(node)
        self.cursor.notes.clear()
        self._last_words = line.text

    def _take_heading(self, line: Line, label: Label | None) -> None:
        node = self.cursor.heading(label, line.level) if label else None
        if node is None and line.count and (label is None or not label.firm):
            counted = self.cursor.counted_heading(line)
            if isinstance(counted, tuple):
                node, label = counted, Label(counted[-1:], line.lead, line.lead, ("x",), False)
            elif counted is Elsewhere.NO_PART and not _WITHIN.match(line.lead):
                self.cursor.leave_unknown(line.level)
                self._stretches.append(_Stretch(None, line))
                return
        if label and node is not None:
            goes_on = node == self._stretches[-1].node and label.steps[-1:] != node[-1:]  # 3.b.2 after 3.b.1
            if not goes_on:
                self._open(node, label, line)
            title = _with_words(line, label.rest)
            if title.has_formula:  # `## b.ii: $q = …$` is an answer, `## b.ii An average` a title
                self._stretches[-1].lines.append(title)
        elif label and label.steps[0].isalnum() and (label.firm or len(label.steps) > 1 or label.steps[0].isdigit()):
            self.cursor.leave(line.level)
            self._stretches.append(_Stretch(None, line))
            self._notes.no_part(line, label.written, ".".join(label.steps), self._outline.parts)
        elif self.cursor.closes(line.level) and not _WITHIN.match(line.lead) and len(line.text.split()) <= 20:
            self.cursor.leave(line.level)
            self._stretches.append(_Stretch(None, line))
        else:
            self._stretches[-1].lines.append(line)

    def _take_text(self, line: Line, label: Label | None) -> None:
        if line.opens_solution:
            self._solves = self.cursor.node
        opened = self._opened(label, line)
        if opened:
            node, label = opened
            self._open(node, label, line)
            line = _with_words(line, "" if _CONTINUED.match(label.rest) else label.rest)
        elif line.marker:
            line = _with_words(line, line.lead)
        if is_prompt(line):
            line = replace(line, pieces=[])
        if line.pieces or line.opens_solution:
            self._stretches[-1].lines.append(line)
            if self.cursor.node in self._outline.leaves and line.text.strip():
                self.cursor.answered.add(self.cursor.node)

    def _opened(self, label: Label | None, line: Line) -> tuple[Node, Label] | None:
        if line.in_solution and self._solves in self._outline.leaves:
            return None  # what is marked as the answer to one part holds no other
        if line.listed:
            found = self.cursor.item(label, line)
            if isinstance(found, tuple):
                rest = (
                    label.rest if label else " ".join(piece.text for piece in line.pieces[:1] if line.begins_with_words)
                )
                return found, label or Label(found[-1:], line.marker, rest, ("x",), False)
            if found is Elsewhere.NO_PART:
                self._stretches.append(_Stretch(None, line))
            if found is not Elsewhere.UNSURE:
                return None
        opened = self.cursor.inline(label, line, self._last_words) if label else None
        if opened and line.listed:
            self.cursor.opened(opened[0])
        return opened

    def _open(self, node: Node, label: Label, line: Line) -> None:
        if _CONTINUED.match(label.rest):
            earlier = next((s for s in reversed(self._stretches) if s.node == node), None)
            if earlier:  # moved to the end, so that what follows is added to it
                self._stretches.remove(earlier)
                self._stretches.append(earlier)
                self.cursor.enter(node, label, line)
                return
        self._stretches.append(_Stretch(node, line))
        self.cursor.enter(node, label, line)

    # When all lines are taken

    def finish(self) -> Answers:
        self._leave_questions_out()
        found: dict[Node, _Stretch] = {}
        for stretch in self._stretches:
            if stretch.node in self._outline.leaves and stretch.pieces:
                assert stretch.node is not None
                if stretch.node in found and _words(found[stretch.node]) != _words(stretch):
                    self._notes.answered_twice(
                        stretch.begins, self._outline.name(stretch.node), found[stretch.node].begins
                    )
                found[stretch.node] = stretch
        self._place_what_stands_above_parts(found)
        self._note_what_is_empty(found)
        self._note_what_is_nowhere(found)
        self._note_what_may_be_swallowed(found)
        parts = {
            part: Answer(
                part,
                found[node].begins.file or self._file,
                found[node].begins.number,
                found[node].pieces,
                found[node].items,
            )
            for node, part in self._outline.leaves.items()
            if node in found
        }
        guessed = {part for node, part in self._outline.leaves.items() if self._is_guessed(node)}
        return Answers(parts, self._notes.all(), guessed=frozenset(guessed & parts.keys()), unplaced=self._unplaced)

    def _is_guessed(self, node: Node) -> bool:
        return any(node[:depth] in self._guessed for depth in range(1, len(node) + 1))

    def _leave_questions_out(self) -> None:
        asked = []
        marked = any(line.in_solution for stretch in self._stretches for line in stretch.lines)
        for stretch in self._stretches:
            has_parts = stretch.node not in self._outline.leaves and (marked or stretch.node is not None)
            stretch.pieces, line = without_the_question(stretch.lines, has_parts, marked)
            asked += [line] if line else []
        if asked:
            more = f" (and in {len(asked) - 1} more places)" if len(asked) > 1 else ""
            self._notes.add(asked[0], f"this looks like the question's own words, which are no answer{more}")

    def _place_what_stands_above_parts(self, found: dict[Node, _Stretch]) -> None:
        for stretch in self._stretches:
            node = stretch.node
            if node is None or node in self._outline.leaves or not stretch.pieces:
                continue
            if stretch.words <= _TITLE_WORDS and not stretch.has_formula:
                continue
            possible = [leaf for leaf in self._outline.leaves_under(node) if leaf not in found]
            name = self._outline.name(node)
            if possible and all(len(leaf) == len(node) + 1 for leaf in possible):
                # Unlabelled, but plainly about this question: each part looks in it for what it asks.
                found |= dict.fromkeys(possible, stretch)
                self._guessed.update(possible)
                names = " and ".join(self._outline.name(leaf) for leaf in possible)
                self._notes.add(stretch.begins, f"what stands under {name} is taken for {names}")
            elif possible:
                fix = f"write above each answer which part it is, as in '## {self._outline.name(possible[0])}'"
                self._notes.add(stretch.begins, f"this stands under {name}, but under none of its parts; {fix}")
                self._leave_unplaced(stretch, possible)

    def _note_what_is_empty(self, found: dict[Node, _Stretch]) -> None:
        for stretch in self._stretches:
            if stretch.node in self._outline.leaves and stretch.node not in found:
                assert stretch.node is not None
                self._notes.add(stretch.begins, f"{self._outline.name(stretch.node)} is empty")

    def _leave_unplaced(self, stretch: _Stretch, possible: Iterable[Node]) -> None:
        """A person looks whether this text answers one of these parts."""
        line = next((line for line in stretch.lines if line.text.strip()), stretch.begins)
        for leaf in possible:
            self._unplaced.setdefault(self._outline.leaves[leaf], self._notes.place(line))

    def _between(self, stretch: _Stretch, found: dict[Node, _Stretch]) -> list[Node]:
        """The parts without an answer that belong where this text stands."""
        at = self._stretches.index(stretch)
        before = [one.node for one in self._stretches[:at] if one.node in self._outline.leaves]
        after = [one.node for one in self._stretches[at:] if one.node in self._outline.leaves]
        first = self._outline.place(before[-1]) if before and before[-1] else -1
        last = self._outline.place(after[0]) if after and after[0] else len(self._outline.leaves)
        return [leaf for leaf in self._outline.leaves if first < self._outline.place(leaf) < last and leaf not in found]

    def _note_what_is_nowhere(self, found: dict[Node, _Stretch]) -> None:
        first = self._stretches[0]
        example = self._outline.parts[0] if self._outline.parts else "1"
        if all(stretch.node is None for stretch in self._stretches):
            if any(stretch.pieces for stretch in self._stretches):
                fix = f"write one above each answer, such as '## {example}'"
                self._notes.add(first.begins, f"no heading names a part; {fix}")
                self._leave_unplaced(next(s for s in self._stretches if s.pieces), self._outline.leaves)
            return
        for stretch in self._stretches:
            if stretch.node is None and stretch.words >= _SUBSTANTIAL_WORDS:
                self._leave_unplaced(stretch, self._between(stretch, found))
                where = "before the first part" if stretch is first else "under this heading"
                written = (line for line in stretch.lines if line.text.strip())
                self._notes.add(
                    next(written, stretch.begins) if stretch is first else stretch.begins,
                    f"the text {where} belongs to no part; write above it which part it answers, as in '## {example}'",
                )

    def _note_what_may_be_swallowed(self, found: dict[Node, _Stretch]) -> None:
        """No part is missing whose label, or text, may stand within another's answer."""
        within: dict[int, tuple[Line, list[Node]]] = {}
        taken = {id(stretch): (node, stretch) for node, stretch in found.items() if stretch.node == node}
        for node, stretch in taken.values():
            for leaf, line in labels_within(node, stretch.lines, self._outline):
                within.setdefault(id(line), (line, []))[1].append(leaf)
        words = {node: stretch.words for node, stretch in taken.values()}
        unanswered = [leaf for leaf in self._outline.leaves if leaf not in found]
        for node, leaf in far_too_long(words, unanswered, self._outline):
            line = found[node].begins
            within.setdefault(id(line), (line, []))[1].append(leaf)
        held: dict[Node, Line] = {}
        for line, leaves in within.values():
            for leaf in leaves:
                if leaf not in found and self._outline.leaves[leaf] not in self._unplaced:
                    held.setdefault(leaf, line)
        self._unplaced |= {self._outline.leaves[leaf]: self._notes.place(line) for leaf, line in held.items()}
        if held:
            first, places = next(iter(held.values())), len({id(line) for line in held.values()})
            more = f" (and {places - 1} more places)" if places > 1 else ""
            names = self._names(list(held)) if len(held) < 4 else f"{len(held)} parts that stand nowhere else"
            self._notes.add(first, f"this{more} may hold {names}; write above each answer which part it is")

    def _names(self, nodes: list[Node]) -> str:
        names = [self._outline.name(node) for node in nodes]
        return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _words(stretch: _Stretch) -> list[str]:
    return [piece.text for piece in stretch.pieces]


def _with_words(line: Line, words: str) -> Line:
    """The same line, beginning with other words."""
    kept = line.pieces[1:] if line.begins_with_words else line.pieces
    first = [Piece("prose", words, line.number)] if words.strip() else []
    return replace(line, pieces=[*first, *kept], level=0, marker="")
