"""What boxes are usually asked, and fork servers whose boxes hold that: these answer without having been asked.

In a class most work is asked the same questions in the same order. What two boxes running were asked is given to a
server of its own, which reads it once, so that no box has to; and judge and box no longer take turns.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.sandbox.channel import Question
from grader.sandbox.fork_server import ForkServer

_SERVERS = 4  # a job grades one rubric, and students put its files in few places
_BEGINNINGS = 16  # of which it is known what came after them
_MOST_BYTES = 32 * 2**20  # that one server holds
_Kept = TypeVar("_Kept")


@dataclass(frozen=True)
class Prepared:
    """A server, and what its boxes answer without having been asked."""

    server: ForkServer
    questions: list[Question]
    files: frozenset[str]  # whose code they ask


class UsualQuestions:
    def __init__(self) -> None:
        self._last: OrderedDict[Question, list[Question]] = OrderedDict()  # by what was asked first
        self._prepared: OrderedDict[Question, Prepared] = OrderedDict()

    def beginning_with(self, first: Question) -> Prepared | None:
        if first in self._prepared:
            self._prepared.move_to_end(first)
        return self._prepared.get(first)

    def were(self, questions: list[Question], server: ForkServer) -> None:
        """Note what a box of this server was asked. Work that is not right is asked less, or otherwise; what is usual
        stays until two boxes running are asked the same other things."""
        first, prepared = questions[0], self._prepared.get(questions[0])
        if prepared is not None and prepared.questions[: len(questions)] == questions:
            return
        if self._last.get(first) == questions and sum(len(one.frame) for one in questions) <= _MOST_BYTES:
            self._prepare(questions, server)
        self._last[first] = questions
        _shorten(self._last, _BEGINNINGS)

    def _prepare(self, questions: list[Question], server: ForkServer) -> None:
        first = questions[0]
        ended = self._prepared.pop(first, None)
        self._prepared[first] = Prepared(
            server.parted(_written(questions)), questions, frozenset(one.file for one in questions)
        )
        for one in filter(None, (ended, _shorten(self._prepared, _SERVERS))):
            one.server.hang_up()
            one.server.wait_until_ended()

    @property
    def files(self) -> list[str]:
        """Whose code is usually asked, always in the same order."""
        return sorted({file for prepared in self._prepared.values() for file in prepared.files})

    @property
    def servers(self) -> list[ForkServer]:
        return [prepared.server for prepared in self._prepared.values()]


def _shorten(kept: OrderedDict[Question, _Kept], most: int) -> _Kept | None:
    """Without what was asked for longest ago, if they are too many. Returns that."""
    return kept.popitem(last=False)[1] if len(kept) > most else None


def _written(questions: Sequence[Question]) -> int:
    """A file in memory that holds their frames."""
    file = os.memfd_create("questions")
    with os.fdopen(os.dup(file), "wb") as stream:
        stream.writelines(question.frame for question in questions)
    os.lseek(file, 0, os.SEEK_SET)
    return file
