"""What is put into parcels: the rubric with its data, what was handed in, and what was found.

Nothing that is unpickled anywhere is of a student's making, and nothing that travels needs a common file system.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.batch.cluster.sealing import Damaged, Parcel
from grader.batch.finding import HandedIn
from grader.batch.fingerprints import data_files
from grader.batch.gradebook import Result
from grader.batch.grading import Graded, Plan
from grader.errors import UsageError
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.model import Rubric
from grader.plugins import Plugin
from grader.quoting import quote
from grader.rubric.locating import IDEAS
from grader.submission.archives import Content
from grader.submission.copying import MAX_BYTES, Copy

# A file that was handed in travels as it is, so it may be larger than what it unfolds to; a message of Dask's is held
# in memory three times on its way.
_MAX_SENT_BYTES = 2 * MAX_BYTES


# The rubric, once for each worker.


def rubric_parcel(plan: Plan, rubric: Rubric, secret: Secret | None) -> Parcel:
    """The rubric, what stands beside it, and the data its checks name. `secret` only where it may travel."""
    home = plan.rubric.parent
    beside = f"{home.resolve().name or 'rubric'}/"  # a folder of the same name: the rubric's package is called after it
    sources = [path for path in (plan.rubric, home / IDEAS, *Plugin(home).files) if path.exists()]
    files = {beside + path.relative_to(home).as_posix(): path.read_bytes() for path in sources}
    for path in sorted({Path(name) for problem in rubric.problems for name in data_files(problem)}):
        given = plan.data is not None and path.is_relative_to(plan.data)
        place = f"data/{path.relative_to(plan.data or home)}" if given else f"{beside}{path.relative_to(home)}"
        files[place] = path.read_bytes()
    about = {
        "rubric": beside + plan.rubric.name,
        "data": plan.data is not None,
        "problems": plan.problems,
        "seed": plan.draw.seed,
        "secret": secret.text if secret else None,
        "unsafe": plan.unsafe,
    }
    return Parcel(about, files)


def plan_in(parcel: Parcel, folder: Path) -> Plan:
    """The plan of a batch on a worker's own disk."""
    parcel.unpack(folder)
    about = parcel.about
    return Plan(
        rubric=folder / about["rubric"],
        data=folder / "data" if about["data"] else None,
        problems=tuple(about["problems"]),
        draw=Draw(about["seed"], Secret(about["secret"]) if about["secret"] else None),
        unsafe=about["unsafe"],
    )


# What was handed in.


class _InMemory(Copy):
    """Takes over what a copy on the disk would hold, within the same bounds, and keeps it in memory."""

    def __init__(self, source: Path) -> None:
        super().__init__(Path(), source)
        self.content: dict[str, bytes] = {}

    def _take(self, relative: str, stream: Content) -> None:
        self.content[relative] = b"".join(self._counted(stream))


def hand_in_parcel(handed_in: HandedIn, stored: Result | None, seen_by_all: bool) -> Parcel:
    """One student's work, with what the gradebook has of it.

    A folder's files, as a copy would take them over; a file as it is. Where workers see the same files
    (`seen_by_all`), only their place. What cannot be read says why, in the words that a job would use.
    """
    path = handed_in.path
    about: dict[str, Any] = {
        "student": handed_in.student,
        "name": handed_in.name,
        "late": handed_in.late,
        "fault": handed_in.fault,
        "called": path.name,
        "stored": vars(stored) if stored else None,
    }
    if handed_in.fault:
        return Parcel(about)
    if seen_by_all:
        return Parcel({**about, "path": str(path.resolve())})
    try:
        if not path.is_dir():
            if path.stat().st_size > _MAX_SENT_BYTES:
                too_large = f"it has more than {_MAX_SENT_BYTES >> 20} MiB and was not sent to a worker"
                return Parcel({**about, "fault": too_large})
            return Parcel(about, {path.name: path.read_bytes()})
        taken = _InMemory(path)
        taken.take_folder()
        files = {f"{path.name}/{name}": content for name, content in taken.content.items()}
        return Parcel({**about, "folder": True, "notes": taken.all_notes()}, files)
    except UsageError as refused:
        return Parcel({**about, "refused": str(refused).replace(quote(str(path)), quote(path.name))})
    except OSError as error:
        return Parcel({**about, "refused": f"{quote(path.name)}: it cannot be read ({error.strerror})"})


def stored_in(parcel: Parcel) -> Result | None:
    stored = parcel.about["stored"]
    return Result(**stored) if stored else None


# What comes back.


def answer_from(graded: Graded) -> dict[str, Any]:
    result = vars(graded.result) if graded.result else None
    students = list(graded.students) if graded.students is not None else None
    return {"result": result, "faults": list(graded.faults), "students": students}


def graded_from(answer: Mapping[str, Any], handed_in: HandedIn) -> Graded:
    """What a worker found, about the hand-in that it was given."""
    result = Result(**answer["result"]) if answer["result"] else None
    if result is not None and result.student != handed_in.student:
        raise Damaged(f"a worker answered for {quote(result.student)} and was asked for {quote(handed_in.student)}")
    students = tuple(answer["students"]) if answer["students"] is not None else None
    return Graded(handed_in, result, tuple(answer["faults"]), students)
