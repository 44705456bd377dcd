"""Items: words and points that many answers have, changed for all of them at once, and shown to students."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from grader.batch.item_log import Item
from grader.batch.rulings import AnswerChanged
from grader.errors import UsageError
from grader.report.exports.reports import decided_by
from grader.report.html import student_page
from grader.review.desk import Desk
from grader.review.refs import Ref
from tests.review.made_classes import decide, formula, grade, keep, prose, result
from tests.schemas import REPORT

ANN, BOB, CAT = (Ref(name, "1.a") for name in ("ann", "bob", "cat"))


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    book = Gradebook(tmp_path, new=True)
    keep(
        book,
        result("ann", prose("positive; sum to one"), formula("β(k_a+k_b)", "β(k_a + k_b)")),
        result("bob", prose("positive", {"positive": "positive"}), formula("k_a", "k_a", "partial")),
        result(
            "cat",
            prose("may be negative; sum to one", {"sums": "sum to one"}, {"negative": "negative"}),
            formula("?", ""),
        ),
    )
    return book


@pytest.fixture
def kim(book: Gradebook) -> Desk:
    return Desk(book, "Kim")


@pytest.fixture
def lee(book: Gradebook) -> Desk:
    return Desk(book, "Lee")


def named(desk: Desk, text: str, part: str = "1.a") -> Item:
    return next(item for item in desk.items(part) if item.text == text)


def points(book: Gradebook, student: str) -> float:
    return next(one for one in grade(book, student)["problems"] if one["id"] == "1.a")["points"]  # type: ignore[no-any-return]


def test_a_part_begins_with_its_ideas_and_with_the_mistakes_that_occur(kim: Desk) -> None:
    told = [(item.text, item.points, item.origin, item.given) for item in kim.items("1.a")]
    assert told == [
        ("which sign", 2, "idea", 2),
        ("what sum", 1, "idea", 2),
        ("a weight below zero", -2, "mistake", 1),
    ]
    told = [(item.text, item.points, item.origin, item.given) for item in kim.items("1.b")]
    assert told == [("It weights tend to.", 4, "idea", 2), ("the scale is too small", 2, "mistake", 1)]
    assert "positive" not in "".join(item.id for item in kim.items("1.a"))  # an id gives nothing away


def test_what_the_grader_found_is_accepted_with_its_items(kim: Desk, book: Gradebook) -> None:
    for ref, earned in ((ANN, 3), (BOB, 2), (CAT, 1)):
        view = kim.view(ref)
        (made,) = kim.accept([ref], {ref: view.version}, comment="well said").decisions
        assert (made.points, made.items, made.comment) == (earned, view.suggested, "well said")
        assert made.points == view.found_points
    assert points(book, "cat") == 1


def test_points_are_those_of_the_items_and_stay_within_the_part(kim: Desk) -> None:
    ids = {item.text: item.id for item in kim.items("1.a")}
    for chosen, adjust, earned in (
        (["which sign", "what sum"], 0, 3),
        (["which sign"], Fraction(1, 3), Fraction(7, 3)),
        (["which sign", "what sum"], 5, 3),
        (["what sum", "a weight below zero"], 0, 0),
        ([], 0, 0),
    ):
        made = decide(kim, ANN, items=[ids[text] for text in chosen], adjust=Fraction(adjust))
        assert made.decisions[0].points == earned
    with pytest.raises(UsageError, match="no item 'i0'"):
        decide(kim, ANN, items=["i0"])
    with pytest.raises(UsageError, match="belongs to"):
        decide(kim, ANN, items=[kim.items("1.b")[0].id])


def test_a_changed_item_changes_everybody_who_has_it_and_nobody_else(kim: Desk, lee: Desk, book: Gradebook) -> None:
    sign = named(kim, "which sign").id
    decide(kim, ANN, items=[sign])
    decide(lee, BOB, items=[sign], adjust=Fraction(1, 2))
    decide(lee, CAT, 1, items=[sign])  # points by hand follow no item
    act = lee.edit_item(sign, text="that weights are positive", points=Fraction(1))
    assert [(one.student, one.points) for one in act.decisions] == [("ann", 1), ("bob", Fraction(3, 2)), ("cat", 1)]
    ann = grade(book, "ann")["problems"][0]["decision"]
    assert (ann["by"], ann["kind"]) == ("Kim", "review")  # who decided, not who changed the words
    assert ann["items"] == [{"text": "that weights are positive", "points": 1}]
    assert kim.view(ANN).history[-1].changed_by == "Lee"
    lee.undo()
    assert [points(book, name) for name in ("ann", "bob", "cat")] == [2, 2.5, 1]
    assert named(kim, "which sign").points == 2


def test_undoing_a_decision_takes_back_what_an_item_made_of_it(kim: Desk, lee: Desk, book: Gradebook) -> None:
    sign = named(kim, "which sign").id
    decide(kim, ANN, items=[sign])
    lee.edit_item(sign, points=Fraction(1))
    undone = kim.undo()
    assert undone is not None
    assert kim.view(ANN).decision is None
    assert kim.view(ANN).is_open


def test_undoing_a_change_reaches_what_was_decided_with_it_meanwhile(kim: Desk, lee: Desk, book: Gradebook) -> None:
    sign = named(kim, "which sign").id
    lee.edit_item(sign, points=Fraction(1))
    decide(kim, ANN, items=[sign])
    assert points(book, "ann") == 1
    lee.undo()
    assert (points(book, "ann"), kim.view(ANN).decision.by) == (2, "Kim")  # type: ignore[union-attr]


def test_words_and_points_are_changed_and_undone_each_by_itself(kim: Desk, lee: Desk) -> None:
    sign = named(kim, "which sign").id
    kim.edit_item(sign, text="sign")
    lee.edit_item(sign, points=Fraction(1))
    kim.undo()
    assert (named(kim, "which sign").points, named(kim, "which sign").origin) == (1, "idea")
    with pytest.raises(UsageError, match="like this already"):
        kim.edit_item(sign, points=Fraction(1))


def test_a_person_adds_an_item_and_what_has_it_keeps_its_words_when_it_is_gone(
    kim: Desk, lee: Desk, book: Gradebook
) -> None:
    nice = kim.add_item("1.a", "  a nice\n example ", Fraction(1, 2))
    decide(lee, BOB, items=[nice.id])
    assert (nice.text, nice.origin) == ("a nice example", "person")
    kim.undo()
    assert nice.id not in [item.id for item in kim.items("1.a")]
    assert grade(book, "bob")["problems"][0]["decision"]["items"] == [{"text": "a nice example", "points": 0.5}]
    for part, text, many in (("1.z", "x", 1), ("1.a", " ", 1), ("1.a", "x", 10**9)):
        with pytest.raises(UsageError):
            kim.add_item(part, text, Fraction(many))


def test_a_change_reaches_an_answer_that_is_handed_in_again(kim: Desk, book: Gradebook) -> None:
    sign = named(kim, "which sign").id
    decide(kim, ANN, items=[sign])
    keep(book, result("ann", prose("something else"), formula("x", "")))
    kim.edit_item(sign, points=Fraction(1))
    assert kim.view(ANN).decision is None
    keep(book, result("ann", prose("positive; sum to one"), formula("x", "")))
    assert (points(book, "ann"), kim.view(ANN).decision.items) == (1, (sign,))  # type: ignore[union-attr]


def test_an_item_is_changed_although_the_part_is_worth_less_by_now(kim: Desk, book: Gradebook) -> None:
    sign = named(kim, "which sign").id
    decide(kim, ANN, 3, items=[sign])
    decide(kim, BOB, items=[sign])
    for name in ("ann", "bob"):
        again = prose("positive; sum to one" if name == "ann" else "positive")
        again |= {"points": 1, "max_points": 1, "checks": [{**again["checks"][0], "points": 1, "max_points": 1}]}
        keep(book, result(name, again, formula("x", "")))
    kim.edit_item(sign, text="the sign")
    assert kim.view(BOB).decision.points == 1  # type: ignore[union-attr]
    assert kim.view(ANN).decision.points == 3  # type: ignore[union-attr]


def test_an_item_changed_meanwhile_makes_an_open_page_old(kim: Desk, lee: Desk) -> None:
    sign = named(kim, "which sign").id
    decide(kim, ANN, items=[sign])
    old = kim.view(ANN).version
    lee.edit_item(sign, points=Fraction(1))
    with pytest.raises(AnswerChanged, match="look at it again"):
        kim.decide([ANN], points=Fraction(3), versions={ANN: old})


def test_mistakes_of_an_earlier_grading_are_not_offered_and_keep_their_words(kim: Desk, book: Gradebook) -> None:
    small = named(kim, "the scale is too small", "1.b").id
    decide(kim, Ref("bob", "1.b"), items=[small])
    keep(book, result("bob", prose("positive"), formula("β k_a", "β k_a")))
    assert small not in [item.id for item in kim.items("1.b")]
    assert book.items.known([small])[small].text == "the scale is too small"


def test_students_read_items_and_comments_wherever_their_grade_is(kim: Desk, book: Gradebook) -> None:
    hostile = "<script>alert(1)</script> “=cmd|x”"
    item = kim.add_item("1.a", hostile, Fraction(-1))
    decide(kim, ANN, items=[named(kim, "which sign").id, item.id], comment="see the <b>notes</b>")
    graded = grade(book, "ann")
    REPORT.validate(graded)
    assert graded["problems"][0]["decision"]["items"][1] == {"text": hostile, "points": -1}
    page = student_page(graded)
    assert '<span class="quiet">−1</span>' in page  # as review writes it
    assert "which sign" in page
    assert "adjusted" not in page
    assert "see the &lt;b&gt;notes" in page
    assert "<script>alert" not in page
    decide(kim, ANN, 2, items=[item.id])
    graded |= grade(book, "ann")
    REPORT.validate(graded)
    assert (graded["problems"][0]["decision"]["adjusted"], "adjusted by" in student_page(graded)) == (3, True)
    decide(kim, ANN, items=[named(kim, "which sign").id, item.id])
    graded |= grade(book, "ann")
    assert decided_by(graded["problems"][0]).startswith("decided by Kim: which sign; <script>")
