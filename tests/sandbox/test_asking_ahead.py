"""What two boxes running were asked, the next ones answer unasked: as they would have answered anyway."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from grader.errors import BoxLost, Crashed, Killed, TimedOut
from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.sandbox.forked_box import ForkedBox
from tests.conftest import MakeSubmission
from tests.waiting import until

CODE = """
    def f(x):
        print("asked", x)
        while x == 8.0:
            pass
        return 2 * x
"""
KEEPS = "asked = []\n" + textwrap.dedent(CODE).replace("print(", "asked.append(x); print(len(asked), ")


@pytest.fixture
def runner() -> Iterator[BoxRunner]:
    """One that has asked nobody anything."""
    with BoxRunner() as fresh:
        yield fresh


class Asked:
    """What a box answered, what its code printed, and whether it was asked ahead."""

    def __init__(self, runner: BoxRunner, submission: MakeSubmission, *questions: float, code: str = CODE) -> None:
        with runner.open(submission(code), Limits(cpu_seconds=2), 0) as box:
            box.may_be_asked_ahead = True
            self.answers = []
            for x in questions:
                self.answers.append(box.call("work.py", "f", x))
                box.begin_check()  # each is asked by another check
            self.printed = box.printed
            self.ahead = box.was_asked_ahead


def _printed(*asked: float) -> str:
    return "".join(f"asked {x}\n" for x in asked)


def test_what_two_were_asked_the_third_answers_unasked(runner: BoxRunner, submission: MakeSubmission) -> None:
    found = [Asked(runner, submission, 1.0, 2.0, 3.0) for _ in range(4)]
    assert [one.ahead for one in found] == [False, False, True, True]
    assert [one.answers for one in found] == [[2.0, 4.0, 6.0]] * 4
    assert [one.printed for one in found] == [_printed(1.0, 2.0, 3.0)] * 4, "nothing was asked twice"


def test_another_question_gets_its_own_answer(runner: BoxRunner, submission: MakeSubmission) -> None:
    for _ in range(2):
        Asked(runner, submission, 1.0, 2.0, 3.0)
    found = Asked(runner, submission, 1.0, 5.0)
    assert (found.ahead, found.answers, found.printed) == (True, [2.0, 10.0], _printed(1.0, 2.0, 3.0, 5.0))


def test_a_check_that_deviates_in_its_midst_is_asked_again_elsewhere(
    runner: BoxRunner, submission: MakeSubmission
) -> None:
    """What it asks may be about what it asked before: by then, its box has answered others."""
    for _ in range(2):
        Asked(runner, submission, 1.0, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        box.may_be_asked_ahead = True
        box.call("work.py", "f", 1.0)
        with pytest.raises(Killed):
            box.probe("latest_arguments", "work.py", calls=1)


DRAWS = "import numpy as np\ndef f(x):\n    return x + np.random.rand()\n"


def test_code_that_draws_is_not_asked_where_nothing_is_seeded(runner: BoxRunner, submission: MakeSubmission) -> None:
    files = {"work.py": CODE, "other.py": DRAWS}
    for _ in range(2):
        Asked(runner, submission, 1.0)
    with runner.open(submission(**files), Limits(), 0) as box:
        box.may_be_asked_ahead = True
        box.call("work.py", "f", 1.0)
        assert box.was_asked_ahead
        box.begin_check()
        with pytest.raises(Killed):
            box.call("other.py", "f", 1.0)


def test_chance_is_that_of_any_box(runner: BoxRunner, submission: MakeSubmission) -> None:
    found = [Asked(runner, submission, 1.0, 2.0, code=DRAWS) for _ in range(3)]
    assert [one.ahead for one in found] == [False, False, True]
    assert found[0].answers == found[1].answers == found[2].answers


def test_names_in_greek_are_no_reason_to_be_asked_twice(runner: BoxRunner, submission: MakeSubmission) -> None:
    code = "def f(x):\n    β = 2\n    return β * x\n"
    found = [Asked(runner, submission, 1.0, code=code) for _ in range(3)]
    assert [(one.ahead, one.answers) for one in found] == [(False, [2.0]), (False, [2.0]), (True, [2.0])]


def test_code_can_go_as_deep_as_in_any_box(runner: BoxRunner, submission: MakeSubmission) -> None:
    code = submission("def f(x):\n    return 0.0 if x <= 0 else 1.0 + f(x - 1)\n")

    def reached() -> tuple[bool, list[float]]:
        deep = []
        with runner.open(code, Limits(), 0) as box:
            box.may_be_asked_ahead = True
            for depth in range(950, 1000):
                with suppress(Crashed):
                    deep.append(box.call("work.py", "f", depth))
                box.begin_check()
            return box.was_asked_ahead, deep

    (first, deep), _, (last, ahead) = (reached() for _ in range(3))
    assert (first, last) == (False, True)
    assert 950 in deep
    assert 999 not in deep
    assert ahead == deep


def test_a_server_that_is_gone_when_all_is_graded_costs_nothing(runner: BoxRunner, submission: MakeSubmission) -> None:
    Asked(runner, submission, 1.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        box.may_be_asked_ahead = True
        assert box.call("work.py", "f", 1.0) == 2.0
        (server,) = runner._servers.values()
        server._process.kill()
        server._process.wait()
    with pytest.raises(BoxLost):  # which is tried again
        Asked(runner, submission, 3.0)
    assert Asked(runner, submission, 3.0).answers == [6.0]


def test_another_beginning_is_no_reason_to_ask_the_same(runner: BoxRunner, submission: MakeSubmission) -> None:
    for _ in range(2):
        Asked(runner, submission, 1.0, 2.0, 3.0)
    found = Asked(runner, submission, 4.0)
    assert (found.ahead, found.printed) == (False, _printed(4.0))


def test_who_may_not_be_asked_ahead_is_not(runner: BoxRunner, submission: MakeSubmission) -> None:
    for _ in range(2):
        Asked(runner, submission, 1.0, 2.0, 3.0)
    with runner.open(submission(CODE), Limits(), 0) as box:
        assert box.call("work.py", "f", 1.0) == 2.0
        assert (box.was_asked_ahead, box.printed) == (False, _printed(1.0))


def test_code_that_may_keep_something_never_runs_where_questions_lie(
    runner: BoxRunner, submission: MakeSubmission
) -> None:
    for _ in range(2):
        Asked(runner, submission, 1.0, 2.0, 3.0)
    found = Asked(runner, submission, 1.0, code=KEEPS)
    assert (found.ahead, found.printed) == (False, "1 asked 1.0\n")


def test_neither_does_code_whose_other_file_may(runner: BoxRunner, submission: MakeSubmission) -> None:
    def ahead(**files: str) -> bool:
        with runner.open(submission(**files), Limits(), 0) as box:
            box.may_be_asked_ahead = True
            assert [box.call(file, "f", 1.0) for file in ("work.py", "other.py")] == [2.0, 2.0]
            return box.was_asked_ahead

    plain = {"work.py": CODE, "other.py": CODE}
    assert [ahead(**plain) for _ in range(3)] == [False, False, True]
    assert not ahead(**plain | {"other.py": KEEPS})


def test_a_file_that_others_have_may_be_missing(runner: BoxRunner, submission: MakeSubmission, tmp_path: Path) -> None:
    for _ in range(2):
        with runner.open(submission(**{"work.py": CODE, "other.py": CODE}), Limits(), 0) as box:
            box.may_be_asked_ahead = True
            for file in ("work.py", "other.py"):
                box.call(file, "f", 1.0)
    (tmp_path / "work" / "other.py").unlink()
    found = Asked(runner, submission, 1.0)
    assert (found.ahead, found.answers) == (False, [2.0])


def test_work_that_is_asked_less_or_otherwise_changes_nothing(runner: BoxRunner, submission: MakeSubmission) -> None:
    for questions in ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), (1.0, 2.0), (1.0,), (1.0, 5.0), (1.0, 2.0, 3.0, 6.0)):
        Asked(runner, submission, *questions)
    assert Asked(runner, submission, 1.0).printed == _printed(1.0, 2.0, 3.0)


def test_what_two_others_running_are_asked_takes_its_place(runner: BoxRunner, submission: MakeSubmission) -> None:
    for questions in ((1.0, 2.0), (1.0, 2.0), (1.0, 5.0), (1.0, 5.0)):
        Asked(runner, submission, *questions)
    found = Asked(runner, submission, 1.0, 5.0)
    assert (found.ahead, found.printed) == (True, _printed(1.0, 5.0))


def test_what_ends_a_box_that_was_asked_ahead_is_nobodys_fault(runner: BoxRunner, submission: MakeSubmission) -> None:
    """It is tried again, where the question that is to blame is asked by itself."""
    for _ in range(2):
        with pytest.raises(TimedOut):
            Asked(runner, submission, 1.0, 8.0)
    for questions in ((1.0, 8.0), (1.0, 5.0)):
        with pytest.raises(Killed):
            Asked(runner, submission, *questions)


def test_code_that_may_ask_for_a_gpu_is_not_asked_ahead(runner: BoxRunner, submission: MakeSubmission) -> None:
    """Its box remembers that it did, and says so with every answer that follows."""
    submission(**{"other.py": 'device = "cuda"'})
    assert not any(Asked(runner, submission, 1.0, 2.0).ahead for _ in range(3))


ATTEMPTS = """
    import os, socket
    def f(x):
        found = []
        for what in (lambda: open("here", "w"), lambda: open(os.path.join(os.environ["HOME"], "there"), "w"),
                     lambda: open("/dev/shm/anywhere", "w"), lambda: os.mkdir("/tmp/anywhere"),
                     lambda: os.unlink("work.py"), lambda: os.listdir("/proc"), lambda: open("/proc/1/environ"),
                     lambda: open("/etc/passwd"), lambda: open({reference!r}), lambda: socket.socket(),
                     lambda: os.fork()):
            try:
                what()
                found.append("did it")
            except OSError:
                found.append("")
        return found
