"""Of all files of a submission the sheet is what answers parts, whatever it is called; and the report says which."""

from __future__ import annotations

import pytest

from grader.answers import about, answer_to, read_answers
from grader.errors import Ambiguous, ForAPerson, Missing, StudentFault
from grader.model import Problem, Status
from tests.answers.sheets import NLP
from tests.answers.styles import NLP_ANSWERS, exam_macro, nested_enumerate
from tests.conftest import MakeSubmission, raises

TWO = "## 3.a\n\nfacts\n\n## 3.b\n\ntrust\n"
THREE = f"{TWO}\n## 3.c\n\nbias\n"
MAIN = r"""\documentclass{exam}
\input{macros}
\begin{document}
\begin{questions}
\input{q/one}
\include{q/three.tex}
\end{questions}
\end{document}
"""
ONE = r"""\question Attention
\begin{parts}\part Copying
\begin{subparts}
\subpart Why?
\begin{solution}one\end{solution}
\end{subparts}\end{parts}
"""
OTHER = r"""\setcounter{question}{2}
\question Outlook
\begin{parts}
\part Why? \begin{solution}\fact\end{solution}
\end{parts}
"""
SEVERAL = {
    "tex/main.tex": MAIN,
    "tex/macros.tex": "\\newcommand{\\fact}{facts}\n",
    "tex/q/one.tex": ONE,
    "tex/q/three.tex": OTHER,
}
README = """# Homework

## 1. Setup

Run pip.

## 2. Training

1. python run.py
2. wait

## 3. Results

(a) 23 percent
"""
HANDOUT = """## 3.a

Explain in one sentence why you think it helps.

## 3.b

Give two reasons, and justify them briefly.
"""


@pytest.mark.parametrize(
    ("files", "read", "parts"),
    [
        ({"main.tex": exam_macro(NLP_ANSWERS)}, ["main.tex"], list(NLP_ANSWERS)),
        (
            {"hw/writeup.tex": nested_enumerate(NLP_ANSWERS), "hw/README.md": README},
            ["hw/writeup.tex"],
            list(NLP_ANSWERS),
        ),
        (SEVERAL, ["tex/main.tex"], ["1.a.i", "3.a"]),
        ({"README.md": THREE}, ["README.md"], ["3.a", "3.b", "3.c"]),
        ({"notes.md": THREE, "draft.md": TWO.replace("facts", "other")}, ["notes.md"], ["3.a", "3.b", "3.c"]),
        ({"notes.md": THREE, "copy/notes.md": THREE}, ["notes.md"], ["3.a", "3.b", "3.c"]),
        ({"notes.md": THREE, "old/notes.md": THREE.replace("bias", "x")}, ["notes.md"], ["3.a", "3.b", "3.c"]),
        (
            {"q1.tex": "\\section*{1.a.i}\none", "q3.tex": "\\section*{3.a}\nfacts"},
            ["q1.tex", "q3.tex"],
            ["1.a.i", "3.a"],
        ),
        ({"answers.md": "# Name\n\n## 3.a\n\n## 3.b\n", "main.md": THREE}, ["main.md"], ["3.a", "3.b", "3.c"]),
        ({"answers.md": TWO, "other.md": TWO.replace("facts", "more")}, ["answers.md"], ["3.a", "3.b"]),
        ({"answers.tex": "no part at all", "answers.md": TWO}, ["answers.md"], ["3.a", "3.b"]),
    ],
)
def test_what_answers_parts_is_the_sheet(
    submission: MakeSubmission, files: dict[str, str], read: list[str], parts: list[str]
) -> None:
    found = read_answers(submission(**files), NLP, ["2.d"])
    assert (list(found.files), list(found.parts)) == (read, parts)
    assert about(found, NLP)[0].startswith(f"written answers were read from {' and '.join(read)}: {parts[0]}")


