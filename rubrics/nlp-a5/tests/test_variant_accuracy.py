"""Accuracy of a variant: of its own predictions only; too much, or that of a variant that cannot run, needs review."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from rubric_nlp_a5.tests.test_whole_model import ON, PLAIN, STARTER, SWITCH, SYNTHESIZER, _model

from grader.grading.engine import grade
from grader.model import CheckResult, Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission
from rubrics.module_recovery.tests.variant_grading import Files
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, sampled, the_rubric

DATA = REPOSITORY / "rubrics" / "nlp-a5" / "data"
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
    ("files", "far", "status", "score", "code", "judged"),
    [
        ({"one.py": CODE, "one.test": NORA}, 0.2, Status.PASSED, 1, "passed", ["one.test"]),
        (
            {"one.py": CODE, "one.test": FEW, "other.test": NORA},
            0.2,
            Status.FAILED,
            0,
            "accuracy_below_tiers",
            ["one.test"],
        ),
        ({"one.py": CODE, "other.test": NORA}, 0.2, Status.MISSING, 0, "no_alternative", []),
        (
            {"other.py": CODE, "one.test": NORA, "other.test": FEW},
            0.2,
            Status.FAILED,
            0,
            "accuracy_below_tiers",
            ["other.test"],
        ),
        (
            {"other.py": CODE, "one.test": NORA, "other.test": NORA},
            0.2,
            Status.PARTIAL,
            0.5,
            "accuracy_below_tiers",
            ["other.test"],
        ),
        ({"other.test": NORA}, 0.2, Status.PARTIAL, 0.5, "accuracy_below_tiers", ["other.test"]),
        ({"one.py": CODE, "one.test": NORA}, 0.08, Status.REVIEW, 0.5, "suspicious_predictions", ["one.test"]),
        (
            {"other.py": CODE, "one.test": NORA, "other.test": NORA},
            0.08,
            Status.PARTIAL,
            0.5,
            "accuracy_below_tiers",
            ["other.test"],
        ),
        ({"one.py": CODE, "one.test": FEW}, 0.08, Status.FAILED, 0, "accuracy_below_tiers", ["one.test"]),
    ],
)
def test_only_its_own_predictions_count(
    boxes: BoxRunner,
    tmp_path: Path,
    files: dict[str, str | bytes],
    far: float,
    status: Status,
    score: float,
    code: str,
    judged: list[str],
) -> None:
    for name, content in files.items():
        text = content.format(name[:-3].capitalize()).encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(text)
    path = tmp_path / "tiny.yaml"
    path.write_text(RUBRIC.replace("FAR", str(far)))
    (problem,) = grade(load_rubric(path, DATA), OpenedSubmission("s", tmp_path, 0, tuple(files)), boxes, DRAW).problems
    outcome = problem.checks[-1].outcome
    assert (outcome.status, outcome.score, outcome.code) == (status, Fraction(score), code)
    assert outcome.evidence.get("variants", []) == judged


LABELS = [line.split("\t")[1] for line in (DATA / "birth_test.tsv").read_text().splitlines()]
EIGHTEEN_PERCENT = "".join(f"{place if at < 45 else 'Nowhere'}\n" for at, place in enumerate(LABELS))
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


def _of_the_whole_problem(boxes: BoxRunner, submission: MakeSubmission, files: Files, predicted: str) -> CheckResult:
    """What the nlp-a5 rubric makes of the predictions of a synthesizer."""
    rubric = the_rubric("rubrics/nlp-a5/rubric.yaml")
    rubric = replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id == "2.g.i"))
    work = submission(**files, **{"synthesizer.pretrain.test.predictions": predicted})
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
@pytest.mark.parametrize(("predicted", "status"), [(EIGHTEEN_PERCENT, Status.PASSED), (FEW.decode(), Status.FAILED)])
def test_those_of_a_variant_that_runs_count(
    torch_boxes: BoxRunner, submission: MakeSubmission, predicted: str, status: Status
) -> None:
    assert _of_the_whole_problem(torch_boxes, submission, RUNS, predicted).outcome.status is status


@pytest.mark.slow
def test_what_no_decision_could_change_needs_none(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    found = _of_the_whole_problem(torch_boxes, submission, CANNOT_RUN["always raises"], FEW.decode())
    assert found.outcome.status is Status.FAILED
