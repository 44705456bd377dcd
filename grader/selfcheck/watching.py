"""`grader check --watch`: looks at the files now and then, and checks again what a change can have changed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.errors import StaffFault, StudentFault
from grader.model import Problem, ProblemResult, is_code
from grader.rubric.choosing import only
from grader.selfcheck.checking import check_own_work, libraries_of
from grader.selfcheck.code_needed import code_needed
from grader.selfcheck.own_runner import OwnRunner, own_runner
from grader.selfcheck.own_work import Order, OwnWork, open_own_work
from grader.selfcheck.showing import TerminalListener
from grader.submission.alternatives import sheet_of
from grader.submission.opening import OpenedSubmission

_LOOK_SECONDS = 0.3
_SHEETS = "answers."


def watch_own_work(order: Order, console: Console, wait: Callable[[Path], None] | None = None) -> None:
    """Until Ctrl-C. `wait` returns when something was saved."""
    wait = wait or Changes(order.path).wait
    memory = Memory()
    with ExitStack() as stack:
        runner: OwnRunner | None = None
        try:
            while True:
                console.clear()
                try:
                    with open_own_work(order.path, order.rubric, order.data) as work:
                        if runner is None:  # kept warm: torch is loaded once
                            libraries = libraries_of(only(work.rubric, list(order.parts)))
                            runner = stack.enter_context(own_runner(libraries))
                        memory.look_at(work)
                        report = check_own_work(work, order.parts, runner, TerminalListener(console), memory.standing)
                        memory.keep(report.problems)
                except StaffFault as fault:  # half a file was saved, say: the next save may mend it
                    console.print(Text(f"grader: {fault}"))
                console.print(Text(f"\nWatching {order.path}: save a file to check again, Ctrl-C ends", style="dim"))
                wait(order.path)
        except KeyboardInterrupt:
            console.print()


class Changes:
    """Sizes and times of files, looked at now and then: works on every file system, and needs nothing installed."""

    def __init__(self, path: Path) -> None:
        self._seen = _times(path)

    def wait(self, path: Path) -> None:
        while (now := _times(path)) == self._seen:
            time.sleep(_LOOK_SECONDS)
        while (settled := _times(path)) != now:  # an editor that is still writing
            now = settled
            time.sleep(_LOOK_SECONDS)
        self._seen = now


def _times(path: Path) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    waiting = [str(path)]
    while waiting:
        here = waiting.pop()
        try:
            if os.path.isdir(here):
                with os.scandir(here) as entries:
                    waiting += [one.path for one in entries if not one.name.startswith((".", "__pycache__"))]
            else:
                state = os.stat(here)
                found[here] = (state.st_mtime_ns, state.st_size)
        except OSError:  # it went away while we looked
            continue
    return found


class Memory:
    """Results of the last check, each with what it was reached from: it stands as long as that is the same."""

    def __init__(self) -> None:
        self._results: dict[str, tuple[str, ProblemResult]] = {}
        self._bases: dict[str, str] = {}

    def look_at(self, work: OwnWork) -> None:
        self._bases = {problem.id: _basis(problem, work) for problem in work.rubric.problems}

    def standing(self, problem: Problem) -> ProblemResult | None:
        basis, result = self._results.get(problem.id, ("", None))
        return result if basis == self._bases[problem.id] else None

    def keep(self, results: Iterable[ProblemResult]) -> None:
        for result in results:
            self._results[result.problem.id] = (self._bases[result.problem.id], result)


def _basis(problem: Problem, work: OwnWork) -> str:
    """A digest of everything the problem's results can depend on."""
    submission = work.submission.for_rubric(work.rubric)
    digest = hashlib.sha256(f"{work.whole.sha256}{submission.places}".encode())
    asked = {file for check in problem.every_check for file in check.files}
    asked |= {file for one in problem.alternatives for file in (*one.files, *one.beside)}
    if asked:
        for file in sorted(_files_behind(asked, submission)):
            digest.update(f"\0{file}\0".encode())
            digest.update((submission.folder / file).read_bytes())
    else:
        try:
            answers = sheet_of(submission, work.rubric)
            digest.update(repr(answers.parts.get(problem.id)).encode())
        except StudentFault as fault:
            digest.update(fault.message.encode())
    return digest.hexdigest()


def _files_behind(asked: set[str], submission: OpenedSubmission) -> set[str]:
    """Code with what it imports, and everything that is no code and no answer sheet: code may open it."""
    found = {file for file in submission.files if not is_code(file) and not _is_sheet(file)}
    for file in asked:
        try:
            place = submission.find(file)
        except StudentFault:
            found.update(path for path in submission.files if path.endswith(f"/{file}") or path == file)
            continue
        found |= code_needed(place, submission.folder, submission.files)
    return found


def _is_sheet(file: str) -> bool:
    return file.rpartition("/")[2].startswith(_SHEETS)
