"""The process in which a Dask worker grades: what a job is to a local batch, at the other end of a socket.

It is a process of its own so that the worker, which speaks to the scheduler, neither loads what judges nor is ended by
what is judged; and because Dask's workers may start no processes the way that grading does.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from grader.batch.cluster.parcels import answer_from, plan_in, stored_in
from grader.batch.cluster.sealing import LOST_AT_MOST, Damaged, Parcel, packed, unpacked
from grader.batch.finding import HandedIn
from grader.batch.grading import Grading
from grader.errors import StaffFault, UsageError
from grader.submission.opening import OpenedSubmission, open_submission


def main() -> None:
    line = Connection(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all that a terminal started; the writer decides
    folder = Path(tempfile.mkdtemp(prefix="grading-"))
    tempfile.tempdir = str(folder)
    threading.Thread(target=_end_with_the_worker, args=(line.fileno(), folder), daemon=True).start()
    try:
        with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
            _serve(line, folder)
    finally:  # whoever is the first to hear that the worker has gone: the thread may not live to do it
        shutil.rmtree(folder, ignore_errors=True)


def _end_with_the_worker(line: int, folder: Path) -> None:
    """A worker that is killed closes its end; what it had asked for is of no use to anybody then."""
    poll = select.poll()
    poll.register(line, select.POLLRDHUP)
    poll.poll()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _serve(line: Connection, folder: Path) -> None:
    try:
        with Grading(plan_in(_received(line), folder / "plan")) as grading:
            isolation = grading.isolation
            line.send_bytes(packed({"layers": isolation.layers, "missing": isolation.missing}))
            while True:
                parcel, lost = _received(line), unpacked(line.recv_bytes())
                line.send_bytes(packed(_answer(grading, parcel, lost, folder)))
    except StaffFault as fault:  # no box can be made here, or the rubric needs what is not installed
        line.send_bytes(packed({"refused": str(fault)}))


def _received(line: Connection) -> Parcel:
    return Parcel.opened(line.recv_bytes(), line.recv_bytes())


def _answer(grading: Grading, parcel: Parcel, lost: list[str], folder: Path) -> dict[str, Any]:
    about = parcel.about
    with tempfile.TemporaryDirectory(prefix="handed-in-", dir=folder) as temporary:
        place = Path(about["path"]) if "path" in about else Path(temporary) / about["called"]
        handed_in = HandedIn(about["student"], place, about["name"], about["late"], about["fault"])
        if len(lost) >= LOST_AT_MOST:
            what = f"{len(lost)} workers ended while they graded it"
            return answer_from(grading.given_up(handed_in, what, f"{what} ({', '.join(lost)})"))
        try:
            if about.get("folder"):
                place.mkdir()  # it may have been handed in empty
            parcel.unpack(Path(temporary))
        except (OSError, Damaged) as fault:
            return answer_from(grading.given_up(handed_in, "a worker could not unpack it", str(fault)))
        return answer_from(grading.grade_one(handed_in, stored_in(parcel), lambda one: _opened(one, about)))


@contextlib.contextmanager
def _opened(handed_in: HandedIn, about: dict[str, Any]) -> Iterator[OpenedSubmission]:
    """As a job would have opened it, with what was noted when it was packed."""
    if "refused" in about:
        raise UsageError(about["refused"])
    with open_submission(handed_in.path) as opened:
        yield replace(opened, name=handed_in.student, notes=(*about.get("notes", ()), *opened.notes))


if __name__ == "__main__":
    main()
