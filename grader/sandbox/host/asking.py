"""Questions to a student's code, the same for whatever runs it: which file, which function, and what came back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from grader import plugins
from grader.model import Probe, Submission
from grader.sandbox.box import wire
from grader.sandbox.host import fault_messages
from grader.sandbox.host.channel import Channel
from grader.sandbox.host.fault_messages import Asked

Request = Mapping[str, Any]


class Asking(ABC):
    """One running sandbox: each question is a frame of requests to a probe, and each request gets a reply."""

    def __init__(self, submission: Submission) -> None:
        self._submission = submission
        self._begins = False
        self._sent: set[str] = set()  # modules of probes that the sandbox has
        self.lacked_a_gpu = False

    def begin_check(self) -> None:
        self._begins = True

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        return self.probe("call", file, function=function, args=list(args), kwargs=kwargs)

    def probe(self, probe: str | Probe, file: str, /, **request: Any) -> Any:
        return next(self.probe_each(probe, file, [request]))

    def probe_each(self, probe: str | Probe, file: str, requests: Sequence[Request]) -> Iterator[Any]:
        place, first = self._submission.find(file), requests[0]
        asked = Asked(place, str(first.get("function") or first.get("name") or ""), self._submission.folder)
        each = [{name: value for name, value in one.items() if name != "through"} for one in requests]
        question = {"file": place, "begins": self._begins, "each": each}
        question |= {"probe": probe} if isinstance(probe, str) else {}
        own = first.get("through") if isinstance(probe, str) else probe  # an adapter, or a probe
        if own is not None:
            module, code = plugins.probe_module(own)
            question |= {"own": own.__name__, "module": module, "code": b"" if module in self._sent else code}
            self._sent.add(module)
        self._begins = False
        replies = self._replies(wire.pack_question(question), len(requests), asked)
        return (self._value(reply, asked) for reply in replies)

    def _value(self, reply: Any, asked: Asked) -> Any:
        self.lacked_a_gpu |= isinstance(reply, dict) and reply.get("lacked_a_gpu") is True
        return fault_messages.value_of(reply, asked)

    @abstractmethod
    def _replies(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        """What comes back for so many requests, in order."""


class ForkedBox(Asking):
    """One running sandbox, forked from a warm process at the first question."""

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
