"""Where in the assignment a reader of the sheet is, and so what the next label means.

A label is read as a person would: first within the part at hand, then one level up, and so on; and failing that as the
next part of that name in the order of the assignment.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import Enum

from grader.answers.labels import ROMANS, Label, after_steps, follows, without_counter
from grader.answers.lines import Line
from grader.answers.outline import Node, Outline

_TITLE_WORDS = 12
# "as we saw in / (ii) above": the label belongs to the sentence that the line before began.
_RUNS_ON = re.compile(r"\b(?:in|of|from|by|see|to|and|or|with|per|under|parts?|using|for|the|than|equation)\s*$", re.I)
_SENTENCE_END = re.compile(r"[.:;!?]\s*$")


@dataclass
class _Item:
    """The item at hand of a list whose depth is sure."""

    depth: int
    base: Node | None  # where the list stands
    node: Node | None  # the part it opened; None for content
    count: int


class Elsewhere(Enum):
    """What a heading or an item is, if it opens no part."""

    CONTENT = "content"  # of the part at hand
    NO_PART = "no part"  # of this assignment
    UNSURE = "unsure"  # its label has to say


@dataclass
class PartCursor:
    outline: Outline
    node: Node = ()
    furthest: int = -1  # the place of the last part that was opened
    answered: set[Node] = field(default_factory=set)  # leaves under which something stands
    ahead: Counter[tuple[str, str]] = field(default_factory=Counter)  # labels further on: how, and what
    notes: list[tuple[str, Node, list[Node]]] = field(default_factory=list)  # read so, though it might mean these
    # Level and meaning of those around; None, where what a document counts is no part of the assignment.
    _headings: list[tuple[int, Node | None]] = field(default_factory=list)
    _items: list[_Item] = field(default_factory=list)  # of the lists around, the outermost first
    _last_leaf: Node = ()
    _opener: Label | None = None  # of the part at hand
    _opener_depth: int = 0
    _opened_by_heading: bool = False
    _styles: dict[int, str] = field(default_factory=dict)  # how labels of each depth are written here
    _listed: dict[str, str] = field(default_factory=dict)  # lists within the answer: style → its last numeral

    # Moving

    def enter(self, node: Node, label: Label, line: Line) -> None:
        self.node = node
        self._opener, self._opener_depth = label, line.depth
        self._opened_by_heading = line.level > 0
        for depth, style in zip(range(len(node), 0, -1), reversed(label.styles), strict=False):
            self._styles[depth] = style
        self._listed.clear()
        if node in self.outline.leaves:
            self.furthest, self._last_leaf = self.outline.place(node), node
        if line.level:
            self._leave_headings(line.level)
            # A handout of another year counted differently: its "2 Attention", with a part a, is question 1 here.
            self._headings = [(level, above and node[: len(above)]) for level, above in self._headings]
            self._headings.append((line.level, node))
            self._items.clear()

    def closes(self, level: int) -> bool:
        """Whether a heading that names no part ends the part at hand."""
        return not self._headings or level <= self._headings[-1][0]

    def leave(self, level: int) -> None:
        self._leave_headings(level)
        self.node = (self._headings[-1][1] if self._headings else ()) or ()
        self._listed.clear()
        self._items.clear()

    def leave_unknown(self, level: int) -> None:
        """Past a counted heading that is no part of the assignment: what is counted below it is none, either."""
        self.leave(level)
        self._headings.append((level, None))
        self.node = ()

    def _leave_headings(self, level: int) -> None:
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()

    # Reading labels

    def heading(self, label: Label, level: int) -> Node | None:
        around = self._around(level) or ()
        for steps in (label.steps, without_counter(label.steps)):
            if not steps:
                continue
            found = self.outline.climb(around, steps)
            if found is None:
                found = self.outline.climb(self.node, steps)
                if found is not None and len(steps) == 1 and (later := self._begins_again(found, label)):
                    return later
            found = found or self._next_of_that_name(label, steps)
            if found is not None:
                if steps != label.steps:
                    self.notes.append((label.written, found, []))
                return found
        return self._own_numbering(label) or self._another_number(label)

    def _around(self, level: int) -> Node | None:
        return next((node for above, node in reversed(self._headings) if above < level), ())

    def counted_heading(self, line: Line) -> Node | Elsewhere:
        """The part that a heading counts to within the one above it."""
        around = self._around(line.level)
        if around is None:
            return Elsewhere.NO_PART
        if around in self.outline.leaves:
            return Elsewhere.CONTENT
        return self._numbered(around, line) or Elsewhere.NO_PART

    def item(self, label: Label | None, line: Line) -> Node | Elsewhere:
        """The part that an item of a list opens. A list within an answer holds no parts, however it is labelled."""
        before = None
        while self._items and self._items[-1].depth >= line.depth:
            before = self._items.pop()
        before = before if before and before.depth == line.depth else None
        base = before.base if before else self._items[-1].node if self._items else self.node
        found = self._within(base, label, line, before)
        node = found if isinstance(found, tuple) else None
        self._items.append(_Item(line.depth, base, node, line.count))
        return found

    def _within(self, base: Node | None, label: Label | None, line: Line, before: _Item | None) -> Node | Elsewhere:
        if base is None or (self._items and base in self.outline.leaves):
            return Elsewhere.CONTENT
        if base in self.outline.leaves or (label and len(label.steps) > 1):
            return Elsewhere.UNSURE
        again = before is not None and 0 < line.count <= before.count
        found = self._numbered(base, line) if line.count else label and self.outline.child(base, label.steps[0])
        if found and not (again and self.answered.intersection(self.outline.leaves_under(found))):
            return found
        is_one = base and line.count and line.numeral == self.outline.numerals(base)
        return Elsewhere.NO_PART if is_one and not again else Elsewhere.UNSURE

    def _numbered(self, base: Node, line: Line) -> Node | None:
        if not base and line.numeral != self.outline.numerals(base):
            return None  # (a), (b), … of which question?
        return self.outline.numbered_child(base, line.count)

    def opened(self, node: Node) -> None:
        """An item's label turned out to open this part."""
        if self._items:
            self._items[-1].node = node

    def inline(self, label: Label, line: Line, last_words: str) -> tuple[Node, Label] | None:
        """The part it opens, and as much of the label as says so; nothing if it is content."""
        found, length = self._here(label, line)
        whole = label
        if found is not None and length < len(label.steps):
            rest = after_steps(line.lead, length)
            label = replace(label, steps=label.steps[:length], styles=label.styles[:length], rest=rest)
        if found is not None and (line.opens_block or self._may_stand_within(found, label, last_words)):
            return found, label
        self._listed[whole.styles[0]] = whole.steps[0]
        return None

    def _here(self, label: Label, line: Line) -> tuple[Node | None, int]:
        """What it leads to, and how many of its steps: after `(b) 1.` under 3, part 3.b begins with a list."""
        steps = label.steps
        for length in range(len(steps), 1, -1):
            if found := self.outline.climb(self.node, steps[:length]):
                return found, length
        said = len(self.notes)
        if label.named and len(steps) == 1 and steps[0].isdigit() and steps[0] in self.outline.children(()):
            return steps, 1
        first = self._one_step(label, line)
        if len(steps) == 1 or first in self.outline.leaves:
            return first, 1
        del self.notes[said:]
        elsewhere = None if "".join(steps).isdigit() else self._next_of_that_name(label, steps)
        return (elsewhere, len(steps)) if elsewhere else (None, 0)

    def _may_stand_within(self, found: Node, label: Label, last_words: str) -> bool:
        """A line within a paragraph begins a part if it is the next in the sheet's own sequence of labels, or if no
        sentence runs on into it."""
        if self.outline.children(self.node):
            return True
        wholly = len(label.steps) == len(found) > 1  # "Question 2 (d)", from the question on
        alone = wholly and not label.rest and self._is_written_alike(found, label)  # `1b`, as `1a` stood before
        if not self._is_ahead(found) or (_RUNS_ON.search(last_words) and not alone):
            return False
        if self._is_written_alike(found, label) or (label.named and (wholly or not label.rest)):
            return True
        return bool(_SENTENCE_END.search(last_words)) or not last_words

    def _is_written_alike(self, found: Node, label: Label) -> bool:
        """Whether it is written as labels of its depth are here, and none of them was a heading."""
        if self._opened_by_heading:
            return False
        before = self._opener.styles if self._opener else ()
        if len(label.steps) == len(found) > 1 and (label.styles[0], label.styles[-1]) == (before[:1] + before[-1:]):
            return True  # named from the question on, as the part before was
        depths = range(len(found), 0, -1)
        return all(
            style == self._styles.get(depth) for depth, style in zip(depths, reversed(label.styles), strict=False)
        )

    def _one_step(self, label: Label, line: Line) -> Node | None:
        step, outline = label.steps[0], self.outline
        if follows(self._listed.get(label.styles[0]), step):
            return self._after_the_list(label)
        if self.node and outline.children(self.node) and self._counts_on(label, line):
            return (*self.node[:-1], step)
        if outline.children(self.node):
            below = outline.counted_child(self.node, step) if self.node else outline.child((), step)
            if below is not None:
                return below
        if not self.node:
            return self._next_of_that_name(label, (step,)) if not step.isdigit() else None
        if self.node in outline.leaves:
            sibling = self._sibling(label, line)
            if sibling is not None:
                return self._sibling_is_meant(sibling, label, line)
        return self._further_up(label, line)

    def _after_the_list(self, label: Label) -> Node | None:
        """A list within the answer goes on, unless what would be its next item is the next part, found nowhere else."""
        sibling = (*self.node[:-1], *label.steps[:1])
        is_next = sibling in self.outline.leaves and self.outline.place(sibling) == self.furthest + 1
        if not is_next or not self._is_written_alike(sibling, label) or self.ahead[(label.styles[0], label.steps[0])]:
            return None
        self.notes.append((label.written, sibling, []))
        return sibling

    def _counts_on(self, label: Label, line: Line) -> bool:
        """`3.` in the same list as the `2.` that opened question 2 is question 3, not the third part of 2."""
        step, opener = label.steps[0], self._opener
        if opener is None or not step.isdigit() or step not in self.outline.children(self.node[:-1]):
            return False
        alike = (
            opener.styles[-1:] == label.styles[:1] and line.depth <= self._opener_depth and not self._opened_by_heading
        )
        return alike and follows(opener.steps[-1], step)

    def _sibling(self, label: Label, line: Line) -> Node | None:
        """Numbers mean the parts i, ii, … only if the part at hand was opened by a number."""
        step, parent = label.steps[0], self.node[:-1]
        if not step.isdigit() or step in self.outline.children(parent):
            return (*parent, step) if step in self.outline.children(parent) else None
        opener = self._opener.steps[-1] if self._opener else ""
        if opener.isdigit() and int(step) > int(opener) and line.depth <= self._opener_depth:
            return self.outline.counted_child(parent, step)
        return None

    def _sibling_is_meant(self, sibling: Node, label: Label, line: Line) -> Node | None:
        same_style = (
            self._opener is not None and label.styles[0] == self._opener.styles[-1] and not self._opened_by_heading
        )
        if sibling == self.node or not self._is_ahead(sibling):
            if same_style and sibling[-1] not in ROMANS and (later := self._begins_again(sibling, label)):
                return later
            return sibling if same_style and line.depth <= self._opener_depth else None
        return sibling

    def _further_up(self, label: Label, line: Line) -> Node | None:
        step = label.steps[0]
        for depth in range(len(self.node) - 1, -1, -1):
            if step not in self.outline.children(self.node[:depth]):
                continue
            found = (*self.node[:depth], step)
            if self._is_ahead(found):
                return found if not step.isdigit() or _is_title(label, line) else None
            if label.styles[0] == self._styles.get(len(found)) and (later := self._begins_again(found, label)):
                return later
            return found if found == self.node[: len(found)] and self._repeats(found, label) else None
        return None

    def _repeats(self, node: Node, label: Label) -> bool:
        """`(b)` once more after `(b) i.`, written alike: the question was pasted first, or the part goes on."""
        return label.styles[0] == self._styles.get(len(node)) and not label.steps[0].isdigit()

    def _is_ahead(self, node: Node) -> bool:
        return self.outline.place(node) > self.outline.place(self.node) and node != self.node

    def _begins_again(self, found: Node, label: Label) -> Node | None:
        """`(a)` after `(e)`: if that part is answered, the next question's `(a)` is meant."""
        here = self.node[: len(found)]
        if len(here) < len(found) or self.outline.place(found) >= self.outline.place(here):
            return None
        if not any(leaf in self.answered for leaf in self.outline.leaves_under(found)):
            return None
        named = self.outline.ending_in(found[-1:])
        later = [node for node in named if self.outline.place(node) > self.furthest]
        if later:
            self.notes.append((label.written, later[0], named))
        return later[0] if later else None

    def _next_of_that_name(self, label: Label, steps: Node) -> Node | None:
        named = self.outline.ending_in(steps)
        if len(named) <= 1:
            return named[0] if named else None
        ahead = [node for node in named if self.outline.place(node) > self.furthest]
        if len(self.node) == 1:  # another question has begun, though not by our number
            ahead = [node for node in ahead if node[:1] != self._last_leaf[:1]] or ahead
        chosen = (ahead or named)[0]
        self.notes.append((label.written, chosen, named))
        return chosen

    def _own_numbering(self, label: Label) -> Node | None:
        """`3.b.1`, where 3.b has no parts: it is 3.b."""
        for length in range(len(label.steps) - 1, 0, -1):
            found = self.outline.descend((), label.steps[:length])
            if found in self.outline.leaves:
                return found
        return None

    def _another_number(self, label: Label) -> Node | None:
        """`2.b.ii`, where only 1.b.ii exists: handouts of other years count questions differently."""
        if len(label.steps) > 2 and label.steps[0].isdigit():
            named = self.outline.ending_in(label.steps[1:])
            if len(named) == 1:
                self.notes.append((label.written, named[0], []))
                return named[0]
        return None


def _is_title(label: Label, line: Line) -> bool:
    return line.depth <= 1 and 0 < len(label.rest.split()) <= _TITLE_WORDS and not line.has_formula
