"""The faults that `make mutants` draws stay the same while what they change does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import yaml
from rich.console import Console

from benchmarks.explained import EXPLAINED, LEFT
from benchmarks.mutant_report import report
from benchmarks.mutant_state import State
from benchmarks.mutants import LEAST_OF_A_ROOM, fate, sample
from benchmarks.trials import Tried
from grader.proving.mutants import Candidate, candidates
from tests.conftest import REPOSITORY

LINES = [f"def f{number}(x):\n    return x * {number} + {number + 1}\n" for number in range(2, 14)]


def found(file: str, lines: list[str]) -> list[Candidate]:
    return list(candidates("\n".join(lines), file))


def drawn(rooms: dict[str, list[Candidate]], room: str, count: int = 50) -> set[tuple[str, str]]:
    return {(mutant.within, mutant.becomes) for mutant in sample(rooms, count, 0) if mutant.file == room}


def test_editing_one_file_leaves_the_faults_of_others_as_they_were() -> None:
    before = {"a": found("a", LINES), "b": found("b", LINES)}
    after = {"a": found("a", [line.replace("*", "-") for line in LINES]), "b": before["b"]}
    assert drawn(before, "b") == drawn(after, "b")
    assert drawn(before, "a") != drawn(after, "a")


def test_a_line_put_in_front_moves_no_fault() -> None:
    moved = found("a", ["import math\n", *LINES])
    assert drawn({"a": found("a", LINES)}, "a") == drawn({"a": moved}, "a")


def test_every_room_has_some_and_a_larger_sample_holds_the_smaller() -> None:
    rooms = {"a": found("a", LINES), "b": found("b", LINES[:3])}
    assert len(drawn(rooms, "b", 0)) == LEAST_OF_A_ROOM
    assert drawn(rooms, "a", 20) < drawn(rooms, "a", 45)
    assert len(sample(rooms, 45, 0)) in (45, 46)
    assert drawn(rooms, "a") != {(one.within, one.becomes) for one in sample(rooms, 50, 1) if one.file == "a"}


def test_what_nobody_could_notice_is_told_with_its_reason() -> None:
    for written in (EXPLAINED, LEFT):
        for file, entries in (yaml.safe_load(written.read_text(encoding="utf-8")) or {}).items():
            assert (REPOSITORY / file).is_file(), file
            assert all(entry.keys() == {"statement", "becomes", "because"} for entry in entries), file


def test_what_was_noticed_at_first_is_told_apart_from_what_is_noticed_now(tmp_path: Path) -> None:
    kept_in, (one, other, third, *_) = tmp_path / "state", sample({"a": found("grader/quoting.py", LINES)}, 0, 0)
    for tried in (Tried(one, True, "by", 1.0), Tried(other, False, "", 1.0, slow=False)):
        State(kept_in).add(tried)
    assert State(kept_in).known(one)
    assert State(kept_in).survives_quick_ones(other)
    earlier = json.loads(kept_in.read_text(encoding="utf-8").splitlines()[1]) | {"tests": "as they were"}
    kept_in.write_text(kept_in.read_text(encoding="utf-8").splitlines()[0] + "\n" + json.dumps(earlier) + "\n", "utf-8")
    assert not State(kept_in).survives_quick_ones(other), "its tests have changed, so it is asked again"
    State(kept_in).add(Tried(other, True, "by a new test", 1.0))

    printed = io.StringIO()
    report([fate(mutant, State(kept_in)) for mutant in (one, other, third)], Console(file=printed, width=120))
    row = next(line for line in printed.getvalue().splitlines() if "`quoting.py`" in line)
    assert [cell.strip() for cell in row.strip("|").split("|")][1:] == ["3", "1", "0", "1", "50 %", "2", "100 %", "0"]
