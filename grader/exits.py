"""How a command ends: an exit code and, where something is wrong, one line that says what."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from grader.errors import BoxUnsafe, RubricError, StaffFault, UsageError, cause_for_staff
from grader.model import Report, Status
from grader.quoting import quote

EXIT_BELOW, EXIT_USAGE, EXIT_UNGRADED, EXIT_STOPPED = 1, 2, 3, 130


def exit_code(report: Report, fail_under: float | None) -> int:
    if any(problem.status is Status.UNGRADED for problem in report.problems):
        return EXIT_UNGRADED
    return EXIT_BELOW if fail_under is not None and report.points < fail_under else 0


def private(path: str, flags: int) -> int:
    """For `open`: a new file is for its owner alone, since grades are not for other users of the machine."""
    return os.open(path, flags, 0o600)


def write_text(file: str, text: str, what: str) -> None:
    try:
        with open(file, "w", encoding="utf-8", opener=private) as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{file}: {what} cannot be written: {error.strerror}") from None


@contextmanager
def faults_in_one_line() -> Iterator[None]:
    try:
        yield
    except StaffFault as fault:
        advice = "; `grader doctor` says more, --unsafe runs your own code all the same"
        line = f"grader: {fault}{advice if isinstance(fault, BoxUnsafe) else ''}"
        print(fault if isinstance(fault, RubricError) else line, file=sys.stderr)
        raise typer.Exit(EXIT_USAGE) from None
    except KeyboardInterrupt:
        print("grader: stopped", file=sys.stderr)
        raise typer.Exit(EXIT_STOPPED) from None


@contextmanager
def extra_needed(extra: str, what: str) -> Iterator[None]:
    """Around imports of what only some installations have."""
    try:
        yield
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name == "grader":
            raise
        raise UsageError(f"{what} needs {name}: pip install 'attention-grader[{extra}]'") from None


@contextmanager
def ungraded_in_one_line(submission: Path) -> Iterator[None]:
    """A fault of the grader's own, while it opens or grades one submission, ends in one line with its place."""
    try:
        yield
    except (StaffFault, typer.Exit):
        raise
    except Exception as fault:
        said = f"{quote(str(submission))} is ungraded; the fault is the grader's: {cause_for_staff(fault)}"
        print(f"grader: {said}", file=sys.stderr)
        raise typer.Exit(EXIT_UNGRADED) from None
