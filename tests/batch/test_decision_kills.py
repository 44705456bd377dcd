"""A process that decides is killed at random moments: whatever it confirmed is there, and no act is half there."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from tests.batch.classes import ENVIRONMENT
from tests.batch.test_gradebook import a_result, keep
from tests.conftest import REPOSITORY

KILLS = int(os.environ.get("KILLS", "5"))  # KILLS=20 is the whole trial
STUDENTS = [f"s{number}" for number in range(5)]
# Each act decides everybody; its number is said once it is confirmed. Every third is followed by a change of the item
# that everybody has, and every seventh is undone.
DECIDES = """
import itertools, sys
from fractions import Fraction
from pathlib import Path
from grader.batch.rulings import Kind, Ruling
from grader.batch.gradebook import Gradebook

with Gradebook(Path(sys.argv[1])) as book:
    item = sys.argv[2]
    for number in itertools.count():
        students = book.students()
        points = book.items.known([item])[item].points
        rulings = [Ruling(one, "1.a", points, f"{number}", (item,), adjust=Fraction(0)) for one in students]
        act = book.decisions.decide(rulings, by="Kim", kind=Kind.BULK)
        print("decided", act.id, flush=True)
        if number % 3 == 2:
            act = book.items.edit(item, text=None, points=3 - points, by="Kim")
            print("decided", act.id, flush=True)
        if number % 7 == 6:
            print("undone", book.items.undo("Kim").id, flush=True)
"""


@pytest.mark.slow
def test_what_was_confirmed_survives_kills_at_random_moments(tmp_path: Path) -> None:
    with Gradebook(tmp_path, new=True) as book:
        keep(book, *(a_result(student) for student in STUDENTS))
        item = book.items.add("1.a", "an item", Fraction(1), by="Lee").id
    chance, confirmed = random.Random(11), {"decided": set[int](), "undone": set[int]()}
    for _ in range(KILLS):
        command = [sys.executable, "-c", DECIDES, str(tmp_path), item]
        deciding = subprocess.Popen(command, cwd=REPOSITORY, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        assert deciding.stdout is not None
        said = [deciding.stdout.readline()]  # it has begun
        time.sleep(chance.uniform(0.0, 0.1))
        deciding.kill()
        said += deciding.stdout.read().splitlines()
        deciding.wait()
        for line in said:
            what, _, number = line.strip().partition(" ")
            if number.isdigit():
                confirmed[what].add(int(number))
        with Gradebook(tmp_path) as book:
            logs = [book.decisions.of_student(student) for student in STUDENTS]
            kept, *others = [{one.act: one.undone for one in log} for log in logs]
            assert confirmed["decided"] <= kept.keys()
            assert all(kept[act] for act in confirmed["undone"])
            assert all(other == kept for other in others)  # no act is half there
            standing = [state.standing.decision for state in book.decisions.states(part="1.a")]
            assert len({one.act for one in standing if one}) == 1
            assert {one.points for one in standing if one} == {book.items.known([item])[item].points}
    assert len(confirmed["decided"]) >= KILLS
