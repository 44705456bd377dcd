"""Where the command begins."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys

_OBJECTS = 50_000  # Python looks for garbage after every 700 new ones: a tenth of the time it takes to load all this


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that temporary copies are removed
    gc.set_threshold(_OBJECTS)
    # Processes that grade beside this one import nothing from the working directory: it may be a student's folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal has an α: then it shows a question mark
            stream.reconfigure(errors="replace")
    try:
        from grader.cli import app

        app()
    except KeyboardInterrupt:  # while all this was being loaded; later the commands see to it
        print("grader: stopped", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:  # `grader … | head`
        sys.stderr.close()
