"""Code that keeps nothing, as far as reading it tells, is now and then asked in another process too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.model import Check, Limits, Outcome, Problem, Rubric, failed, passed
from grader.opinions import Work
from tests.conftest import REPOSITORY, MakeSubmission, the_rubric
from tests.test_sharing import _Counting, _told

_ALL, _NONE = 1, 2**62  # one submission in so many


@pytest.fixture(scope="module")
def counting() -> Iterator[_Counting]:
    with _Counting() as runner:
        yield runner


@pytest.mark.slow
@pytest.mark.parametrize(("one_in", "opened"), [(_NONE, 1), (_ALL, 2)])
def test_one_box_more_serves_all_problems_that_share_one(
    counting: _Counting, submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch, one_in: int, opened: int
) -> None:
    monkeypatch.setattr("grader.opinions._LOOKED_AT_AGAIN", one_in)
    whole = the_rubric("rubrics/dl-hw3.yaml")
    rubric = replace(whole, problems=tuple(one for one in whole.problems if one.id in ("2.1", "2.2")))
    files = {name: (REPOSITORY / "submissions" / "ada" / name).read_text() for name in ("attention.py", "multihead.py")}
    work = submission(**files)
    counting.opened = 0
    shared, needed = _told(rubric, work, counting, True), counting.opened
    assert needed == opened
    assert shared == _told(rubric, work, counting, False)


def _calls(student: Any, rng: Any, *, of: str) -> Outcome:
    student.call(of, "f", 1.0)
    return passed("it runs")


def _wants(student: Any, rng: Any, *, of: str) -> Outcome:
    got = student.call(of, "f", 2.0)
    return passed("right") if got == 2.0 else failed(f"it says {got:.6g}")


def _rubric() -> Rubric:
    problems = []
    for part, of in (("1", "a.py"), ("3", "b.py")):
        checks = tuple(
            Check(name, function, {"of": of}, "It works.", Fraction(1))
            for name, function in (("calls", _calls), ("wants", _wants), ("wants_again", _wants))
        )
        problems.append(Problem(part, part, Fraction(3), checks, Limits(cpu_seconds=5)))
    return Rubric("r", "R", Fraction(6), tuple(problems), Path("r.yaml"), "0" * 64)


WRONG_ONCE = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return x if n > 1 else 0.0\n"
PLAIN = "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("a", "b", "points"), [(WRONG_ONCE, PLAIN, 4), (PLAIN, WRONG_ONCE, 4), (WRONG_ONCE, WRONG_ONCE, 2)]
)
def test_code_that_was_read_wrongly_earns_what_it_would_alone(
    counting: _Counting, submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch, a: str, b: str, points: int
) -> None:
    """Its first answer is wrong, and a check that looks at no values takes it. Here another is drawn for the look."""
    monkeypatch.setattr(Work, "keeps_nothing", lambda work, files, limits: True)
    work = submission(**{"a.py": a, "b.py": b})
    monkeypatch.setattr("grader.opinions._LOOKED_AT_AGAIN", _NONE)
    assert _told(_rubric(), work, counting, True)[-1]["points"] == 6, "else this shows nothing"
    monkeypatch.setattr("grader.opinions._LOOKED_AT_AGAIN", _ALL)
    shared = _told(_rubric(), work, counting, True)
    assert shared == _told(_rubric(), work, counting, False)
    assert shared[-1]["points"] == points
