"""Tries a finished kit: its starter answers nothing, and the reference solution passes every public check. The kit's
own grader judges that, in a process that cannot import what only staff have; called as a script, this module is it."""

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

from grader.errors import StaffFault
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Rubric, Status
from grader.plugins import Plugin
from grader.proving.proof import Proof
from grader.rubric.catalogue import known_checks
from grader.rubric.loading import load_rubric
from grader.rubric.locating import ENTRY_POINTS, RUBRIC
from grader.rubric.per_student import for_student
from grader.selfcheck.checking import check_own_work, libraries_of
from grader.selfcheck.own_runner import own_runner
from grader.selfcheck.own_work import open_own_work
from grader.selfcheck.showing import SilentListener
from grader.submission.opening import open_submission
from grader.submission.starter_code import starter_folder

WHEELS = "wheel"


class NoKit(StaffFault):
    """Something is wrong with the kit, so there is none."""

    def __init__(self, cause: str, found: list[str]) -> None:
        lines = "\n".join(f"  {line}" for line in found)
        super().__init__(f"no kit was made, because {cause}:\n{lines}")


def answered_by_the_starter(kit: Path, rubric: Rubric, draw: Draw) -> list[str]:
    """Problems for which the kit as it is earns full points, by the rubric's hidden checks, too."""
    if not starter_folder(rubric).is_dir():
        return []
    with open_submission(kit) as untouched, own_runner(libraries_of(rubric)) as runner:
        report = grade(for_student(rubric, untouched.name, draw), untouched, runner, draw)
    return [f"starter: it answers {one.problem.id} as it is" for one in report.problems if one.status is Status.PASSED]


def try_kit(kit: Path, rubric: Rubric, proof: Proof | None) -> None:
    """NoKit if the reference solution does not pass in this kit. Without a proof, the kit's code is only loaded."""
    with tempfile.TemporaryDirectory(prefix="grader-kit-trial-") as folder:
        installed, work = Path(folder) / "installed", Path(folder) / "work"
        zipfile.ZipFile(next((kit / WHEELS).iterdir())).extractall(installed)
        if proof is not None:
            with open_submission(proof.submissions / proof.gold) as solution:
                shutil.copytree(solution.folder, work)
        shutil.copytree(kit / "rubric", work / "rubric", dirs_exist_ok=True)
        staff = {entry.dist.name for entry in entry_points(group=ENTRY_POINTS) if entry.dist}
        for package in (package for package, names in packages_distributions().items() if staff.intersection(names)):
            (installed / f"{package}.py").write_text(f"raise ModuleNotFoundError('students have no {package}')\n")
        place: list[str | Path] = [work / "rubric" / rubric.folder.resolve().name / RUBRIC]
        command = [sys.executable, "-P", "-m", __name__, *place, *([work] if proof is not None else [])]
        environment = {**os.environ, "PYTHONPATH": str(installed)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    ended = f"its checker ended with {(done.stderr.splitlines() or ['no message'])[-1]}"
    if failures := [ended] if done.returncode else json.loads(done.stdout):
        raise NoKit("the reference solution does not pass its checks", failures)


def _failures(rubric: Path, *works: str) -> Iterator[str]:
    known_checks(Plugin(load_rubric(rubric).folder))  # whatever is public can be loaded
    for work in works:
        with open_own_work(Path(work), str(rubric)) as own, own_runner(libraries_of(own.rubric)) as runner:
            report = check_own_work(own, (), runner, SilentListener())
        for part, result in ((problem, one) for problem in report.problems for one in problem.checks):
            # What a student's own numbers change, this solution need not follow; an optional part it may leave out.
            is_personal = result.check.personal and result.outcome.status is not Status.UNGRADED
            is_left_out = part.problem.optional and part.status is Status.MISSING
            if result.outcome.score < 1 and not is_personal and not is_left_out:
                why = f"{result.outcome.status}: {result.fault or result.outcome.message}"
                yield f"{part.problem.id} {result.check.id}: {why}"
        for left in sorted({one.id for one in own.rubric.problems} - {one.problem.id for one in report.problems}):
            yield f"{left}: it could not be checked here: {report.notes[-1]}"


if __name__ == "__main__":
    print(json.dumps(list(_failures(Path(sys.argv[1]), *sys.argv[2:]))))