def test_a_part_is_said_to_stand_in_the_file_that_was_taken_in(submission: MakeSubmission) -> None:
    found = read_answers(submission(**SEVERAL), NLP)
    assert [(one.file, one.line, one.prose) for one in found.parts.values()] == [
        ("tex/q/one.tex", 4, "one"),
        ("tex/q/three.tex", 4, "facts"),
    ]


def test_a_sheet_of_which_every_file_is_missing_says_so(submission: MakeSubmission) -> None:
    alone = {"main.tex": "\\documentclass{article}\n\\begin{document}\n\\input{q/one}\n\\end{document}\n"}
    with pytest.raises(Missing, match=r"main.tex:3: 'q/one', which it takes in, was not handed in"):
        read_answers(submission(**alone), NLP)


def test_a_file_that_is_taken_in_but_not_handed_in_is_said(submission: MakeSubmission) -> None:
    files = {path: text for path, text in SEVERAL.items() if path != "tex/q/three.tex"}
    assert (
        "tex/main.tex:6: 'q/three.tex', which it takes in, was not handed in"
        in read_answers(submission(**files), NLP).notes
    )


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": README},
        {"run.py": "", "notes.txt": "remember to train\n"},
        {"handout.tex": exam_macro(dict.fromkeys(NLP_ANSWERS, " "))},
        {"handout.md": HANDOUT},
    ],
)
def test_what_answers_nothing_is_no_sheet(submission: MakeSubmission, files: dict[str, str]) -> None:
    with pytest.raises((Missing, ForAPerson)):
        read_answers(submission(**files), NLP, ["2.d", "2.e", "2.f", "2.g.i"])


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"written.docx": "PK"}, "sheet_unreadable"),
        ({"main.tex": "\\section*{Thoughts}\nAll weights add up to one."}, "unplaced_answer"),
        ({"one.md": TWO, "two.md": TWO.replace("facts", "more")}, "several_sheets"),
    ],
)
def test_what_is_there_and_cannot_be_told_is_for_a_person(
    submission: MakeSubmission, files: dict[str, str], code: str
) -> None:
    with pytest.raises(StudentFault) as fault:
        read_answers(submission(**files), NLP)
    assert (fault.value.status, fault.value.code) == (Status.REVIEW, code)
    assert all(name in fault.value.message for name in files)


def _problem(part: str, *, optional: bool = False) -> Problem:
    return Problem(part, part, 1, (), optional=optional)  # type: ignore[arg-type]


def test_text_that_has_no_place_is_for_a_person_and_never_missing(submission: MakeSubmission) -> None:
    lost = "Some more thoughts\n\n" + "the weights add up to one and all of them are positive, as said before, so " * 3
    sheet = read_answers(submission(**{"answers.md": f"## 1.a.i\n\none\n\n# {lost}\n\n## 1.b.i\n\nM\n"}), NLP)
    for part in ("1.a.ii", "1.a.iii", "1.a.iv"):
        with raises(ForAPerson, "unplaced_answer"):
            answer_to(_problem(part), sheet)
    for other in (_problem("1.b.ii"), _problem("1.a.ii", optional=True)):
        with raises(Missing, "no_answer_given"):
            answer_to(other, sheet)


def test_one_cause_is_told_once(submission: MakeSubmission) -> None:
    fault = Ambiguous("there are several answer sheets: a.md and b.md; keep one", code="several_sheets")
    assert about(fault, NLP) == (fault.message,)
    with raises(ForAPerson, "several_sheets"):
        answer_to(_problem("1.a.i"), fault)
    with raises(Missing, "no_answer_given"):
        answer_to(_problem("1.e.i", optional=True), fault)


def test_parts_that_follow_each_other_are_told_as_a_range(submission: MakeSubmission) -> None:
    sheet = read_answers(submission(**{"answers.tex": nested_enumerate(NLP_ANSWERS)}), NLP)
    assert about(sheet, NLP) == ("written answers were read from answers.tex: 1.a.i–1.d.ii, 2.d, 2.g.ii–3.c",)
