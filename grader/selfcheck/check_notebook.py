"""`check_notebook()`: the self-check from within a notebook, of the notebook's own saved file."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from grader.errors import RubricError, StaffFault, UsageError
from grader.model import Rubric
from grader.rubric.choosing import only
from grader.selfcheck.checking import check_own_work, libraries_of
from grader.selfcheck.own_runner import own_runner
from grader.selfcheck.own_work import OwnWork, open_own_work
from grader.selfcheck.showing import TerminalListener
from grader.submission.notebooks.notebook_cells import UnreadableNotebook, read_notebook

_WIDTH = 100  # of a notebook's output


def check_notebook(part: str | None = None, *, notebook: str | None = None, rubric: str | None = None) -> None:
    """Check this notebook: one part ("2.1") or all it holds. Prints what was found; faults are one line."""
    try:
        _check(part, notebook, rubric)
    except RubricError as error:
        print("\n".join(error.problems))
    except StaffFault as error:
        print(f"grader: {error}")


def _check(part: str | None, notebook: str | None, rubric: str | None) -> None:
    session = _session()
    path = _own_path(session, notebook)
    _refuse_unsaved(path, session)
    with open_own_work(path, rubric) as work:
        parts = (part,) if part else _parts_held(work)
        with own_runner(libraries_of(only(work.rubric, list(parts)))) as runner:
            check_own_work(work, parts, runner, TerminalListener(Console(width=_WIDTH, file=sys.stdout)))


def _session() -> Mapping[str, Any]:
    """The names in the running notebook; none outside one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell.user_ns if shell is not None else {}


def _own_path(session: Mapping[str, Any], named: str | None) -> Path:
    """Jupyter and VS Code say which file this is, each in its own way; else it may be the only one here."""
    told = named or session.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    if told:
        path = Path(str(told))
        path = path if path.exists() else Path(path.name)  # Jupyter's is seen from the server's folder
        if path.is_file():
            return path
        raise UsageError(f"{told} is not there: save the notebook first, then run this cell again")
    found = sorted(path for path in Path().glob("*.ipynb") if path.is_file())
    if len(found) == 1:
        return found[0]
    names = f"here are {', '.join(str(one) for one in found)}" if found else "none is saved in this folder"
    raise UsageError(f"it is not clear which notebook this is ({names}); say check_notebook(notebook='NAME.ipynb')")


def _refuse_unsaved(path: Path, session: Mapping[str, Any]) -> None:
    """Refuse a file that lacks what was run last for some name: it is older than what the student sees."""
    try:
        saved = {cell.source.strip() for cell in read_notebook(path.parent, path.name).cells}
    except UnreadableNotebook as error:
        raise UsageError(f"{path.name} cannot be read as a notebook: it is {error}") from None
    seen: set[str] = set()
    for source in reversed([str(one) for one in session.get("In", ())]):
        names = set(_defined(source)) - seen
        seen |= names
        if names and source.strip() not in saved:
            what = ", ".join(sorted(names)[:3])
            raise UsageError(
                f"{path.name} is not saved: {what} differs from what you ran; save it, then run this again"
            )


def _defined(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # magics: they define nothing that is handed in
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _parts_held(work: OwnWork) -> tuple[str, ...]:
    """The problems for whose files the notebook defines something."""
    rubric: Rubric = work.rubric
    holding = {file for file, parts in work.submission.for_rubric(rubric).parts.items() if parts}
    found = []
    for problem in rubric.problems:
        files = {file for check in problem.every_check for file in check.files}
        files |= {file for one in problem.alternatives for file in one.files}
        if files & holding:
            found.append(problem.id)
    if not found:
        asked = ", ".join(sorted({name for names in rubric.definitions.values() for name in names})[:6])
        raise UsageError(f"{work.submission.name} defines nothing that {rubric.name} asks for, such as {asked}")
    return tuple(found)
