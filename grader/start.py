"""Where the command begins."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
from contextlib import suppress

_GRADES_ONE = ("run", "check")  # commands that need a box, and little time beside what it loads
_OBJECTS = 50_000  # Python looks for garbage after every 700 new ones: a tenth of the time it takes to load all this


def main() -> None:
    atexit.register(_leave)  # the first one registered is called last
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that temporary copies are removed
    gc.set_threshold(_OBJECTS)
    # Processes that grade beside this one import nothing from the working directory: it may be a student's folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    if sys.argv[1:] and sys.argv[1] in _GRADES_ONE:
        from grader.sandbox.host.loading_process import begin_ahead

        begin_ahead()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal has an α: then it shows a question mark
            stream.reconfigure(errors="replace")
    try:
        from grader.cli import app

        app()
    except SystemExit as ending:
        _leaving.append(ending.code)
        raise
    except KeyboardInterrupt:  # while all this was being loaded; later the commands see to it
        print("grader: stopped", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:  # `grader … | head`
        sys.stderr.close()


_leaving: list[object] = []  # how a command that came to its end wants to exit


def _leave() -> None:
    """End at once, when everything that tidies up has: taking apart all that is loaded takes Python 0.2 s more."""
    match _leaving:
        case [None | int() as code]:
            with suppress(OSError, ValueError):  # a pipe that was closed: Python says so in its own way
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit((code or 0) & 0xFF)
