"""Questions to a student's code, the same for whatever runs it: which file, which function, and what came back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from grader.errors import StudentFault
from grader.kept_question import KeptQuestion
from grader.model import Submission
from grader.sandbox import box_endings
from grader.sandbox.box_endings import Asked
from grader.sandbox.inside import wire
from grader.sandbox.inside.student_machine import asks_for_a_device

Request = Mapping[str, Any]


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and (one == other or one != one)


class Asking(ABC):
    def __init__(self, submission: Submission) -> None:
        self._submission = submission
        self.lacked_a_gpu = False
        self._stands_in_for_a_gpu = False
        self._begins = False
        self._first: tuple[str, str, Request, Any] | None = None  # what was asked first, and what came back
        self._folder: PurePath | None = None  # of the file that was asked last

    def begin_check(self) -> None:
        self._begins = True

    def answers_alike(self) -> bool:
        """Whether what was asked first is answered as it was then."""
        if self._first is None:
            return True
        probe, file, request, answered = self._first
        self.begin_check()
        return _alike(self.probe(probe, file, **request), answered)

    def suits(self, file: str) -> bool:
        """Code from another folder might find modules here that it finds nowhere else; code that does not ask for a
        GPU might find a stand-in for one."""
        try:
            folder = PurePath(self._submission.find(file)).parent
            would_find_one = self._stands_in_for_a_gpu and not asks_for_a_device(self._submission.read(file))
        except StudentFault:
            return False
        return folder == self._folder and not self.lacked_a_gpu and not would_find_one

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        return self.probe("call", file, function=function, args=list(args), kwargs=kwargs)

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        return next(self.probe_each(probe, file, [request]))

    def probe_each(self, probe: str, file: str, requests: Sequence[Request]) -> Iterator[Any]:
        place, first = self._submission.find(file), requests[0]
        asked = Asked(place, str(first.get("function") or first.get("name") or ""), self._submission.folder)
        begins, self._begins, self._folder = self._begins, False, PurePath(place).parent
        frames = [packed(probe, place, request, begins and request is first) for request in requests]
        for reply in self._replies(frames, asked):
            self.lacked_a_gpu |= isinstance(reply, dict) and reply.get("lacked_a_gpu") is True
            self._stands_in_for_a_gpu |= isinstance(reply, dict) and reply.get("stands_in_for_a_gpu") is True
            value = box_endings.value_of(reply, asked)
            self._first = self._first or (probe, file, first, value)
            yield value

    @abstractmethod
    def _replies(self, frames: list[bytes], asked: Asked) -> Iterable[Any]:
        """What comes back for each request, in order."""


_PLACES = 8  # where students put a file


def packed(probe: str, place: str, request: Request, begins: bool) -> bytes:
    """What is sent for a request; of one that is asked of many submissions it is kept."""
    key = (probe, place, begins)
    if isinstance(request, KeptQuestion) and key in request.frames:
        return request.frames[key]
    frame = wire.pack_question({"probe": probe, "file": place, **request, **({"begins": True} if begins else {})})
    if isinstance(request, KeptQuestion):
        if len(request.frames) >= _PLACES:
            request.frames.clear()
        request.frames[key] = frame
    return frame
