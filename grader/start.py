"""Where the command begins."""

from __future__ import annotations

import io
import os
import signal
import sys

_GRADES_ONE = ("run", "check")  # commands that need a box, and little time beside what it loads


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that temporary copies are removed
    # Processes that grade beside this one import nothing from the working directory: it may be a student's folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: several threads wait for each other
    if sys.argv[1:] and sys.argv[1] in _GRADES_ONE:
        from grader.sandbox.host.loading_process import begin_ahead

        begin_ahead()
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
