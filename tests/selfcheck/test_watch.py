"""`grader check --watch`: checks again what a change can have changed, and ends when asked to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue

import pytest

from grader.model import ProblemResult, Status
from grader.selfcheck.own_work import open_own_work
from grader.selfcheck.watching import Changes, Memory, _files_behind
from tests.conftest import REPOSITORY
from tests.selfcheck.kits import ANSWERS, ATTENTION, make_kit
from tests.waiting import PATIENCE_SECONDS


def standing(memory: Memory, kit: Path) -> list[str]:
    with open_own_work(kit) as work:
        memory.look_at(work)
        return [problem.id for problem in work.rubric.problems if memory.standing(problem)]


@pytest.fixture
def remembered(tmp_path: Path) -> tuple[Memory, Path]:
    """A kit whose three problems have been checked."""
    kit, memory = (
        make_kit(tmp_path, **{"helper.py": "x = 1\n", "attention.py": "import helper\n" + ATTENTION}),
        Memory(),
    )
    with open_own_work(kit) as work:
        memory.look_at(work)
        memory.keep(ProblemResult(problem, Status.PASSED, problem.points, ()) for problem in work.rubric.problems)
    return memory, kit


@pytest.mark.parametrize(
    ("file", "text", "still"),
    [
        ("answers.md", ANSWERS.replace("far above", "above"), ["1.a", "2"]),
        ("answers.md", ANSWERS.replace("k_b", "k_c"), ["1.b", "2"]),
        ("attention.py", ATTENTION, ["1.a", "1.b"]),
        ("helper.py", "x = 2\n", ["1.a", "1.b"]),
        ("unrelated.py", "x = 2\n", ["1.a", "1.b", "2"]),
        ("weights.txt", "3\n", ["1.a", "1.b"]),
        ("answers.md", ANSWERS, ["1.a", "1.b", "2"]),
    ],
)
def test_what_a_change_cannot_reach_still_stands(
    remembered: tuple[Memory, Path], file: str, text: str, still: list[str]
) -> None:
    memory, kit = remembered
    assert standing(memory, kit) == ["1.a", "1.b", "2"]
    (kit / file).write_text(text)
    assert standing(memory, kit) == still


def test_of_a_file_that_is_there_twice_both_are_watched_and_no_other_code(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    for name in ("src/attention.py", "plots.py"):
        (kit / name).parent.mkdir(exist_ok=True)
        (kit / name).write_text(f"{ATTENTION}# again\n")
    with open_own_work(kit) as work:
        behind = _files_behind({"attention.py"}, work.submission.for_rubric(work.rubric))
    assert {file for file in behind if file.endswith(".py")} == {"attention.py", "src/attention.py"}


def test_a_save_is_noticed_wherever_it_is_and_litter_is_not(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    changes, noticed = Changes(kit), threading.Event()

    def wait() -> None:
        changes.wait(kit)
        noticed.set()

    threading.Thread(target=wait, daemon=True).start()
    (kit / "__pycache__").mkdir()
    (kit / "__pycache__" / "attention.pyc").write_text("x")
    assert not noticed.wait(1.0)
    (kit / "src").mkdir()
    (kit / "src" / "new.py").write_text("x = 1\n")
    assert noticed.wait(PATIENCE_SECONDS)


@pytest.mark.slow
def test_as_a_student_uses_it(tmp_path: Path) -> None:
    """Started, a wrong formula saved, half a file saved, mended, ended by Ctrl-C."""
    kit = make_kit(tmp_path)
    command = [sys.executable, "-m", "grader", "check", str(kit), "--watch"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}
    watch = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    screens: Queue[str] = Queue()

    def collect() -> None:
        screen = ""
        assert watch.stdout is not None
        for line in watch.stdout:
            screen += line
            if line.startswith("Watching"):
                screens.put(screen)
                screen = ""

    threading.Thread(target=collect, daemon=True).start()
    try:
        assert "6 of the 6 points" in screens.get(timeout=PATIENCE_SECONDS)
        (kit / "answers.md").write_text(ANSWERS.replace("k_b", "k_c"))
        second = screens.get(timeout=PATIENCE_SECONDS)
        assert "3 of the 6 points" in second
        assert "1.a     failed" in second
        (kit / "submission.yaml").write_text("rubric: tin")
        assert "there is no rubric 'tin'" in screens.get(timeout=PATIENCE_SECONDS)
        (kit / "submission.yaml").write_text("rubric: tiny")
        (kit / "answers.md").write_text(ANSWERS)
        while "6 of the 6 points" not in screens.get(timeout=PATIENCE_SECONDS):
            pass  # the first save is checked before the second, if it is noticed alone
        watch.send_signal(signal.SIGINT)
        assert watch.wait(PATIENCE_SECONDS) == 0
        assert watch.stderr is not None
        assert watch.stderr.read() == ""
    finally:
        watch.kill()
