"""The parts of an assignment as a tree, and the way from a label to one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from grader.answers.labels import ROMANS
from grader.answers.latex_numbering import numeral_of

Node = tuple[str, ...]  # ("1", "b", "ii"); () is the whole assignment


class Outline:
    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = tuple(parts)
        self.leaves = {tuple(part.lower().split(".")): part for part in parts}
        self._children: dict[Node, list[str]] = defaultdict(list)
        self._place: dict[Node, int] = {}
        self._by_ending: dict[Node, list[Node]] = defaultdict(list)
        for index, leaf in enumerate(self.leaves):
            for depth in range(len(leaf) + 1):
                node = leaf[:depth]
                if node in self._place:
                    continue
                self._place[node] = index
                if node:
                    self._children[node[:-1]].append(node[-1])
                    for start in range(depth):
                        self._by_ending[node[start:]].append(node)

    def place(self, node: Node) -> int:
        """Where it begins, in the order of the assignment."""
        return self._place[node]

    def children(self, node: Node) -> list[str]:
        return self._children.get(node, [])

    def leaves_under(self, node: Node) -> list[Node]:
        return [leaf for leaf in self.leaves if leaf[: len(node)] == node]

    def child(self, node: Node, step: str) -> Node | None:
        """The child of this name; where children are i, ii, …, `2` means ii as well."""
        children = self.children(node)
        if step in children:
            return (*node, step)
        if step.isdigit() and children and children[0] in ROMANS and 1 <= int(step) <= len(children):
            return (*node, children[int(step) - 1])
        return None

    def counted_child(self, node: Node, step: str) -> Node | None:
        """The child of this name or, if it is a number, the child it counts to, whatever the children are called."""
        children = self.children(node)
        if step.isdigit() and step not in children and 1 <= int(step) <= len(children):
            return (*node, children[int(step) - 1])
        return self.child(node, step)

    def numerals(self, node: Node) -> str:
        """How its children are counted: "1", "a" or "i"."""
        first = self.children(node)[0]
        return "1" if first.isdigit() else "i" if first in ROMANS else "a"

    def numbered_child(self, node: Node, count: int) -> Node | None:
        """The child that has this number in the way the children are counted: 4 means d, whatever is printed."""
        if not self.children(node):
            return None
        name = numeral_of(count, self.numerals(node))
        return (*node, name) if name in self.children(node) else None

    def descend(self, node: Node, steps: Node) -> Node | None:
        for step in steps:
            below = self.child(node, step)
            if below is None:
                return None
            node = below
        return node

    def climb(self, node: Node, steps: Node) -> Node | None:
        """What the steps lead to from here or, failing that, from the nearest node above."""
        for depth in range(len(node), -1, -1):
            # A lone number names a question of its own before it counts the parts of one that is over.
            if (
                len(steps) == 1
                and steps[0].isdigit()
                and depth < len(node)
                and steps[0] not in self.children(node[:depth])
            ):
                continue
            found = self.descend(node[:depth], steps)
            if found is not None:
                return found
        return None

    def ending_in(self, steps: Node) -> list[Node]:
        """Every node whose name ends so, in order."""
        found = self._by_ending.get(steps, [])
        if not found and len(steps) > 1 and steps[-1].isdigit() and 1 <= int(steps[-1]) <= len(ROMANS):
            found = self._by_ending.get((*steps[:-1], ROMANS[int(steps[-1]) - 1]), [])
        return sorted(found, key=self.place)

    def name(self, node: Node) -> str:
        return self.leaves.get(node, ".".join(node))
