"""Right encoder blocks in many styles lose nothing; a small slip costs little; a mistake is found, named and costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from rubric_dl_hw3.checks.encoder import Allowed
from rubric_dl_hw3.tests.encoder_styles import STYLES, encoder

from grader.model import Outcome, Status
from grader.sandbox import BoxRunner
from rubrics.module_recovery.tests.variant_grading import outcomes
from tests.conftest import MakeSubmission, first_of_each, some_of

_EQUATIONS = "encoder_matches_its_equations"


def _judged(style: list[str], boxes: BoxRunner, submission: MakeSubmission) -> dict[str, Outcome]:
    return outcomes("encoder", {"encoder.py": encoder(*style)}, boxes, submission)


@pytest.mark.parametrize("style", some_of(STYLES["right"], 3, quick=40), ids="-".join)
def test_whatever_the_assignment_leaves_open_is_right(
    torch_boxes: BoxRunner, submission: MakeSubmission, style: list[str]
) -> None:
    judged = _judged(style, torch_boxes, submission)
    assert [f"{name}: {each.message}" for name, each in judged.items() if each.status is not Status.PASSED] == []


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES["slips"], ids="-".join)
def test_the_unbiased_deviation_is_a_small_slip(
    torch_boxes: BoxRunner, submission: MakeSubmission, style: list[str]
) -> None:
    judged = _judged(style, torch_boxes, submission)
    slip = judged.pop(_EQUATIONS)
    assert (slip.status, slip.score) == (Status.PARTIAL, Fraction(9, 10)), slip.message
    assert slip.code == "unbiased_variance"
    assert {each.status for each in judged.values()} == {Status.PASSED}


WRONG = first_of_each(STYLES["wrong"], lambda case: str(case["codes"]), quick=60)


@pytest.mark.parametrize("case", WRONG, ids=lambda case: "-".join(case["of"]))
def test_a_mistake_is_found_and_named(torch_boxes: BoxRunner, submission: MakeSubmission, case: dict[str, Any]) -> None:
    lost = [each for each in _judged(case["of"], torch_boxes, submission).values() if each.score < 1]
    assert [each.code for each in lost] == case["codes"], [each.message for each in lost]
    assert not any(each.status in (Status.REVIEW, Status.UNGRADED) for each in lost)
    assert all(case.get("says", "") in each.message for each in lost)


def test_a_mistake_is_told_with_its_line(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    text = encoder("mha", "gelu", "torch", "post")
    told = outcomes("encoder", {"encoder.py": text}, torch_boxes, submission, only=_EQUATIONS)[_EQUATIONS]
    line = told.evidence["line"]
    assert "self.ff(x)" in text.split("\n")[line - 1]
    assert told.message.endswith(f"see line {line}")


def test_what_is_right_for_the_recorded_input_alone_does_not_pass(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    judged = _judged(["six_tokens_alone", "seq", "torch", "post"], torch_boxes, submission)[_EQUATIONS]
    assert judged.status is Status.REVIEW
    assert "together they do not give its output" in judged.message


@pytest.mark.parametrize(("network", "wiring"), [("gelu", "pre"), ("seq", "post")])
def test_a_rubric_says_which_orders_and_activations_are_right(
    torch_boxes: BoxRunner, submission: MakeSubmission, network: str, wiring: str
) -> None:
    allow = Allowed(order=["post", "pre"], activation=["ReLU", "GELU"])
    files = {"encoder.py": encoder("mha", network, "torch", wiring)}
    told = outcomes("encoder", files, torch_boxes, submission, only=_EQUATIONS, allow=allow)[_EQUATIONS]
    assert told.status is Status.PASSED, told.message
