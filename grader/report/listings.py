"""Rubrics, checks and the state of the machine as tables, for TAs and authors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.model import Check, Rubric
from grader.registry import REQUIRED, Definition
from grader.report.points import shown

if TYPE_CHECKING:
    from grader.sandbox.host.doctor import Diagnosis  # which needs Linux


def print_rubric(rubric: Rubric, console: Console) -> None:
    console.print(Text(f"{rubric.name} · {rubric.title} · {shown(rubric.points)} points", style="bold"))
    for problem in rubric.problems:
        worth = f"{shown(problem.points)} points{', optional' if problem.optional else ''}"
        title = f"{problem.id} {problem.title} ({worth})"
        for alternative in problem.alternatives:
            _print_checks_of(alternative.checks, f"{title}: {alternative.name}", console)
        if problem.checks:
            whole = f"{title}: whichever is handed in" if problem.alternatives else title
            _print_checks_of(problem.checks, whole, console)


def _print_checks_of(checks: tuple[Check, ...], title: str, console: Console) -> None:
    table = Table("Check", "What it asks", "Points", "Seen by students", title_justify="left")
    table.title = Text(title, style="bold")
    for check in checks:
        worth = "gate" if check.gate else shown(check.points)
        seen = "in full" if check.visibility == "public" else "without values"
        table.add_row(Text(check.id), Text(check.summary), worth, seen)
    console.print(table)


def print_checks(checks: Mapping[str, Definition], console: Console) -> None:
    for definition in sorted(checks.values(), key=lambda definition: definition.name):
        console.print(Text(definition.name, style="bold"))
        console.print(Text(f"  {definition.summary}"))
        for parameter in definition.parameters.values():
            default = "required" if parameter.default is REQUIRED else f"default {parameter.default_as_written}"
            console.print(Text(f"    {parameter.name}: {parameter.kind}, {default}", style="dim"))


def print_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    table = Table("Layer", "State", "Need", "What it means")
    for finding in diagnosis.findings:
        state = Text("on", "green") if finding.on else Text("missing", "red" if finding.required else "yellow")
        table.add_row(finding.layer, state, "required" if finding.required else "extra", finding.what)
    console.print(table)
    for what, refused in diagnosis.refused:
        console.print(Text(f"Tried in a box: {what}: {'refused' if refused else 'NOT REFUSED'}"))
    for library, version in diagnosis.libraries:
        console.print(Text(f"For students' code: {library} {version or 'is not installed'}"))
    console.print(Text(f"Verdict: {diagnosis.verdict}", style="green" if diagnosis.fit else "red"))
