"""How a command ends: an exit code and, where something is wrong, one line that says what."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from grader.errors import BoxUnsafe, RubricError, StaffFault

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
