r"""LaTeX whose author made the headings: \newcommand, \def, xparse, environments and counters of their own."""

from __future__ import annotations

import pytest

from tests.answers.sheets import DL, NLP, texts
from tests.answers.styles import DL_ANSWERS, NLP_ANSWERS, plain

# How headings are defined, how a question begins, and how a part's answer stands: {0} is the question, {1} the part's
# last step, {2} the whole name, {3} the answer.
MACROS = [
    (r"\newcommand{\chap}[1]{\section*{#1}}\newcommand{\sub}[1]{\medskip\noindent{\Large\bfseries #1}\quad}",
     r"\chap{{Exercise {0}}}", r"\sub{{({1})}} {3}"),
    (r"\newcommand{\ask}[2]{\par\noindent\fbox{\textbf{#1}}~\emph{#2}\par\nopagebreak}", "",
     "\\ask{{{2}}}{{My words}}\n{3}"),
    (r"\def\head#1{\vspace{2mm}\noindent{\bf #1}\hskip 1em\relax}", "", "\\head{{{2})}} {3}\n"),
    (r"\NewDocumentCommand{\lab}{O{Part} m}{\bigskip\noindent\underline{#1 #2:}\\[1ex]}", "", r"\lab{{{2}}} {3}"),
    (r"\newenvironment{mypart}[1]{\paragraph{(#1)}}{\hfill$\square$\par}\newcommand\quest[1]{\subsection*{#1}}",
     r"\quest{{Question {0}}}", "\\begin{{mypart}}{{{1}}}\n{3}\n\\end{{mypart}}"),
    (r"\newcommand{\bx}[1]{\framebox[2em]{#1}}\newcommand{\pt}[1]{\smallskip\noindent\bx{\bfseries{#1}}\enspace}",
     "", r"\pt{{{2}}} {3}"),
    (r"\newcommand{\R}{\textbf}\newcommand{\no}[1]{\noindent\R{#1.}\newline}", "", "\\no {{{2}}}\n{3}"),
    (r"\newcommand{\nr}[1]{\par\textbf{#1}\smallskip}", "", r"\nr{{{2}}}{3}"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "parts"), [(NLP_ANSWERS, NLP), (DL_ANSWERS, DL)], ids=["nlp", "dl"])
@pytest.mark.parametrize("macros", MACROS, ids=range(len(MACROS)))
@pytest.mark.parametrize("between", ["\n", "\n\n"], ids=["close", "spaced"])
def test_every_answer_lands_in_its_part(
    macros: tuple[str, str, str], answers: dict[str, str], parts: list[str], between: str
) -> None:
    defined, question, part = macros
    lines, last = [], ""
    for name, answer in answers.items():
        above, _, step = name.rpartition(".")
        if question and above != last:
            lines.append(question.format(above))
        last = above
        lines.append(part.format(above, step, name, answer))
    sheet = f"\\documentclass{{article}}\n{defined}\n\\begin{{document}}\n{between.join(lines)}\n\\end{{document}}\n"
    found = {
        name: plain(text.replace("My words", "").replace(r"\square", ""))
        for name, text in texts(sheet, "main.tex", parts).items()
    }
    assert found == {name: plain(text) for name, text in answers.items()}


COUNTED = r"""\documentclass{article}
\newcounter{q}\newcounter{p}[q]
\newcommand{\task}[1]{\stepcounter{q}\section*{\arabic{q}. #1}}
\newcommand{\ask}{\par\refstepcounter{p}\textbf{(\alph{p})} }
\begin{document}
\setcounter{q}{2}
\task{Outlook}
\ask facts
\ask trust
and law
\ask bias
\end{document}
"""


@pytest.mark.parametrize(
    ("sheet", "want"),
    [
        (COUNTED, {"3.a": "facts", "3.b": "trust and law", "3.c": "bias"}),
        (COUNTED.replace(r"\alph{p}", r"\thep").replace("[q]", r"[q]\renewcommand{\thep}{\alph{p}}"),
         {"3.a": "facts", "3.b": "trust and law", "3.c": "bias"}),
        (COUNTED.replace(r"(\alph{p})", r"\arabic{q}.\alph{p}"),
         {"3.a": "facts", "3.b": "trust and law", "3.c": "bias"}),
        # An argument need not stand in braces, and what no braces hold is no label by itself.
        ("\\newcommand{\\tr}[2]{#1 #2}\n1.a.i $\\tr ab$ holds\n\n1.a.ii two", {"1.a.i": "a b holds", "1.a.ii": "two"}),
        ("\\newcommand{\\see}[1]{(see #1)}\n1.a.i as above \\see{1.a.ii}\n\n1.a.ii two",
         {"1.a.i": "as above (see 1.a.ii)", "1.a.ii": "two"}),
        # Names that stand for each other end.
        ("\\newcommand{\\x}[1]{\\y{#1}}\\newcommand{\\y}[1]{\\x{#1}}\n1.a.i one\n\n1.a.ii two",
         {"1.a.i": "one", "1.a.ii": "two"}),
    ],
)  # fmt: skip
def test_own_commands_are_spelled_out(sheet: str, want: dict[str, str]) -> None:
    assert texts(sheet, "main.tex") == want


@pytest.mark.parametrize(
    "line",
    [
        r"\noindent{\bf 1.a.i} one",
        r"\bf{1.a.i} one",
        r"\fbox{1.a.i}\quad one",
        r"\large{\textbf{1.a.i}}\\[2mm] one",
        r"{\small\sffamily\bfseries 1.a.i}\enspace one",
        r"\makebox[1cm][l]{1.a.i} one",
    ],
)
def test_commands_that_only_look_swallow_no_words(line: str) -> None:
    assert texts(f"{line}\n\n1.a.ii two", "main.tex") == {"1.a.i": "one", "1.a.ii": "two"}
