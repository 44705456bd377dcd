"""Accuracy of a variant: of its own predictions only, and too much of it goes to a person."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from grader.engine import grade
from grader.model import Status
from grader.rubric import load_rubric
from grader.sandbox import BoxRunner
from grader.submission import OpenedSubmission
from tests.conftest import DRAW, REPOSITORY

DATA = REPOSITORY / "rubrics" / "nlp-a5"
NORA = (REPOSITORY / "submissions" / "nora" / "synthesizer.pretrain.test.predictions").read_bytes()  # 22 of 250
RUBRIC = """
rubric: tiny
title: Two variants
points: 2
problems:
  - id: 2.g.i
    title: A variant
    points: 2
    alternatives:
      - name: one
        files: [one.py]
        defines: [One]
        beside: [one.test]
        with: {file: one.py, function: One}
        checks: [{check: columns_sum_to_one, points: 1}]
      - name: other
        files: [other.py]
        defines: [Other]
        beside: [other.test]
        with: {file: other.py, function: Other}
        checks: [{check: columns_sum_to_one, points: 1}]
    checks:
      - check: a_variant_reaches
        points: 1
        labels: birth_test.tsv
        variants:
          one.test: [{accuracy: 0.05, score: 1}]
          other.test: [{accuracy: 0.30, score: 1}, {right: 1, score: 0.5}]
        far_above: {one.test: FAR}
"""
CODE = "class {}:\n    def forward(self, x): return x\n"
FEW = b"Nowhere\n" * 250


@pytest.mark.parametrize(
    ("files", "far", "status", "score", "told"),
    [
        ({"one.py": CODE, "one.test": NORA}, 0.2, Status.PASSED, 1, "one.test: 22/250"),
        ({"one.py": CODE, "one.test": FEW, "other.test": NORA}, 0.2, Status.FAILED, 0, "one.test: 0/250"),
        ({"one.py": CODE, "other.test": NORA}, 0.2, Status.MISSING, 0, "other.test is of another variant"),
        ({"other.py": CODE, "one.test": NORA, "other.test": FEW}, 0.2, Status.FAILED, 0, "other.test: 0/250"),
        ({"other.py": CODE, "one.test": NORA, "other.test": NORA}, 0.2, Status.PARTIAL, 0.5, "other.test: 22/250"),
        ({"other.test": NORA}, 0.2, Status.PARTIAL, 0.5, "other.test: 22/250"),
        ({"one.py": CODE, "one.test": NORA}, 0.08, Status.REVIEW, 0.5, "8 % and more is far above what this variant"),
        ({"other.py": CODE, "one.test": NORA, "other.test": NORA}, 0.08, Status.PARTIAL, 0.5, "other.test: 22/250"),
        ({"one.py": CODE, "one.test": FEW}, 0.08, Status.FAILED, 0, "one.test: 0/250"),
    ],
)
def test_only_its_own_predictions_count(
    boxes: BoxRunner, tmp_path: Path, files: dict[str, str | bytes], far: float, status: Status, score: float, told: str
) -> None:
    for name, content in files.items():
        text = content.format(name[:-3].capitalize()).encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(text)
    path = tmp_path / "tiny.yaml"
    path.write_text(RUBRIC.replace("FAR", str(far)))
    (problem,) = grade(load_rubric(path, DATA), OpenedSubmission("s", tmp_path, 0, tuple(files)), boxes, DRAW).problems
    outcome = problem.checks[-1].outcome
    assert (outcome.status, outcome.score) == (status, Fraction(score))
    assert told in outcome.message
