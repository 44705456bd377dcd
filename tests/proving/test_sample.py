"""The faults that `make mutants` draws stay the same while what they change does."""

from __future__ import annotations

import yaml

from benchmarks.mutants import EXPLAINED, LEAST_OF_A_ROOM, sample
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
    for file, entries in yaml.safe_load(EXPLAINED.read_text(encoding="utf-8")).items():
        assert (REPOSITORY / file).is_file(), file
        assert all(entry.keys() == {"statement", "becomes", "because"} for entry in entries), file
