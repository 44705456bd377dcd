"""One student's code in one sandbox, forked from a warm process at the first question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from grader.model import Submission
from grader.sandbox.host.asking import Asking
from grader.sandbox.host.channel import Channel
from grader.sandbox.host.fault_messages import Asked


class ForkedBox(Asking):
    def __init__(self, submission: Submission, fork: Callable[[str], Channel]) -> None:
        """`fork` makes the sandbox: which process it is forked from depends on the first file that is asked."""
        super().__init__(submission)
        self._fork = fork
        self._channel: Channel | None = None

    def _replies(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        if self._channel is None:
            self._channel = self._fork(asked.file)
        return self._channel.ask_each(frame, count, asked)

    @property
    def printed(self) -> str:
        return self._channel.what_it_printed() if self._channel else ""

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
