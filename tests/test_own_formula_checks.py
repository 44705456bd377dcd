"""A rubric's own checks.py may judge formulas, in the process that can be killed, as the grader's own checks do."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grader.formulas import killable_child
from tests.in_process import command

CHECKS = '''
"""Formulas of one letter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader import check
from grader.formulas import (
    HALF,
    AskedName,
    Declared,
    Verdict,
    Vocabulary,
    agree,
    expression,
    formula_outcome,
    judged,
    right,
    seed_from,
    wrong,
)

LETTERS = Vocabulary((Declared("x"),), asked=("y",))


@dataclass(frozen=True)
class Curve:
    formula: str


@np.errstate(all="ignore")
def _judged(answer, curve: Curve, seed: int) -> Verdict:
    def judge(found):
        key = expression(curve.formula, LETTERS)
        same = agree(found, key, LETTERS, np.random.default_rng(seed)).holds
        return right("it is the same curve") if same else wrong("it is another curve")

    return judged(answer, LETTERS, AskedName("y"), judge)


@check
def is_the_curve(student, rng, *, curve: str):
    """The formula is the curve asked for."""
    return formula_outcome(_judged, student, HALF, Curve(curve), seed_from(rng))
'''
RUBRIC = """
rubric: curves
title: Curves
points: 3
problems:
  - {id: 1.a, title: A parabola, points: 1, checks: [{check: is_the_curve, points: 1, curve: x^2 + 1}]}
  - {id: 1.b, title: Another, points: 1, checks: [{check: is_the_curve, points: 1, curve: x^2 + 2}]}
  - id: 1.c
    title: A root
    points: 1
    checks: [{check: formula_equals_the_key, points: 1, readings: [{name: q, symbols: {n: size}, equals: [sqrt(n)]}]}]
"""
ANSWERS = "# 1.a\n\n$y = 1 + x x$\n\n# 1.b\n\n$y = x^2$\n\n# 1.c\n\n$q = \\sqrt{n}$\n"
OUTCOMES = {"1.a": "passed", "1.b": "failed", "1.c": "passed"}


def write_curves(folder: Path, place: str = "checks.py", checks: str = CHECKS) -> Path:
    """A rubric, its checks where they may lie, and submissions elsewhere."""
    for name, text in {
        "rubrics/curves/rubric.yaml": RUBRIC,
        f"rubrics/curves/{place}": checks,
        "class/zoe/answers.md": ANSWERS,
        "class/max/answers.md": ANSWERS.replace("1 + x x", "1 + x"),
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "rubrics" / "curves" / "rubric.yaml"


def statuses(report: Path) -> dict[str, str]:
    return {problem["id"]: problem["status"] for problem in json.loads(report.read_text())["problems"]}


@pytest.mark.parametrize("place", ["checks.py", "checks/curves.py", "checks/curves/judging.py"])
def test_run_judges_formulas_by_a_check_of_the_rubric(tmp_path: Path, place: str) -> None:
    rubric = write_curves(tmp_path, place)
    done = command("run", tmp_path / "class" / "zoe", "--rubric", rubric, "--json", tmp_path / "zoe.json")
    assert done.returncode == 0, done.stderr
    assert statuses(tmp_path / "zoe.json") == OUTCOMES


def test_a_changed_check_is_loaded_again(tmp_path: Path) -> None:
    rubric = write_curves(tmp_path)
    arguments = ("run", tmp_path / "class" / "zoe", "--rubric", rubric, "--json", tmp_path / "zoe.json")
    command(*arguments)
    write_curves(tmp_path, checks=CHECKS.replace("agree(found", "not agree(found"))
    command(*arguments)
    assert statuses(tmp_path / "zoe.json") == {"1.a": "failed", "1.b": "passed", "1.c": "passed"}


@pytest.mark.slow
def test_batch_judges_formulas_by_a_check_of_the_rubric(tmp_path: Path) -> None:
    rubric = write_curves(tmp_path)
    done = command("batch", tmp_path / "class", "--rubric", rubric, "--out", tmp_path / "out", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert statuses(tmp_path / "out" / "zoe.json") == OUTCOMES
    assert statuses(tmp_path / "out" / "max.json") == {**OUTCOMES, "1.a": "failed"}
    with (tmp_path / "out" / "gradebook.csv").open() as file:
        assert {row["student"]: float(row["points"]) for row in csv.DictReader(file)} == {"zoe": 2, "max": 1}


def test_checks_that_only_the_grader_can_import_are_ungraded_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "curve_helpers.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "helpers")  # which the process that judges formulas does not have
    rubric = write_curves(tmp_path, checks=CHECKS.replace("import numpy", "import curve_helpers\nimport numpy"))
    killable_child.start()
    server = killable_child._server
    done = command("run", tmp_path / "class" / "zoe", "--rubric", rubric, "--json", tmp_path / "zoe.json")
    assert done.returncode == 3
    assert "No module named 'curve_helpers' (checks.py:8)" in done.stderr
    assert statuses(tmp_path / "zoe.json") == {"1.a": "ungraded", "1.b": "ungraded", "1.c": "passed"}
    assert killable_child._server is server
    assert server is not None
    assert server.alive


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    def judge(", "    return lambda: 0\n\n    def judge(", "Can't pickle"),
        ("    def judge(", "    raise ValueError('of the author')\n\n    def judge(", "ValueError: of the author"),
        ("outcome(_judged,", "outcome(lambda *given: _judged(*given),", "has no attribute 'is_the_curve.<locals>."),
    ],
    ids=["no verdict", "raises", "not at the top level"],
)
def test_a_judge_that_does_not_work_is_ungraded_with_the_reason(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    rubric = write_curves(tmp_path, "checks.py", CHECKS.replace(old, new))
    done = command("run", tmp_path / "class" / "zoe", "--rubric", rubric, "--json", tmp_path / "zoe.json")
    assert done.returncode == 3
    assert reason in done.stderr
    assert statuses(tmp_path / "zoe.json") == {"1.a": "ungraded", "1.b": "ungraded", "1.c": "passed"}
