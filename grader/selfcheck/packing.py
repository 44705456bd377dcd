"""`grader pack`: the archive to hand in. The same work gives the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from grader import __version__
from grader.answers.sheet_files import ENDINGS
from grader.errors import Ambiguous, StudentFault
from grader.model import Report, is_code
from grader.report.points import rounded
from grader.selfcheck.begun import Begun
from grader.selfcheck.form import files_asked
from grader.selfcheck.home_rubric import extent, status_here
from grader.selfcheck.own_work import OwnWork
from grader.selfcheck.standing import NOT_STARTED, standing
from grader.submission.opening import OpenedSubmission

MANIFEST = "manifest.json"
NOTEBOOK_PART = ".ipynb#"  # what a notebook holds of a file of code, made for the box
SHEETS = tuple(f"answers.{ending}" for ending in ENDINGS)
_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can hold
_MODE = 0o644 << 16


@dataclass(frozen=True)
class Packed:
    content: bytes
    files: tuple[str, ...]
    missing: tuple[str, ...]  # what is not as it should be, in the words of the self-check
    not_started: tuple[str, ...]  # parts
    untouched: tuple[str, ...]  # files of code that are still as the kit brought them

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def pack_own_work(work: OwnWork, report: Report) -> Packed:
    submission = work.submission.for_rubric(work.rubric)
    files = sorted(_wanted(work, submission))
    asked = files_asked(work.rubric)
    amiss = ((_amiss(submission, file), parts) for file, parts in asked.items())
    missing = tuple(f"{what} ({', '.join(parts)})" for what, parts in amiss if what)
    not_started = tuple(result.problem.id for result in report.problems if standing(result) == NOT_STARTED)
    started = {result.problem.id for result in report.problems}.difference(not_started)
    untouched = tuple(_untouched(work, started))
    contents = {file: (submission.folder / file).read_bytes() for file in files}
    to_do = {"missing": missing, "not_started": not_started, "untouched": untouched}
    manifest = json.dumps(_manifest(work, report, contents, to_do), indent=2, ensure_ascii=False) + "\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {**contents, MANIFEST: manifest.encode()}.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = _MODE
            entry.create_system = 3  # the same on every system
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return Packed(archive.getvalue(), tuple(files), missing, not_started, untouched)


def _untouched(work: OwnWork, started: Collection[str]) -> Iterator[str]:
    """But where one of several files would do, and another one was chosen."""
    begun, asked = Begun(work.submission, work.rubric), files_asked(work.rubric)
    for file in begun.untouched:
        parts = begun.asked_by(file)
        if PurePosixPath(file).name in asked or not parts or any(part not in started for part in parts):
            yield file


def _wanted(work: OwnWork, submission: OpenedSubmission) -> set[str]:
    """What checks ask for, the sheet, and all code: a helper left behind would cost points."""
    found = {file for file in submission.files if is_code(file) and NOTEBOOK_PART not in file}
    found |= {file for file in submission.files if file.rpartition("/")[2] in SHEETS or file == "submission.yaml"}
    asked = {file for problem in work.whole.problems for check in problem.every_check for file in check.files}
    for problem in work.whole.problems:
        asked |= {*problem.later.files, *(file for one in problem.alternatives for file in (*one.files, *one.beside))}
    for file in asked:
        place = _place(submission, file)
        if place:
            notebook, part, _ = place.partition(NOTEBOOK_PART)
            found.add(f"{notebook}.ipynb" if part else place)
    return found


def _amiss(submission: OpenedSubmission, file: str) -> str:
    try:
        submission.find(file)
    except Ambiguous as fault:
        return fault.message
    except StudentFault:
        return file
    return ""


def _place(submission: OpenedSubmission, file: str) -> str:
    try:
        return submission.find(file)
    except StudentFault:
        return ""


def _manifest(
    work: OwnWork, report: Report, contents: dict[str, bytes], to_do: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    judged = extent(report)
    return {
        "schema": 1,
        "rubric": work.whole.name,
        "rubric_sha256": work.whole.sha256,
        "grader_version": __version__,
        "files": {
            name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            for name, content in contents.items()
        },
        **to_do,
        "self_check": {
            "summary": str(judged),
            "points": rounded(report.points),
            "points_checked": rounded(judged.points),
            "problems": {result.problem.id: str(status_here(result) or "later") for result in report.problems},
        },
    }
