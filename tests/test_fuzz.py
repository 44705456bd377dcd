"""The fuzz command: a short run over every kind of input, and what it does when a reader fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.fuzz import watching
from benchmarks.fuzz.endings import NotOneLine, ends_well
from benchmarks.fuzz.kinds import KINDS, Kind, shared_out
from benchmarks.fuzz.watching import fuzz, made
from grader.errors import UsageError
from tests.conftest import REPOSITORY


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.fuzz", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_damaged_input_ends_in_a_result_or_in_one_line() -> None:
    done = _command("--count", "2000", "--seed", "1")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert all(f"│ {kind} " in done.stdout for kind in KINDS)


@pytest.mark.slow
def test_one_input_can_be_replayed() -> None:
    done = _command("--replay", "submission:1:7")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] in ("read", "refused in one line")
    assert "give KIND:SEED:INDEX" in _command("--replay", "submission:7").stderr


def test_a_million_hold_twenty_thousand_of_each_kind() -> None:
    counts = shared_out(1_000_000)
    assert sum(counts.values()) == 1_000_000
    assert min(counts.values()) >= 20_000
    assert sum(shared_out(77).values()) == 77


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_an_input_follows_from_seed_and_number_alone(kind: Kind) -> None:
    once = [made(kind, 3, index) for index in range(20)]
    assert [made(kind, 3, index) for index in reversed(range(20))] == once[::-1]
    assert made(kind, 4, 0) != once[0]


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "pause"), [(1, 0), (3, 60)], ids=["works on", "sleeps"])
def test_what_raises_hangs_or_dies_is_told_and_the_rest_is_read(
    monkeypatch: pytest.MonkeyPatch, jobs: int, pause: int
) -> None:
    def read(number: int, folder: Path) -> bool:
        if number == 0:
            raise ValueError("no reader\nraises this")
        while number == 1:
            time.sleep(pause)
        if number == 2:
            os._exit(3)
        return number % 2 == 0

    unruly = Kind("unruly", 0, lambda rng: rng.randrange(300), read)
    monkeypatch.setitem(watching.KINDS, "unruly", unruly)
    # Of processor time a little will do; another process may have the machine for longer than that.
    monkeypatch.setattr(watching, *(("STALL_SECONDS", 5.0) if pause else ("HANG_SECONDS", 0.3)))
    tally = fuzz({"unruly": 500}, seed=2, jobs=jobs)["unruly"]
    numbers = [made(unruly, 2, index) for index in range(500)]
    assert [(one.index, one.sort) for one in tally.failures] == [(37, "traceback"), (208, "hang"), (333, "death")]
    assert [number for number in numbers if number < 3] == [0, 1, 2]
    rest = [number for number in numbers if number > 2]
    assert (tally.read, tally.refused) == (sum(n % 2 == 0 for n in rest), sum(n % 2 for n in rest))
    assert tally.failures[0].replay == "unruly:2:37"


def test_a_fault_of_several_lines_is_no_declared_end() -> None:
    def refuse(message: str) -> bool:
        def read():  # type: ignore[no-untyped-def]
            yield "a note"
            raise UsageError(message)

        return ends_well(read)

    assert not refuse("one line")
    for message in ("two\nlines", "", "half of \ud800", "\x1b[2J"):
        with pytest.raises(NotOneLine):
            refuse(message)
