"""Has students' code read where none of it runs: by a box that serves many submissions.

A box of the student's own would copy the pages of memory that reading touches, which takes twice as long as reading.
Its jail is that of any box. A file can at worst end it, or keep it busy until its limits end it; then that file was not
read, which is what is found of it, and the next file has a new box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import StudentFault
from grader.model import Limits
from grader.sandbox.box_endings import Asked, value_of
from grader.sandbox.channel import Question
from grader.sandbox.fork_server import ForkServer
from grader.sandbox.inside import wire
from grader.sandbox.opening import confined, opened, scratch_in
from grader.sandbox.scratch import remove

_FILES = 200  # that one box reads: in case reading leaves something behind, and its limits hold for all of them
_LIMITS = Limits()


@dataclass(frozen=True)
class Reading:
    """What reading a file tells, under the names of the box's own probes."""

    what_it_may_keep: str
    library_names: list[str] | None = None
    may_be_run_whole: bool = False

    @property
    def draws(self) -> bool:
        """Whether it may draw random numbers: only code that keeps nothing has all its names written out."""
        names = self.library_names
        return names is None or any("random" in name or name.startswith("torch") for name in names)


class Reader:
    """Reads files of one submission after the other. Forked from the server that their own boxes come from: what a name
    means depends on what is loaded."""

    def __init__(self, server: ForkServer, workspace: Path, reach: str, number: int) -> None:
        """`reach` is the folder that holds all submissions."""
        server.wait_until_ready()
        scratch = scratch_in(workspace, server, number)
        self._scratch = None if server.isolated else scratch
        confinement = confined(reach, scratch, _LIMITS)
        request = {
            "id": number,
            "seed": 0,
            "draws": False,
            "writes": True,
            "copy": False,
            "read": {},
            "confinement": confinement,
        }
        self._channel, _ = opened(server, request, _LIMITS, self._scratch)
        self._submission: object = None
        self._left = _FILES
        self.is_spent = False

    def read(self, home: str, files: Sequence[str], submission: object) -> dict[str, Reading]:
        """These files of a submission, which lies at `home`. If one keeps it from reading, only the first is tried."""
        file, *others = files
        is_another = submission is not self._submission
        asked = {"probe": "read_code", "file": file, "others": others, "home": home, "is_another": is_another}
        self._submission, self._left = submission, self._left - len(files)
        self.is_spent = self._left <= 0
        try:
            question = Question(wire.pack_question(asked), 1, file)
            (reply,) = self._channel.ask_each(question, Asked(file))
            return dict(zip(files, map(_reading, value_of(reply, Asked(file))), strict=True))
        except (StudentFault, TypeError, ValueError) as fault:
            self.is_spent = True
            return {file: Reading(type(fault).__name__)}

    def close(self) -> None:
        self._channel.close()
        if self._scratch is not None:
            remove(self._scratch)


def _reading(found: object) -> Reading:
    match found:
        case [str(kept), None, False]:
            return Reading(kept)
        case ["", list(names), bool(whole)] if all(isinstance(name, str) for name in names):
            return Reading("", names, whole)
    raise ValueError("this is no reading")
