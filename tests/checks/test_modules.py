"""Checks on torch modules: whatever the attributes are called, by what comes out."""

from __future__ import annotations

import pytest

from grader.grading.engine import grade
from grader.model import Report, Status
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, the_rubric

RUBRIC = the_rubric("tests/rubrics/torch-blocks/rubric.yaml")
RIGHT = (REPOSITORY / "submissions" / "ada" / "encoder.py").read_text()


def _lost(report: Report) -> dict[str, str]:
    (problem,) = report.problems
    return {r.check.id: r.outcome.code for r in problem.checks if r.outcome.status is not Status.PASSED}


def test_a_right_block_passes(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    assert _lost(grade(RUBRIC, submission(**{"encoder.py": RIGHT}), torch_boxes, DRAW)) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "check", "code"),
    [
        ("+ self.ffn(x))", "+ self.ffn(x))[:, :1]", "keeps_the_shape", "wrong_output_shape"),
        (
            "dim=-1)\n        mixed",
            "dim=0)\n        mixed",
            "reordering_tokens_reorders_its_output",
            "mixes_batch_items",
        ),
        (
            "x = self.norm1(x",
            "x = self.norm1(x.cumsum(1)",
            "reordering_tokens_reorders_its_output",
            "token_order_counts",
        ),
        ("self.ffn(x)", "self.ffn(x.detach())", "gradient_agrees_with_differences", "wrong_input_gradient"),
        ("self.ffn(x)", "0", "gradient_agrees_with_differences", "no_gradient"),
        ("math.sqrt(q.size(-1))", "0 + q[9]", "keeps_the_shape", "raised"),
    ],
)
def test_a_wrong_block_loses_for_the_right_reason(
    torch_boxes: BoxRunner, submission: MakeSubmission, right: str, wrong: str, check: str, code: str
) -> None:
    assert right in RIGHT
    lost = _lost(grade(RUBRIC, submission(**{"encoder.py": RIGHT.replace(right, wrong)}), torch_boxes, DRAW))
    assert lost[check] == code
