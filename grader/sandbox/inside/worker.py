"""The box at work: read a request, run its probe, answer with values; until the grader hangs up."""

from __future__ import annotations

import os
import random
import sys
from typing import Any

import numpy as np

from . import kept_modules, own_source, purity, script_files, student_code, student_machine, whole_files, wire
from .array_answers import MAX_TOGETHER_BYTES, TakenDown
from .calls import WrongSignature
from .probes import PROBES, Probe, latest
from .student_code import Absent, ImportFailed, describe

_seeded: list[int] = []
_pattern_caches: list[Any] = []  # of einops


def seed(number: int) -> None:
    """Students' own random numbers are the same in every run."""
    _seeded[:] = [number]
    _begin_anew(number)


def seed_nothing() -> None:
    """For code that draws no random numbers: to seed takes longer than most answers."""
    _seeded.clear()


def _begin_anew(number: int) -> None:
    random.seed(number)
    np.random.seed(number % 2**32)
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.manual_seed(number)  # torch.manual_seed also looks for devices: 3 ms per box


def _forget_patterns() -> None:
    """Which patterns einops has seen decides, in odd cases, whether it takes one."""
    if not _pattern_caches and (einops := sys.modules.get("einops.einops")) is not None:
        _pattern_caches.extend(one for one in vars(einops).values() if hasattr(one, "cache_clear"))
    for function in _pattern_caches:
        function.cache_clear()


def forget(home: str, path: list[str]) -> None:
    """Everything that came from the submission that was at home there, and what was put on Python's path since."""
    theirs = set(map(id, student_code.loaded.values()))
    for name, module in list(sys.modules.items()):
        if id(module) in theirs or (home and str(getattr(module, "__file__", None) or "").startswith(home)):
            del sys.modules[name]
    student_code.forget()
    purity.forget()
    kept_modules.forget()
    script_files.placed.clear()
    own_source.forget()
    whole_files.forget()
    latest.clear()
    sys.path[:] = path
    for folder in [one for one in sys.path_importer_cache if home and one.startswith(home)]:
        del sys.path_importer_cache[folder]


def serve(descriptor: int, ahead: list[dict[str, Any]]) -> None:
    """Those that were there before the box was are answered from as deep a stack as others."""
    respond(descriptor, *ahead)
    while (request := wire.read_question(descriptor)) is not None:
        respond(descriptor, request)


def respond_to_all(descriptor: int, requests: list[dict[str, Any]]) -> None:
    """Answer requests that were there before the box was, in as few writes as may be: each wakes the grader."""
    outbox = _Outbox(descriptor)
    for request in requests:
        _respond(outbox, request)
    outbox.empty()


def respond(descriptor: int, *requests: dict[str, Any]) -> None:
    """Answer requests, or each of several that came in one."""
    respond_to_all(descriptor, list(requests))


def send(descriptor: int, reply: dict[str, Any]) -> None:
    outbox = _Outbox(descriptor)
    outbox.put(_packed(reply))
    outbox.empty()


class _Outbox:
    """Answers that wait to be written, each as it was when it was given: the next call may change it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = bytearray()

    def put(self, buffers: list[wire.Bytes]) -> None:
        self._waiting += b"".join(buffers)
        if len(self._waiting) > MAX_TOGETHER_BYTES:
            self.empty()

    def empty(self) -> None:
        _flush()  # what the code printed comes before its answers
        view = memoryview(self._waiting)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._waiting = bytearray()


def _respond(outbox: _Outbox, request: dict[str, Any]) -> None:
    if "each" not in request:
        outbox.put(_packed(answer(request)))
        return
    # What was asked stays in the request: in a box, to free what the fork server has read would copy memory.
    shared = {name: value for name, value in request.items() if name not in ("each", "probe", "begins")}
    arrays, probe, begins = TakenDown(), PROBES[request["probe"]], request.get("begins", False)
    for one in request["each"]:
        found = _answered(probe, {**shared, **one}, begins)
        begins = False
        if not arrays.takes(found):
            outbox.put([*wire.pack_arrays(arrays), *_packed(found)])
            arrays = TakenDown()
    outbox.put(wire.pack_arrays(arrays))


def _packed(reply: dict[str, Any]) -> list[wire.Bytes]:
    try:
        return wire.pack(reply)
    except wire.Unsendable as error:
        return wire.pack({"unsendable": str(error)})


def answer(request: dict[str, Any]) -> dict[str, Any]:
    return _answered(PROBES[request.pop("probe")], request, request.pop("begins", False))


def _answered(probe: Probe, request: dict[str, Any], begins: bool) -> dict[str, Any]:
    if begins:  # another check, and the same random numbers as for the first
        if _seeded:
            seed(*_seeded)
        latest.clear()
        _forget_patterns()
    stream = request.pop("stream", None)
    if stream is not None and _seeded:  # chance is the question's own, whatever was asked before
        _begin_anew(_seeded[0] ^ stream)
    found = _found(probe, request)
    if student_machine.stands_in():
        found = {**found, "stands_in_for_a_gpu": True}
    return {**found, "lacked_a_gpu": True} if student_machine.asked_for else found


def _found(probe: Probe, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"value": probe(**request)}
    except Absent as error:
        return {"absent": error.names}
    except WrongSignature as error:
        return {"signature": str(error)}
    except ImportFailed as error:
        return {"raised": {**describe(error.__cause__ or error), "importing": True}}
    except BaseException as error:  # whatever the student's code raises, SystemExit and KeyboardInterrupt included
        return {"raised": {**describe(error), "importing": False}}


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the student may have closed or replaced it; what it printed is not worth a verdict
            continue
