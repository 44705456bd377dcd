"""Whether sharing boxes moves any verdict: every sample, every mutant of the right ones, and work made up at random.

    python -m benchmarks.sharing samples               # every sample, some minutes
    python -m benchmarks.sharing mutants --count 100   # of the files of the proofs, drawn at random; 0 for all, an hour
    python -m benchmarks.sharing generated --count 200 # functions with a fault, a memory, a whim, or none
    python -m benchmarks.sharing generated --busy      # beside two endless loops

Each is graded twice, with a fresh box for each check and with shared ones; status, points and messages are compared. Of
a mutant, only the problems whose code uses the file that was changed. `--of 1/2` takes every other one, from the first,
so that two processes can share the work. Ends with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Rubric, is_code
from grader.proving.mutants import candidates
from grader.report.json_report import as_data
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "submissions"
RIGHT = {"dl-hw3": "ada", "nlp-a5": "alice"}
DRAW = Draw(0, None)


class Work(NamedTuple):
    name: str
    rubric: str
    folder: Path
    changed: str = ""  # the one file in which it differs from right work


def _rubric(name: str) -> Rubric:
    """What runs code."""
    whole = load_rubric(REPOSITORY / "rubrics" / f"{name}.yaml")
    files = {one.id: {file for check in one.every_check for file in check.files} for one in whole.problems}
    return replace(whole, problems=tuple(one for one in whole.problems if any(map(is_code, files[one.id]))))


def _samples(folder: Path, count: int) -> Iterator[Work]:
    for sample in sorted(SAMPLES.iterdir()):
        named = (sample / "submission.yaml").read_text() if (sample / "submission.yaml").exists() else ""
        yield Work(sample.name, "nlp-a5" if "nlp-a5" in named else "dl-hw3", sample)


def _mutants(folder: Path, count: int) -> Iterator[Work]:
    found = [
        (rubric, path, candidate)
        for rubric, sample in RIGHT.items()
        for path in sorted((SAMPLES / sample).rglob("*.py"))
        for candidate in candidates(path.read_text(encoding="utf-8"), path.name)
    ]
    random.Random(0).shuffle(found)
    for number, (rubric, path, candidate) in enumerate(found[: count or None]):
        target = folder / f"mutant-{number}"
        shutil.copytree(SAMPLES / RIGHT[rubric], target)
        mutant = candidate.mutant()
        (target / path.relative_to(SAMPLES / RIGHT[rubric])).write_text(mutant.text, encoding="utf-8")
        yield Work(f"{mutant.file}:{mutant.line} {mutant.becomes}", rubric, target, path.name)


_BEFORE = ("", "calls = []", "kept = {}", "rng = np.random.default_rng(0)", "import random")
_AT_FIRST = (
    "",
    "calls.append(1)",
    "K[:] = K.astype(K.dtype)",
    "if len(calls) == 1: Q = 2 * Q",
    "if len(calls) > 20: raise ValueError(len(calls))",
    "key = Q.shape; Q = kept.setdefault(key, Q)",
    "Q = Q + 1e-3 * rng.normal()",
    "if random.random() < 0.02: K = -K",
    "print('called with', Q.shape)",
)
_SCORES = ("beta * K.T @ Q", "K.T @ Q", "beta * K.T @ Q / len(Q)")
_WEIGHTS = ("np.exp(s - s.max(axis=0))", "np.exp(s)", "np.exp(s - s.max())")
_AXES = ("axis=0", "axis=0", "axis=1")


def _generated(folder: Path, count: int) -> Iterator[Work]:
    every = list(product(_BEFORE, _AT_FIRST, _SCORES, _WEIGHTS, _AXES))
    for number, (before, first, scores, weights, axis) in enumerate(random.Random(1).sample(every, count)):
        target = folder / f"generated-{number}"
        target.mkdir(parents=True)
        code = (
            f"import numpy as np\n{before}\n\n\ndef attention(Q, K, V, beta):\n    {first or 'pass'}\n"
            f"    s = {scores}\n    a = {weights}\n    return V @ (a / a.sum({axis}, keepdims=True))\n"
        )
        (target / "attention.py").write_text(code)
        yield Work(f"{before} | {first} | {scores} | {weights} | {axis}", "dl-hw3", target)


def _touched(rubric: Rubric, work: Work) -> Rubric:
    """The problems whose code is in the changed file, or imports it."""
    if not work.changed:
        return rubric
    users = {work.changed}
    while True:
        more = {
            path.name
            for path in work.folder.rglob("*.py")
            if any(re.search(rf"\b{Path(one).stem}\b", path.read_text(encoding="utf-8")) for one in users)
        }
        if more <= users:
            break
        users |= more
    asked = {one.id: {file for check in one.every_check for file in check.files} for one in rubric.problems}
    return replace(rubric, problems=tuple(one for one in rubric.problems if asked[one.id] & users))


def _told(rubric: Rubric, folder: Path, runner: BoxRunner, share_boxes: bool) -> list[tuple[Any, ...]]:
    with open_submission(folder) as submission:
        report = as_data(grade(rubric, submission, runner, DRAW, share_boxes=share_boxes))
    checks = [(problem["id"], check) for problem in report["problems"] for check in problem["checks"]]
    return [(part, one["id"], one["status"], one["points"], one["message"]) for part, one in checks]


@contextlib.contextmanager
def _busy(loops: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _share(text: str) -> tuple[int, int]:
    number, _, shares = text.partition("/")
    if not (number.isdecimal() and shares.isdecimal() and 1 <= int(number) <= int(shares)):
        raise argparse.ArgumentTypeError(f"'{text}' is no share; write 1/2 and 2/2 for two halves")
    return int(number), int(shares)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made = {"samples": _samples, "mutants": _mutants, "generated": _generated}
    parser.add_argument("what", choices=made)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--of", type=_share, default=(1, 1), help="which share of them: 1/2 and 2/2 are all")
    arguments = parser.parse_args()
    rubrics = {name: _rubric(name) for name in RIGHT}
    if arguments.what == "generated":
        only = tuple(one for one in rubrics["dl-hw3"].problems if one.id == "2.1")
        rubrics["dl-hw3"] = replace(rubrics["dl-hw3"], problems=only)
    libraries = dict.fromkeys(name for rubric in rubrics.values() for one in rubric.problems for name in one.libraries)
    share, shares = arguments.of
    graded, differing = 0, 0
    with (
        tempfile.TemporaryDirectory(prefix="sharing-") as folder,
        BoxRunner(tuple(libraries)) as runner,
        _busy(2 if arguments.busy else 0),
    ):
        for number, work in enumerate(made[arguments.what](Path(folder), arguments.count)):
            if number % shares != share - 1:
                continue
            rubric = _touched(rubrics[work.rubric], work)
            fresh, shared = (_told(rubric, work.folder, runner, sharing) for sharing in (False, True))
            graded += 1
            for one, other in zip(fresh, shared, strict=True):
                if one != other:
                    differing += 1
                    print(f"{work.name}\n    fresh  {one}\n    shared {other}")
    print(f"{graded} graded twice, {differing} verdicts differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
