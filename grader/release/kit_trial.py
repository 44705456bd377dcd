"""Checks the reference solution with a finished kit, as a student would: every public check in it should pass.

The kit's own grader does that, in a process that cannot import the staff's. Called as a script, this module is that
process.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from grader.errors import StaffFault
from grader.model import Rubric, Status
from grader.proving.proof import Proof
from grader.release.starter import name_of
from grader.rubric.locating import RUBRIC
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


def try_kit(kit: Path, rubric: Rubric, proof: Proof) -> None:
    """KitFails, with each check that the reference solution does not pass in this kit, and why."""
    (wheel,) = (kit / "wheel").iterdir()
    with tempfile.TemporaryDirectory(prefix="grader-kit-trial-") as folder:
        installed, work = Path(folder) / "installed", Path(folder) / "work"
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as archive:
            archive.extractall(installed)
        (installed / "reference.py").write_text("raise ModuleNotFoundError('students have no reference')\n")
        with open_submission(proof.submissions / proof.gold) as solution:
            shutil.copytree(solution.folder, work)
        shutil.copytree(kit / "rubric", work / "rubric", dirs_exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name != "GRADER_SECRET"}
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__, work, work / "rubric" / name_of(rubric) / RUBRIC],
            env={**environment, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise KitFails([f"its checker ended with {(done.stderr.splitlines() or ['no message'])[-1]}"])
    if failures := json.loads(done.stdout):
        raise KitFails(failures)


def _failures(work: Path, rubric: Path) -> list[str]:
    with open_own_work(work, str(rubric)) as own, own_runner(libraries_of(own.rubric)) as runner:
        report = check_own_work(own, (), runner, SilentListener())
    tried = [(problem, result) for problem in report.problems for result in problem.checks]
    failures = [
        f"{problem.problem.id} {result.check.id}: {result.outcome.status}: {result.fault or result.outcome.message}"
        for problem, result in tried
        if result.outcome.score < 1
        # What a student's own numbers change, this solution need not follow; an optional part it may leave out.
        and not (result.check.personal and result.outcome.status is not Status.UNGRADED)
        and not (problem.problem.optional and problem.status is Status.MISSING)
    ]
    unchecked = {one.id for one in own.rubric.problems} - {problem.problem.id for problem in report.problems}
    return failures + [f"{part}: it could not be checked here: {report.notes[-1]}" for part in sorted(unchecked)]


if __name__ == "__main__":
    print(json.dumps(_failures(Path(sys.argv[1]), Path(sys.argv[2]))))
