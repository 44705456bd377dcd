"""What stands in a sheet is never missing without a note: where a label was not understood, a person looks."""

from __future__ import annotations

import pytest

from grader.answers import cut_into_parts, read_answers
from grader.errors import ForAPerson, Missing
from tests.answers.sheets import DL, NLP
from tests.conftest import MakeSubmission, raises

MANY = "the score of one key is larger than that of all others, so its weight is close to one and the rest vanish " * 9


@pytest.mark.parametrize(
    ("sheet", "held"),
    [
        ("1.a.i one\n1/b ~ii~ an average\n", {"1.b.ii"}),
        ("1.a.i one\n\n<1.c.i> the means\n\n<3.b> trust\n", {"1.c.i", "3.b"}),
        ("## 3.a\n\nfacts\n\n~ 3b ~ trust\n", {"3.b"}),
        (f"## 1.d.i\n\ntwo queries\n\n## 1.a.i\n\n{MANY}\n\n## 1.b.i\n\nM\n\n## 3.a\n\nfacts\n",
         {"1.a.ii", "1.a.iii", "1.a.iv"}),
        (f"## 1.a.i\n\n{MANY}\n", set(NLP) - {"1.a.i"}),
        ("## 1.a.i\n\n1. one\n2. two\n\n## 3.a\n\nin 1 b of 3 runs\n", set()),
        ("## 3.a\n\nfacts, as 1.5 times more\n\n## 3.b\n\ntrust\n", set()),
    ],
)  # fmt: skip
def test_a_part_that_may_stand_within_another_is_for_a_person(sheet: str, held: set[str]) -> None:
    found = cut_into_parts(sheet, "answers.md", NLP)
    assert set(found.unplaced) == held - set(found.parts)
    assert not held or any("may hold" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("theory.tex", "\\section*{1.1 Attention}\n\\myown{one} $H = VA$\n\\section*{1.4}\nno recurrence at all"),
        ("main.tex", "\\section{Attention}\n\\begin{thing}\nAll of the weights add up to exactly one.\n\\end{thing}"),
        ("my solutions.txt", "first: the weights add up to one\nsecond: one score leads\n"),
        ("writeup.md", "# 1.1\n\nall of them in one paragraph, with $H = VA$ in it\n"),
        ("hw3_report.md", "# Attention\n\nall of them in one paragraph, with $H = VA$ in it\n"),
    ],
)  # fmt: skip
def test_a_sheet_whose_parts_are_not_found_is_for_a_person(submission: MakeSubmission, name: str, text: str) -> None:
    with raises(ForAPerson, "unplaced_answer"):
        read_answers(submission(**{name: text}), DL)


def test_a_file_that_may_be_no_sheet_is_named(submission: MakeSubmission) -> None:
    with pytest.raises(Missing, match=r"no answers were handed in; .*; thoughts\.md names no part"):
        read_answers(submission(**{"thoughts.md": "All weights add up to one.\n"}), NLP)
