"""What the last box was asked, the next is asked ahead: the answers are those that it would have given anyway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.errors import Crashed, Killed, TimedOut
from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

CODE = """
    import os
    asked = []
    def f(x):
        asked.append(x)
        if x == 7.0:
            os._exit(1)
        while x == 8.0:
            pass
        return 2 * x
    def seen():
        return asked
"""


@pytest.fixture
def runner() -> Iterator[BoxRunner]:
    """One that has asked nobody anything."""
    with BoxRunner() as fresh:
        yield fresh


def _first_box(runner: BoxRunner, submission: MakeSubmission, *then: float) -> None:
    with runner.open(submission(CODE), Limits(), 0) as box:
        box.call("work.py", "f", 1.0)
        box.begin_check(ahead=True)
        for x in then:
            box.call("work.py", "f", x)


def test_it_has_answered_when_it_is_asked(runner: BoxRunner, submission: MakeSubmission) -> None:
    _first_box(runner, submission, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        assert box.call("work.py", "f", 1.0) == 2.0
        box.begin_check(ahead=True)
        assert [box.call("work.py", "f", x) for x in (2.0, 3.0)] == [4.0, 6.0]
        assert box.call("work.py", "seen") == [1.0, 2.0, 3.0], "no question was asked twice"


def test_another_question_gets_its_own_answer(runner: BoxRunner, submission: MakeSubmission) -> None:
    _first_box(runner, submission, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        assert box.call("work.py", "f", 1.0) == 2.0
        box.begin_check(ahead=True)
        assert box.call("work.py", "f", 5.0) == 10.0
        assert box.call("work.py", "seen") == [1.0, 2.0, 3.0, 5.0], "it was asked ahead"


def test_who_may_not_be_asked_ahead_is_not(runner: BoxRunner, submission: MakeSubmission) -> None:
    _first_box(runner, submission, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        assert box.call("work.py", "f", 1.0) == 2.0
        box.begin_check()
        assert box.call("work.py", "seen") == [1.0]


def test_another_beginning_is_no_reason_to_ask_the_same(runner: BoxRunner, submission: MakeSubmission) -> None:
    _first_box(runner, submission, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        assert box.call("work.py", "f", 4.0) == 8.0
        box.begin_check(ahead=True)
        assert box.call("work.py", "seen") == [4.0]


def test_what_breaks_later_costs_nothing_that_was_asked_before(runner: BoxRunner, submission: MakeSubmission) -> None:
    with pytest.raises(Crashed):
        _first_box(runner, submission, 2.0, 7.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        assert box.call("work.py", "f", 1.0) == 2.0
        box.begin_check(ahead=True)
        assert box.call("work.py", "f", 2.0) == 4.0
        with pytest.raises(Crashed):
            box.call("work.py", "f", 7.0)


def test_what_takes_too_long_is_ended_as_ever(runner: BoxRunner, submission: MakeSubmission) -> None:
    # The second time it is another question that waits for the one that was asked ahead, and is not to blame.
    for then, fault in ((8.0, TimedOut), (2.0, Killed)):
        with runner.open(submission(CODE), Limits(cpu_seconds=1), 0) as box:
            box.call("work.py", "f", 1.0)
            box.begin_check(ahead=True)
            with pytest.raises(fault):
                box.call("work.py", "f", then)


def test_work_that_is_asked_less_does_not_shorten_what_is_asked(runner: BoxRunner, submission: MakeSubmission) -> None:
    _first_box(runner, submission, 2.0, 3.0)
    _first_box(runner, submission, 2.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        box.call("work.py", "f", 1.0)
        box.begin_check(ahead=True)
        box.call("work.py", "f", 2.0)
        assert box.call("work.py", "seen") == [1.0, 2.0, 3.0]


def test_another_question_is_not_to_blame_for_what_was_asked_ahead(
    runner: BoxRunner, submission: MakeSubmission
) -> None:
    with pytest.raises(Crashed):
        _first_box(runner, submission, 2.0, 7.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        box.call("work.py", "f", 1.0)
        box.begin_check(ahead=True)
        with pytest.raises(Killed):  # which is tried again
            box.call("work.py", "f", 5.0)
        with pytest.raises(Crashed, match="its box has ended") as found:
            box.call("work.py", "f", 5.0)
        assert not isinstance(found.value, Killed)


def test_code_that_may_ask_for_a_gpu_is_not_asked_ahead(runner: BoxRunner, submission: MakeSubmission) -> None:
    """Its box remembers that it did, and says so with every answer that follows."""
    submission(**{"other.py": 'device = "cuda"'})
    _first_box(runner, submission, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        box.call("work.py", "f", 1.0)
        box.begin_check(ahead=True)
        assert box.call("work.py", "seen") == [1.0]
