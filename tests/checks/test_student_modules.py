"""Modules of every assignment: right work in any style passes, each classic mistake fails its check and is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grader.model import Status
from grader.sandbox import BoxRunner
from tests.checks.variant_grading import changed, outcomes, right, wrong
from tests.conftest import MakeSubmission

MODULES = ("perceiver", "synthesizer", "rope", "encoder", "patches", "vit")
# One seed after the other, so that two are tried in the time of one.
RIGHT = [(module, style, number % 2) for module in MODULES for number, style in enumerate(right(module))]
WRONG = [pytest.param(module, case, id=f"{module}: {case['name']}") for module in MODULES for case in wrong(module)]


@pytest.fixture(scope="module")
def torch_boxes() -> Iterator[BoxRunner]:
    with BoxRunner(("numpy", "torch")) as runner:
        yield runner


@pytest.mark.parametrize(("module", "style", "seed"), RIGHT)
def test_right_work_passes(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, style: str, seed: int
) -> None:
    judged = outcomes(module, right(module)[style], torch_boxes, submission, seed)
    assert {name: o.message for name, o in judged.items() if o.score < 1} == {}


@pytest.mark.parametrize(("module", "case"), WRONG)
def test_wrong_work_is_told_what_is_wrong(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, case: dict[str, Any]
) -> None:
    judged = outcomes(module, changed(module, case), torch_boxes, submission, only=case["fails"])[case["fails"]]
    assert judged.score < 1
    assert case["says"] in judged.message


@pytest.mark.parametrize(
    ("module", "style", "check"),
    [
        ("perceiver", "bare", "basis_asks_the_tokens"),
        ("encoder", "per_head_packed", "encoder_matches_its_equations"),
    ],
)
def test_an_arrangement_nobody_could_guess_is_left_to_a_person(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, style: str, check: str
) -> None:
    judged = outcomes(module, right(module)[style], torch_boxes, submission, only=check)[check]
    assert (judged.status, judged.evidence["judged_by"]) == (Status.REVIEW, "properties")
