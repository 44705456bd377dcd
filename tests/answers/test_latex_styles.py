"""LaTeX as people hand it in: each answer lands in its part, whoever numbers it, and the question in none."""

from __future__ import annotations

import pytest

from tests.answers.sheets import DL, NLP, notes, texts
from tests.answers.styles import DL_ANSWERS, LATEX_STYLES, NLP_ANSWERS, Style, plain
from tests.conftest import sampled


@pytest.mark.parametrize(("answers", "parts"), [(NLP_ANSWERS, NLP), (DL_ANSWERS, DL)], ids=["nlp", "dl"])
@pytest.mark.parametrize("style", LATEX_STYLES, ids=lambda style: style.__name__)
def test_every_answer_lands_in_its_part(style: Style, answers: dict[str, str], parts: list[str]) -> None:
    found = texts(style(answers), "main.tex", parts)
    assert {part: plain(text) for part, text in found.items()} == {part: plain(text) for part, text in answers.items()}


EXAM = r"""\documentclass{{exam}}
\begin{{document}}
\begin{{questions}}
\titledquestion{{Attention}}[5]
We'll look at attention.
\begin{{parts}}
\part[2] \textbf{{Copying.}} Recall that $c = \sum_i v_i \alpha_i$.
\begin{{subparts}}
\subpart[1] \textbf{{Explain}} why $\alpha$ is a distribution.
{0}
\subpart[1] \textbf{{Describe}} when $\alpha_j \gg \alpha_i$.
{1}
\end{{subparts}}
\end{{parts}}
\end{{questions}}
\end{{document}}
"""


@pytest.mark.parametrize(
    ("first", "second", "want"),
    [
        (r"\begin{solution}one\end{solution}", r"\begin{solution}two\end{solution}", {"1.a.i": "one", "1.a.ii": "two"}),
        (r"\begin{solution}\end{solution}", r"\begin{solution}two\end{solution}", {"1.a.ii": "two"}),
        (r"\begin{solutionorlines}[1in]one\end{solutionorlines}", r"\answer{two}", {"1.a.i": "one", "1.a.ii": "two"}),
        (r"\begin{soln}(i) one (ii) more\end{soln}", r"\sol{two}", {"1.a.i": "(i) one (ii) more", "1.a.ii": "two"}),
        ("\\begin{solution}\none\n\n(ii) more\n\\end{solution}", "\\begin{solution}two\\end{solution}",
         {"1.a.i": "one (ii) more", "1.a.ii": "two"}),
        ("\\begin{solution}\\begin{enumerate}\\item one \\item more\\end{enumerate}\\end{solution}", r"\answer{two}",
         {"1.a.i": "1. one 2. more", "1.a.ii": "two"}),
        ("\\ifanswers one \\else \\vspace{1in} \\fi", "\\ifanswers two \\fi", {"1.a.i": "one", "1.a.ii": "two"}),
        ("\\begin{solution}one", "\\begin{solution}two\\end{solution}", {"1.a.i": "one", "1.a.ii": "two"}),
        ("\\answer{one", "\\answer{two}", {"1.a.i": "one", "1.a.ii": "two"}),
        ("\n\nThey sum to one.\n", r"\begin{solution}two\end{solution}", {"1.a.ii": "two"}),
    ],
)  # fmt: skip
def test_in_the_exam_class_what_is_marked_as_an_answer_is_one(first: str, second: str, want: dict[str, str]) -> None:
    found = texts(EXAM.format(first, second), "main.tex")
    if "They sum" in first:  # beside the question, in no environment of its own
        assert "They sum to one." in found.pop("1.a.i")
    assert found == want


