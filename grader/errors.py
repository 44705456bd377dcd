"""What can go wrong, by who reads it. The two roots share no base, so neither can be caught for the other."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Self

from grader.model import Status
from grader.quoting import quote


def cause_for_staff(fault: Exception, judging: Callable[..., object] | None = None) -> str:
    """A fault of our own in one line: what was raised, and where. Of a check, also the line of its own file: what it
    calls may raise far from there."""
    frames = traceback.extract_tb(fault.__traceback__)
    last = (frames[-1].filename, frames[-1].lineno)
    places = [f"{Path(last[0]).name}:{last[1]}"]
    code = getattr(inspect.unwrap(judging), "__code__", None) if judging is not None else None
    if code is not None:
        own = [frame.lineno for frame in frames if frame.filename == code.co_filename]
        line = own[-1] if own else code.co_firstlineno  # it broke off after the check had returned
        elsewhere = places if (code.co_filename, line) != last else []
        places = [f"{shortest(Path(code.co_filename))}:{line}", *elsewhere]
    return f"{type(fault).__name__}: {quote(str(fault))} ({', in '.join(places)})"


def shortest(path: Path) -> str:
    """A path as one would type it here: relative, unless that is longer."""
    try:
        return min(str(path), os.path.relpath(path), key=len)
    except (OSError, ValueError):  # from a folder that is gone, or on Windows from another drive
        return str(path)


class StudentFault(Exception):
    """Something in the submission. The student reads `message`.

    `detail` may quote the student's own words or show values; a hidden check keeps it back. There, `concealed` stands
    in place of the message where that says anything the student's code can choose. `code` names the reason; a class has
    one for what is raised without.
    """

    status = Status.CRASHED
    code = "crashed"
    conceals = ""  # what a hidden check says in place of any message

    def __init__(self, message: str, detail: str = "", concealed: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.concealed = concealed or self.conceals or message
        self.code = code or type(self).code

    def given(self, inputs: str) -> Self:
        """Itself, with the kind of input that the student's code was given."""
        self.message, self.concealed = f"{self.message} ({inputs})", f"{self.concealed} ({inputs})"
        return self

    @property
    def concealed_code(self) -> str:
        """The code where the message is shown; where that is concealed, no more than the class says."""
        return self.code if self.concealed == self.message else type(self).code


class Crashed(StudentFault):
    """The student's code raised, ended its process or hit a limit.

    The code chooses how: which exception, in which line. So a hidden check says no more than that it crashed, unless
    whoever raises this gives `concealed`.
    """

    conceals = "the code crashed"

    @property
    def concealed_code(self) -> str:
        return type(self).code


class NotImportable(Crashed):
    """Its file cannot be imported: nothing of it ran, so the inputs are beside the point."""

    code = "not_importable"


class TimedOut(Crashed):
    """It hit a limit of time. A busy machine can do that too, so it is tried once more before it counts."""

    code = "timed_out"


class Killed(Crashed):
    """Something ended it from outside: the kernel, short of memory, or a person. Tried once more before it counts."""

    code = "killed"

    @property
    def concealed_code(self) -> str:  # code can send itself that signal, or end in another way
        return Crashed.code


class Missing(StudentFault):
    """What the check needs was not handed in."""

    status = Status.MISSING
    code = "missing"


class WrongKind(StudentFault):
    """The student's code returned, but not the kind of thing that was asked for."""

    status = Status.FAILED
    code = "wrong_kind"


class Ambiguous(StudentFault):
    """Two things fit, and picking one silently would be unfair: a person decides. `paths`: which, if files."""

    status = Status.REVIEW
    code = "ambiguous"

    def __init__(self, message: str, *, paths: tuple[str, ...] = (), code: str = "") -> None:
        super().__init__(message, code=code)
        self.paths = paths


class ForAPerson(StudentFault):
    """It is there, but no machine can read it, or not surely enough."""

    status = Status.REVIEW
    code = "unreadable"


class StaffFault(Exception):
    """Something on our side of the desk: a TA, an author or the grader itself can act on it."""


class UsageError(StaffFault):
    """The command cannot be carried out as given."""


class RubricError(StaffFault):
    """A rubric is wrong; each problem is one line, `file:line: cause; fix`."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class BoxRefused(StaffFault):
    """No box could be made that is fit for student code, so none was run."""


class BoxUnsafe(BoxRefused):
    """A box could be made, but not all of its required layers; `--unsafe` would run one's own code in it."""


class BoxLost(StaffFault):
    """The fork server went away under a box. Not the student's doing: the check is run again."""
