"""What a sample gets beside what it is declared to get; and the stub, which is the gold with nothing in it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from grader.model import ProblemResult, Report, Status
from grader.proving.declarations import BESIDE_CHECKS, Declared
from grader.report.points import rounded
from grader.submission.opening import OpenedSubmission


def differences(declared: Declared, report: Report) -> list[str]:
    """Where a sample's report is not what it is declared to be, one line each."""
    found = []
    for problem in report.problems:
        want = declared["problems"].get(problem.problem.id, {})
        got = as_declared(problem, want)
        found += [
            f"{problem.problem.id} {key}: declared {want.get(key)}, got {got.get(key)}"
            for key in dict.fromkeys([*want, *got])
            if want.get(key) != got.get(key)
        ]
    for gone in declared["problems"].keys() - {problem.problem.id for problem in report.problems}:
        found.append(f"{gone}: declared, but the rubric has no such problem")
    if (points := rounded(report.points)) != declared["points"]:
        found.append(f"points: declared {declared['points']}, got {points}")
    return found


def declaration_of(report: Report) -> dict[str, Any]:
    """A report as a sample declares it, with all that a sample may declare."""
    problems = {}
    for one in report.problems:
        found = as_declared(one, dict.fromkeys(BESIDE_CHECKS))
        problems[one.problem.id] = {key: value for key, value in found.items() if value != ""}  # none to choose from
    return {"rubric": report.rubric.name, "points": rounded(report.points), "problems": problems}


def as_declared(result: ProblemResult, asked: Declared) -> dict[str, Any]:
    """The status of each check, with the score where a person decides (`review 2/3`); beside them, where a sample
    declares them, the points and the chosen alternative."""
    beside: dict[str, Any] = {"points": rounded(result.points), "chosen": result.chosen}
    return {key: beside[key] for key in beside if key in asked} | {
        one.check.id: f"{one.outcome.status} {one.outcome.score}"
        if one.outcome.status is Status.REVIEW
        else str(one.outcome.status)
        for one in result.checks
    }


def write_stub(gold: OpenedSubmission, folder: Path) -> None:
    """Every function raises, every heading of the answer sheet stands alone, and no other file is there."""
    for file in gold.files:
        path = Path(file)
        if path.suffix == ".py":
            text = _emptied((gold.folder / file).read_text(encoding="utf-8"))
        elif path.name == "answers.md":
            lines = (gold.folder / file).read_text(encoding="utf-8").splitlines()
            text = "\n\n".join(line for line in lines if line.startswith("#"))
        else:
            continue
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")


def _emptied(source: str) -> str:
    tree = ast.parse(source)
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    tree.body = [node for node in tree.body if isinstance(node, kept)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.body = [one for one in node.body if isinstance(one, ast.FunctionDef)] or [ast.Pass()]
        elif isinstance(node, ast.FunctionDef):
            node.body = ast.parse("raise NotImplementedError").body
    return ast.unparse(tree)
