"""The encoder block: right work in any style passes, each classic mistake fails the check it should and is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grader.model import Status
from grader.sandbox import BoxRunner
from tests.checks.variant_grading import changed, outcomes, right, wrong
from tests.conftest import MakeSubmission

VARIANT = "encoder"


@pytest.fixture(scope="module")
def torch_boxes() -> Iterator[BoxRunner]:
    with BoxRunner(("numpy", "torch")) as runner:
        yield runner


@pytest.mark.parametrize("style", right(VARIANT))
@pytest.mark.parametrize("seed", [0, 1])
def test_right_work_passes(torch_boxes: BoxRunner, submission: MakeSubmission, style: str, seed: int) -> None:
    judged = outcomes(VARIANT, right(VARIANT)[style], torch_boxes, submission, seed)
    assert {name: o.message for name, o in judged.items() if o.score < 1} == {}


@pytest.mark.parametrize("case", wrong(VARIANT), ids=lambda case: case["name"])
def test_wrong_work_is_told_what_is_wrong(
    torch_boxes: BoxRunner, submission: MakeSubmission, case: dict[str, Any]
) -> None:
    files = changed(VARIANT, case)
    judged = outcomes(VARIANT, files, torch_boxes, submission, only=case["fails"])[case["fails"]]
    assert judged.score < 1
    assert case["says"] in judged.message


def test_an_arrangement_nobody_could_guess_is_left_to_a_person(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    files, check = right(VARIANT)["per_head_packed"], "encoder_matches_its_equations"
    judged = outcomes(VARIANT, files, torch_boxes, submission, only=check)[check]
    assert (judged.status, judged.evidence["judged_by"]) == (Status.REVIEW, "properties")
