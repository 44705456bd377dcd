"""Before any sandbox is made, the fork server does once what sandboxes do, with code of its own.

What Python and the libraries set up at first use (caches of types, specialised instructions, tables that grow) is then
there in every sandbox. Otherwise each would set it up again, and copy the pages of memory that it lies in.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from . import wire, worker

_PIPE_BYTES = 1 << 16
_TIMES = 20  # instructions are specialised once they have run eight times or more


def run(folder: str) -> None:
    """Answer questions to the files in this folder as a sandbox would, then forget them."""
    path = list(sys.path)
    os.chdir(folder)
    worker.settle(0)
    rng = np.random.default_rng(0)
    calls: list[dict[str, Any]] = [
        {
            "args": [rng.normal(size=(4, 2 * n)), rng.normal(size=(4, n)), 0.5],
            "kwargs": {"mask": np.ones((2 * n, n), bool)},
        }
        for n in (1, 2, 3)
    ]
    _answer("names_used", [{"name": "scaled"}])
    _answer("calls_made", [{"name": "scaled", "run_as": "call", "requests": calls}])
    for _ in range(_TIMES):
        _answer("call", [{"function": "scaled", **call} for call in calls])
    _answer("latest_arguments", [{"calls": 1}], begins=False)
    worker.forget(folder, path)
    os.chdir("/")


def _answer(probe: str, requests: list[dict[str, Any]], begins: bool = True) -> None:
    """Through two pipes, as through the socket of a sandbox."""
    questions, asked = os.pipe()
    answered, answers = os.pipe()
    try:
        os.write(asked, wire.pack_question({"probe": probe, "file": "warm_up.py", "begins": begins, "each": requests}))
        worker.respond(answers, wire.read_question(questions))
        replies = wire.Frames().feed(os.read(answered, _PIPE_BYTES))
    finally:
        for descriptor in (questions, asked, answered, answers):
            os.close(descriptor)
    assert len(replies) == len(requests)
    assert all("value" in reply for reply in replies), replies
