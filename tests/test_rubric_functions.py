"""References and inputs come from a rubric's own code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import RubricError, UsageError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Report, Rubric, Runner
from grader.rubric.choosing import choose_rubric
from grader.rubric.loading import load_rubric
from grader.rubric.per_student import for_student, numbers_of
from grader.submission.opening import OpenedSubmission, open_submission
from tests.conftest import write_rubric

CHECKS = '''
import numpy as np

from grader import Case, StudentFile, check, difference, failed, inputs, numbers, passed, reference

from .public import regressions


def least_squares(X, y, lam):
    return np.linalg.lstsq(X, y, rcond=None)[0]


@reference(mistakes={"the penalty is left out": least_squares})
def ridge(X, y, lam):
    penalised = X.T @ X + lam * np.eye(X.shape[1])
    return np.linalg.solve(penalised, X.T @ y)


@inputs
def with_a_penalty(rng, lam, n=7):
    yield Case(f"X {n}×2, λ = {lam}", (rng.normal(size=(n, 2)), rng.normal(size=n), lam))


@inputs
def aimed(rng):
    for case in regressions(rng):
        yield Case(case.label, (case.args[0], case.args[0] @ ridge(*case.args), 0.1))


@check
def is_ridge(student, rng, *, file: StudentFile, function: str):
    """It is ridge regression."""
    X, y = rng.normal(size=(4, 2)), rng.normal(size=4)
    found = difference(numbers(student.call(file, function, X, y, 0.5), function), ridge(X, y, 0.5))
    return failed(found.summary) if found else passed("right")
'''
PUBLIC = """
from grader import Case, inputs


@inputs
def regressions(rng):
    for n, d in [(6, 2), (9, 4), (5, 1)]:
        yield Case(f"X {n}×{d}", (rng.normal(size=(n, d)), rng.normal(size=n), 0.5), names=("X", "y", "lam"))
"""
RUBRIC = """\
rubric: shrink
title: Shrinkage
points: 6
per_student: {lam: [0.25, 4, 9]}
problems:
  - id: 1.a
    title: Ridge regression
    points: 6
    with: {file: ridge.py, function: fit, reference: ridge}
    checks:
      - {check: returns_an_array, gate: true, inputs: regressions}
      - {check: matches_reference, points: 1, inputs: regressions}
      - {check: matches_reference, id: with_your_penalty, points: 2, inputs: with_a_penalty, given: {lam: "<<lam>>"}}
      - {check: matches_reference, id: on_aimed_inputs, points: 1, inputs: aimed}
      - {check: leaves_inputs_unchanged, points: 1, inputs: regressions}
      - {check: is_ridge, points: 1}
"""
SOLUTION = """\
import numpy as np


def fit(X, y, lam):
    return np.linalg.inv(X.T @ X + lam * np.eye(X.shape[1])) @ X.T @ y
"""
Handed = Callable[..., OpenedSubmission]


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    return load_rubric(written(tmp_path))


def written(folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    return write_rubric(folder / "shrink", RUBRIC.replace(*change), **{"checks.py": CHECKS, "public.py": PUBLIC})


def graded(rubric: Rubric, boxes: Runner, work: OpenedSubmission) -> Report:
    draw = Draw(0, None)
    return grade(for_student(rubric, work.name, draw), work, boxes, draw)


def test_work_is_judged_by_the_rubrics_own_functions(rubric: Rubric, boxes: Runner, submission: Handed) -> None:
    right = graded(rubric, boxes, submission(**{"ridge.py": SOLUTION}))
    assert right.points == 6, [one.outcome for one in right.problems[0].checks]
    without = graded(rubric, boxes, submission(**{"ridge.py": SOLUTION.replace("lam * np", "0 * np")}))
    _, matches, own, *_ = without.problems[0].checks
    assert "it looks as if the penalty is left out" in matches.outcome.message
    name = without.submission
    assert f"λ = {numbers_of(name, rubric, Draw(0, None))['lam']}" in own.outcome.message


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            ("reference: ridge}", "reference: rigde}"),
            "'reference' names no @reference of the rubric's own checks: 'rigde'; did you mean 'ridge'?",
        ),
        (
            ("gate: true, inputs: regressions", "gate: true, inputs: regresions"),
            "'inputs' names no kind of input: 'regresions'; did you mean 'regressions'?",
        ),
        (("given: {lam: ", "given: {lamb: "), "with_a_penalty takes no 'lamb'; did you mean 'lam'?"),
        ((', given: {lam: "<<lam>>"}', ""), "with_a_penalty needs 'lam' among what is 'given'"),
        (
            ("points: 1, inputs: aimed", "points: 1, inputs: column_attention, given: {a: 1}"),
            "column_attention takes nothing that is 'given'",
        ),
    ],
)
def test_a_typo_stops_at_load(change: tuple[str, str], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(RubricError) as raised:
        load_rubric(written(tmp_path, change))
    assert any(line.endswith(complaint) and "shrink/rubric.yaml:" in line for line in str(raised.value).splitlines())


def test_code_beside_the_work_is_not_run(tmp_path: Path) -> None:
    path = written(tmp_path)
    work = path.parent / "alice"
    work.mkdir()
    (work / "ridge.py").write_text(SOLUTION)
    with open_submission(work) as opened, pytest.raises(UsageError, match=r"its checks\.py lies beside what is graded"):
        choose_rubric(str(path), opened, work)


TENSORS = """
import numpy as np
import torch

from grader import Case, inputs


@inputs
def tensors(rng):
    for n in (2, 3):
        first, second = (torch.tensor(rng.normal(size=(n, 4))) for _ in range(2))
        mask = torch.tensor([[True, False]] * n)
        names = ("x", "steps", "state", "pair", "sizes")
        state = {"hidden": second, 0: {"half": first.bfloat16().requires_grad_()}, "dtype": torch.float32}
        yield Case(f"{n} tokens", (first, [first, [mask]], state, (first, np.eye(n)), [n, 4]), names=names)
"""


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("return x + 1", ""),
        ("y = x.clone(); y += 1; state = dict(state, hidden=y); return x * state['hidden']", ""),
        ("x += 1", "x"),
        ("x.clamp_(min=0)", "x"),
        ("x.t_()", "x"),
        ("steps[1][0].logical_not_()", "steps"),
        ("steps.pop()", "steps"),
        ("state['hidden'].mul_(2)", "state"),
        ("state['hidden'] = state['hidden'] * 2", "state"),
        ("state['seen'] = True", "state"),
        ("state[0]['half'].data.zero_()", "state"),
        ("pair[1][0, 0] = 7.0", "pair"),
        ("sizes[0] = 9", "sizes"),
    ],
)
def test_arguments_of_any_kind_that_are_changed_in_place_are_found(
    code: str, changed: str, tmp_path: Path, torch_boxes: Runner, submission: Handed
) -> None:
    path = write_rubric(
        tmp_path / "shrink",
        "{rubric: shrink, title: S, points: 1, problems: [{id: 1.a, title: T, points: 1, checks: [{check: "
        "leaves_inputs_unchanged, points: 1, file: work.py, function: f, inputs: tensors}]}]}",
        **{"checks.py": TENSORS},
    )
    body = code if "return" in code else f"{code}; return x"
    work = submission(f"import torch\ndef f(x, steps, state, pair, sizes): {body}\n")
    outcome = graded(load_rubric(path), torch_boxes, work).problems[0].checks[0].outcome
    assert outcome.code == ("changes_its_input" if changed else "passed"), outcome.message
    assert not changed or f"its {changed} " in outcome.message
