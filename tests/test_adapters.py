"""A function of a rubric's `probes.py` calls a student's function in another way than the reference is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import RubricError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import CheckResult, Runner, Status
from grader.release.decisions import frozen_questions
from grader.rubric.loading import load_rubric
from grader.submission.opening import OpenedSubmission
from tests.conftest import write_rubric

CHECKS = """
import numpy as np

from grader import Case, inputs, reference


def unweighted(X, w):
    return X.sum(axis=1)


@reference(mistakes={"the weights are left out": unweighted})
def weighted(X, w):
    return X @ w


@inputs
def tables(rng):
    for n in (2, 3, 5):
        yield Case(f"{n} rows", (rng.normal(size=(n, 4)), rng.normal(size=4)), names=("X", "w"))
"""
PROBES = """
def by_a_layer(layer, X, w):
    made = layer(len(w))
    made.weight = w
    return made.forward(x=X)
"""
RUBRIC = """\
rubric: weights
title: Weights
points: 2
problems:
  - id: 1.a
    title: A layer
    points: 2
    with: {file: layer.py, function: Layer, inputs: tables, reference: weighted, through: by_a_layer}
    checks:
      - {check: returns_an_array, gate: true}
      - {check: matches_reference, points: 1}
      - {check: leaves_inputs_unchanged, points: 1}
"""
LAYER = """
class Layer:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return x @ self.weight
"""
Handed = Callable[..., OpenedSubmission]


def rubric_in(folder: Path, *change: str) -> Path:
    text = RUBRIC.replace(*change) if change else RUBRIC
    return write_rubric(folder / "weights", text, **{"checks.py": CHECKS, "probes.py": PROBES})


@pytest.fixture
def judged(tmp_path: Path, boxes: Runner, submission: Handed) -> Callable[[str], list[CheckResult]]:
    def judge(code: str) -> list[CheckResult]:
        report = grade(load_rubric(rubric_in(tmp_path)), submission(**{"layer.py": code}), boxes, Draw(0, None))
        return [*report.problems[0].checks]

    return judge


def test_the_reference_and_the_student_are_called_each_in_its_own_way(
    judged: Callable[[str], list[CheckResult]],
) -> None:
    assert [one.outcome.status for one in judged(LAYER)] == [Status.PASSED] * 3


@pytest.mark.parametrize(
    ("right", "wrong", "code", "says"),
    [
        ("x @ self.weight", "x.sum(axis=1)", "values_differ", "it looks as if the weights are left out"),
        ("x @ self.weight", "self.wieght @ x", "raised", "Layer() in layer.py raised AttributeError at layer.py:7"),
        (
            "(self, size)",
            "(self)",
            "wrong_signature",
            "Layer() in layer.py cannot be called as the assignment calls it",
        ),
        ("class Layer", "class Layers", "not_defined", "layer.py defines no 'Layer'"),
        ("return x", "x *= 2; return x", "changes_its_input", "it changes its X in place"),
        ("x @ self.weight", "'text'", "not_numbers", "Layer() returned text"),
    ],
)
def test_messages_name_what_is_the_students(
    judged: Callable[[str], list[CheckResult]], right: str, wrong: str, code: str, says: str
) -> None:
    outcomes = [one.outcome for one in judged(LAYER.replace(right, wrong))]
    told = [one for one in outcomes if one.status not in (Status.PASSED, Status.SKIPPED)]
    assert [one.code for one in told if says in one.message] == [code], told
    assert not any("by_a_layer" in f"{one.message} {one.detail}" for one in told)


def test_what_is_no_function_of_the_probes_stops_at_load(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match=r"names no function of .* 'by_layer'; did you mean 'by_a_layer'\?"):
        load_rubric(rubric_in(tmp_path, "through: by_a_layer", "through: by_layer"))


def test_the_reference_is_frozen_as_it_is_called_itself(tmp_path: Path) -> None:
    rubric = load_rubric(rubric_in(tmp_path))
    _, matches, _ = rubric.problems[0].checks
    questions = frozen_questions(rubric, rubric.problems[0], matches, Draw(0, None))
    assert questions is not None
    assert [question.right.shape for question in questions] == [(2,), (3,), (5,)]
