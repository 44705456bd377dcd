"""The box at work: read a request, run its probe, answer with values; until the grader hangs up."""

from __future__ import annotations

import marshal
import os
import random
import sys
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import wire
from .calls import WrongSignature
from .loading import student_code, student_loader, student_machine
from .loading.student_code import Absent, ImportFailed, describe
from .probes.probes import PROBES, Probe, latest
from .probes.rubrics_probes import STUDENT_CODE


class _Beginning(NamedTuple):
    """What every check finds when it begins."""

    seed: int
    home: str
    path: list[str]
    environment: dict[str, str]


_beginning: list[_Beginning] = []
_pattern_caches: list[Any] = []  # of einops


def settle(seed: int) -> None:
    """Checks begin in this folder, with this path and environment, and with the same random numbers in every run."""
    _beginning[:] = [_Beginning(seed, os.getcwd(), list(sys.path), dict(os.environ))]
    _seed(seed)


def _begin_again() -> None:
    """Another check: the student's modules are loaded again, so that it finds nothing that they have kept."""
    (beginning,) = _beginning
    forget(beginning.home, list(beginning.path))
    os.chdir(beginning.home)
    if os.environ != beginning.environment:
        os.environ.clear()
        os.environ.update(beginning.environment)
    _seed(beginning.seed)
    _forget_patterns()


def _seed(number: int) -> None:
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
    student_loader.forget()
    latest.clear()
    sys.path[:] = path
    for folder in [one for one in sys.path_importer_cache if home and one.startswith(home)]:
        del sys.path_importer_cache[folder]


def serve(descriptor: int) -> None:
    while (question := wire.read_question(descriptor)) is not None:
        respond(descriptor, question)


def respond(descriptor: int, question: dict[str, Any]) -> None:
    """Answer each request of a question, as soon as its answer is there: code that ends the sandbox with a later
    request loses none of the answers before."""
    probe, file, begins = _probe_in(question), question["file"], question["begins"]
    for request in question["each"]:
        send(descriptor, _answered(probe, {"file": file, **request}, begins))
        begins = False


_of_rubrics: dict[str, dict[str, Any]] = {}  # modules of probes, as they were sent


def _probe_in(question: dict[str, Any]) -> Probe:
    known = PROBES[question["probe"]] if "probe" in question else None
    if known and "module" not in question:
        return known
    module = question["module"]
    if question["code"]:
        _of_rubrics[module] = {"__name__": module}
        exec(marshal.loads(question["code"]), _of_rubrics[module])
    own = _of_rubrics[module][question["own"]]
    return partial(known, through=own) if known else partial(own, STUDENT_CODE)


def send(descriptor: int, reply: dict[str, Any]) -> None:
    frame = b"".join(_packed(reply))
    _flush()  # what the code printed comes before its answer
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]


def _packed(reply: dict[str, Any]) -> list[wire.Bytes]:
    try:
        return wire.pack(reply)
    except wire.Unsendable as error:
        return wire.pack({"unsendable": str(error)})


def _answered(probe: Probe, request: dict[str, Any], begins: bool) -> dict[str, Any]:
    if begins:
        _begin_again()
    stream = request.pop("stream", None)
    if stream is not None:  # chance is the question's own, whatever was asked before
        _seed(_beginning[0].seed ^ stream)
    found = _found(probe, request)
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
