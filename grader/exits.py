"""How a command ends: an exit code and, where something is wrong, one line that says what."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from grader.errors import BoxUnsafe, RubricError, StaffFault, cause_for_staff
from grader.quoting import quote

EXIT_BELOW, EXIT_USAGE, EXIT_UNGRADED = 1, 2, 3


@contextmanager
def faults_in_one_line() -> Iterator[None]:
    try:
        yield
    except RubricError as error:
        for line in error.problems:
            print(line, file=sys.stderr)
        raise typer.Exit(EXIT_USAGE) from None
    except BoxUnsafe as error:
        print(f"grader: {error}; `grader doctor` says more, --unsafe runs your own code all the same", file=sys.stderr)
        raise typer.Exit(EXIT_USAGE) from None
    except StaffFault as error:
        print(f"grader: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_USAGE) from None
    except KeyboardInterrupt:
        print("grader: stopped", file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def ungraded_in_one_line(submission: Path) -> Iterator[None]:
    """What the grader stumbles over while it opens or grades one submission is told as that, with its place."""
    try:
        yield
    except (StaffFault, typer.Exit):
        raise
    except Exception as fault:
        said = f"{quote(str(submission))} is ungraded; the fault is the grader's: {cause_for_staff(fault)}"
        print(f"grader: {said}", file=sys.stderr)
        raise typer.Exit(EXIT_UNGRADED) from None
