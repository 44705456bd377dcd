"""The loop: points are exact, needs and gates hold, and our own faults cost nobody anything."""

from __future__ import annotations

import os
import signal
import textwrap
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.errors import BoxLost, Missing, TimedOut
from grader.grading.engine import grade
from grader.grading.randomness import NO_SECRET, Draw
from grader.grading.secret import Secret
from grader.model import Alternative, Check, Limits, Outcome, Problem, Report, Rubric, Status, failed, passed
from grader.report.json_report import to_json
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, MakeSubmission
from tests.waiting import until


def _check(function: Any, name: str = "", points: int = 1, **more: Any) -> Check:
    return Check(name or function.__name__, function, {}, "It works.", Fraction(points), **more)


def _grade(boxes: BoxRunner, submission: MakeSubmission, *checks: Check, code: str = "", seed: int = 0) -> Report:
    total = sum((check.points for check in checks), Fraction(0))
    problem = Problem("1", "One", total, checks, Limits(cpu_seconds=5, wall_seconds=60))
    rubric = Rubric("r", "R", total, (problem,), Path("r.yaml"), "0" * 64)
    return grade(rubric, submission(code), boxes, Draw(seed, None))


def _statuses(report: Report) -> list[str]:
    return [str(result.outcome.status) for result in report.problems[0].checks]


def good(student: Any, rng: Any) -> Outcome:
    return passed("good")


def bad(student: Any, rng: Any) -> Outcome:
    return failed("bad", "got 1, expected 2", evidence={"off_by": 1}, revealing={"input": [1, 2]}, trial=3)


def third(student: Any, rng: Any) -> Outcome:
    return Outcome(Status.PARTIAL, Fraction(1, 3), "a third")


def to_review(student: Any, rng: Any) -> Outcome:
    return Outcome(Status.REVIEW, Fraction(1, 2), "half, perhaps")


def broken(student: Any, rng: Any) -> Outcome:
    raise KeyError("the answer is 42")


def test_thirds_add_up_to_a_whole(boxes: BoxRunner, submission: MakeSubmission) -> None:
    report = _grade(boxes, submission, *(_check(third, f"c{n}") for n in range(3)))
    assert report.points == 1
    assert report.problems[0].status is Status.PARTIAL


def test_a_check_that_needs_another_is_skipped_without_it(boxes: BoxRunner, submission: MakeSubmission) -> None:
    report = _grade(boxes, submission, _check(bad), _check(good, needs=("bad",)), _check(good, "free"))
    assert _statuses(report) == ["failed", "skipped", "passed"]
    assert report.points == 1


def test_a_gate_closes_everything_below_it(boxes: BoxRunner, submission: MakeSubmission) -> None:
    report = _grade(boxes, submission, _check(good, "above"), _check(bad, points=0, gate=True), _check(good))
    assert _statuses(report) == ["passed", "failed", "skipped"]
    report = _grade(boxes, submission, _check(good, "gate", points=0, gate=True), _check(good))
    assert _statuses(report) == ["passed", "passed"]
    assert report.problems[0].status is Status.PASSED


def test_a_person_is_asked_where_a_check_asks_for_one(boxes: BoxRunner, submission: MakeSubmission) -> None:
    report = _grade(boxes, submission, _check(to_review), _check(good, needs=("to_review",)))
    assert (report.points, report.provisional) == (Fraction(3, 2), True)
    assert report.problems[0].status is Status.REVIEW


def slips_elsewhere(student: Any, rng: Any) -> Outcome:
    return passed(textwrap.dedent(rng.normal()))


def forgets_its_verdict(student: Any, rng: Any) -> None:
    passed("good")


