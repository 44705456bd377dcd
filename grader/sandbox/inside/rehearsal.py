"""Before any box is made, the fork server does once what boxes do, with code of its own.

What Python and the libraries set up at first use (caches of types, instructions made quicker, tables that grow) is
then there in every box. Otherwise each would set it up anew, and copy the pages of memory that it stands in.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from . import read_ahead, wire, worker
from .array_answers import ArrayAnswers

_PIPE_BYTES = 1 << 16
_TIMES = 20  # instructions are made quicker once they have run eight times or more


def rehearse(folder: str) -> None:
    """Answer questions to the files in this folder as a box would, then forget them."""
    path = list(sys.path)
    os.chdir(folder)
    worker.seed(0)
    rng = np.random.default_rng(0)
    calls: list[dict[str, Any]] = [
        {
            "args": [rng.normal(size=(4, 2 * n)), rng.normal(size=(4, n)), 0.5],
            "kwargs": {"mask": np.ones((2 * n, n), bool)},
        }
        for n in (1, 2, 3)
    ]
    _answer("what_it_may_keep")
    _answer("library_names")
    _answer("names_used", name="scaled")
    _answer("calls_made", name="scaled", run_as="call", requests=calls)
    for _ in range(_TIMES):
        _answer("call", each=[{"function": "scaled", **call} for call in calls])
    _answer("call", function="scaled", **calls[0])
    _answer("latest_arguments", begins=False, calls=1)
    _answer("definition_states", names=["scaled"])
    if "torch" not in sys.modules:  # most code that needs torch is not run as it stands
        for _ in range(_TIMES):
            worker.forget(folder, path)
            read_ahead.take_over({"rehearsed.py": ("", True), "rehearsed_too.py": ("", True)})
            _answer("calls_made", name="scaled", run_as="call", requests=calls)
    worker.forget(folder, path)
    os.chdir("/")


def _answer(probe: str, begins: bool = True, **request: Any) -> None:
    """Through two pipes, as through the socket of a box."""
    questions, asked = os.pipe()
    answered, answers = os.pipe()
    try:
        os.write(asked, wire.pack_question({"probe": probe, "file": "rehearsed.py", "begins": begins, **request}))
        worker.respond(answers, wire.read_question(questions))
        (found,) = wire.Frames().feed(os.read(answered, _PIPE_BYTES))
    finally:
        for descriptor in (questions, asked, answered, answers):
            os.close(descriptor)
    assert isinstance(found, ArrayAnswers) or "value" in found, found
