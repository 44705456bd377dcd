"""The bar of long work: at a terminal, while the work lasts, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from grader.progress_bar import progress_bar
from tests.conftest import REPOSITORY
from tests.waiting import PATIENCE_SECONDS

WORK = """
from rich.progress import TextColumn
from grader.progress_bar import progress_bar
with progress_bar(5, TextColumn("[{task.fields[rate]}]")) as (bar, task):
    bar.update(task, completed=2, description="2.1 attention [/x]")
    bar.refresh()
print("done")
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TERM": "xterm", "COLUMNS": "100"}


def test_a_terminal_sees_what_is_done_and_then_nothing_of_it() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", WORK]
    done = subprocess.run(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs, timeout=PATIENCE_SECONDS, check=True
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how a terminal on Linux says that nobody is there any more
        pass
    os.close(ours)
    assert done.stdout == b"done\n"
    told = shown.decode()
    last = told[told.index("2.1 attention [/x]") :]
    places = [last.index(word) for word in ("━", "2/5", "0:00:0", "[]")]
    assert places == sorted(places)
    assert told.rstrip().endswith("\x1b[2K"), "the bar is wiped away"


def test_a_file_sees_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORK], env=ENVIRONMENT, capture_output=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert (done.stdout, done.stderr) == (b"done\n", b"")


def test_columns_that_follow_have_something_to_show_from_the_beginning() -> None:
    with progress_bar(3) as (bar, task):
        assert bar.tasks[task].fields == {"rate": "", "left": "", "at_work": ""}
