"""Inputs follow from the seed, the secret and the place, and are the same on every machine and in every version."""

from __future__ import annotations

from grader.grading.randomness import NO_SECRET, Draw, draw_at_home, draw_for_grading
from grader.grading.secret import Secret

SECRET = Secret("the first course's secret")
PLACE = "rubric/1.a/check"


def test_every_part_of_a_draw_changes_the_questions() -> None:
    draws = [Draw(0, None), Draw(1, None), Draw(0, SECRET), Draw(1, SECRET), Draw(0, None, at_home=True)]
    numbers = [draw.questions(place) for draw in draws for place in (PLACE, "rubric/1.a/other")]
    numbers += [draw.student("rubric") for draw in draws[:2]]
    assert len(set(numbers)) == len(numbers)
    assert all(0 <= number < 2**63 for number in numbers)


def test_the_same_draw_asks_the_same_in_every_version() -> None:
    """A report that says seed 0 can be replayed with the next version, too."""
    assert Draw(0, None).questions("r/1/c") == 5107490589071138803
    assert draw_at_home().questions("r/1/c") == 2982189337165862903
    assert Draw(0, SECRET).questions("r/1/c") == 6295467190169123794
    assert Draw(0, None).student("r") == 3358105956294942185
    assert SECRET.fingerprint == "320fd910e538"


def test_a_draw_asks_the_same_again_and_no_other_does() -> None:
    draws = [Draw(0, None), Draw(1, None), Draw(0, SECRET), Draw(0, Secret("another course's secret")), draw_at_home()]
    asked = [[one.questions(PLACE) for one in draws] for _ in range(2)]
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == len(draws)


def test_what_students_have_of_their_own_follows_from_secret_and_rubric() -> None:
    assert Draw(0, SECRET).per_student("r") == Draw(5, SECRET).per_student("r") == "577eae3fc409d0e0"
    assert Draw(0, SECRET).per_student("s") != Draw(0, SECRET).per_student("r")
    assert Draw(0, None).per_student("r") == ""


def test_students_code_learns_nothing_of_the_secret_from_its_own_random_numbers() -> None:
    assert len({draw.student("rubric") for draw in (Draw(0, None), Draw(0, SECRET), draw_at_home(0))}) == 1


def test_a_draw_says_what_readers_should_know_of_it() -> None:
    assert [draw.notes for draw in (Draw(0, None), Draw(0, SECRET), draw_at_home())] == [(NO_SECRET,), (), ()]
    assert [draw.fingerprint for draw in (Draw(0, None), Draw(0, SECRET))] == ["", SECRET.fingerprint]
    assert (draw_for_grading(4), draw_at_home(4).seed) == (Draw(4, None), 4)
