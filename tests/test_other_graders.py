"""What otter-grader and nbgrader are given to run: right work passes, zeros fail. Nothing is installed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.other_graders import LEAST, RIGHT, ZEROS, CannotRun, _run, main
from benchmarks.recorded_calls import RecordedTest, recorded


def _passes(test: RecordedTest, files: Mapping[str, str]) -> bool:
    names: dict[str, Any] = {}
    exec("\n".join(files.values()).replace("from attention import softargmax", ""), names)
    try:
        exec(test.text, names)
    except AssertionError:
        return False
    return True


@pytest.mark.slow
def test_recorded_calls_pass_right_work_and_fail_zeros(tmp_path: Path) -> None:
    tests = recorded(tmp_path / "calls.pickle")
    assert {test.function for test in tests} == {"attention", "multi_head_attention"}
    assert all(_passes(test, RIGHT) for test in tests)
    assert not any(_passes(test, ZEROS) for test in tests)


def test_a_tool_that_cannot_run_is_one_line_with_the_cause(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"^`python\S* -c .*` ended with 1: no Docker here$"):
        _run([sys.executable, "-c", "raise SystemExit('first\\nno Docker here')"], tmp_path)


def test_help_says_how_many_are_needed_and_fewer_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, code in (["--help"], 0), (["--count", str(LEAST - 1)], 2):
        monkeypatch.setattr(sys, "argv", ["other_graders", *given])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == code
    printed = capsys.readouterr()
    assert f"at least {LEAST}" in printed.out
    assert f"give at least {LEAST}" in printed.err
