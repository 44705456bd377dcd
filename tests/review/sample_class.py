"""A class for review: real samples are graded once, and their results stand under as many made names as are asked for.

Every third student wrote what the sample wrote; the others say a word more, so that groups are found by what was read.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.batch.gradebook import Gradebook, Result, Run
from tests.batch.classes import grader
from tests.conftest import REPOSITORY

SAMPLES = ("alice", "jonas", "leo")
PDF = REPOSITORY / "tests" / "answers" / "forms" / "pdf" / "nlp_a5_third_sections.pdf"
PARTS = ("1.a", "1.b", "2.e")
_WORDS = ("indeed", "that is all", "so it holds", "as was asked")


def graded_samples(folder: Path) -> tuple[list[Result], Path]:
    """Their results, one of a PDF among them, and where they were handed in."""
    handed_in = folder / "handed-in"
    for name in SAMPLES:
        shutil.copytree(REPOSITORY / "submissions" / name, handed_in / name)
    (handed_in / "pat").mkdir()
    shutil.copy(PDF, handed_in / "pat" / "answers.pdf")
    parts = [word for part in PARTS for word in ("--part", part)]
    done = grader("batch", handed_in, "--out", folder / "graded", "--rubric", "nlp-a5", "--jobs", "1", *parts)
    assert done.returncode == 0, done.stderr
    with Gradebook(folder / "graded") as gradebook:
        return list(gradebook.everyone()), handed_in


def make_class(out: Path, samples: Sequence[Result], size: int) -> None:
    """Students s000, s001, … one sample after the other; the samples themselves come first, under their own names."""
    with Gradebook(out, new=True) as gradebook:
        run = gradebook.begin_run(Run("nlp-a5.yaml", None, 0, (), ""), "nlp-a5", "1")
        for sample in samples:
            gradebook.add(run, sample)
        for number in range(size - len(samples)):
            gradebook.add(run, _under_another_name(samples[number % len(samples)], number))


def _under_another_name(sample: Result, number: int) -> Result:
    report = copy.deepcopy(sample.report)
    student = f"s{number:03}"
    report["submission"] = student
    if (number // len(SAMPLES)) % 3:
        for problem in report["problems"]:
            _say_more(problem, f" {_WORDS[number % len(_WORDS)]} {number}")
    return replace(sample, student=student, name=f"Student {number}", report=report)


def _say_more(problem: dict[str, Any], words: str) -> None:
    judged = problem["judged"]
    for piece in judged["pieces"]:
        if piece["kind"] == "answer" and piece.get("text"):
            piece["text"] += words
    judged["sha256"] = hashlib.sha256(json.dumps(judged["pieces"]).encode()).hexdigest()


def with_answer(sample: Result, student: str, text: str, message: str = "") -> Result:
    """The sample's result with other words in its first part: for words that would do harm."""
    report = copy.deepcopy(sample.report)
    report["submission"] = student
    first = report["problems"][0]
    piece = {"kind": "answer", "file": "answers.md", "line": 1, "text": text}
    first["judged"] = {**first["judged"], "sha256": hashlib.sha256(text.encode()).hexdigest(), "pieces": [piece]}
    first["status"] = "review"
    for check in first["checks"]:
        check["status"] = "review"
        check["message"] = message or check["message"]
    return replace(sample, student=student, name=text[:200], report=report)
