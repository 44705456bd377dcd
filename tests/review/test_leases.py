"""Two reviewers at once never get the same answer: the database decides, whatever processes they sit in."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.review import leases
from grader.review.desk import Desk
from grader.review.leases import LeasedByAnother
from grader.review.refs import Ref
from tests.batch.classes import ENVIRONMENT
from tests.conftest import REPOSITORY
from tests.review.made_classes import decide, essays
from tests.waiting import PATIENCE_SECONDS

STUDENTS = 40
# Take the next open one, hold it for a moment, decide it; nothing is printed before it is confirmed. Each waits after
# the first, until the other has one too: on a busy machine the quicker one would be done before the other begins.
DECIDES_ALL = """
import sys, time
from fractions import Fraction
from pathlib import Path
from grader.batch.gradebook import Gradebook
from grader.review.desk import Desk

with Gradebook(Path(sys.argv[1])) as book:
    desk, ref, waits = Desk(book, sys.argv[2]), None, True
    print("ready", flush=True)
    sys.stdin.readline()
    while (ref := desk.next("1.a", ref)) is not None:
        view = desk.view(ref)
        assert view.lease.by == desk.reviewer and view.decision is None, view
        time.sleep(0.002)
        desk.decide([ref], points=Fraction(1), versions={ref: view.version})
        print(ref.student, flush=True)
        if waits:
            waits = not sys.stdin.readline()
"""


@pytest.mark.slow
def test_two_processes_that_race_share_the_answers_and_decide_none_twice(tmp_path: Path) -> None:
    essays(tmp_path, STUDENTS).close()
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", DECIDES_ALL, str(tmp_path), name],
            cwd=REPOSITORY,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("Kim", "Lee")
    ]
    for one in racing:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    _go(racing)
    first = [one.stdout.readline().strip() for one in racing if one.stdout is not None]
    _go(racing)
    rest = [one.communicate(timeout=PATIENCE_SECONDS)[0].split() for one in racing]
    assert [one.returncode for one in racing] == [0, 0]
    assert all(first)  # both got one
    assert sorted([*first, *rest[0], *rest[1]]) == sorted(f"s{number}" for number in range(STUDENTS))


def _go(racing: list[subprocess.Popen[str]]) -> None:
    for one in racing:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()


def test_what_one_holds_another_neither_gets_nor_decides_until_the_lease_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = essays(tmp_path, 2)
    kim, lee = Desk(book, "Kim"), Desk(book, "Lee")
    held = kim.next("1.a")
    assert held is not None
    other = lee.next("1.a")
    assert other not in (None, held)
    assert lee.next("1.a", other) == other  # the only one left for them
    assert held not in lee.groups("1.a")[0].open
    with pytest.raises(LeasedByAnother, match="Kim looks at this answer"):
        lee.lease(held)
    with pytest.raises(LeasedByAnother, match="Kim looks at one"):
        decide(lee, held, 1)
    assert kim.lease(held).until >= kim.view(held).lease.until  # type: ignore[union-attr]
    monkeypatch.setattr(leases, "LEASE_SECONDS", -1.0)
    kim.lease(held)
    assert lee.lease(held).by == "Lee"


def test_going_on_frees_what_one_held(tmp_path: Path) -> None:
    book = essays(tmp_path, 2)
    kim, lee = Desk(book, "Kim"), Desk(book, "Lee")
    first = kim.next("1.a")
    second = kim.next("1.a", first)
    assert {first, second} == {Ref("s0", "1.a"), Ref("s1", "1.a")}
    assert lee.next("1.a") == first
    assert kim.next("1.a", second) == second
    assert kim.next("1.a", second, back=True) == second


def test_each_reviewer_has_an_order_of_their_own_and_goes_both_ways(tmp_path: Path) -> None:
    book = essays(tmp_path, 8)
    orders = []
    for name in ("Kim", "Lee"):
        desk, ref, order = Desk(book, name), None, []
        for _ in range(8):
            ref = desk.next("1.a", ref)
            order.append(ref)
        assert desk.next("1.a", ref) == order[0]  # round and round
        assert desk.next("1.a", order[0], back=True) == order[-1]
        desk.decide(  # to free the lease; the next reviewer sees everything open again
            [order[0]],
            points=Fraction(0),
            versions={order[0]: desk.view(order[0]).version},  # type: ignore[list-item, dict-item, arg-type]
        )
        desk.undo()
        book.file.base.execute("DELETE FROM leases")
        orders.append(order)
    assert sorted(map(str, orders[0])) == sorted(map(str, orders[1]))
    assert orders[0] != orders[1]


def test_a_decision_is_made_on_what_was_seen(tmp_path: Path) -> None:
    book = essays(tmp_path, 1)
    kim, lee, ref = Desk(book, "Kim"), Desk(book, "Lee"), Ref("s0", "1.a")
    seen = lee.view(ref).version
    decide(kim, ref, 1)
    with pytest.raises(UsageError, match="decided by somebody else meanwhile"):
        lee.decide([ref], points=Fraction(2), versions={ref: seen})
    for nonsense in ("", "x", "0:", "0:-1", f"0:{'9' * 30}", "0:²"):
        with pytest.raises(UsageError):
            lee.decide([ref], points=Fraction(2), versions={ref: nonsense})
