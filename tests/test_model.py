"""What the nouns say of themselves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from grader.model import Answer, Limits, Outcome, Piece, Status, failed, passed, scored
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from tests.conftest import REPOSITORY, MakeSubmission


@pytest.mark.parametrize(
    ("score", "status"), [(1, Status.PASSED), (Fraction(1, 2), Status.PARTIAL), (0, Status.FAILED)]
)
def test_a_share_of_the_points_says_its_own_status(score: Fraction, status: Status) -> None:
    assert scored(Fraction(score), "so much").status is status


@pytest.mark.parametrize(("status", "score"), [(Status.PASSED, 0), (Status.PARTIAL, 1), (Status.FAILED, 1)])
def test_a_status_that_does_not_go_with_its_score_is_refused(status: Status, score: int) -> None:
    for same in (Fraction(score), passed("").score if score else failed("").score):
        with pytest.raises(ValueError, match="score"):
            Outcome(status, same, "it says")
    assert Outcome(Status.PASSED, Fraction(1), "it says") == passed("it says")


def test_the_prose_of_an_answer_is_its_words_without_formulas() -> None:
    pieces = (Piece("prose", "so", 1), Piece("math", "q = k", 1), Piece("prose", "holds", 2))
    assert Answer("1.a", "answers.md", 1, pieces).prose == "so\nholds"


def test_a_rubric_knows_what_each_file_of_code_is_asked_to_define() -> None:
    asked = load_rubric(REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml").definitions
    assert "attention" in asked["attention.py"]
    assert all(file.endswith(".py") and names for file, names in asked.items())


def test_what_a_rubric_asks_for_is_found_once_and_anew_for_another() -> None:
    whole = load_rubric(REPOSITORY / "rubrics" / "nlp-a5" / "rubric.yaml")
    assert whole.files_asked is whole.files_asked
    assert whole.definitions is whole.definitions
    some = replace(whole, problems=whole.problems[-1:])
    assert set(some.files_asked) < set(whole.files_asked)
    assert set(some.definitions) < set(whole.definitions)
    assert replace(some, problems=whole.problems).files_asked == whole.files_asked


def test_limits_that_nobody_sets_stay_as_they_are() -> None:
    """Rubrics rely on them: with others, work that was graded before would be graded differently."""
    assert Limits() == Limits(10, 40, memory_mb=2048, scratch_mb=128, patience_seconds=120, hurried_wall_seconds=5)


def test_whoever_sets_no_limits_has_some_room_on_the_disk_and_no_more(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    code = """
        def f():
            with open("big", "wb", buffering=0) as file:
                for written in range(1000):
                    try:
                        file.write(bytes(2**20))
                    except OSError:
                        return written
    """
    with boxes.open(submission(code), Limits(), seed=0) as student:
        assert 100 <= student.call("work.py", "f") <= 129


def test_pieces_of_a_line_stand_on_it_and_others_below() -> None:
    pieces = (Piece("prose", "so", 3), Piece("math", "a\nb", 3), Piece("prose", "holds", 4), Piece("prose", "now", 6))
    answer = Answer("1.a", "answers.md", 3, pieces)
    assert answer.text == "so a\nb holds\nnow"
    assert answer.prose == "so\nholds\nnow"