@pytest.mark.parametrize(
    ("sheet", "want"),
    [
        (r"\section*{3.b}\begin{enumerate}\item trust \item law\end{enumerate}", {"3.b": "1. trust 2. law"}),
        (r"\begin{enumerate}[start=3]\item \begin{enumerate}\item facts \item two:"
         r"\begin{enumerate}[label=(\alph*)]\item trust \item law\end{enumerate}\item bias"
         r"\end{enumerate}\end{enumerate}",
         {"3.a": "facts", "3.b": "two: (a) trust (b) law", "3.c": "bias"}),
        (r"\section*{3}\begin{enumerate}[label=(\alph*),start=2]\item law\begin{enumerate}[label=(\alph*)]\item x "
         r"\item y\end{enumerate}\item bias\end{enumerate}", {"3.b": "law (a) x (b) y", "3.c": "bias"}),
        (r"\section*{1.a}\begin{enumerate}[label=\roman*)]\item one\end{enumerate}text"
         r"\begin{enumerate}[label=\roman*),resume]\item two\end{enumerate}", {"1.a.i": "one text", "1.a.ii": "two"}),
        (r"\section*{1.a}\begin{enumerate}\setcounter{enumi}{1}\item two\addtocounter{enumi}{1}\item four"
         r"\end{enumerate}",
         {"1.a.ii": "two", "1.a.iv": "four"}),
        (r"\section{}\subsection{}\subsubsection{}one\subsubsection{}two", {"1.a.i": "one", "1.a.ii": "two"}),
        (r"\section*{Question 2}\begin{enumerate}[label=(\alph*)]\item none\item none\item none\item five"
         r"\end{enumerate}",
         {"2.d": "five"}),
        (r"\begin{problem}{1.a.i}Explain why.\end{problem}\begin{solution}one\end{solution}"
         r"\begin{problem}{3.a}How?\end{problem}\begin{solution}facts\end{solution}", {"1.a.i": "one", "3.a": "facts"}),
        (r"\newcommand{\problem}[2]{\section*{Problem #1 (#2)}}\begin{document}\problem{1.a.i}{1 point}one"
         r"\problem{3.a}{2 points}facts\end{document}", {"1.a.i": "one", "3.a": "facts"}),
        (r"\renewcommand{\labelenumi}{(\alph{enumi})}\begin{document}\section*{3}\begin{enumerate}\item facts"
         r"\item trust\end{enumerate}\end{document}", {"3.a": "facts", "3.b": "trust"}),
        (r"\setlist[enumerate,1]{label=(\roman*)}\begin{document}\section*{1.b}\begin{enumerate}\item M\item q"
         r"\end{enumerate}\end{document}", {"1.b.i": "M", "1.b.ii": "q"}),
    ],
)  # fmt: skip
def test_depth_and_counters_say_which_part_an_item_is(sheet: str, want: dict[str, str]) -> None:
    assert texts(sheet, "main.tex") == want


def test_a_question_of_another_assignment_holds_no_part_of_this_one() -> None:
    sheet = r"\begin{questions}\setcounter{question}{6}\question Seven \begin{parts}\part one \part two\end{parts}"
    assert texts(sheet, "main.tex") == {}


def test_questions_may_be_printed_with_the_number_of_their_section() -> None:
    head = r"\renewcommand{\thequestion}{1.\arabic{question}}\begin{document}\begin{questions}"
    part = r"\question Heads \begin{parts}\part Why? \begin{solution}%s\end{solution}\end{parts}"
    assert texts(head + part % "one" + part % "two", "main.tex", DL) == {"1.1.a": "one", "1.2.a": "two"}


def test_the_question_is_said_to_be_left_out_once() -> None:
    sheet = EXAM.format(r"\begin{solution}one\end{solution}", r"\begin{solution}two\end{solution}")
    assert len([note for note in notes(sheet, "main.tex") if "question's own words" in note]) == 1


SHORT = sampled(LATEX_STYLES, 4)


@pytest.mark.parametrize("style", SHORT, ids=lambda style: getattr(style, "__name__", "style"))
def test_a_forgotten_end_loses_no_answer_without_a_note(style: Style) -> None:
    """One brace, dollar or \\end less: whatever is then read where, no word of the sheet is lost."""
    sheet = style(NLP_ANSWERS)
    for mark in ("\\end{enumerate}", "\\end{solution}", "\\end{subparts}"):
        if mark in sheet:
            broken = sheet.replace(mark, "", 1)
            found = " ".join(texts(broken, "main.tex").values())
            assert plain(NLP_ANSWERS["3.c"]) in plain(found) or notes(broken, "main.tex")


def test_an_own_command_behind_another_stays_a_word_of_its_own() -> None:
    sheet = r"\newcommand{\va}{v_a}\begin{document}\section*{1.a.iii}$c\approx\va$\end{document}"
    assert r"\approx v_a" in texts(sheet, "main.tex")["1.a.iii"]
