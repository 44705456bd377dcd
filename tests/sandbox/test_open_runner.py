"""Without a box: one's own code gets the same values and the same words, on systems that have none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.errors import Crashed, StudentFault, TimedOut
from grader.grading.engine import grade
from grader.model import Limits
from grader.rubric.choosing import only
from grader.sandbox import BoxRunner
from grader.sandbox.host.open_runner import OpenRunner
from grader.submission.opening import open_submission
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, the_rubric
from tests.selfcheck.kits import SUMMARY, make_kit
from tests.waiting import PATIENCE_SECONDS

ORDINARY = Limits()


@pytest.fixture(scope="module")
def runner() -> Iterator[OpenRunner]:
    with OpenRunner() as made:
        yield made


@pytest.fixture
def ask(runner: OpenRunner, submission: MakeSubmission) -> Any:
    def asked(code: str, *args: Any, limits: Limits = ORDINARY) -> Any:
        with runner.open(submission(code), limits, seed=1) as student:
            return student.call("work.py", "f", *args)

    return asked


def test_values_come_back_as_they_are(ask: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(ask("def f(x): return 2 * x", x), 2 * x)
    assert ask("def f(): return [1, 'Grüße', None]") == [1, "Grüße", None]


def test_each_check_starts_over(ask: Any) -> None:
    counting = "calls = []\ndef f():\n    calls.append(1)\n    return len(calls)"
    assert ask(counting) == 1
    assert ask(counting) == 1
    assert ask("def f(): return 'another file of the same name'") == "another file of the same name"
    drawn = "import random\ndef f(): return random.random()"
    assert ask(drawn) == ask(drawn)


def test_code_writes_into_a_copy(runner: OpenRunner, submission: MakeSubmission) -> None:
    work = submission("def f():\n    open('log.txt', 'w').write('x')\n    return open('log.txt').read()")
    with runner.open(work, Limits(), seed=0) as student:
        assert student.call("work.py", "f") == "x"
    assert not (work.folder / "log.txt").exists()


def test_code_may_remove_the_folder_it_runs_in(ask: Any) -> None:
    assert ask("import os, shutil\ndef f():\n    shutil.rmtree(os.getcwd())\n    return 1") == 1
    assert ask("def f(): return 2") == 2


@pytest.mark.parametrize(
    ("code", "fault", "said"),
    [
        pytest.param("def f():\n    while True: pass", TimedOut, "gave no answer within 2 s", marks=pytest.mark.slow),
        ("import os\ndef f(): os._exit(3)", Crashed, "ended its own process"),
        ("def f(): return 1 / 0", Crashed, "raised ZeroDivisionError at work.py:1"),
        ("import nowhere\nf = nowhere.f()", Crashed, "cannot be imported at work.py:2: nowhere was not handed in"),
        ("def g(): pass", StudentFault, "defines no 'f'"),
    ],
)
def test_faults_are_told_and_the_next_check_runs(ask: Any, code: str, fault: type[Exception], said: str) -> None:
    with pytest.raises(fault, match=said.replace("(", r"\(")):
        ask(code, limits=Limits(cpu_seconds=2, wall_seconds=2))
    assert ask("def f(): return 7") == 7


def test_what_it_prints_is_kept_apart_from_its_answers(runner: OpenRunner, submission: MakeSubmission) -> None:
    work = submission("import sys\nprint('hello')\ndef f():\n    sys.stdout.flush()\n    return 5")
    with runner.open(work, Limits(), seed=0) as student:
        assert student.call("work.py", "f") == 5


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["ada", "ben", "dora"])
def test_verdicts_are_those_of_the_box(sample: str) -> None:
    rubric = the_rubric("rubrics/dl-hw3/rubric.yaml")
    rubric = only(rubric, ["2.1", "2.2"])
    reports = []
    for made in (BoxRunner(), OpenRunner()):
        with made as runner, open_submission(REPOSITORY / "submissions" / sample) as submission:
            report = grade(rubric, submission, runner, DRAW)
        results = [one for problem in report.problems for one in problem.checks]
        reports.append([(one.check.id, one.outcome.status, one.outcome.message) for one in results])
    assert reports[0] == reports[1]


# Python runs a module of this name when it starts, in every process of the self-check.
SITECUSTOMIZE = """
import os, signal, socket, subprocess, sys, sysconfig
sysconfig.get_config_vars()
sys.modules["resource"] = None  # to import it is an error
for module, names in {
    os: ("fork", "pidfd_open", "killpg", "sched_getaffinity"),
    signal: ("SIGBUS", "SIGSYS", "setitimer", "pidfd_send_signal"),
    socket: ("send_fds", "recv_fds", "AF_UNIX"),
}.items():
    for name in names:
        delattr(module, name)
sys.platform = "darwin"
"""


@pytest.mark.slow
def test_a_system_without_the_means_of_linux_checks_without_a_box_and_says_so(tmp_path: Path) -> None:
    """As near as Linux comes to another system: what Windows lacks is taken away before the grader is loaded."""
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(SITECUSTOMIZE)
    kit = make_kit(tmp_path / "kit")
    done = subprocess.run(
        [sys.executable, "-m", "grader", "check", str(kit)],
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'start'}{os.pathsep}{REPOSITORY}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert f"6 of the 6 points that are checked here. In all, {SUMMARY}." in told
    assert "Note: your code ran without a box, because darwin has none; never run anyone else's code this way" in told
