"""Which faults in the grader its tests notice, room by room, and why others are left: what docs/own_faults.md shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Column, Table

from benchmarks.explained import left_because, reason
from grader.proving.mutants import Mutant


@dataclass(frozen=True)
class Fate:
    """Of one fault that was drawn."""

    mutant: Mutant
    asked: bool
    at_first: bool = False  # noticed by the tests as they were when they were first asked
    noticed: bool = False

    @property
    def survives(self) -> bool:
        return self.asked and not self.noticed


def room_of(file: str) -> str:
    """`grader/checks` for what lies in it, however deep; a file at the top is a room of its own."""
    parts = Path(file).parts
    return "/".join(parts[:2]) if len(parts) > 1 else file


def report(fates: Sequence[Fate], console: Console) -> None:
    """What is noticed, `at first` and `now`; shares are of what was asked about and could be noticed."""
    headings = ("drawn", "open", "explained", "at first", "share", "now", "share", "survives")
    table = Table(Column("room", no_wrap=True), *headings, box=box.MARKDOWN)
    rooms: dict[str, list[Fate]] = defaultdict(list)
    for fate in fates:
        rooms[room_of(fate.mutant.file)].append(fate)
    for room, those in [*sorted(rooms.items()), ("all", list(fates))]:
        table.add_row(f"`{room.removeprefix('grader/')}`", *_row(those))
    console.print(table)
    for fate in sorted(fates, key=lambda fate: (fate.mutant.file, fate.mutant.line)):
        if fate.survives:
            _tell(fate.mutant, console)


def _row(those: list[Fate]) -> list[str]:
    asked = sum(fate.asked for fate in those)
    explained = sum(fate.survives and bool(reason(fate.mutant)) for fate in those)
    counted = asked - explained
    row = [str(len(those)), str(len(those) - asked), str(explained)]
    for noticed in (sum(fate.at_first for fate in those), sum(fate.noticed for fate in those)):
        row += [str(noticed), f"{100 * noticed / counted:.0f} %" if counted else "–"]
    return [*row, str(counted - sum(fate.noticed for fate in those))]


def _tell(mutant: Mutant, console: Console) -> None:
    because = reason(mutant)
    why = f"nobody could notice: {because}" if because else f"survives: {left_because(mutant) or 'not looked into'}"
    console.print(f"{mutant.file}:{mutant.line} {mutant.within}", markup=False, soft_wrap=True)
    for line in (f"    {mutant.statement}", f"  → {mutant.becomes}", f"    {why}"):
        console.print(line, markup=False, soft_wrap=True)
