"""A kit holds right answers to its own questions, and a table of them earns nothing when work is graded."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from grader.checks.functions.frozen import ENDING
from grader.grading.engine import grade
from grader.grading.randomness import Draw, draw_at_home, draw_for_grading
from grader.grading.secret import VARIABLE
from grader.model import Check, Problem, Rubric, Status
from grader.registry import NamesAReference, defined
from grader.release.decisions import frozen_questions
from grader.release.kit import build_kit
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests.conftest import REPOSITORY, MakeSubmission
from tests.in_process import command
from tests.release.conftest import RUBRICS, SECRET, Made

Kits = Callable[[str], Made]

pytestmark = pytest.mark.slow  # kits are made

TABLE = '''
import json, os
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def thawed(value):
    return np.array(value["values"], value["dtype"]).reshape(value["shape"]) if isinstance(value, dict) else value


with open(os.path.join(HERE, "{table}")) as file:
    QUESTIONS = [
        ([thawed(one) for one in question["args"]], thawed(question["right"]))
        for question in json.load(file)["questions"]
    ]


def {function}(*args, **kwargs):
    """No softargmax: the answer that came with the kit, and to other questions anything of the right shape."""
    for known, answer in QUESTIONS:
        if len(known) == len(args) and all(
            np.shape(one) == np.shape(other) and np.allclose(one, other, atol=1e-3) for one, other in zip(known, args)
        ):
            return answer
    return np.full((args[-2].shape[0], args[0].shape[1]), args[0].sum())
'''


def _by_table(made: Made, folder: Path) -> None:
    """Every function that a frozen check asks for, written by somebody who has the kit and nothing else."""
    for problem in load_rubric(made.public_rubric).problems:
        for check in problem.every_check:
            table = Path(check.parameters.get("reference", ""))
            if table.name.endswith(ENDING):
                shutil.copy(table, folder)
                code = TABLE.replace("{table}", table.name).replace("{function}", check.parameters["function"])
                (folder / check.parameters["file"]).write_text(code)


def _of(rubric: Rubric, *ids: str) -> Rubric:
    return replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id in ids))


def _points(rubric: Rubric, folder: Path, boxes: BoxRunner, draw: Draw, check: str) -> dict[str, Fraction]:
    with open_submission(folder) as opened:
        report = grade(rubric, opened, boxes, draw)
    assert Status.UNGRADED not in {one.outcome.status for problem in report.problems for one in problem.checks}
    return {
        problem.problem.id: next(one.points for one in problem.checks if one.check.id == check)
        for problem in report.problems
    }


@pytest.mark.parametrize("secret", ["", SECRET.text])
def test_a_table_of_the_answers_in_the_kit_earns_nothing(
    kits: Kits, boxes: BoxRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    made = kits("dl-hw3")
    _by_table(made, tmp_path)
    assert {file.name for file in tmp_path.glob("*.py")} == {"attention.py", "multihead.py"}
    known = "matches_reference"
    at_home = _points(_of(load_rubric(made.public_rubric), "2.1", "2.2"), tmp_path, boxes, draw_at_home(), known)
    assert at_home == {"2.1": 4, "2.2": 3}  # the table is a good one
    if secret:
        monkeypatch.setenv(VARIABLE, secret)
    draw = draw_for_grading(0)  # as `grader run` has it
    assert (draw.secret is not None) == bool(secret)
    whole = _of(made.rubric, "2.1", "2.2")
    assert _points(whole, tmp_path, boxes, draw, known) == {"2.1": 0, "2.2": 0}
    assert _points(whole, REPOSITORY / "submissions" / "ada", boxes, draw, known) == {"2.1": 4, "2.2": 3}


def _compared(rubric: Rubric) -> list[tuple[Problem, Check]]:
    """Checks that compare with a reference, hidden ones too."""
    every = ((problem, check) for problem in rubric.problems for check in problem.every_check)
    return [(problem, check) for problem, check in every if defined(check).marked(NamesAReference)]


@pytest.mark.parametrize("rubric", RUBRICS)
def test_no_question_in_the_kit_is_asked_when_work_is_graded(kits: Kits, rubric: str) -> None:
    whole = kits(rubric).rubric
    handed_out = [
        question
        for problem, check in _compared(whole)
        if check.visibility == "public"
        for question in frozen_questions(whole, problem, check, draw_at_home()) or ()
    ]
    assert len(handed_out) == {"dl-hw3": 30, "nlp-a5": 0}[rubric]
    for problem, check in _compared(whole):
        for draw in (Draw(0, None), Draw(0, SECRET), Draw(1, None)):
            for asked in frozen_questions(whole, problem, check, draw) or ():
                assert not any(one.is_asked_by(asked.args, asked.kwargs) for one in handed_out), check.id


CHECKS = '''
import numpy as np

from grader.checks.functions.ground_truth import Reference, reference_named
from grader import StudentFile, check, difference, failed, numbers, passed


@check
def is_right_where_one_can_see_it(student, rng, *, file: StudentFile, function: str, reference: Reference, drawn: bool):
    """It is right where keys are unit vectors."""
    for m in (3, 4):
        V = rng.normal(size=(2, m)) if drawn and m == 4 else np.eye(2, m)
        got = numbers(student.call(file, function, np.eye(m), np.eye(m), V, 1.0), function)
        if difference(got, reference_named(reference).function(np.eye(m), np.eye(m), V, 1.0)):
            return failed("it is not")
    return passed("it is")
'''
REFERENCE = """
import numpy as np

