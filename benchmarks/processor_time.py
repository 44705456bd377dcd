"""Where the processor time of one submission goes, all processes counted; before and after, and beside plain pytest.

    python -m benchmarks.processor_time                                  # dl-hw3 2.1 and 2.2, some two minutes
    python -m benchmarks.processor_time --problems 2.1,2.2,2.3,2.4,2.5   # all five pieces of code
    python -m benchmarks.processor_time --rubric nlp-a5 --sample alice   # no pytest to compare with
    python -m benchmarks.processor_time --before ../older-checkout       # the same of another checkout, in the same run

Time on the wall says little on a machine that does other things too, so this is user and system time. Medians of
`--rounds` (five), each of some submissions graded one after the other; the start of the fork server is not in it.
`python -m benchmarks.throughput` has the time on the wall.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
SUBMISSIONS = 6  # in each round

MEASURE = """
import json, resource, sys
from pathlib import Path
import numpy as np
from grader.rubric.choosing import only
from grader.grading.randomness import Draw
from grader.grading.engine import grade
from grader.model import Limits
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission

asked = json.loads(sys.argv[1])
rubric = only(load_rubric(Path(asked["rubric"])), asked["problems"])
libraries = rubric.libraries
draw, sample, opened = Draw(0, None), Path(asked["sample"]), [0]

class Counting(BoxRunner):
    def open(self, *given):
        opened[0] += 1
        return super().open(*given)

def spent(who):
    used = resource.getrusage(who)
    return np.array([used.ru_utime, used.ru_stime]) * 1000

def one(runner):
    with open_submission(sample) as submission:
        report = grade(rubric, submission, runner, draw, **asked["how"])
    return report

def children(count, of_one):
    before = spent(resource.RUSAGE_CHILDREN)
    runner = Counting(libraries)
    own = []
    for _ in range(count):
        began = spent(resource.RUSAGE_SELF)
        of_one(runner)
        own.append(spent(resource.RUSAGE_SELF) - began)
    runner.close()
    return spent(resource.RUSAGE_CHILDREN) - before, np.sum(own[1:], axis=0) if count > 1 else None

def empty(runner):
    with open_submission(sample) as submission, runner.open(submission, Limits(), 0) as box:
        files = {file for problem in rubric.problems for check in problem.every_check for file in check.files}
        box.probe("names_used", sorted(file for file in files if file.endswith(".py"))[0], name="")

children(1, one)
rounds, n = [], asked["submissions"]
start = min((children(1, one)[0] for _ in range(2)), key=sum)
for _ in range(asked["rounds"]):
    opened[0] = 0
    boxes, own = children(n + 1, one)
    needed = opened[0] / (n + 1)
    rounds.append([*(own / n), *((boxes - start) / n), needed])
bare_start = min((children(1, empty)[0] for _ in range(2)), key=sum)
made, _ = children(31, empty)
print(json.dumps({"rounds": [list(map(float, one)) for one in rounds], "box": float(((made - bare_start) / 30).sum())}))
"""

BARE = "import time; time.perf_counter = time.process_time\nfrom benchmarks.plain_student import bare_seconds\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rubric", default="dl-hw3")
    parser.add_argument("--problems", help="comma between; 2.1,2.2 of dl-hw3 if nothing is said, all of others")
    parser.add_argument("--sample", default="ada")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout to measure beside this one")
    arguments = parser.parse_args()
    default = "2.1,2.2" if arguments.rubric == "dl-hw3" else ""
    problems = [one for one in (arguments.problems or default).split(",") if one]
    parts = ", ".join(problems) or "all parts"
    print(f"{arguments.rubric} {parts}, {arguments.sample}: ms of processor time, load {os.getloadavg()[0]:.0f}")
    checkouts = {"before": arguments.before, "now, a fresh box for each check": None, "now": None}
    found: dict[str, float] = {}
    for name, checkout in checkouts.items():
        if name == "before" and checkout is None:
            continue
        how = {"share_boxes": False} if "fresh" in name else {}
        measured = _measured(checkout or REPOSITORY, arguments, problems, how)
        found[name] = _show(name, measured)
    if arguments.rubric == "dl-hw3":
        _beside_pytest(tuple(problems), found)
    for name, total in found.items():
        print(f"{name}: {total / found['now']:.2f} × now")


def _measured(
    checkout: Path, arguments: argparse.Namespace, problems: list[str], how: dict[str, Any]
) -> dict[str, Any]:
    asked = {
        "rubric": str(checkout / "rubrics" / arguments.rubric / "rubric.yaml"),
        "sample": str(checkout / "submissions" / arguments.sample),
        "problems": problems,
        "how": how,
        "rounds": arguments.rounds,
        "submissions": SUBMISSIONS,
    }
    done = _python(MEASURE, checkout.resolve(), checkout.resolve(), json.dumps(asked))
    measured: dict[str, Any] = json.loads(done)
    return measured


def _python(code: str, folder: Path, checkout: Path, *given: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{checkout}", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # whoever compiles everything anew looks slower than it is
    command = [sys.executable, "-c", code, *given]
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def _show(name: str, measured: dict[str, Any]) -> float:
    user, system, box_user, box_system, boxes = (
        statistics.median(one[place] for one in measured["rounds"]) for place in range(5)
    )
    total = statistics.median(sum(one[:4]) for one in measured["rounds"])
    print(
        f"{name}: {total:.0f} in all; judge {user:.0f} user + {system:.0f} system, boxes {box_user:.0f} user + "
        f"{box_system:.0f} system; {boxes:.0f} boxes of {measured['box']:.1f} each to make, enter and end"
    )
    return total


def _beside_pytest(problems: tuple[str, ...], found: dict[str, float]) -> None:
    from benchmarks.throughput import MODEL, TEST

    bare = 1000 * float(_python(f"{BARE}print(min(bare_seconds({problems!r}, rounds=7)))", MODEL, REPOSITORY))
    with tempfile.TemporaryDirectory(prefix="processor-time-") as folder:
        test = Path(folder) / "test_submission.py"
        test.write_text(TEST.format(problems=problems))
        run = (
            "import resource, subprocess, sys\n"
            f"command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', {str(test)!r}]\n"
            "for _ in range(4): subprocess.run(command, check=True, stdout=subprocess.DEVNULL)\n"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN)\nprint((used.ru_utime + used.ru_stime) / 4)"
        )
        pytest = 1000 * float(_python(run, MODEL, REPOSITORY))
    print(f"a pytest process: {pytest:.0f}; the student's code alone, imports and calls: {bare:.0f}")
    for name, total in found.items():
        print(f"{name}: a pytest process takes {pytest / total:.1f} ×, the code alone is 1/{total / bare:.1f} of it")


if __name__ == "__main__":
    main()
