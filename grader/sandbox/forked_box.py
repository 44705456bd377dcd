"""One student's code in one box, forked from a warm process at the first question."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import BoxLost, Killed
from grader.model import Limits, Submission
from grader.sandbox.asking import Asking, Request
from grader.sandbox.box_endings import Asked
from grader.sandbox.channel import Channel, Question
from grader.sandbox.fork_server import ForkServer
from grader.sandbox.opening import confined, opened, scratch_in
from grader.sandbox.scratch import remove
from grader.sandbox.usual_questions import Prepared

if TYPE_CHECKING:
    from grader.sandbox.runner import BoxRunner

_COPIED_MB = 32  # submissions up to this size are copied into each box's scratch folder, to be written into
_READ = ("what_it_may_keep", "library_names")  # what reading alone tells: no box of the student's own is asked


class ForkedBox(Asking):
    """One student's code in one box. Forked at the first question."""

    def __init__(self, runner: BoxRunner, number: int, submission: Submission, limits: Limits, seed: int) -> None:
        super().__init__(submission)
        self._runner = runner
        self._number = number
        self._limits = limits
        self._seed = seed
        self._channel: Channel | None = None
        self._server: ForkServer | None = None
        self._scratch: Path | None = None  # where the grader has to clear up
        self._questions: list[Question] = []
        self._unseeded: frozenset[str] | None = None  # files whose code draws nothing, where nothing is seeded

    def probe_each(self, probe: str, file: str, requests: Sequence[Request]) -> Iterator[Any]:
        if probe not in _READ:
            return super().probe_each(probe, file, requests)
        reading = self._runner.read(self._submission, self._submission.find(file))
        return iter([getattr(reading, probe)])

    def _replies(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        question = Question(frame, count, asked.file, self._has_begun)
        if self._channel is None:
            self._channel = self._open(question)
        elif self._unseeded is not None and asked.file not in self._unseeded and self._draws(asked.file):
            self._channel.is_spoiled = True
            raise Killed(f"{asked} draws random numbers, and its box was made for code that draws none")
        self._questions.append(question)
        return self._channel.ask_each(question, asked)

    @property
    def is_spoiled(self) -> bool:
        return self._channel is not None and self._channel.is_spoiled

    @property
    def printed(self) -> str:
        return self._channel.what_it_printed() if self._channel else ""

    def suits(self, file: str) -> bool:
        if not super().suits(file):
            return False
        return self._runner.server_for(self._submission, self._submission.find(file)) is self._server

    def _open(self, first: Question) -> Channel:
        self._runner.within_reach(self._submission)  # before anything is known of it: what was is forgotten
        server = self._server = self._runner.server_for(self._submission, first.file)
        prepared = self._prepared_for(first, server)
        self.was_asked_ahead = prepared is not None
        self.does_less |= self.was_asked_ahead
        files = prepared.files if prepared else frozenset(self._runner.found_by_reading(self._submission))
        # Who keeps nothing cannot look at dates.
        place = self._runner.within_reach if self.does_less else self._runner.looks_new
        opening = prepared.server if prepared else server
        opening.wait_until_ready()
        scratch = scratch_in(self._runner.workspace, opening, self._number)
        self._scratch = None if opening.isolated else scratch
        request = {
            "id": self._number,
            "seed": self._seed,
            "draws": not self.does_less or any(map(self._draws, files)),
            "writes": not self.does_less,
            "copy": not self.does_less and self._submission.size_bytes <= _COPIED_MB * 2**20,
            "read": self._runner.found_by_reading(self._submission),
            "confinement": confined(place(self._submission), scratch, self._limits),
        }
        self._unseeded = None if request["draws"] else files
        channel, layers = opened(opening, request, self._limits, self._scratch)
        self._runner.saw_layers(layers)
        if prepared is not None:
            channel.expect(prepared.questions)
        return channel

    def _prepared_for(self, first: Question, server: ForkServer) -> Prepared | None:
        """A server whose boxes hold what this one will most likely be asked. Only code that is known by reading to keep
        nothing is run there: other code could look for what it will be asked."""
        if not self.may_be_asked_ahead:
            return None
        prepared = self._runner.usual.beginning_with(first)
        if prepared is None or self._runner.may_want_a_gpu(self._submission, server):
            return None  # all later answers would tell of a GPU, and nobody could say which question's code wanted it
        return prepared if all(self._keeps_nothing(file, server) for file in prepared.files) else None

    def _draws(self, file: str) -> bool:
        return self._runner.read(self._submission, file).draws

    def _keeps_nothing(self, file: str, server: ForkServer) -> bool:
        if not (self._submission.folder / file).is_file():  # where others have one
            return False
        if self._runner.server_for(self._submission, file) is not server:
            return False
        return not self._runner.read(self._submission, file).what_it_may_keep

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self.may_be_asked_ahead and self._questions and self._server is not None:
            with contextlib.suppress(BoxLost):  # all is graded: who opens the next box is told
                self._runner.usual.were(self._questions, self._server)
        if self._scratch is not None:
            remove(self._scratch)