def test_staff_are_told_the_line_of_a_check_with_a_bug_and_students_are_not(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    checks = (broken, slips_elsewhere, forgets_its_verdict)
    report = _grade(boxes, submission, *map(_check, checks))
    first, elsewhere, forgets = (
        f"tests/test_engine.py:{check.__code__.co_firstlineno + (check is not forgets_its_verdict)}" for check in checks
    )
    lines = [result.fault.rpartition(" (")[2] for result in report.problems[0].checks]
    assert lines[0] == f"{first})"
    assert lines[1].startswith(f"{elsewhere}, in textwrap.py:")
    assert lines[2].startswith(f"{forgets}, in check_runner.py:")
    (unknown,) = _grade(boxes, submission, _check(partial(broken), "made")).problems[0].checks
    assert unknown.fault.endswith(f"({first.removeprefix('tests/')})")
    assert "test_engine" not in to_json(report)
    assert "KeyError" not in to_json(report)


def test_a_check_with_a_bug_is_ungraded_and_so_is_what_builds_on_it(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    report = _grade(boxes, submission, _check(broken), _check(good, needs=("broken",)), _check(good, "free"))
    assert _statuses(report) == ["ungraded", "ungraded", "passed"]
    assert report.provisional
    result = report.problems[0].checks[0]
    assert "42" not in result.outcome.message
    assert "KeyError: 'the answer is 42'" in result.fault


@pytest.mark.parametrize("returned", [None, True, 1.0, "passed", {"score": 1}])
def test_what_is_no_outcome_is_no_pass(boxes: BoxRunner, submission: MakeSubmission, returned: Any) -> None:
    def odd(student: Any, rng: Any) -> Any:
        return returned

    assert _statuses(_grade(boxes, submission, _check(odd))) == ["ungraded"]


def test_hidden_checks_keep_details_back_and_public_ones_show_a_replay(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    report = _grade(boxes, submission, _check(bad), _check(bad, "secret", visibility="hidden"), seed=7)
    public, hidden = (result.outcome for result in report.problems[0].checks)
    assert public.message == "bad: got 1, expected 2 (seed 7, trial 3)"
    assert public.evidence == {"off_by": 1, "input": [1, 2]}
    assert hidden.message == "bad"
    assert hidden.evidence == {"off_by": 1}


def test_what_a_student_raises_stays_out_of_hidden_checks(boxes: BoxRunner, submission: MakeSubmission) -> None:
    def calls(student: Any, rng: Any) -> Outcome:
        student.call("work.py", "f", 12345)
        return passed("called")

    code = "def f(x): raise ValueError(f'the hidden input was {x}')"
    report = _grade(boxes, submission, _check(calls), _check(calls, "secret", visibility="hidden"), code=code)
    public, hidden = (result.outcome for result in report.problems[0].checks)
    assert "12345" in public.message
    assert hidden.status is Status.CRASHED
    assert hidden.message == "f() in work.py raised an exception"
    assert not hidden.evidence


LEAKS = {
    "exception type": "def f(x): raise type(f'T{x}', (Exception,), {})()",
    "exception text": "def f(x): raise ValueError(x)",
    "names defined": "def f(x):\n    globals()[f'v{x}'] = 1; del globals()['f']",
    "object type": "def f(x): return type(f'T{x}', (), {})()",
    "printed": "def f(x): print(x)",
    "file name": ("import os\ndef f(x):\n    print(x)\n    exec(compile('1/0', f'{os.getcwd()}/v{x}.py', 'exec'))"),
    "line number": (
        "import os\ndef f(x):\n    print(x)\n"
        "    exec(compile('\\n' * (100 * x) + '1/0', os.getcwd() + '/work.py', 'exec'))"
    ),
    "signature": "def g(x): return None\ndef f(x):\n    global f\n    f = eval(f'lambda v{x}, w: 1')",
}


@pytest.mark.parametrize("code", LEAKS.values(), ids=list(LEAKS))
def test_nothing_student_code_makes_up_gets_out_of_a_hidden_check(
    boxes: BoxRunner, submission: MakeSubmission, code: str
) -> None:
    def calls(student: Any, rng: Any) -> Outcome:
        student.call("work.py", "f", 12345)
        student.call("work.py", "f", 12345)
        return failed("wrong")

    report = _grade(boxes, submission, _check(calls), _check(calls, "secret", visibility="hidden"), code=code)
    public, hidden = (result.outcome for result in report.problems[0].checks)
    assert "12345" in f"{public.message} {public.evidence}"
    assert "12345" not in f"{hidden.message} {hidden.evidence}"


def test_what_was_printed_comes_with_what_did_not_pass_unless_it_is_hidden(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    def calls(student: Any, rng: Any) -> Outcome:
        student.call("work.py", "f", 12345)
        return failed("wrong")

    code = "import sys\ndef f(x):\n    print('got', x)\n    print('\\x1b[31mwarning', file=sys.stderr)"
    report = _grade(boxes, submission, _check(calls), _check(calls, "secret", visibility="hidden"), code=code)
    public, hidden = (result.outcome for result in report.problems[0].checks)
    assert public.evidence["printed"] == "got 12345 �[31mwarning"
    assert hidden.evidence == {}


def test_a_check_draws_the_same_numbers_for_the_same_seed_and_others_for_another(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    drawn: list[float] = []

    def draws(student: Any, rng: Any) -> Outcome:
        drawn.append(rng.random())
        return passed("drew")

    for seed in (0, 0, 1):
        _grade(boxes, submission, _check(draws, "one"), _check(draws, "two"), seed=seed)
    assert drawn[:2] == drawn[2:4]
    assert len(set(drawn)) == 4


def test_a_timed_out_check_is_tried_once_more_before_it_counts(boxes: BoxRunner, submission: MakeSubmission) -> None:
    tries: list[float] = []

    def slow_at_first(student: Any, rng: Any) -> Outcome:
        tries.append(rng.random())
        if len(tries) == 1:
            raise TimedOut("the machine was busy")
        return passed("in time")

    def always_slow(student: Any, rng: Any) -> Outcome:
        tries.append(0)
        raise TimedOut("asleep")

    before = _check(good, "before")  # took no time worth speaking of, so whoever comes later is tried as often
    assert _statuses(_grade(boxes, submission, before, _check(slow_at_first))) == ["passed", "passed"]
    assert len(tries) == 2
    assert tries[0] == tries[1], "the second try must ask the same questions"
    tries.clear()
    report = _grade(boxes, submission, _check(always_slow), _check(always_slow, "again"))
    assert _statuses(report) == ["crashed", "crashed"]
    assert len(tries) == 3, "once it has run out of time twice, the machine is not to blame"


SLEEPY = """
import time

def asleep(x):
    time.sleep(1000)

def drowsy(x):
    time.sleep(1.2)
    return x

def awake(x):
    began = time.process_time()
    while time.process_time() < began + 1.2:
        pass
    return x
"""


def _asks(function: str, name: str) -> Check:
    def asks(student: Any, rng: Any) -> Outcome:
        student.call("work.py", function, 1)
        return passed("answered")

    return _check(asks, name)


def _limited(boxes: BoxRunner, submission: MakeSubmission, limits: Limits, *functions: str) -> list[str]:
    """What a check said of each function, in a problem of its own."""
    problems = tuple(
        Problem(function, "Asks", Fraction(1), (_asks(function, f"c{number}"),), limits)
        for number, function in enumerate(functions)
    )
    rubric = Rubric("r", "R", Fraction(len(problems)), problems, Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission(SLEEPY), boxes, DRAW)
    return [problem.checks[0].outcome.message for problem in report.problems]


def test_a_report_says_who_and_how_and_what_is_done_is_told_in_order(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    problems = tuple(Problem(name, name, Fraction(1), (_check(good, f"c{name}"),)) for name in "ab")
    rubric = Rubric("r", "R", Fraction(2), problems, Path("r.yaml"), "0" * 64)
    told: list[str] = []
    draw = Draw(5, Secret("the first course's secret"))
    report = grade(
        rubric,
        submission("def f(): return 1"),
        boxes,
        draw,
        progress=lambda problem, check: told.append(f"{problem.id} {check.id}"),
        finished=lambda result: told.append(f"{result.problem.id} {result.status}"),
    )
    assert told == ["a ca", "a passed", "b cb", "b passed"]
    assert (report.submission, report.rubric, report.seed, report.secret) == ("tested", rubric, 5, draw.fingerprint)
    assert report.isolation == boxes.isolation
    assert 0 < sum(result.checks[0].seconds for result in report.problems) <= report.seconds


def test_hidden_checks_conceal_what_code_had_a_hand_in_however_it_was_asked(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    def calls(student: Any) -> Any:
        return student.call("work.py", "f")

    def probes(student: Any) -> Any:
        return student.probe("names_used", "work.py", name="f")

    def probes_each(student: Any) -> Any:
        return list(student.probe_each("names_used", "work.py", [{"name": "f"}]))

    def only_reads(student: Any) -> Any:
        return student.read("work.py")

    def asking(ask: Any) -> Check:
        def asks(student: Any, rng: Any) -> Outcome:
            ask(student)
            return failed("off by 0.12345")

        return _check(asks, ask.__name__, visibility="hidden")

    report = _grade(boxes, submission, *map(asking, (calls, probes, probes_each, only_reads)), code="def f(): return 1")
    messages = [result.outcome.message for result in report.problems[0].checks]
    assert messages == ["off by 0.12", "off by 0.12", "off by 0.12", "off by 0.12345"]


def test_each_problem_has_its_own_limits_and_no_others(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "def large(x):\n    return len(bytes(300 << 20))\n"
    problems = tuple(
        Problem(f"{memory}", "Asks", Fraction(1), (_asks("large", "c"),), Limits(memory_mb=memory))
        for memory in (2048, 128, 2049)
    )
    rubric = Rubric("r", "R", Fraction(3), problems, Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission(code), boxes, DRAW)
    assert [str(problem.status) for problem in report.problems] == ["passed", "crashed", "passed"]


@pytest.mark.slow
def test_code_that_sleeps_is_waited_for_once_and_then_briefly(boxes: BoxRunner, submission: MakeSubmission) -> None:
    limits = Limits(wall_seconds=2, hurried_wall_seconds=1)
    said = _limited(boxes, submission, limits, "asleep", "asleep", "awake")
    waits = "asleep() in work.py gave no answer within {} s (does it sleep, or wait for something?)"
    assert said == [waits.format(2), f"{waits.format(1)}; it took too long already in asleep c0", "answered"]


@pytest.mark.slow
def test_code_that_sleeps_a_little_less_than_it_may_tires_the_grader_too(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    limits = Limits(wall_seconds=30, hurried_wall_seconds=1, patience_seconds=1)
    first, second, third = _limited(boxes, submission, limits, "drowsy", "drowsy", "awake")
    assert (first, third) == ("answered", "answered")
    assert second.endswith("it took too long already in drowsy c0")


def _kill_the_fork_server() -> None:
    """The youngest child of this process, and wait until its boxes are gone too."""
    server = int(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[-1])
    boxes = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    assert boxes
    os.kill(server, signal.SIGKILL)
    until(lambda: not any(_runs(box) for box in boxes))


def _runs(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("asks_on", [True, False], ids=["within a check", "between two checks"])
def test_a_fork_server_that_dies_is_replaced_and_nothing_is_lost(submission: MakeSubmission, asks_on: bool) -> None:
    killed: list[bool] = []

    with BoxRunner() as runner:

        def survives(student: Any, rng: Any) -> Outcome:
            assert student.call("work.py", "f") == 1
            if not killed:
                killed.append(True)
                _kill_the_fork_server()
            if asks_on:
                student.call("work.py", "f")
            return passed("still there")

        def asks_again(student: Any, rng: Any) -> Outcome:
            return passed(str(student.call("work.py", "f")))

        report = _grade(runner, submission, _check(survives), _check(asks_again), code="def f(): return 1")
    assert killed
    assert _statuses(report) == ["passed", "passed"]
    assert report.problems[0].checks[1].outcome.message == "1"


def test_what_was_answered_before_a_box_ended_counts(boxes: BoxRunner, submission: MakeSubmission) -> None:
    questions = [{"function": "f", "args": [value], "kwargs": {}} for value in (1, 2, 3)]

    def looks_at(count: int) -> Any:
        def looks(student: Any, rng: Any) -> Outcome:
            answers = student.probe_each("call", "work.py", questions)
            return failed(str([next(answers) for _ in range(count)]))

        return looks

    code = "import os\ndef f(x):\n    return os._exit(1) if x == 3 else -x"
    report = _grade(boxes, submission, _check(looks_at(2), "two"), _check(looks_at(3), "three"), code=code)
    before, after = (one.outcome for one in report.problems[0].checks)
    assert (before.message, after.code) == ("[-1, -2]", "process_ended")


def test_a_box_that_is_lost_twice_is_our_fault(boxes: BoxRunner, submission: MakeSubmission) -> None:
    def loses(student: Any, rng: Any) -> Outcome:
        raise BoxLost("gone")

    report = _grade(boxes, submission, _check(loses), _check(good))
    assert _statuses(report) == ["ungraded", "passed"]
    assert report.problems[0].status is Status.UNGRADED


@pytest.mark.parametrize(
    ("status", "score"),
    [("passed", "0"), ("passed", "1/2"), ("failed", "1"), ("partial", "1"), ("partial", "0"), ("skipped", "1/2")],
)
def test_an_outcome_cannot_contradict_itself(status: str, score: str) -> None:
    with pytest.raises(ValueError, match="score"):
        Outcome(Status(status), Fraction(score), "x")


def reads_the_answer(student: Any, rng: Any) -> Outcome:
    return passed(student.answer.prose)


def test_the_report_says_what_in_the_sheet_could_not_be_placed(boxes: BoxRunner, submission: MakeSubmission) -> None:
    problem = Problem("1", "One", Fraction(1), (_check(reads_the_answer),))
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission(**{"answers.md": "## 1\nyes\n## 7\nno\n"}), boxes, DRAW, notes=("first",))
    assert report.points == 1
    read, unplaced = "written answers were read from answers.md: 1", "answers.md:3: '7' is no part of this assignment"
    assert report.notes == ("first", read, f"{unplaced}; parts are 1", NO_SECRET)


def test_grading_one_problem_leaves_the_other_parts_of_the_sheet_known(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    def looks(student: Any, rng: Any) -> Outcome:
        return passed(student.answer.part)

    problem = Problem("1.a", "One", Fraction(1), (_check(looks),), Limits(cpu_seconds=5))
    rubric = Rubric("r", "R", Fraction(2), (problem,), Path("r.yaml"), "0" * 64, ("1.a", "1.b"))
    sheet = submission(**{"answers.md": "## 1.a\n\none\n\n## 1.b\n\nother\n"})
    read = "written answers were read from answers.md: 1.a, 1.b"
    assert grade(rubric, sheet, boxes, DRAW).notes == (read, NO_SECRET)


def _best(
    boxes: BoxRunner, submission: MakeSubmission, files: dict[str, str], **checks: Any
) -> tuple[str, Fraction, str]:
    """Of three alternatives with a check each, the first written and the others in files of their own."""
    alternatives = tuple(
        Alternative(name, (f"{name}.py",) if number else (), (), (), (_check(function, name),))
        for number, (name, function) in enumerate(checks.items())
    )
    problem = Problem("1", "One", Fraction(1), (), alternatives=alternatives, best_counts=True)
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64)
    (result,) = grade(rubric, submission("", **files), boxes, DRAW).problems
    return result.chosen, result.points, str(result.status)


def absent(student: Any, rng: Any) -> Outcome:
    raise Missing("there is no answer")


def test_of_alternatives_the_one_that_earns_most_counts(boxes: BoxRunner, submission: MakeSubmission) -> None:
    both = {"b.py": "", "c.py": ""}
    assert _best(boxes, submission, both, a=third, b=good, c=bad) == ("b", 1, "passed")
    assert _best(boxes, submission, both, a=good, b=good, c=bad) == ("a", 1, "passed")
    assert _best(boxes, submission, {}, a=third, b=good, c=good) == ("a", Fraction(1, 3), "partial")
    assert _best(boxes, submission, {"c.py": ""}, a=absent, b=good, c=bad) == ("c", 0, "failed")
    assert _best(boxes, submission, {}, a=absent, b=good, c=good) == ("a", 0, "missing")


def test_an_alternative_that_could_not_be_graded_is_made_up_for_by_full_marks_alone(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    assert _best(boxes, submission, {"b.py": ""}, a=third, b=broken) == ("b", 0, "ungraded")
    assert _best(boxes, submission, {"b.py": ""}, a=good, b=broken) == ("a", 1, "passed")
