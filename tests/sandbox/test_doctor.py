"""What `grader doctor` says, here and where there is nothing to say."""

from __future__ import annotations

import sys

import pytest

from grader.errors import BoxRefused
from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.sandbox.host.doctor import diagnose
from grader.sandbox.jail import jail
from tests.conftest import MakeSubmission


def test_this_machine_is_fit_for_student_code() -> None:
    diagnosis = diagnose()
    assert diagnosis.fit
    assert {"numpy", "torch", "einops"} <= {library for library, version in diagnosis.libraries if version}
    assert all(refused for _, refused in diagnosis.refused)
    assert {finding.layer for finding in diagnosis.findings} == {*jail.REQUIRED, *jail.OPTIONAL}


def test_another_system_gets_an_honest_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    diagnosis = diagnose()
    assert not diagnosis.fit
    assert "darwin" in diagnosis.verdict
    assert not any(finding.on for finding in diagnosis.findings)


@pytest.mark.slow
def test_a_box_without_a_required_layer_is_refused_and_unsafe_says_so(submission: MakeSubmission) -> None:
    work = submission("def f(): return 1")
    with (
        BoxRunner(without=("landlock",)) as runner,
        pytest.raises(BoxRefused, match="Landlock"),
        runner.open(work, Limits(), seed=0) as student,
    ):
        student.call("work.py", "f")
    with BoxRunner(without=("landlock",), unsafe=True) as runner:
        with runner.open(work, Limits(), seed=0) as student:
            assert student.call("work.py", "f") == 1
        assert runner.isolation.missing == ("landlock",)
