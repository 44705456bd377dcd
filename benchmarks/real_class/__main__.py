"""What grading a class like real ones costs: this grader, a course's own pytest file, and the bare student code.

    python -m benchmarks.real_class                        # three rounds, some fifteen minutes on two idle cores
    python -m benchmarks.real_class --write build/class    # only writes the class, say for `benchmarks.verdicts keep`

First every submission is graded, and has to get the verdicts that it is made for. Then, in each round, take turns:
`grader batch` with one job per core; pytest with the files in `course_tests`, a process for each submission; and
"bare", a process for each submission that imports its code and asks it each question that the grader asked, once. As
many processes as cores run at a time.

Figures are medians of the rounds, per submission. Processor time is that of all processes, their children included.
Peak memory is that of all processes at once; pages that they share count once. The start of the grader comes once in a
class and is left out of its figure: twice what one submission per core costs, less what two per core cost. The start of
pytest and bare, a process that only loads the libraries, is part of every submission's figure.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.other_graders import CORES, spent
from benchmarks.real_class.class_maker import REPOSITORY, Made, make
from benchmarks.throughput import EMPTY
from benchmarks.where_time_goes import processes_below
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.rubric.choosing import only
from grader.rubric.loading import find_rubric, load_rubric
from grader.sandbox import BoxRunner
from grader.sandbox.host.asking import ForkedBox
from grader.submission.opening import open_submission

LIBRARIES = ("numpy", "torch")
_LOOKS_EVERY = 0.25  # seconds, at memory
_HERE = Path(__file__).parent
_replies = ForkedBox._replies
_frames: dict[bytes, None] = {}  # what was asked of one submission's code; again alone is the same frame


class Cost(NamedTuple):
    processor: float  # seconds of all processes
    wall: float
    peak_mb: float = 0.0

    def each(self, count: int, start: Cost | None = None) -> Cost:
        start = start or Cost(0.0, 0.0)
        return Cost((self.processor - start.processor) / count, (self.wall - start.wall) / count, self.peak_mb)


class Command(NamedTuple):
    line: Sequence[str]
    folder: Path
    stdin: Path | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rubric", choices=("nlp-a5", "dl-hw3"), help="only its half of the class")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.write:
        make(options.write)
        return
    setattr(ForkedBox, "_replies", _note_and_ask)  # noqa: B010 - mypy lets no method be replaced
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # whoever compiles everything again looks slower than it is
    with tempfile.TemporaryDirectory(prefix="real-class-") as temporary:
        folder = Path(temporary)
        made = make(folder / "class")
        shutil.copytree(_HERE / "course_tests", folder / "tests")
        (folder / "tests" / "test_nothing.py").write_text(EMPTY.format(imports="import numpy, torch"))
        for rubric in [options.rubric] if options.rubric else dict.fromkeys(one.rubric for one in made):
            works = [one for one in made if one.rubric == rubric]
            right = _graded_as_made(works, folder)
            print(f"\n{rubric} {', '.join(works[0].parts)}: {len(works)} submissions, load {os.getloadavg()[0]:.1f}\n")
            rounds: list[dict[str, Cost]] = []
            for _ in range(options.rounds):
                rounds.append(_round(works, right, folder))
                _print({name: [one[name] for one in rounds] for name in rounds[0]})


def _note_and_ask(self: ForkedBox, frame: bytes, *more: Any) -> Any:
    _frames[bytes(frame)] = None
    return _replies(self, frame, *more)


def _graded_as_made(works: Sequence[Made], folder: Path) -> set[Path]:
    """Those that are right in every part. Leaves what each was asked, and its files as sandboxes see them."""
    rubric = only(load_rubric(find_rubric(works[0].rubric)), list(works[0].parts))
    faults = []
    with BoxRunner(LIBRARIES) as runner:
        for one in works:
            _frames.clear()
            with open_submission(one.folder) as submission:
                faults += one.faults(grade(rubric, submission, runner, Draw(0, None)))
                shutil.copytree(submission.folder, _opened(one, folder))
            _frames_of(one, folder).write_bytes(b"".join(_frames))
    assert not faults, "\n".join(faults)
    return {one.folder for one in works if all(work.is_right for work in one.parts.values())}


def _opened(one: Made, folder: Path) -> Path:
    return folder / "opened" / one.rubric / one.folder.name


def _frames_of(one: Made, folder: Path) -> Path:
    return _opened(one, folder).with_suffix(".frames")


def _round(works: Sequence[Made], right: set[Path], folder: Path) -> dict[str, Cost]:
    count, rubric = len(works), works[0].rubric
    start = _start_of_the_grader(works, folder)
    grader = _batch(works[0], works[0].folder.parent, folder).each(count, start)
    pytest, empty = (
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "tests" / name)]
        for name in (f"test_{rubric.replace('-', '_')}.py", "test_nothing.py")
    )
    tested, ended = _measured([Command(pytest, one.folder) for one in works], folder)
    replay = [sys.executable, "-m", "benchmarks.real_class.replay"]
    asked = [Command(replay, _opened(one, folder), _frames_of(one, folder)) for one in works]
    bare, _ = _measured(asked, folder)
    passed = [one.folder in right for one, code in zip(works, ended, strict=True) if code == 0]
    lax = len(passed) - sum(passed)
    print(f"pytest passes {sum(passed)} of {len(right)} right and {lax} of {count - len(right)} wrong")
    return {
        "`grader batch`": grader,
        "pytest": tested.each(count),
        "bare": bare.each(count),
        "start of `grader batch`, once": start,
        "start of pytest": _measured([Command(empty, folder)] * 2 * CORES, folder)[0].each(2 * CORES),
        "start of bare": _measured([Command([*replay, *LIBRARIES], folder)] * 2 * CORES, folder)[0].each(2 * CORES),
    }


def _start_of_the_grader(works: Sequence[Made], folder: Path) -> Cost:
    costs = []
    for copies in (1, 2):
        few = Path(tempfile.mkdtemp(dir=folder))
        for number in range(CORES * copies):
            shutil.copytree(works[number % CORES].folder, few / f"s{number}")
            (few / f"s{number}" / "copy.txt").write_text(str(number))  # no two are the same
        costs.append(_batch(works[0], few, folder))
    once, twice = costs
    return Cost(2 * once.processor - twice.processor, 2 * once.wall - twice.wall, once.peak_mb)


def _batch(of: Made, submissions: Path, folder: Path) -> Cost:
    parts = [word for part in of.parts for word in ("--part", part)]
    where = ["--out", f"{tempfile.mkdtemp(dir=folder)}/out", "--jobs", str(CORES)]
    command = [sys.executable, "-m", "grader", "batch", str(submissions), "--rubric", of.rubric, *parts, *where]
    cost, ended = _measured([Command(command, REPOSITORY)], folder)
    assert ended == [0], ended
    return cost


def _measured(commands: Sequence[Command], folder: Path) -> tuple[Cost, list[int]]:
    """What they cost, one at a time per core, and how they ended."""
    over, peaks, ended = threading.Event(), [0.0], [0] * len(commands)

    def watch() -> None:
        while not over.wait(_LOOKS_EVERY):
            peaks.append(sum(map(_proportional_mb, processes_below(os.getpid()))))

    def run(number: int) -> None:
        line, home, asked = commands[number]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment |= {"PYTHONPATH": f"{folder / 'tests'}:{REPOSITORY}", "SUBMISSION": str(home)}
        with (asked or Path(os.devnull)).open("rb") as stdin:
            done = subprocess.run(line, cwd=home, env=environment, stdin=stdin, capture_output=True, check=False)
        ended[number] = done.returncode

    watching = threading.Thread(target=watch)
    watching.start()
    wall, processor = spent([partial(run, number) for number in range(len(commands))])
    over.set()
    watching.join()
    return Cost(processor, wall, max(peaks)), ended


def _proportional_mb(process: int) -> float:
    with suppress(OSError):  # it has ended
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _print(rounds: dict[str, list[Cost]]) -> None:
    grader, *others = list(rounds)[:3]
    print(f"\nRounds: {len(rounds[grader])}\n")
    print(
        f"| each submission | processor, ms | wall, ms | peak, MB | {grader} : it |\n|---|---|---|---|---|", flush=True
    )
    for name, costs in rounds.items():
        figures = zip(*((1000 * one.processor, 1000 * one.wall, one.peak_mb) for one in costs), strict=True)
        ratios = [mine.processor / its.processor for mine, its in zip(rounds[grader], costs, strict=True)]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})" if name in others else ""
        print(
            f"| {name} | {' | '.join(f'{statistics.median(those):,.0f}' for those in figures)} | {ratio} |", flush=True
        )


if __name__ == "__main__":
    main()