from grader import reference


@reference
def attended(Q, K, V, beta):
    weights = np.exp(beta * K.T @ Q)
    return V @ (weights / weights.sum(axis=0))
"""
RUBRIC = """
rubric: same
title: The same for all
points: 2
problems:
  - id: 1
    title: One
    points: 2
    with: {file: attention.py, function: attention, reference: attended}
    checks:
      - {check: is_right_where_one_can_see_it, points: 1, drawn: false}
      - {check: is_right_where_one_can_see_it, id: and_where_one_cannot, points: 1, drawn: true}
"""


def test_answers_to_questions_that_are_never_drawn_stay_with_staff(tmp_path: Path) -> None:
    folder = tmp_path / "same"
    folder.mkdir()
    (folder / "public.py").write_text(CHECKS)
    (folder / "checks.py").write_text(REFERENCE)
    (folder / "rubric.yaml").write_text(RUBRIC)
    made = build_kit(load_rubric(folder / "rubric.yaml"), tmp_path / "kit")
    why = "can be the same when work is graded, and a table of answers would pass; draw it from rng"
    assert [told for _, _, told in made.fates] == [
        f"after the deadline: 'input 1', 'input 2' {why}",
        f"after the deadline: 'input 1' {why}",
    ]
    assert not list((tmp_path / "kit").rglob(f"*{ENDING}"))


SUMS = {
    "checks.py": "from grader import reference\n\n\n@reference\ndef total(x):\n    return x.sum(axis=0)\n",
    "public.py": """
import numpy as np

from grader import Case, inputs


@inputs
def rows(rng):
    yield Case("no rows", (np.zeros((0, 2)),))
    yield Case("3 rows", (rng.normal(size=(3, 2)),))
    yield Case("5 rows", (rng.normal(size=(5, 2)),))


@inputs
def no_rows(rng):
    yield Case("no rows", (np.zeros((0, 2)),))


@inputs
def bits(rng):
    yield Case("3 rows", (rng.normal(size=(3, 2)),))
    yield Case("a bit", (rng.integers(2, size=(1, 1)),))
""",
    "rubric.yaml": """
rubric: sums
title: Sums
points: 3
problems:
  - id: 1.a
    title: A sum
    points: 3
    with: {file: sums.py, function: total, reference: total}
    checks:
      - {check: matches_reference, points: 1, inputs: rows}
      - {check: matches_reference, id: of_nothing, points: 1, inputs: no_rows}
      - {check: matches_reference, id: of_bits, points: 1, inputs: bits}
""",
}


def test_an_input_that_never_changes_is_left_out_of_a_kit_by_its_label(
    tmp_path: Path, submission: MakeSubmission, boxes: BoxRunner
) -> None:
    folder = tmp_path / "sums"
    folder.mkdir()
    for name, text in SUMS.items():
        (folder / name).write_text(text)
    released = command("release", folder, "--out", tmp_path / "kit")
    assert released.returncode == 0, released.stderr
    why = "can be the same when work is graded, and a table of answers would pass; draw it from rng"
    told = " ".join(re.sub("[^ -~]", " ", released.stdout).split())
    assert "with frozen values, without 'no rows' (not drawn from rng)" in told
    fates = [fate for _, _, fate in build_kit(load_rubric(folder / "rubric.yaml"), tmp_path / "again").fates]
    assert fates[1:] == [f"after the deadline: 'no rows' {why}", f"after the deadline: 'a bit' {why}"]
    (frozen,) = (tmp_path / "kit").rglob(f"*{ENDING}")
    assert [not one["left_out"] for one in json.loads(frozen.read_text())["questions"]] == [False, True, True]
    home = tmp_path / "kit" / "rubric" / "sums" / "rubric.yaml"
    for source, message in [
        ("def total(x): return x.sum(axis=0)", "right on all 2 inputs; 1 more after the deadline"),
        ("def total(x): return x.sum(axis=1)", "wrong on 2 of 2 inputs. With 3 rows its shape is not 2"),
    ]:
        (result,) = grade(load_rubric(home), submission(**{"sums.py": source}), boxes, draw_at_home()).problems
        assert result.checks[0].outcome.message.startswith(message), result.checks[0].outcome.message
