"""What students must not get is known whole: to the last words of a right answer, and no ordinary word is among it."""

from __future__ import annotations

import ast
import re

import pytest

from grader.answers import read_answers
from grader.release.handout import read_handout
from grader.release.sources import is_check
from grader.release.withheld import withheld_from
from grader.submission.opening import open_submission
from tests.conftest import REPOSITORY, the_rubric


def test_a_right_answer_is_withheld_to_its_last_words_and_no_single_word_is() -> None:
    rubric = the_rubric("rubrics/dl-hw3/rubric.yaml")
    found = withheld_from(rubric, {}, read_handout(rubric), None, None)
    with open_submission(REPOSITORY / "submissions" / "ada") as gold:
        answers = read_answers(gold, rubric.parts)
    ends = {}
    for part, answer in answers.parts.items():
        said = re.findall(r"\w+", answer.prose)
        ends[part] = said[-1].lower() if len(said) > 20 else ""
    last = {run[-1] for run in found.runs}
    assert sum(map(bool, ends.values())) > 3
    assert {word for word in ends.values() if word} <= last
    assert all(re.search(r"[\s|_=]", text) for text in found.texts)


@pytest.mark.parametrize(
    ("marks", "is_one"),
    [
        ("@check", True),
        ("@check(public=True)", True),
        ("@registry.check", True),
        ("@registry.check()", True),
        ("@cache", False),
        ("@cache\n@check", True),
        ("@check.like(this)", False),
        ("", False),
    ],
)
def test_a_check_is_known_by_its_mark(marks: str, is_one: bool) -> None:
    (function,) = ast.parse(f"{marks}\ndef f(): pass\n").body
    assert is_check(function) is is_one
    assert not is_check(ast.parse(f"{marks}\nclass C: pass\n").body[0])
