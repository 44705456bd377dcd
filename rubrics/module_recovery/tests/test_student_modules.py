"""Modules of every assignment: right work in any style passes, each classic mistake fails its check and is named."""

from __future__ import annotations

from typing import Any

import pytest

from grader.model import Status
from grader.sandbox import BoxRunner
from rubrics.module_recovery.tests.variant_grading import changed, outcomes, right, wrong
from tests.conftest import MakeSubmission, first_of_each, some_of

MODULES = ("perceiver", "synthesizer", "rope", "encoder", "patches", "vit")
# One seed after the other, so that two are tried in the time of one.
RIGHT = [(module, style, number % 2) for module in MODULES for number, style in enumerate(right(module))]
WRONG = [pytest.param(module, case, id=f"{module}: {case['name']}") for module in MODULES for case in wrong(module)]


def _diagnosis(wrong_work: Any) -> tuple[str, str, str]:
    """A mistake with the code of another one asks the same again."""
    module, case = wrong_work.values
    return module, case["fails"], case["code"]


@pytest.mark.parametrize(("module", "style", "seed"), some_of(RIGHT, 2, quick=99))
def test_right_work_passes(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, style: str, seed: int
) -> None:
    judged = outcomes(module, right(module)[style], torch_boxes, submission, seed)
    assert {name: o.message for name, o in judged.items() if o.status is not Status.PASSED} == {}


@pytest.mark.parametrize(("module", "case"), first_of_each(WRONG, _diagnosis, quick=120))
def test_the_reason_for_a_loss_is_the_right_one(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, case: dict[str, Any]
) -> None:
    judged = outcomes(module, changed(module, case), torch_boxes, submission, only=case["fails"])[case["fails"]]
    assert judged.score < 1
    assert judged.code == case["code"], judged.message
    assert case.get("says", "") in judged.message  # where words carry what no code does: sizes, say
    assert case.get("unsaid", "\0") not in judged.message


@pytest.mark.slow
@pytest.mark.parametrize(("module", "case"), [one for one in WRONG if one.values[1].get("once")])
def test_one_cause_costs_once(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, case: dict[str, Any]
) -> None:
    judged = outcomes(module, changed(module, case), torch_boxes, submission)
    assert [name for name, outcome in judged.items() if outcome.score < 1] == [case["fails"]]
