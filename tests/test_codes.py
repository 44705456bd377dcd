"""Whatever does not pass says why by a code: tests, groups and programs that read reports rely on no wording."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from grader import errors
from grader.errors import Killed, NotImportable, StudentFault, TimedOut
from grader.model import Status
from tests.conftest import REPOSITORY, RUBRIC_CODE

FILES = [*sorted((REPOSITORY / "grader").rglob("*.py")), *RUBRIC_CODE]
FAULTS = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, StudentFault)}
SPECIFIC = {one.__name__ for one in (NotImportable, TimedOut, Killed)}  # the class says why
FACTORIES = {
    "grader.errors": FAULTS - SPECIFIC,
    "grader.model": {"Outcome", "failed", "needs_review", "scored"},
    "grader.formulas.provers.verdicts": {"Verdict", "partly", "undecided", "wrong"},
}
FACTORIES["grader"] = FACTORIES["grader.errors"] | FACTORIES["grader.model"]  # its public interface
FACTORIES["grader.formulas"] = FACTORIES["grader.formulas.provers.verdicts"]
CODE = re.compile(r"[a-z]+(_[a-z0-9]+){0,4}")


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Where an outcome, a verdict or a fault is made. By import, because other things have such names, too."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in FACTORIES.get(node.module or "", ())
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported:
            yield node


def _names_a_code(call: ast.Call) -> bool:
    passes = bool(call.args) and ast.unparse(call.args[0]) == "Status.PASSED"
    return passes or any(keyword.arg == "code" for keyword in call.keywords)


def _literals(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(code)):
            yield code
        case ast.IfExp(body=one, orelse=other):
            yield from (*_literals(one), *_literals(other))


@cache
def _made() -> list[tuple[Path, ast.Call]]:
    trees = [(path.relative_to(REPOSITORY), ast.parse(path.read_text(encoding="utf-8"))) for path in FILES]
    return [(path, call) for path, tree in trees for call in _calls(tree)]


def test_what_does_not_pass_names_a_code() -> None:
    assert len(_made()) > 200
    without = [f"{path}:{call.lineno}: {ast.unparse(call)[:80]}" for path, call in _made() if not _names_a_code(call)]
    assert not without


def test_a_code_is_a_few_words_and_says_more_than_the_status() -> None:
    written = {
        code
        for _, call in _made()
        for keyword in call.keywords
        if keyword.arg == "code"
        for code in _literals(keyword.value)
    }
    assert len(written) > 80
    assert not [code for code in sorted(written) if not CODE.fullmatch(code)]
    assert not written & set(Status)
