"""Code of one submission after the other is read in one box, in which none of it runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.model import Limits
from grader.sandbox import BoxRunner, reader
from grader.sandbox.inside import purity
from grader.sandbox.reader import Reading
from tests.conftest import MakeSubmission, sampled
from tests.sandbox.test_purity import EVERY, KEEPS_NOTHING

PLAIN = "import numpy as np\ndef f(x):\n    return np.exp(x)\n"
READ = Reading("", ["numpy", "numpy.exp"], may_be_run_whole=True)


@pytest.fixture(scope="module")
def runner() -> Iterator[BoxRunner]:
    with BoxRunner(("numpy", "einops")) as made:
        yield made


@pytest.mark.parametrize("source", sampled([*KEEPS_NOTHING.values(), *EVERY.values()], 40))
def test_it_finds_what_is_found_elsewhere(
    runner: BoxRunner, submission: MakeSubmission, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    found = runner.read(submission(source), "work.py")
    monkeypatch.chdir(tmp_path / "work")
    purity.forget()
    # By which of several things it may keep something, is the same too.
    assert found.what_it_may_keep == purity.what_it_may_keep("work.py")
    assert found.library_names == purity.library_names("work.py")


def test_nothing_of_it_runs(runner: BoxRunner, submission: MakeSubmission) -> None:
    for code in ("import os\nos._exit(1)\n", "while True:\n    pass\n", "import sys\nsys.modules.clear()\n"):
        assert runner.read(submission(code), "work.py").what_it_may_keep
        assert runner.read(submission(PLAIN), "work.py") == READ


HOSTILE = {
    "nested more deeply than Python reads": f"x = {'-' * 300_000}1\n",
    "brackets": f"x = {'(' * 90}{'[' * 90}1\n",
    "bytes that are no text": PLAIN + '"\udcff\udcfe"\n',
    "a null byte": "x = 1\0\n",
    "calls of calls": f"def f(x):\n    return x{'()' * 3000}\n",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=list(HOSTILE))
def test_what_cannot_be_read_is_not_trusted_and_costs_others_nothing(
    runner: BoxRunner, submission: MakeSubmission, source: str
) -> None:
    work = submission(PLAIN)
    (work.folder / "work.py").write_bytes(source.encode("utf-8", "surrogateescape"))
    assert runner.read(work, "work.py").what_it_may_keep
    assert runner.read(submission(PLAIN), "work.py") == READ


def test_what_takes_too_long_to_read_is_not_trusted(
    submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_LIMITS", Limits(cpu_seconds=1))
    with BoxRunner() as runner:
        long = "".join(f"def f{number}(x):\n    return [x + {number}, x * 2, x - 1]\n" for number in range(60_000))
        assert runner.read(submission(long), "work.py") == Reading("TimedOut")
        assert runner.read(submission(PLAIN), "work.py") == READ


def test_a_file_that_is_not_there_is_not_trusted(runner: BoxRunner, submission: MakeSubmission) -> None:
    assert runner.read(submission(PLAIN), "other.py") == Reading("FileNotFoundError")


def test_another_submission_in_the_same_place_is_read_anew(runner: BoxRunner, submission: MakeSubmission) -> None:
    work, helper = "from helper import g\ndef f(x):\n    return g(x)\n", "def g(x):\n    return x\n"
    plain = {"work.py": work, "helper.py": helper}
    keeps = {"work.py": work, "helper.py": helper.replace("(x)", "(x, seen=[])")}
    found = [runner.read(submission(**files), "work.py").what_it_may_keep for files in (plain, keeps, plain)]
    assert [kept == "" for kept in found] == [True, False, True]


def test_one_box_reads_many_files_and_then_another_does(
    submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, opened = [], reader.opened
    monkeypatch.setattr(reader, "_FILES", 3)
    monkeypatch.setattr(reader, "opened", lambda *given: made.append(given) or opened(*given))
    with BoxRunner() as runner:
        for number in range(8):
            assert runner.read(submission(PLAIN + f"# {number}\n"), "work.py") == READ
    assert len(made) == 3


def test_what_reading_tells_needs_no_box_of_the_students(runner: BoxRunner, submission: MakeSubmission) -> None:
    with runner.open(submission(PLAIN), Limits(), 0) as box:
        assert box.probe("what_it_may_keep", "work.py") == ""
        assert box.probe("library_names", "work.py") == ["numpy", "numpy.exp"]
        assert box._channel is None  # type: ignore[attr-defined]  # what is asked so is a ForkedBox
