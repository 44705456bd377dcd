"""The course's own solutions are nobody's answers, whatever file they lie in; a student's filled-in template is."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.answers import read_answers
from grader.answers.answer_keys import is_answer_key
from grader.errors import ForAPerson
from grader.submission.opening import open_submission
from tests.answers.sheets import NLP
from tests.conftest import MakeSubmission, raises
from tests.hostile_pdfs import pages, text_page

OWN = "## 1.b.i\nM = AA^T\n\n## 1.b.ii\nq = t(k_a + k_b), t large\n\n## 3.a\nPretraining read the facts.\n"
KEY = OWN + "Full credit for any reasonable answer. Students often forget the scale; deduct 1 point then.\n"
FILLED = (
    "1",
    *(f"({letter}) (2 points) Explain to your reader what you find." for letter in "abcdefghij"),
    "(b)",
    "(i) M = A",
)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Sample solutions. Do not distribute.", True),
        ("Answer key. Partial credit: give half a point for the sum alone.", True),
        ("Grading notes: we accept any valid explanation. Common mistakes: no scale.", True),
        ("My solutions to homework 3. I think I deserve full credit for this one.", False),
        ("Students may copy a wrong place, and a common mistake is to trust it.", False),
        ("We accept the risk that a sample is drawn from the model; any reasonable value of β works.", False),
        ("", False),
    ],
)
def test_staff_write_about_points_and_students(text: str, key: bool) -> None:
    assert is_answer_key(text) is key


def test_a_key_is_no_sheet_and_is_said_to_be_none(submission: MakeSubmission) -> None:
    with raises(ForAPerson, "answer_key"):
        read_answers(submission(**{"solutions.md": KEY}), NLP)


def test_the_students_own_sheet_counts_beside_a_key(submission: MakeSubmission) -> None:
    read = read_answers(submission(**{"solutions.md": KEY, "work.md": "## 1.b.i\nM = A\n## 1.b.ii\nq = k_a\n"}), NLP)
    assert read.files == ("work.md",)


@pytest.mark.parametrize(
    ("files", "read_from", "parts"),
    [
        pytest.param(
            {"a5_solutions.pdf": FILLED, "me.pdf": ("1.b.i M = B", "1.b.ii q = k")}, "me.pdf", 2, marks=pytest.mark.slow
        ),
        ({"answers.pdf": FILLED, "paper.pdf": ("3 Why", "nothing here")}, "answers.pdf", 1),
        ({"answers.pdf": ("Answer key, do not distribute", "1.b.i M = A", "1.b.ii q = k")}, "answers.pdf", 0),
    ],
    ids=["the course's solutions beside the student's", "a filled-in template", "a key alone"],
)
def test_of_pdfs_the_students_own_counts(
    tmp_path: Path, files: dict[str, tuple[str, ...]], read_from: str, parts: int
) -> None:
    for name, rows in files.items():
        (tmp_path / name).write_bytes(pages([text_page(*rows)]))
    with open_submission(tmp_path) as opened:
        read = read_answers(opened, NLP)
    assert read.pdf == read_from
    assert (len(read.parts) >= parts) if parts else read.parts == {}
    assert bool(read.unread) == (not parts)
