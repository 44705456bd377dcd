"""Questions to a student's code, the same for whatever runs it: which file, which function, and what came back."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from grader.errors import StudentFault
from grader.kept_question import Answers, KeptQuestion, KeptQuestions
from grader.model import Submission
from grader.sandbox import box_endings
from grader.sandbox.box_endings import Asked
from grader.sandbox.inside import wire
from grader.sandbox.inside.array_answers import ArrayAnswers
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
        self._begins = self._has_begun = False
        self._first: tuple[str, str, Request, Any] | None = None  # what was asked first, and what came back
        self._folder: str | None = None  # of the file that was asked last
        self.asks_together = True  # what a check asks in one go is sent, and answered, as one
        self.may_be_asked_ahead = self.was_asked_ahead = self.does_less = False
        self.lost_answers = False
        self.in_common: dict[str, Any] = {}

    @property
    def is_spoiled(self) -> bool:
        return False

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
            folder = os.path.dirname(self._submission.find(file))
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
        begins, self._begins, self._folder = self._begins, False, os.path.dirname(place)
        self._has_begun = begins
        if isinstance(requests, KeptQuestions) and self.asks_together:
            frame = packed(probe, place, requests, begins)
        else:
            frame = b"".join([packed(probe, place, one, begins and one is first) for one in requests])
        return _Answers(self, self._replies(frame, len(requests), asked), len(requests), asked, (probe, file, first))

    def note(self, reply: Any, answered: tuple[str, str, Request], asked: Asked) -> Any:
        """The value in a reply; the first of all is remembered."""
        if type(reply) is dict and len(reply) == 1 and "value" in reply:  # most are nothing else
            value = reply["value"]
        else:
            self.lacked_a_gpu |= isinstance(reply, dict) and reply.get("lacked_a_gpu") is True
            self._stands_in_for_a_gpu |= isinstance(reply, dict) and reply.get("stands_in_for_a_gpu") is True
            value = box_endings.value_of(reply, asked)
        self._first = self._first or (*answered, value)
        return value

    @abstractmethod
    def _replies(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        """What comes back for so many requests, in order; some may come together."""


class _Answers(Answers):
    """The values of replies, one by one or all at once."""

    def __init__(
        self, box: Asking, replies: Iterator[Any], count: int, asked: Asked, answered: tuple[str, str, Request]
    ) -> None:
        self._box, self._replies, self._count, self._asked, self._answered = box, replies, count, asked, answered
        self._arrays: Iterator[Any] = iter(())  # of a reply that holds several

    def __next__(self) -> Any:
        for array in self._arrays:
            return self._box.note({"value": array}, self._answered, self._asked)
        reply = self._next_reply()
        if not isinstance(reply, ArrayAnswers):
            return self._box.note(reply, self._answered, self._asked)
        self._arrays = iter(reply)
        return next(self)

    def together(self) -> ArrayAnswers | None:
        reply = self._next_reply()
        if not isinstance(reply, ArrayAnswers):
            self._replies = chain([reply], self._replies)
            return None
        self._arrays = iter(reply)
        self._box.note({"value": reply[0]}, self._answered, self._asked)
        return reply if len(reply) == self._count else None

    def _next_reply(self) -> Any:
        try:
            return next(self._replies)
        except StudentFault:  # the box has ended, and with it went what it had answered before that
            self._box.lost_answers = self._box.asks_together and self._count > 1
            raise


_PLACES = 8  # where students put a file


def packed(probe: str, place: str, request: Request | KeptQuestions, begins: bool) -> bytes:
    """What is sent for a request, or for several; of what is asked of many submissions it is kept."""
    key = (probe, place, begins)
    if isinstance(request, KeptQuestion | KeptQuestions) and key in request.frames:
        return request.frames[key]
    content = {"each": [dict(one) for one in request]} if isinstance(request, KeptQuestions) else request
    frame = wire.pack_question({"probe": probe, "file": place, **content, **({"begins": True} if begins else {})})
    if isinstance(request, KeptQuestion | KeptQuestions):
        if len(request.frames) >= _PLACES:
            request.frames.clear()
        request.frames[key] = frame
    return frame
