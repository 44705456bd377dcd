"""What students see of a hidden check gives away no label, no expected value and no line of the reference."""

from __future__ import annotations

import json

import pytest

from grader.grading.engine import grade
from grader.report.html import student_page
from grader.report.json_report import as_data
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests.conftest import DRAW, REPOSITORY, RUBRIC_CODE, the_rubric

LABELS = REPOSITORY / "rubrics" / "nlp-a5" / "data" / "birth_test.tsv"
SAMPLES = {"nlp-a5": ("alice", "nora", "jonas", "stub"), "dl-hw3": ("ben", "dora", "evan")}


def _secrets(rubric: str) -> set[str]:
    """Test places and questions, and every telling line of the reference."""
    lines = {
        line.strip()
        for path in (
            *(REPOSITORY / "reference").rglob("*.py"),
            *(one for one in RUBRIC_CODE if "checks" in one.as_posix()),
        )
        for line in path.read_text().splitlines()
        if len(line.strip()) > 30
    }
    if rubric == "nlp-a5":
        dev = {part for line in (LABELS.parent / "birth_dev.tsv").read_text().splitlines() for part in line.split("\t")}
        test = {part for line in LABELS.read_text().splitlines() for part in line.split("\t")}
        lines |= test - dev  # what students are given anyway is no secret
        lines |= {question for question in test if question.endswith("?")}
    return lines


@pytest.mark.slow
@pytest.mark.parametrize(("rubric", "sample"), [(name, one) for name, samples in SAMPLES.items() for one in samples])
def test_hidden_checks_give_nothing_away(torch_boxes: BoxRunner, rubric: str, sample: str) -> None:
    loaded = the_rubric(f"rubrics/{rubric}/rubric.yaml")
    with open_submission(REPOSITORY / "submissions" / sample) as submission:
        data = as_data(grade(loaded, submission, torch_boxes, DRAW))
    hidden = [check for problem in data["problems"] for check in problem["checks"] if check["visibility"] == "hidden"]
    assert hidden
    shown = json.dumps(hidden, ensure_ascii=False)
    page = student_page(data)
    secrets = _secrets(rubric)
    assert len(secrets) > 500
    assert [secret for secret in secrets if secret in shown] == []
    questions = [secret for secret in secrets if secret.endswith("?")]
    assert [question for question in questions if question in page] == []
    for check in hidden:
        assert "expected" not in check["message"]
        assert "expected" not in json.dumps(check["evidence"])


def test_the_search_finds_what_is_there(torch_boxes: BoxRunner) -> None:
    first = LABELS.read_text().splitlines()[0].split("\t")[0]
    assert first in _secrets("nlp-a5")
