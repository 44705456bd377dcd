"""Tries a finished kit: its starter answers nothing, and the reference solution passes every public check, as a student
would see it.

The kit's own grader does that, in a process that cannot import what only staff have. Called as a script, this module is
that process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path

from grader.errors import RubricError, StaffFault
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Rubric, Status
from grader.plugins import Plugin
from grader.proving.proof import Proof
from grader.release.handout import starter_folder
from grader.release.leaks import WHEELS, Leak
from grader.release.starter import name_of
from grader.rubric.catalogue import known_checks
from grader.rubric.locating import ENTRY_POINTS, RUBRIC
from grader.rubric.per_student import for_student
from grader.selfcheck.checking import check_own_work, libraries_of
from grader.selfcheck.own_runner import own_runner
from grader.selfcheck.own_work import open_own_work
from grader.selfcheck.showing import SilentListener
from grader.submission.opening import open_submission


class KitFails(StaffFault):
    """The reference solution does not pass in the kit, so there is none."""

    def __init__(self, failures: list[str]) -> None:
        lines = "\n".join(f"  {failure}" for failure in failures)
        super().__init__(f"no kit was made, because the reference solution does not pass its checks:\n{lines}")


def answered_by_the_starter(rubric: Rubric, draw: Draw) -> Iterator[Leak]:
    """Problems for which the starter earns full points, by the rubric's hidden checks, too."""
    if not starter_folder(rubric).is_dir():
        return
    with open_submission(starter_folder(rubric)) as starter, own_runner(libraries_of(rubric)) as runner:
        report = grade(for_student(rubric, starter.name, draw), starter, runner, draw)
    for result in report.problems:
        if result.status is Status.PASSED:
            yield Leak("starter", f"it answers {result.problem.id} as it is")


def try_kit(kit: Path, rubric: Rubric, proof: Proof | None) -> None:
    """KitFails, with each check that the reference solution does not pass in this kit, and why. Without a proof, the
    kit's code is only loaded."""
    (wheel,) = (kit / WHEELS).iterdir()
    with tempfile.TemporaryDirectory(prefix="grader-kit-trial-") as folder:
        installed, work = Path(folder) / "installed", Path(folder) / "work"
        zipfile.ZipFile(wheel).extractall(installed)
        for package in _for_staff():
            (installed / f"{package}.py").write_text(f"raise ModuleNotFoundError('students have no {package}')\n")
        if proof is not None:
            with open_submission(proof.submissions / proof.gold) as solution:
                shutil.copytree(solution.folder, work)
        shutil.copytree(kit / "rubric", work / "rubric", dirs_exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name != "GRADER_SECRET"}
        command: list[str | Path] = [sys.executable, "-P", "-m", __name__, work / "rubric" / name_of(rubric) / RUBRIC]
        done = subprocess.run(
            [*command, *([work] if proof is not None else [])],
            env={**environment, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise KitFails([f"its checker ended with {(done.stderr.splitlines() or ['no message'])[-1]}"])
    if failures := json.loads(done.stdout):
        raise KitFails(failures)


def _for_staff() -> list[str]:
    """Packages that come with rubrics; in a kit there are none."""
    staff = {entry.dist.name for entry in entry_points(group=ENTRY_POINTS) if entry.dist is not None}
    return [package for package, names in packages_distributions().items() if staff.intersection(names)]


def _failures(rubric: Path, *works: str) -> Iterator[str]:
    try:
        known_checks(Plugin(rubric.parent))
    except RubricError as error:
        yield from error.problems
        return
    for work in works:
        with open_own_work(Path(work), str(rubric)) as own, own_runner(libraries_of(own.rubric)) as runner:
            report = check_own_work(own, (), runner, SilentListener())
        for problem in report.problems:
            for result in problem.checks:
                # What a student's own numbers change, this solution need not follow; an optional part it may leave out.
                excused = result.check.personal and result.outcome.status is not Status.UNGRADED
                left_out = problem.problem.optional and problem.status is Status.MISSING
                if result.outcome.score < 1 and not excused and not left_out:
                    why = result.fault or result.outcome.message
                    yield f"{problem.problem.id} {result.check.id}: {result.outcome.status}: {why}"
        for part in sorted({one.id for one in own.rubric.problems} - {one.problem.id for one in report.problems}):
            yield f"{part}: it could not be checked here: {report.notes[-1]}"


if __name__ == "__main__":
    print(json.dumps(list(_failures(Path(sys.argv[1]), *sys.argv[2:]))))
