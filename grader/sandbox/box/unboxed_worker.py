"""A process without a box, for one's own code at home. It answers the questions of all checks, one after the other.

It needs nothing of the operating system but pipes. A message {"begin": …} makes it forget the student's modules and
start over in a fresh copy of the submission.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from . import wire, worker
from .loading import stand_ins


def main(settings: dict[str, Any]) -> None:
    questions, answers = os.dup(0), os.dup(1)
    for descriptor in (questions, answers):
        _binary(descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what the student's code prints goes where the grader collects it
    for name in settings["preload"]:
        importlib.import_module(name)
    stand_ins.offer(settings["preload"])
    path, home = list(sys.path), ""
    while (request := wire.read_question(questions)) is not None:
        if "begin" in request:
            worker.forget(home, path)
            importlib.invalidate_caches()  # the next home may have been written since Python looked at folders
            home = request["begin"]["home"]
            os.chdir(home)
            worker.settle(request["begin"]["seed"])
        else:
            worker.respond(answers, request)


def _binary(descriptor: int) -> None:
    """Windows changes line ends in what it takes for text."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(descriptor, os.O_BINARY)
