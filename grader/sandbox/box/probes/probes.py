"""What the grader may ask of a box. Each probe runs beside the student's code and returns values, never verdicts."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

from .. import wire
from ..calls import call_as_asked
from ..loading import student_code, student_machine
from ..reading import library_use
from . import recording
from .configured_module import built, run_configured
from .script import run_script

Probe = Callable[..., Any]


latest: deque[dict[str, Any]] = deque(maxlen=64)  # the arguments of the latest calls; no check asks for more at once


def call(file: str, function: str, args: list[Any], kwargs: dict[str, Any], through: Probe | None = None) -> Any:
    """What the student's function returns; `through` is a rubric's adapter, which calls it in another way."""
    latest.append({"args": args, "kwargs": kwargs})
    theirs = student_code.attribute(file, function)
    if through is None:
        return call_as_asked(theirs, args, kwargs)
    return through(lambda *args, **kwargs: call_as_asked(theirs, list(args), kwargs), *args, **kwargs)


def latest_arguments(file: str, calls: int) -> list[dict[str, Any]]:
    """The arguments of so many latest calls as they are now. Asked for afterwards, so that no call tells it will be."""
    return [{name: _sendable(given) for name, given in call.items()} for call in list(latest)[-calls:]]


def _sendable(value: Any) -> Any:
    """An argument as it can be sent: keys of a dict as text, an object that fits in no frame as its type's name."""
    if isinstance(value, dict):
        return {str(key): _sendable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sendable(item) for item in value]
    try:
        wire.pack(value)
    except wire.Unsendable:
        return type(value).__name__
    return value


def parameters_on_a_gpu(file: str, name: str, config: dict[str, Any]) -> dict[str, list[int]] | None:
    """The shapes of a module's parameters where there seems to be a GPU; None if it cannot be told.

    `nn.Parameter(…).to(device)` is the parameter itself where it is on that device already, and else a plain tensor.
    """
    with contextlib.suppress(Exception), student_code.imported_anew(), student_machine.pretended_gpu():
        module = built(file, name, config, "float32")
        return {key: list(value.shape) for key, value in module.named_parameters()}
    return None


def names_used(file: str, name: str) -> dict[str, Any]:
    """What the code that `name` reaches takes from libraries, by reading it."""
    return library_use.mentions(file, name)


def calls_made(file: str, name: str, run_as: str, requests: list[dict[str, Any]]) -> dict[str, Any]:
    """Which functions of libraries are called while another probe runs `name`, and whether it ran to the end.

    What goes wrong in it is not told: other questions are about that.
    """
    recorder, finished = recording.Recorder(), False
    with contextlib.suppress(BaseException):  # a student's code may raise anything, SystemExit included
        student_code.attribute(file, name)  # what runs at the import (a demo, say) is not recorded
        for request in requests:
            with recorder:  # anew: the run before may have ended it
                PROBES[run_as](file, name, **request)
        finished = True
    return {"calls": recorder.calls, "finished": finished}


PROBES: dict[str, Probe] = {
    probe.__name__: probe
    for probe in (
        call,
        calls_made,
        latest_arguments,
        names_used,
        parameters_on_a_gpu,
        run_configured,
        run_script,
    )
}
