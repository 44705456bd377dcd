"""Answers that are the same thing stand together, by what the grader read; a person has the last word on that, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.causes import cause_of
from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.review.desk import Desk
from grader.review.grouping import Group
from grader.review.refs import Ref
from tests.review.made_classes import code, decide, formula, keep, prose, result


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    book = Gradebook(tmp_path, new=True)
    small = "the scale is too small: q = {} is off by {}"
    failed = "column {} sums to {} (Q {}×3); divide by the sum of its column"
    keep(
        book,
        result("ann", prose("Positive;\n  they sum to one."), formula("β(k_a+k_b)", "β(k_a + k_b)"), code("a")),
        result("bob", prose("Positive; they sum to  one."), formula("C(k_a+k_b)", "β(k_a + k_b)"), code("b")),
        result(
            "cat", prose("positive and sum to one"), formula("?", "", "review"), code("c", failed.format(1, 0.3, 4))
        ),
        result(
            "dan",
            prose("positive", {"positive": "positive"}),
            formula("?", "", "review"),
            code("d", failed.format(2, 7.1, 9)),
        ),
        result("eve", prose("who knows", {}), formula("k_a", "k_a", "partial"), code("e", "it is nan")),
        result("fay", prose("no idea", {}), formula("! ", "", "review"), code("f", small.format("k_b", 3))),
    )
    return Desk(book, "Kim")


def grouped(desk: Desk, part: str) -> dict[str, str]:
    return {" ".join(ref.student for ref in group.members): group.why for group in desk.groups(part)}


def test_prose_stands_together_by_the_ideas_found_and_what_was_not_understood_by_its_words(desk: Desk) -> None:
    assert grouped(desk, "1.a") == {
        "ann bob cat": "same ideas: which sign, what sum",
        "dan": "alone",
        "eve": "alone",
        "fay": "alone",
    }


def test_formulas_stand_together_by_how_they_were_read(desk: Desk) -> None:
    found = grouped(desk, "1.b")
    assert found["ann bob"] == "read as β(k_a + k_b)"
    assert found["cat dan"] == "same text"
    assert {"eve", "fay"} < found.keys()


def test_code_stands_together_by_its_failed_checks_and_their_cause(desk: Desk) -> None:
    assert grouped(desk, "2") == {
        "ann bob": "passes every check",
        "cat dan": "fails rows_sum_to_one: column … sums to …; divide by the sum of its column",
        "eve": "alone",
        "fay": "alone",
    }


@pytest.mark.parametrize(
    ("message", "status", "cause"),
    [
        ("answers.md:12: this repeats the question", "failed", "this repeats the question"),
        ("it is nan (Q 1×3, β = 1); subtract", "failed", "it is nan; subtract"),
        ("a.dev.predictions: 19/300 = 6.3 % (95 %: 4–9 %); it reaches no tier; next", "failed", "it reaches no tier"),
        ("q is off: with q = β k_a it is 1.3", "failed", "q is off"),
        (
            "f() in a.py raised E at a.py:2, block 32: bad 7; the input is 'r'",
            "crashed",
            "f() raised E, block …: bad …",
        ),
        (
            "a.py cannot be imported: E at a.py:5 (no file; open it): x",
            "crashed",
            "a.py cannot be imported: E (no file; open it)",
        ),
        ("there is no answer to 1.a.i", "missing", "there is no answer to 1.a.i"),
    ],
)
def test_a_cause_is_nobody_s_own(message: str, status: str, cause: str) -> None:
    assert cause_of({"message": message, "status": status}) == cause


def test_what_was_not_read_is_alike_only_if_the_whole_is(tmp_path: Path) -> None:
    """Pages without text, and parts that could not be graded, are not the same because nothing is known of them."""
    book = Gradebook(tmp_path, new=True)
    for student in ("ann", "bob", "cat"):
        page, ungraded = formula(student if student != "cat" else "bob", "", "review"), code("x")
        page["judged"]["pieces"] = [{"kind": "answer", "file": "a.pdf", "page": 1}]
        del ungraded["judged"]
        ungraded |= {"status": "ungraded", "checks": [{**ungraded["checks"][0], "status": "ungraded"}]}
        keep(book, result(student, page, ungraded))
    desk = Desk(book, "Kim")
    assert grouped(desk, "1.b") == {"ann": "alone", "bob cat": "same text"}
    assert grouped(desk, "2") == dict.fromkeys(("ann", "bob", "cat"), "alone")


def test_open_groups_come_first_and_the_largest_of_them(desk: Desk) -> None:
    sizes = [(len(group.open), len(group.members)) for group in desk.groups("1.b")]
    assert sizes == [(2, 2), (1, 1), (0, 2), (0, 1)]


def _of(desk: Desk, student: str) -> Group:
    return desk.group_of(Ref(student, "1.a"))


def test_one_is_taken_out_and_groups_are_joined_while_the_answers_are_the_same(desk: Desk) -> None:
    bob = Ref("bob", "1.a")
    desk.take_out(bob)
    assert _of(desk, "bob").members == (bob,)
    assert len(_of(desk, "ann").members) == 2
    desk.join("1.a", [_of(desk, "bob").id, _of(desk, "dan").id])
    joined = _of(desk, "bob")
    assert ([ref.student for ref in joined.members], joined.why) == (["bob", "dan"], "joined by hand")
    keep(desk._book, result("bob", prose("another answer"), formula("x", ""), code("b")))
    assert _of(desk, "bob").members[0].student == "ann"
    desk.undo()
    desk.undo()
    assert len(_of(desk, "dan").members) == 1
    with pytest.raises(UsageError, match="takes two groups"):
        desk.join("1.a", [_of(desk, "dan").id] * 2)
    with pytest.raises(UsageError, match="no group 'gone'"):
        desk.join("1.a", ["gone", _of(desk, "dan").id])


def test_a_group_is_decided_at_once_each_member_by_itself_and_undone_as_a_whole(desk: Desk) -> None:
    refs = _of(desk, "ann").open
    act = desk.decide(refs, points=3, comment="good", versions={ref: desk.view(ref).version for ref in refs})  # type: ignore[arg-type]
    assert [one.student for one in act.decisions] == ["ann", "bob", "cat"]
    assert _of(desk, "ann").open == ()
    assert [len(desk.view(ref).history) for ref in refs] == [1, 1, 1]
    assert desk.undo() is not None
    assert len(_of(desk, "ann").open) == 3
    assert decide(desk, refs[0], 1).decisions[0].points == 1
