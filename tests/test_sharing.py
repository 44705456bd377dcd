"""Checks share a box while they pass: whatever code makes of that, it earns and loses what it would in fresh boxes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.engine import grade
from grader.model import Box, Check, Limits, Outcome, Problem, Rubric, Submission, failed, is_code, passed
from grader.personal import for_student
from grader.report.json_report import as_data
from grader.sandbox import BoxRunner
from grader.sharing import BoxInTurn, in_turn, may_share
from grader.submission import open_submission
from tests.conftest import DRAW, EVERY_CASE, REPOSITORY, MakeSubmission, sampled, the_rubric
from tests.test_samples import DECLARED, graded


def _told(rubric: Rubric, work: Submission, boxes: BoxRunner, share_boxes: bool) -> list[dict[str, Any]]:
    report = as_data(grade(rubric, work, boxes, DRAW, share_boxes=share_boxes))
    return [*_without_times(report), {"points": report["points"], "notes": report["notes"]}]


def _without_times(report: dict[str, Any]) -> list[dict[str, Any]]:
    for problem in report["problems"]:
        for check in problem["checks"]:
            del check["seconds"]
    return list(report["problems"])


# Nine bring four of five verdicts that checks of code give to any sample, mallory attacks; `make test-all` asks all.
_TELLING = ("ada", "evan", "hugo", "iris", "kate", "lena", "mallory", "mina", "oscar", "sven")


@pytest.mark.slow
@pytest.mark.parametrize("sample", DECLARED if EVERY_CASE else _TELLING)
def test_a_sample_is_told_the_same_as_with_a_fresh_box_for_each_check(torch_boxes: BoxRunner, sample: str) -> None:
    """Of what runs code; `python -m benchmarks.sharing` does this for mutants and generated work, on a busy machine."""
    shared = as_data(graded(torch_boxes, sample))
    with open_submission(REPOSITORY / "submissions" / sample) as work:
        whole = for_student(the_rubric(f"rubrics/{DECLARED[sample]['rubric']}.yaml"), work.name, DRAW)
        runs_code = [
            one for one in whole.problems if any(is_code(file) for check in one.every_check for file in check.files)
        ]
        fresh = as_data(grade(replace(whole, problems=tuple(runs_code)), work, torch_boxes, DRAW, share_boxes=False))
    ids = {one.id for one in runs_code}
    assert [one for one in _without_times(shared) if one["id"] in ids] == _without_times(fresh)
    assert [note for note in shared["notes"] if "GPU" in note] == [note for note in fresh["notes"] if "GPU" in note]


RIGHT = """
    import os, sys, time
    import numpy as np
    count, seen, kept = 0, [], {}

    def right(Q, K, V, beta):
        s = beta * K.T @ Q
        a = np.exp(s - s.max(axis=0))
        return V @ (a / a.sum(axis=0))

    def attention(Q, K, V, beta):
        global count
        count += 1
