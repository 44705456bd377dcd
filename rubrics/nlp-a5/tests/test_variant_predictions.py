"""Predictions of a variant: only its own count; too much, or that of a variant that cannot run, needs review."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.grading.engine import grade
from grader.model import CheckResult, Status
from grader.sandbox import BoxRunner
from rubrics.module_recovery.tests.variant_grading import Files
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, sampled, the_rubric

from .test_whole_model import ON, PLAIN, STARTER, SWITCH, SYNTHESIZER, _model

DATA = REPOSITORY / "rubrics" / "nlp-a5" / "data"
FEW = "Nowhere\n" * 250
LABELS = [line.split("\t")[1] for line in (DATA / "birth_test.tsv").read_text().splitlines()]
EIGHTEEN_PERCENT, TWENTY_PERCENT = (
    "".join(f"{place if at < right else 'Nowhere'}\n" for at, place in enumerate(LABELS)) for right in (45, 50)
)
RAISES = "from torch import nn\n\nclass SynthesizerAttention(nn.Module):\n    def forward(self, x):\n        {}\n"
CANNOT_RUN: dict[str, Files] = {
    "not written": {"attention.py": RAISES.format("raise NotImplementedError")},
    "always raises": {"attention.py": RAISES.format("x = x + 1\n        raise NotImplementedError('later')")},
    "returns its input": {"attention.py": RAISES.format("return x + 0")},
    "no code at all": {},
    "never switched on": {
        "src/attention.py": SYNTHESIZER + PLAIN,
        "src/model.py": _model(SWITCH.format(flag="synthesizer")),
        "src/run.py": STARTER,
    },
}
RUNS: Files = CANNOT_RUN["never switched on"] | ON


def _of_the_whole_problem(
    boxes: BoxRunner, submission: MakeSubmission, files: Files, predicted: str, variant: str = "synthesizer"
) -> CheckResult:
    """What the nlp-a5 rubric makes of the predictions of a variant."""
    rubric = the_rubric("rubrics/nlp-a5/rubric.yaml")
    rubric = replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id == "2.g.i"))
    work = submission(**files, **{f"{variant}.pretrain.test.predictions": predicted})
    return grade(rubric, work, boxes, DRAW).problems[0].checks[-1]


@pytest.mark.parametrize("kind", sampled(CANNOT_RUN, 2))
def test_predictions_of_a_variant_that_cannot_run_need_review(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str
) -> None:
    found = _of_the_whole_problem(torch_boxes, submission, CANNOT_RUN[kind], EIGHTEEN_PERCENT)
    assert (found.outcome.status, found.outcome.score, found.points) == (Status.REVIEW, 0, 0)
    assert found.outcome.code == "earned_without_grounds"
    assert found.outcome.evidence["right"] == 45


@pytest.mark.slow
@pytest.mark.parametrize(
    ("predicted", "status"),
    [(EIGHTEEN_PERCENT, Status.PASSED), (TWENTY_PERCENT, Status.REVIEW), (FEW, Status.FAILED)],
)
def test_those_of_a_variant_that_runs_count(
    torch_boxes: BoxRunner, submission: MakeSubmission, predicted: str, status: Status
) -> None:
    assert _of_the_whole_problem(torch_boxes, submission, RUNS, predicted).outcome.status is status


@pytest.mark.slow
def test_what_no_decision_could_change_needs_none(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    found = _of_the_whole_problem(torch_boxes, submission, CANNOT_RUN["always raises"], FEW)
    assert found.outcome.status is Status.FAILED


@pytest.mark.slow
def test_those_of_another_variant_do_not_count(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    found = _of_the_whole_problem(torch_boxes, submission, RUNS, EIGHTEEN_PERCENT, "rope")
    assert found.outcome.status is Status.MISSING
