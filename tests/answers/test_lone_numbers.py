"""Numbers alone on a line, labels that lists print with a prefix, and `\\ans{1.1 (a)}` as a heading."""

from __future__ import annotations

import pytest

from grader.answers.latex_sheet import latex_lines
from grader.answers.markdown_sheet import markdown_lines
from grader.answers.outline import Outline
from grader.answers.splitting import split
from grader.model import Answers

NLP = Outline(["1.a.i", "1.a.ii", "2.g.ii", "3.a", "3.b"])
DL = Outline(["1.1.a", "1.1.b", "1.2.a", "1.2.b"])


def _texts(found: Answers) -> dict[str, str]:
    return {part: " ".join(piece.text for piece in answer.pieces).strip() for part, answer in found.parts.items()}


@pytest.mark.parametrize("number", ["3", " 3 ", "3\n"])
def test_a_lone_number_is_a_question_where_its_parts_begin(number: str) -> None:
    sheet = f"1a\ni. positive\nii. a gap of scores\n2g\nii. O(L n^2)\n{number}\na. facts\nb. trust\n"
    found = _texts(split(markdown_lines(sheet, pasted=True), "answers.txt", NLP))
    assert found == {
        "1.a.i": "positive",
        "1.a.ii": "a gap of scores",
        "2.g.ii": "O(L n^2)",
        "3.a": "facts",
        "3.b": "trust",
    }


@pytest.mark.parametrize("number", ["3", "42", "0.5"])
def test_a_lone_number_within_an_answer_stays_there(number: str) -> None:
    sheet = f"1a\ni. positive, and the sum is\n{number}\nthat is all\nii. a gap of scores\n"
    found = _texts(split(markdown_lines(sheet, pasted=True), "answers.txt", NLP))
    assert number in found["1.a.i"]
    assert found["1.a.ii"] == "a gap of scores"


@pytest.mark.parametrize(
    "definition",
    [
        r"\newcommand{\ans}[1]{\subsubsection*{#1}}",
        r"\newcommand{\ans}[1]{\medskip\noindent\textbf{#1}\quad}",
        r"\newcommand{\sol}[1]{\paragraph{#1}}",
        r"\newcommand{\answer}[1]{\par\noindent\underline{#1}\ }",
        r"\newcommand{\solution}[1]{\bigskip{\large\bfseries #1}\par}",
    ],
)
def test_a_command_called_answer_that_takes_labels_is_a_heading(definition: str) -> None:
    name = definition.split("{\\")[1].split("}")[0]
    body = "\n".join(
        f"\\{name}{{{label}}} {text}"
        for label, text in [
            ("1.1 (a)", "the formula"),
            ("1.1 (b)", "the scale"),
            ("1.2 (a)", "the heads"),
            ("1.2 (b)", "the kernels"),
        ]
    )
    found = _texts(split(latex_lines(f"{definition}\n\\begin{{document}}\n{body}\n\\end{{document}}"), "m.tex", DL))
    assert found == {"1.1.a": "the formula", "1.1.b": "the scale", "1.2.a": "the heads", "1.2.b": "the kernels"}


def test_a_command_called_answer_that_takes_answers_is_none() -> None:
    sheet = (
        "\\newcommand{\\ans}[1]{\\textcolor{blue}{#1}}\n\\begin{document}\n"
        "\\section*{1.1 (a)} Give the formula.\n\\ans{the formula}\n"
        "\\section*{1.1 (b)} What is the scale?\n\\ans{the scale}\n\\end{document}"
    )
    found = _texts(split(latex_lines(sheet), "m.tex", DL))
    assert found == {"1.1.a": "the formula", "1.1.b": "the scale"}


@pytest.mark.parametrize("label", [r"\textbf{1.1.\alph*}", r"1.1.\alph*)", r"(1.1\alph*)", r"\bfseries 1.1 \alph*."])
def test_a_list_prints_its_question_before_the_letter(label: str) -> None:
    items = "\\item one\n\\item two\n"
    listed = f"\\begin{{enumerate}}[label={label},leftmargin=*]\n{items}\\end{{enumerate}}"
    sheet = f"\\begin{{document}}\n{listed}\n\\end{{document}}"
    found = _texts(split(latex_lines(sheet), "m.tex", DL))
    assert found == {"1.1.a": "one", "1.1.b": "two"}