"""
# What each earns with a fresh box for each check stands behind it: sharing must come to the same.
HOSTILE = {
    "learns the answer to what it is asked": (
        """
        asked = (Q.tobytes(), K.tobytes(), V.tobytes(), beta)
        seen.append(asked)
        return right(Q, K, V, beta) * seen.count(asked)""",
        10,
    ),
    "answers rightly only what it was asked before": (
        """
        asked = (Q.tobytes(), K.tobytes(), V.tobytes(), beta)
        seen.append(asked)
        return right(Q, K, V, beta) * (seen.count(asked) - 1) + 1e-9 * Q.sum()""",
        0,
    ),
    "answers rightly as often as one check asks": ("return right(Q, K, V, beta) if count < 17 else Q * np.nan", 8),
    "is wrong once in each process": ("return right(Q, K, V, beta) * (2 if count == 1 else 1)", 0),
    "writes into its arguments until it has been asked often": (
        """
        answer = right(Q, K, V, beta)
        if count < 20:
            Q[:] = 0
        return answer""",
        9,
    ),
    "patches numpy for whatever comes later": (
        """
        answer = right(Q, K, V, beta)
        np.allclose = np.array_equal = lambda *args, **more: True
        if count == 16:
            np.exp = np.zeros_like
        return answer""",
        8,
    ),
    "goes away once it shares": (
        """
        if count == 17:
            os._exit(0)
        return right(Q, K, V, beta)""",
        8,
    ),
    "spoils random numbers and its output": (
        """
        np.random.seed(1)
        sys.stdout = None
        return right(Q, K, V, beta)""",
        10,
    ),
}


@pytest.mark.parametrize(("body", "points"), sampled(HOSTILE.values(), 3), ids=list(HOSTILE))
def test_code_that_knows_what_was_asked_before_earns_what_it_would_without(
    boxes: BoxRunner, submission: MakeSubmission, body: str, points: int
) -> None:
    whole = the_rubric("rubrics/dl-hw3.yaml")
    (problem,) = (one for one in whole.problems if one.id == "2.1")
    # What reading the code says of it is another matter: hostile code looks like it.
    rubric = replace(whole, problems=(replace(problem, checks=problem.checks[1:]),))
    inside = body if body.startswith("\n") else f"\n        {body}"
    work = submission(**{"attention.py": f"{RIGHT}{inside}\n"})
    shared, fresh = (_told(rubric, work, boxes, share_boxes) for share_boxes in (True, False))
    assert shared == fresh
    assert shared[-1]["points"] == points


def _calls(student: Any, rng: Any, *, x: float = 0.0) -> Outcome:
    return passed(f"it says {student.call('work.py', 'f', x):.6g}")


def _wants(student: Any, rng: Any, *, x: float) -> Outcome:
    got = student.call("work.py", "f", x)
    return passed("right") if got == x else failed(f"it says {got:.6g}")


def _rubric(*checks: Check, limits: Limits | None = None) -> Rubric:
    total = sum((check.points for check in checks), Fraction(0))
    problem = Problem("1", "One", total, checks, limits or Limits(cpu_seconds=5))
    return Rubric("r", "R", total, (problem,), Path("r.yaml"), "0" * 64)


def _check(name: str, function: Any = _calls, **more: Any) -> Check:
    parameters = {"x": more.pop("x")} if "x" in more else {}
    return Check(name, function, parameters, "It works.", Fraction(1), **more)


CARRIES = "seen = []\ndef f(x):\n    seen.append(x)\n    return max(seen)\n"


@pytest.mark.parametrize("needs", [(), ("hidden",)], ids=["anywhere", "built upon"])
def test_what_a_hidden_check_sent_is_in_no_box_that_a_public_one_asks(
    boxes: BoxRunner, submission: MakeSubmission, needs: tuple[str, ...]
) -> None:
    """A pass tells whatever its check tells, so code could carry a hidden input out in it for nothing."""
    work, told = submission(CARRIES), []
    for x in (37.0, 201.0):
        hidden = _check("hidden", _wants, x=x, visibility="hidden")
        rubric = _rubric(_check("before"), hidden, _check("after", needs=needs), _check("gate", gate=True))
        told.append(_told(rubric, work, boxes, True))
    assert told[0] == told[1]
    assert [check["id"] for check in told[0][0]["checks"]] == ["before", "hidden", "after", "gate"]
    assert {check["message"] for check in told[0][0]["checks"] if check["visibility"] == "public"} == {"it says 0"}


def test_hidden_checks_come_last_unless_public_ones_build_on_them() -> None:
    hidden = _check("hidden", visibility="hidden")
    gate = _check("gate", visibility="hidden", gate=True)
    for checks, asked, sharing in (
        ([hidden, _check("a"), _check("b")], "a b hidden", "a b hidden"),
        ([hidden, _check("a", needs=("hidden",)), _check("b")], "hidden a b", "a b"),
        ([_check("a"), gate, _check("b"), hidden], "a gate b hidden", "a b hidden"),
    ):
        order = in_turn(checks)
        assert " ".join(one.id for one in order) == asked
        assert " ".join(one.id for one in order if may_share(one, order, keeps_nothing=False)) == sharing


def test_random_numbers_of_the_code_begin_anew_with_each_check(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission("import numpy as np\ndef f(x):\n    return float(np.random.random())\n")
    rubric = _rubric(*(_check(name) for name in "abc"))
    shared, fresh = (_told(rubric, work, boxes, share_boxes) for share_boxes in (True, False))
    assert shared == fresh


def test_one_box_at_a_time_is_open_and_each_check_begins_it_anew(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission("import random\ndef f():\n    return random.random()\n")
    opened, ended = list[Box](), list[Box]()

    @contextmanager
    def open_box(limits: Limits) -> Iterator[Box]:
        with boxes.open(work, limits, 0) as box:
            opened.append(box)
            yield box
        ended.append(box)

    turn = BoxInTurn(open_box)
    first, second = turn.fresh(Limits()), turn.fresh(Limits())
    assert (opened, ended) == ([first, second], [first])
    drawn = second.call(work.files[0], "f")
    assert second.call(work.files[0], "f") != drawn
    assert turn.hand_on(keeps_nothing=True)
    assert second.call(work.files[0], "f") == drawn
    turn.close()
    assert (ended, turn.box, turn.was_asked) == ([first, second], None, False)
    assert not turn.hand_on(keeps_nothing=True)


@pytest.mark.parametrize(("answer", "handed_on"), [("1", True), ("len(seen)", False), ("1 / (2 - len(seen))", False)])
def test_a_box_whose_code_answers_otherwise_the_second_time_is_not_handed_on(
    boxes: BoxRunner, submission: MakeSubmission, answer: str, handed_on: bool
) -> None:
    work = submission(f"seen = []\ndef f():\n    seen.append(0)\n    return {answer}\n")
    turn = BoxInTurn(lambda limits: boxes.open(work, limits, 0))
    assert turn.fresh(Limits()).call("work.py", "f") == 1
    assert turn.hand_on(keeps_nothing=False) is handed_on
    assert (turn.box is not None) is handed_on
    turn.close()


class _Counting(BoxRunner):
    opened = 0

    def open(self, *given: Any) -> Any:
        self.opened += 1
        return super().open(*given)


@pytest.fixture(scope="module")
def counting() -> Iterator[_Counting]:
    with _Counting() as runner:
        yield runner


@pytest.mark.slow
def test_a_box_is_shared_as_long_as_checks_pass(counting: _Counting, submission: MakeSubmission) -> None:
    """A fault ends sharing, and one that shared is asked alone too. Code that passes alone what it did not pass after
    others has all asked again, one at a time."""
    counts = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return {}\n"
    for code, wants, opened in (
        ("def f(x): return x", "123456", 2),  # 1 2 3 4 5 6 · one again
        ("def f(x): return x if x != 3 else 0.0", "123456", 6),  # 1 2 (3) · 3 · 4 · 5 · 6 · 2 again
        ("def f(x): return 0.0", "1234", 4),
        (counts.format("x if n < 5 else 0.0"), "12345", 8),  # 1 (1 again) 2 3 (4) · 4 · 5; 1 · 2 · 3 · 4 · 5
        (counts.format("x if n == 1 else 0.0"), "123", 3),
    ):
        counting.opened = 0
        rubric = _rubric(*(_check(f"c{x}", _wants, x=float(x)) for x in wants))
        work = submission(code)
        told, needed = _told(rubric, work, counting, True), counting.opened
        assert (told, needed) == (_told(rubric, work, counting, False), opened)


PLAIN = """
    import numpy as np

    def attention(Q, K, V, beta):
        s = beta * K.T @ Q
        a = np.exp({shifted})
        return V @ (a / a.sum(axis={axis}))
