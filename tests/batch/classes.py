"""Classes made on the spot, and what their gradebooks say but for times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from grader.batch.gradebook import Gradebook
from tests.conftest import REPOSITORY
from tests.waiting import PATIENCE_SECONDS

RUBRIC = REPOSITORY / "tests" / "rubrics" / "small-class" / "rubric.yaml"
CHECKS = RUBRIC.with_name("checks.py").read_text()
COMMAND = [sys.executable, "-m", "grader"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}

RIGHT = """
import numpy as np

def attention(Q, K, V, beta):
    scores = beta * (K.T @ Q)
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))
"""
WORKS = {
    "right": RIGHT,
    "wrong": RIGHT.replace("beta * ", ""),
    "crashes": "def attention(Q, K, V, beta):\n    raise ValueError('no')\n",
    "absent": "def attend():\n    pass\n",
}


def make_class(folder: Path, size: int) -> None:
    """Students s000, s001, …, one kind of work after the other; every tenth hands in an archive that is none."""
    kinds = list(WORKS)
    for number in range(size):
        name = f"s{number:03}"
        if number % 10 == 9:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.zip").write_bytes(b"PK\x03\x04 but no more")
            continue
        (folder / name).mkdir(parents=True)
        code = WORKS[kinds[number % len(kinds)]] + f"# handed in by {name}\n"
        (folder / name / "attention.py").write_text(code)


def grader(*arguments: str | Path, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def at_a_terminal(*arguments: str | Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    """The grader with a terminal to read from, at which all of this is typed."""
    ours, theirs = os.openpty()
    try:
        os.write(ours, typed.encode())
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=REPOSITORY,
            env=ENVIRONMENT,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)


def batch(submissions: Path, out: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    """With one job, unless more are asked for: each costs its start."""
    jobs = () if "--jobs" in more else ("--jobs", "1")
    return grader("batch", submissions, "--out", out, "--rubric", RUBRIC, *jobs, *more)


def without_times(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: without_times(value) for key, value in data.items() if key not in ("seconds", "at")}
    return [without_times(item) for item in data] if isinstance(data, list) else data


def contents(out: Path) -> dict[str, str]:
    """The grades in the gradebook and every file beside it, byte for byte but times."""
    found = {}
    with Gradebook(out) as gradebook:
        for result in gradebook.everyone():
            kept = (result.how, result.submission_sha256, result.exact, without_times(result.report))
            found[f"gradebook: {result.student}"] = json.dumps(kept)
    for path in sorted(out.iterdir()):
        if path.suffix == ".json":
            found[path.name] = json.dumps(without_times(json.loads(path.read_text())))
        elif path.suffix == ".csv":
            found[path.name] = path.read_text()
    return found
