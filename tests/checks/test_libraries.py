"""Files as students write them: imports for show, missing libraries, magics, demos, devices, packages."""

from __future__ import annotations

import py_compile
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

from grader.errors import StudentFault
from grader.grading.engine import grade
from grader.model import Limits, Outcome, Report, Status
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, MakeSubmission, read_yaml, sampled, the_rubric

RUBRIC = the_rubric("rubrics/dl-hw3/rubric.yaml")
_ATTENTION = """
import numpy as np
def attention(Q, K, V, beta):
    scores = beta * K.T @ Q
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))
"""
_PATCHES = """
import torch
class PatchEmbedding(torch.nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.convolution = torch.nn.Conv2d(channels, dim, patch, patch)
    def forward(self, x):
        return self.convolution(x).flatten(2).transpose(1, 2)
"""
DEFINITIONS = {
    "WRONG_ATTENTION": _ATTENTION.replace("weights.sum(axis=0)", "weights.sum()"),
    "ATTENTION_WITH_HELP": _ATTENTION.replace("beta * K.T @ Q", "scale(beta * K.T @ Q)"),
    "ATTENTION": _ATTENTION,
    "PATCHES": _PATCHES,
}
FOLDER = Path(__file__).parent / "libraries"
CASES = [case for file in sorted(FOLDER.glob("*.yaml")) for case in read_yaml(file)]


def graded(case: dict[str, Any], boxes: BoxRunner, submission: MakeSubmission) -> Report:
    files = {name: text for name, text in case.items() if name.endswith(".py")}
    for name, text in files.items():
        for word, definition in DEFINITIONS.items():
            lines = [definition if line.strip() == word else line for line in text.split("\n")]
            text = "\n".join(lines)
        files[name] = text
    part = "2.4" if any(name.endswith("patches.py") for name in files) else "2.1"
    asked = tuple(problem for problem in RUBRIC.problems if problem.id == part)
    return grade(replace(RUBRIC, problems=asked), submission(**files), boxes, DRAW)


def complaints(report: Report) -> list[str]:
    return [outcome.message for outcome in _unpassed(report)]


def codes(report: Report) -> list[str]:
    return [outcome.code for outcome in _unpassed(report)]


def _unpassed(report: Report) -> list[Outcome]:
    outcomes = [result.outcome for problem in report.problems for result in problem.checks]
    return [outcome for outcome in outcomes if outcome.status is not Status.PASSED]


@pytest.mark.parametrize("case", sampled([pytest.param(case, id=case["name"]) for case in CASES], 24))
def test_what_stands_around_the_work_decides_nothing(
    torch_boxes: BoxRunner, submission: MakeSubmission, case: dict[str, Any]
) -> None:
    report = graded(case, torch_boxes, submission)
    if not {"says", "code"} & case.keys():
        assert complaints(report) == []
    else:
        assert report.points < report.max_points
        assert any(case.get("says", "") in message for message in complaints(report)), complaints(report)
        assert case.get("code") in (None, *codes(report))


@pytest.mark.slow
def test_a_gpu_that_is_not_here_is_noted(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    note = "the code of 2.4 asks for a GPU; there is none here, so it ran on the processor"
    named = {case["name"]: case for case in CASES}
    assert note in graded(named["to cuda, written plainly"], torch_boxes, submission).notes
    assert note not in graded(named["what the top level really gives"], torch_boxes, submission).notes


def test_compiled_files_that_were_handed_in_are_not_run(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{"work.py": "from helper import f", "helper.py": "def f(): return 'source'"})
    (work.folder / "other.py").write_text("def f(): return 'compiled'")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compiled = cache_from_source(str(work.folder / "helper.py"))
    py_compile.compile(str(work.folder / "other.py"), compiled, invalidation_mode=unchecked)
    with boxes.open(work, Limits(), seed=0) as student:
        assert student.call("work.py", "f") == "source"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import pandas\ndef f(x): return pandas.Series(x)", "library_missing"),
        ("def f(x): raise ModuleNotFoundError('x', name=f'secret{x}')", "raised"),
        ("def f(x): raise ModuleNotFoundError('x', name='x\\x1b[2J')", "raised"),
        ("import yaml\ndef f(x): return yaml.safe_load(x)", "module_missing"),
    ],
)
def test_a_message_names_only_libraries_that_the_file_names(
    boxes: BoxRunner, submission: MakeSubmission, code: str, reason: str
) -> None:
    with boxes.open(submission(code), Limits(), seed=0) as student, pytest.raises(StudentFault) as caught:
        student.call("work.py", "f", 7)
    assert caught.value.code == reason
    assert "secret" not in caught.value.message


def test_what_is_left_out_runs_when_it_is_asked_for(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = """
        ORDER = []
        def first(): return ORDER
        def second(): return LATER
        ORDER.append(1)
        LATER = [len(ORDER), 5]
        print("demo", second())
    """
    with boxes.open(submission(code), Limits(), seed=0) as student:
        assert student.call("work.py", "first") == [1]
        assert student.call("work.py", "second") == [1, 5]
        assert "demo" not in student.printed