"""


@pytest.mark.parametrize("without", [(), ("namespaces",)])
def test_its_jail_is_that_of_any_box_and_it_can_write_nowhere(
    submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch, without: tuple[str, ...]
) -> None:
    """As if reading had been deceived."""
    monkeypatch.setattr(ForkedBox, "_keeps_nothing", lambda *given: True)
    code = ATTEMPTS.replace("{reference!r}", repr(str(Path(__file__).parents[2] / "reference" / "attention.py")))
    with BoxRunner(without=without) as runner:
        found = [Asked(runner, submission, 1.0, 2.0, code=code) for _ in range(3)]
        assert found[2].ahead
        tries = found[2].answers[0]
        assert tries == [""] * len(tries)
        assert runner.isolation.missing == without


def _family(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(member for child in map(int, children) for member in _family(child))]


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("without", [(), ("namespaces",)])
def test_servers_end_when_others_take_their_place_and_with_the_runner(
    submission: MakeSubmission, without: tuple[str, ...]
) -> None:
    before = set(_family(os.getpid()))
    with BoxRunner(without=without) as runner:
        Asked(runner, submission, 1.0, 2.0)
        processes = 4 if "namespaces" in runner.isolation.layers else 3  # however many servers were replaced
        for last in (2.0, 3.0, 4.0):
            for _ in range(2):
                Asked(runner, submission, 1.0, last)
            until(lambda: sum(map(_alive, set(_family(os.getpid())) - before)) == processes)
        family = set(_family(os.getpid())) - before
        zombies = [one for one in family if not _alive(one)]
    assert len(zombies) <= 1, "the last one that was replaced is buried when the next is made"
    until(lambda: not any(map(_alive, family)))
