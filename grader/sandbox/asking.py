"""Questions to a student's code, the same for whatever runs it: which file, which function, and what came back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grader.model import Submission
from grader.sandbox import box_endings
from grader.sandbox.box_endings import Asked

Request = Mapping[str, Any]


class Asking(ABC):
    def __init__(self, submission: Submission) -> None:
        self._submission = submission
        self.lacked_a_gpu = False

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        return self.probe("call", file, function=function, args=list(args), kwargs=kwargs)

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        return next(self.probe_each(probe, file, [request]))

    def probe_each(self, probe: str, file: str, requests: Sequence[Request]) -> Iterator[Any]:
        place, first = self._submission.find(file), requests[0]
        asked = Asked(place, str(first.get("function") or first.get("name") or ""), self._submission.folder)
        for reply in self._replies([{"probe": probe, "file": place, **request} for request in requests], asked):
            self.lacked_a_gpu |= isinstance(reply, dict) and reply.get("lacked_a_gpu") is True
            yield box_endings.value_of(reply, asked)

    @abstractmethod
    def _replies(self, requests: list[dict[str, Any]], asked: Asked) -> Iterable[Any]:
        """What comes back for each request, in order."""
