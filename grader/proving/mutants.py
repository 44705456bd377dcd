"""Right code with one fault in it, once for every fault."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from grader.proving.mutations import Function, Spot, faults

_NOT_COMPUTED = frozenset(["annotation", "returns", "decorator_list", "bases", "names"])


@dataclass(frozen=True)
class Mutant:
    """One change, told by what it does to its statement, so that editing the file elsewhere does not move it."""

    file: str
    within: str  # `softargmax`, `SynthesizerAttention.forward`; empty for what stands outside
    line: int
    statement: str  # as `ast.unparse` writes it, of a block its first line
    becomes: str
    text: str  # the whole changed file


@dataclass(frozen=True)
class Candidate:
    """A change that can be made: writing the changed file takes far longer than finding the place."""

    file: str
    tree: ast.Module
    place: _Place
    other: ast.AST

    def change(self) -> tuple[str, str]:
        """The statement as it is and as it becomes."""
        before = _first_line(self.place.statement)
        with self._made():
            # A statement that has been replaced is told by what replaced it.
            whole = self.place.spot.node is self.place.statement
            return before, _first_line(self.other if whole else self.place.statement)

    def mutant(self) -> Mutant:
        before, after = self.change()
        with self._made():
            text = ast.unparse(ast.fix_missing_locations(self.tree))
        return Mutant(self.file, self.place.within, self.place.statement.lineno, before, after, text + "\n")

    @contextmanager
    def _made(self) -> Iterator[None]:
        self.place.put(self.other)
        try:
            yield
        finally:
            self.place.put(self.place.spot.node)


def candidates(
    source: str, file: str, definitions: Collection[str] = (), *, guards: bool = False
) -> Iterator[Candidate]:
    """Every change in these top-level definitions, or in the whole file.

    With `guards`, also in conditions under which something is raised: nobody passes what students' code refuses, and
    somebody passes what ours refuses.
    """
    tree = ast.parse(source)
    imported = frozenset(
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )
    for place in _places(tree, definitions, imported, guards):
        for other in faults(place.spot):
            yield Candidate(file, tree, place, other)


def code_mutants(source: str, file: str, definitions: Collection[str] = ()) -> list[Mutant]:
    """Every mutant of these top-level definitions, or of the whole file; no two with the same text."""
    seen, found = {ast.unparse(ast.parse(source)) + "\n"}, []
    for one in candidates(source, file, definitions):
        mutant = one.mutant()
        if mutant.text not in seen:
            seen.add(mutant.text)
            found.append(mutant)
    return found


@dataclass(frozen=True)
class _Place:
    """Where in the tree a node hangs, and how to hang another there."""

    spot: Spot
    index: int | None
    statement: ast.stmt
    within: str

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.spot.parent, self.spot.field, node)
        else:
            getattr(self.spot.parent, self.spot.field)[self.index] = node


def _places(tree: ast.Module, definitions: Collection[str], imported: frozenset[str], guards: bool) -> Iterator[_Place]:
    missing = set(definitions) - {getattr(node, "name", "") for node in tree.body}
    if missing:
        raise LookupError(f"it does not define {', '.join(sorted(missing))}")

    def below(parent: ast.AST, statement: ast.stmt | None, function: Function | None, within: str) -> Iterator[_Place]:
        for field, value in ast.iter_fields(parent):
            if field in _NOT_COMPUTED:
                continue
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(node, ast.AST) or _is_left_alone(node, guards):
                    continue
                if parent is tree and definitions and getattr(node, "name", "") not in definitions:
                    continue
                own: Any = node if isinstance(node, ast.stmt) else statement
                spot = Spot(node, parent, field, function, imported)
                yield _Place(spot, index if isinstance(value, list) else None, own, within)
                name = getattr(node, "name", "") if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
                inner = node if isinstance(node, Function) else function
                yield from below(node, own, inner, f"{within}.{name}".strip(".") if name else within)

    return below(tree, None, None, "")


def _is_left_alone(node: ast.AST, guards: bool) -> bool:
    """Docstrings, prints, imports, what is raised or asserted, messages, and what runs only as a script."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()) | ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.If(body=[ast.Raise()]):  # refuses what nobody hands over
            return not guards
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


def _first_line(node: ast.AST) -> str:
    """Of a definition, the line that names it: a fault in a default value stands there, not in what decorates it."""
    lines = ast.unparse(ast.fix_missing_locations(node)).splitlines()
    return next(line for line in lines if not line.startswith("@"))
