"""Hidden inputs follow from the course's secret, public ones do not, and nobody learns the secret from either."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.engine import grade
from grader.errors import UsageError
from grader.model import Check, Limits, Outcome, Problem, Rubric, passed
from grader.report.json_report import to_json
from grader.sandbox import BoxRunner
from grader.secret import Secret, read_secret
from tests.conftest import MakeSubmission

ONE, OTHER = Secret("the first course's secret"), Secret("another course's secret")


def _draws(student: Any, rng: np.random.Generator) -> Outcome:
    return passed("drawn", evidence={"number": float(rng.random())})


def _number(
    boxes: BoxRunner, submission: MakeSubmission, secret: Secret | None, visibility: Any, seed: int = 0
) -> float:
    check = Check("draws", _draws, {}, "It draws.", Fraction(1), visibility)
    problem = Problem("1", "One", Fraction(1), (check,), Limits(cpu_seconds=5))
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission(""), boxes, seed=seed, secret=secret)
    assert report.secret == (secret.fingerprint if secret else "")
    return float(report.problems[0].checks[0].outcome.evidence["number"])


def test_hidden_inputs_follow_from_the_secret(boxes: BoxRunner, submission: MakeSubmission) -> None:
    first = _number(boxes, submission, ONE, "hidden")
    assert first == _number(boxes, submission, ONE, "hidden")
    assert first != _number(boxes, submission, OTHER, "hidden")
    assert first != _number(boxes, submission, None, "hidden")
    assert first != _number(boxes, submission, ONE, "hidden", seed=1)


def test_public_inputs_are_the_same_for_everybody(boxes: BoxRunner, submission: MakeSubmission) -> None:
    assert len({_number(boxes, submission, secret, "public") for secret in (ONE, OTHER, None)}) == 1


def test_student_code_finds_no_secret(
    boxes: BoxRunner, submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", ONE.text)
    work = submission("import os\n\ndef names():\n    return sorted(os.environ)\n")
    with BoxRunner() as fresh, fresh.open(work, Limits(), 0) as box:
        assert not [name for name in box.call("work.py", "names") if "GRADER" in name]


def test_a_report_says_which_secret_but_not_the_secret(boxes: BoxRunner, submission: MakeSubmission) -> None:
    check = Check("draws", _draws, {}, "It draws.", Fraction(1), "hidden")
    problem = Problem("1", "One", Fraction(1), (check,))
    report = grade(
        Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64), submission(""), boxes, secret=ONE
    )
    assert ONE.fingerprint in to_json(report)
    assert ONE.text not in to_json(report)
    assert ONE.text not in repr(replace(report))
    assert ONE.text not in repr(ONE)


def test_the_secret_comes_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADER_SECRET", raising=False)
    assert read_secret() is None
    (tmp_path / "secret").write_text(f"{ONE.text}\n")
    monkeypatch.setenv("GRADER_SECRET_FILE", str(tmp_path / "secret"))
    assert read_secret() == ONE
    monkeypatch.setenv("GRADER_SECRET", OTHER.text)
    assert read_secret() == OTHER
    monkeypatch.setenv("GRADER_SECRET", "short")
    with pytest.raises(UsageError, match="shorter than 16"):
        read_secret()
    monkeypatch.delenv("GRADER_SECRET")
    monkeypatch.setenv("GRADER_SECRET_FILE", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_secret()
