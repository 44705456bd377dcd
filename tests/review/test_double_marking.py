"""A share of the answers is marked by two people who do not see each other's marks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.review.desk import Desk
from grader.review.double_marking import cohens_kappa
from grader.review.refs import Ref, is_drawn_twice
from tests.review.made_classes import decide, essays, grade, keep, prose, result

HALF = Fraction(1, 2)
REFS = [Ref(f"s{number}", "1.a") for number in range(20)]
TWICE = [ref for ref in REFS if is_drawn_twice(ref, HALF)]


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return essays(tmp_path, len(REFS))


@pytest.fixture
def desks(book: Gradebook) -> tuple[Desk, Desk, Desk]:
    kim, lee, max_ = (Desk(book, name, double=HALF) for name in ("Kim", "Lee", "Max"))
    return kim, lee, max_


def test_about_the_share_is_drawn() -> None:
    many = [Ref(f"s{number}", part) for number in range(500) for part in ("1.a", "1.b")]
    assert 400 < sum(is_drawn_twice(ref, HALF) for ref in many) < 600
    assert not any(is_drawn_twice(ref, Fraction(0)) for ref in many)
    assert all(is_drawn_twice(ref, Fraction(1)) for ref in many)


def test_the_second_person_sees_nothing_of_the_first_and_changes_nothing(
    desks: tuple[Desk, ...], book: Gradebook
) -> None:
    kim, lee, max_ = desks
    ref, once = TWICE[0], next(one for one in REFS if one not in TWICE)
    decide(kim, ref, 1, comment="too short")
    decide(kim, once, 1)
    assert lee.view(once).decision is not None
    view = lee.view(ref)
    assert (view.decision, view.history, view.is_open, view.comment) == (None, (), True, "")
    assert not kim.view(ref).is_open
    graded = grade(book, ref.student)
    assert (graded["points"], graded["provisional"]) == (1, True)
    assert graded["problems"][0]["decision"]["awaits"] == "a second person"
    assert lee.parts()[0].open == kim.parts()[0].open + 1
    decide(lee, ref, 3)
    assert (grade(book, ref.student)["points"], max_.view(ref).is_open) == (1, False)
    assert grade(book, ref.student)["problems"][0]["decision"]["awaits"] == "a last word"
    assert lee.view(ref).decision.points == 3  # type: ignore[union-attr]
    decide(lee, ref, 2)  # their own second thoughts
    assert lee.agreement()[0].differences[0].second.points == 2


def test_agreement_is_counted_and_differences_are_settled(desks: tuple[Desk, ...], book: Gradebook) -> None:
    kim, lee, max_ = desks
    for place, ref in enumerate(TWICE[:4]):
        decide(kim, ref, place % 2)
        decide(lee, ref, place % 2 if place else 3)
    (found,) = max_.agreement()
    assert (found.part, found.both, found.same) == ("1.a", 4, 3)
    assert found.kappa == pytest.approx((3 / 4 - 3 / 8) / (1 - 3 / 8))
    (difference,) = found.differences
    assert (difference.ref, difference.first.by, difference.second.by) == (TWICE[0], "Kim", "Lee")
    max_.settle(TWICE[0], points=Fraction(2), comment="between the two")
    (found,) = max_.agreement()
    assert (found.both, found.same, found.differences) == (4, 3, ())  # how often they agreed stays as it was
    assert (grade(book, TWICE[0].student)["points"], grade(book, TWICE[0].student)["provisional"]) == (2, False)
    with pytest.raises(UsageError, match="do not differ"):
        max_.settle(TWICE[0], points=Fraction(2))
    max_.undo()
    assert len(max_.agreement()[0].differences) == 1


def test_undoing_the_first_mark_opens_the_answer_for_everybody(desks: tuple[Desk, ...]) -> None:
    kim, lee, max_ = desks
    ref = TWICE[0]
    decide(kim, ref, 1)
    decide(lee, ref, 2)
    kim.undo()
    assert kim.view(ref).is_open
    assert max_.agreement() == []
    decide(lee, ref, 2)  # now as the first: nobody is their own second
    assert kim.view(ref).is_open
    for desk in desks:
        assert desk.parts()[0].open == sum(desk.view(one).is_open for one in REFS)
    lee.undo()
    decide(max_, ref, 2)
    assert (max_.agreement()[0].same, max_.view(ref).decision.by) == (1, "Max")  # type: ignore[union-attr]


def test_an_item_changes_both_marks(desks: tuple[Desk, ...]) -> None:
    kim, lee, _ = desks
    ref, item = TWICE[0], kim.items("1.a")[0].id
    decide(kim, ref, items=[item])
    decide(lee, ref, items=[item])
    act = kim.edit_item(item, points=Fraction(1))
    assert [(one.by, one.points) for one in act.decisions] == [("Kim", 1), ("Lee", 1)]
    assert kim.agreement()[0].same == 1


def test_a_new_answer_begins_anew(desks: tuple[Desk, ...], book: Gradebook) -> None:
    kim, lee, _ = desks
    ref = TWICE[0]
    decide(kim, ref, 1)
    decide(lee, ref, 2)
    keep(book, result(ref.student, prose("something else, positive")))
    assert lee.view(ref).is_open
    assert lee.view(ref).earlier is not None
    assert lee.agreement() == []


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([(1, 1), (2, 2)], 1.0),
        ([(1, 2), (2, 1)], -1.0),
        ([(1, 1), (1, 2), (2, 1), (2, 2)], 0.0),
        ([(1, 1), (1, 1)], None),
        ([], None),
    ],
)
def test_kappa_is_agreement_beyond_chance(pairs: list[tuple[int, int]], kappa: float | None) -> None:
    assert cohens_kappa(pairs) == kappa
