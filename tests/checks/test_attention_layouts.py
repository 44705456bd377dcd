"""Attention is judged as an assignment has it called: tokens in columns or rows, the scale an argument or 1/√d."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.grading.engine import grade
from grader.model import Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, MakeSubmission

CALLS = {"column_attention": ("columns", "argument"), "row_attention": ("rows", "argument")}
CALLS |= {"scaled_column_attention": ("columns", "1/sqrt(d)"), "scaled_row_attention": ("rows", "1/sqrt(d)")}
RUBRIC = """
rubric: layouts
title: Attention
points: 4
problems:
  - id: 1.a
    title: Attention
    points: 4
    with: {{file: work.py, function: attention, reference: right, inputs: {inputs}, tokens: {tokens}, scale: {scale}}}
    checks:
      - {{check: matches_reference, points: 1}}
      - {{check: {tokens}_sum_to_one, points: 1}}
      - {{check: stays_finite_at_extreme_scores, points: 1}}
      - {{check: ignores_the_order_of_pairs, points: 1}}
"""
ATTENTION = """
import numpy as np

def {name}(Q, K, V, beta=None):
    Q, K, V = (Q.T, K.T, V.T) if "{tokens}" == "rows" else (Q, K, V)
    scores = K.T @ Q * ({beta})
    weights = np.exp(scores - scores.max({axis}, keepdims=True))
    H = V @ (weights / weights.sum({axis}, keepdims=True))
    return H.T if "{tokens}" == "rows" else H
"""


def _lost(boxes: BoxRunner, submission: MakeSubmission, folder: Path, inputs: str, **slip: str) -> dict[str, str]:
    tokens, scale = CALLS[inputs]
    said = {"tokens": tokens, "beta": "beta" if scale == "argument" else "len(Q) ** -0.5", "axis": "0"}
    folder = folder / inputs
    folder.mkdir()
    (folder / "rubric.yaml").write_text(RUBRIC.format(inputs=inputs, tokens=tokens, scale=scale))
    right = ATTENTION.format(name="right", **said).replace("def", "@reference\ndef")
    (folder / "checks.py").write_text(f"from grader import reference\n{right}")
    work = submission(ATTENTION.format(name="attention", **said | slip))
    (problem,) = grade(load_rubric(folder / "rubric.yaml"), work, boxes, DRAW).problems
    return {one.check.id: one.outcome.code for one in problem.checks if one.outcome.status is not Status.PASSED}


@pytest.mark.parametrize("inputs", CALLS)
def test_right_attention_passes_as_it_is_called(
    boxes: BoxRunner, submission: MakeSubmission, tmp_path: Path, inputs: str
) -> None:
    assert _lost(boxes, submission, tmp_path, inputs) == {}


@pytest.mark.parametrize("inputs", CALLS)
def test_weights_that_sum_to_one_along_the_other_side_are_noticed(
    boxes: BoxRunner, submission: MakeSubmission, tmp_path: Path, inputs: str
) -> None:
    lost = _lost(boxes, submission, tmp_path, inputs, axis="1")
    assert {"matches_reference", f"{CALLS[inputs][0]}_sum_to_one", "stays_finite_at_extreme_scores"} <= set(lost)


def test_another_layout_is_another_function(boxes: BoxRunner, submission: MakeSubmission, tmp_path: Path) -> None:
    assert len(_lost(boxes, submission, tmp_path, "row_attention", tokens="columns")) == 4


def test_a_scale_that_is_left_out_is_noticed(boxes: BoxRunner, submission: MakeSubmission, tmp_path: Path) -> None:
    assert "matches_reference" in _lost(boxes, submission, tmp_path, "scaled_row_attention", beta="1")