"""


@pytest.mark.parametrize(
    ("shifted", "axis", "opened", "points"),
    [("s - s.max(axis=0)", 0, 1, 10), ("s", 0, 2, 8), ("s.min(axis=0) - s", 0, 3, 3)],
    ids=["right: one box for all", "one fails: judged again alone", "two fail"],
)
def test_code_that_keeps_nothing_is_asked_in_one_box(
    counting: _Counting, submission: MakeSubmission, shifted: str, axis: int, opened: int, points: int
) -> None:
    """Checks that want to be asked first share it as well. What fails is judged again alone, where the next
    goes on."""
    whole = the_rubric("rubrics/dl-hw3.yaml")
    rubric = replace(whole, problems=tuple(one for one in whole.problems if one.id == "2.1"))
    work = submission(**{"attention.py": PLAIN.format(shifted=shifted, axis=axis)})
    counting.opened = 0
    shared, needed = _told(rubric, work, counting, True), counting.opened
    assert shared == _told(rubric, work, counting, False)
    assert (needed, shared[-1]["points"]) == (opened, points)
    counting.opened = 0
    grade(rubric, work, counting, DRAW)
    assert counting.opened == opened, "boxes are shared unless somebody says otherwise"


def test_a_problem_that_asks_no_code_leaves_the_box_to_the_next(
    counting: _Counting, submission: MakeSubmission
) -> None:
    """It has one of its own, in which nothing ever runs."""
    code = replace(_check("c1", _wants, x=1.0), files=("work.py",))
    written = Check("written", lambda student, rng: passed("read"), {}, "It is there.", Fraction(1))
    parts = (("1", code), ("2", written), ("3", code))
    problems = tuple(Problem(part, part, Fraction(1), (check,), Limits(cpu_seconds=5)) for part, check in parts)
    rubric = replace(_rubric(code), points=Fraction(3), problems=problems)
    work = submission("def f(x): return x")
    counting.opened = 0
    shared, needed = _told(rubric, work, counting, True), counting.opened
    assert (needed, shared[-1]["points"]) == (2, 3)
    assert shared == _told(rubric, work, counting, False)


def test_code_that_fails_elsewhere_over_what_it_was_asked_is_asked_alone(
    counting: _Counting, submission: MakeSubmission
) -> None:
    """A check with a box of its own asks there again what was found in the shared one. Whoever does not answer that
    is asked every check in a fresh box."""
    hidden = _check("hidden", _wants, x=9.0, visibility="hidden")
    rubric = _rubric(*(_check(f"c{x}", _wants, x=float(x)) for x in (1, 2)), hidden, _check("last", needs=("hidden",)))
    for code, opened in (
        ("seen = []\ndef f(x):\n    seen.append(x)\n    return x", 4),  # 1 2 · 9 (1 or 2) · last · 1 or 2 again
        ("seen = []\ndef f(x):\n    seen.append(x)\n    return x if seen[0] != 9 or x == 9 else x / 0", 7),
    ):
        counting.opened = 0
        assert _told(rubric, submission(code), counting, True)[-1]["points"] == 4
        assert counting.opened == opened


@pytest.mark.slow
def test_processor_time_that_checks_use_together_is_held_against_none(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    computes = "end = time.process_time() + 0.6\n    while time.process_time() < end: pass"
    work = submission(f"import time\ndef f(x):\n    {computes}\n    return x\n")
    rubric = _rubric(*(_check(f"c{x}", _wants, x=float(x)) for x in (1, 2, 3)), limits=Limits(cpu_seconds=1))
    assert _told(rubric, work, boxes, True)[-1]["points"] == 3


def test_what_checks_have_in_common_is_made_once_in_a_box_and_by_visibility(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    found: dict[str, list[float]] = {}

    def noting(name: str) -> Any:
        def check(student: Any, rng: Any, **_: Any) -> Outcome:
            student.call("work.py", "one")
            found.setdefault(name, []).append(student.in_common("numbers", lambda drawn: drawn.normal()))
            return passed("it has one")

        return check

    def made(*checks: Check, share_boxes: bool = True) -> dict[str, list[float]]:
        found.clear()
        problem = Problem("1", "One", Fraction(len(checks)), checks)
        rubric = Rubric("r", "R", problem.points, (problem,), Path("r.yaml"), "0" * 64)
        grade(rubric, submission("def one():\n    return 1\n"), boxes, DRAW, share_boxes=share_boxes)
        return {name: list(values) for name, values in found.items()}

    first, second = (Check(name, noting(name), {}, "", Fraction(1), files=("work.py",)) for name in ("first", "second"))
    hidden = Check("hidden", noting("hidden"), {}, "", Fraction(1), "hidden", files=("work.py",))
    together = made(first, second, hidden)
    assert together["first"][0] == together["second"][0] != together["hidden"][0]
    assert made(second, first)["second"][0] == together["second"][0]
    apart = made(first, second, hidden, share_boxes=False)
    assert {name: values[0] for name, values in apart.items()} == {name: v[0] for name, v in together.items()}


def test_a_check_that_fails_on_what_others_drew_is_judged_alone(boxes: BoxRunner, submission: MakeSubmission) -> None:
    drawn: list[int] = []

    def draws(student: Any, rng: Any, **_: Any) -> Outcome:
        student.in_common("draw", lambda _: drawn.append(student.call("work.py", "one")) or len(drawn))
        return passed("it draws")

    def fails(student: Any, rng: Any, **_: Any) -> Outcome:
        kept = student.in_common("draw", lambda _: drawn.append(student.call("work.py", "one")) or len(drawn))
        return failed(f"draw {kept}")

    checks = tuple(Check(one.__name__, one, {}, "", Fraction(1), files=("work.py",)) for one in (draws, fails))
    problem = Problem("1", "One", Fraction(2), checks)
    rubric = Rubric("r", "R", Fraction(2), (problem,), Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission("def one():\n    return 1\n"), boxes, DRAW)
    assert [one.outcome.message for one in report.problems[0].checks] == ["it draws", "draw 2"]
