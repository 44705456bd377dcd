"""What came out of a proof, for the rubric's author."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.errors import shortest
from grader.proving.proof_results import SURVIVORS_ALLOWED, PartProven, Proven, Tried
from grader.proving.writing import Written


def print_proof(proven: Proven, console: Console) -> None:
    for line in proven.faults:
        console.print(Text(line, style="red"), soft_wrap=True)
    state = "not so, see above" if proven.faults else "all as they should be"
    samples = "1 sample" if proven.samples == 1 else f"{proven.samples} samples"
    console.print(Text(f"Gold ({proven.gold}) full, stub nothing, {samples} as declared: {state}"))
    if proven.parts:
        console.print(_table(proven.parts))
    else:
        console.print(Text("Nothing was mutated: proof.yaml names nothing under 'mutate'", style="yellow"))
    _print_tried("Not noticed, and not explained", proven.parts, lambda part: part.survivors, console)
    _print_tried("Not noticed, and why nobody could", proven.parts, lambda part: part.explained, console)
    for line in proven.stale:
        console.print(Text(line, style="yellow"), soft_wrap=True)
    most = f"at most {SURVIVORS_ALLOWED * 100} % of mutants may survive unexplained"
    verdict = "proved" if proven.holds else "NOT proved"
    console.print(Text(f"Verdict: {verdict} ({most})", style="green" if proven.holds else "red"))


def print_written(written: Sequence[Written], console: Console) -> None:
    for one in written:
        state = "not written" if one.ungraded else "new" if one.is_new else "changed" if one.changes else "as it was"
        console.print(Text(f"{shortest(one.path)}: {state}"), soft_wrap=True)
        for line in one.changes:
            console.print(Text(f"  {line}"), soft_wrap=True)
        for line in one.ungraded:
            console.print(Text(f"  {line}", style="red"), soft_wrap=True)
    if any(one.is_new or one.changes for one in written if not one.ungraded):
        console.print(Text("Read what was written: it is what they get, not yet what they should get."))


def _table(parts: Sequence[PartProven]) -> Table:
    table = Table("Part", "Mutants", "Killed", "Explained", "Survived", "Rate")
    rows = [(part.name, [part]) for part in parts]
    for name, those in [*rows, ("Total", list(parts))]:
        if name == "Total":
            table.add_section()
        tried = sum(len(part.tried) for part in those)
        there = sum(part.there for part in those)
        killed = sum(part.killed for part in those)
        explained = sum(len(part.explained) for part in those)
        counted = tried - explained
        rate = f"{100 * killed / counted:.1f} %" if counted else "–"
        many = str(tried) if tried == there else f"{tried} of {there}"
        table.add_row(name, many, str(killed), str(explained), str(counted - killed), rate)
    return table


def _print_tried(
    title: str, parts: Sequence[PartProven], those: Callable[[PartProven], list[Tried]], console: Console
) -> None:
    if not any(those(part) for part in parts):
        return
    console.print(Text(f"\n{title}:", style="bold"))
    for part in parts:
        for one in those(part):
            mutant = one.mutant
            within = f" in {mutant.within}" if mutant.within else ""
            console.print(Text(f"  {part.name}, line {mutant.line}{within}"), soft_wrap=True)
            console.print(Text(f"    {mutant.statement}"), soft_wrap=True)
            console.print(Text(f"  → {mutant.becomes}"), soft_wrap=True)
            if one.because:
                console.print(Text(f"    {one.because}", style="dim"), soft_wrap=True)
