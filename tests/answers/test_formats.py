"""Formulas, code and words come out of Markdown, LaTeX and YAML as they were written, with their lines."""

from __future__ import annotations

import pytest

from grader.answers import cut_into_parts
from grader.errors import StudentFault
from tests.answers.sheets import NLP, notes, pieces, texts


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("so $x_1$ is", [("prose", "so"), ("math", "x_1"), ("prose", "is")]),
        ("so $ x $ is", [("prose", "so"), ("math", "x"), ("prose", "is")]),
        ("2$x$", [("prose", "2"), ("math", "x")]),
        ("$$x = 1$$", [("math", "x = 1")]),
        ("$$\nx\n= 1\n+ 2\n$$", [("math", "x\n= 1\n+ 2")]),
        ("$$x$$\n, where $c$", [("math", "x"), ("prose", ", where"), ("math", "c")]),
        ("is \\(x\\) here", [("prose", "is"), ("math", "x"), ("prose", "here")]),
        ("\\[\na\n- b\n\\]\nthen", [("math", "a\n- b"), ("prose", "then")]),
        ("```math\nx = 1\n```", [("math", "x = 1")]),
        ("\\begin{align}\na &= b\n\\end{align}", [("math", "\\begin{align}\na &= b\n\\end{align}")]),
        ("use `A @ A.T` here", [("prose", "use"), ("code", "A @ A.T"), ("prose", "here")]),
        ("```python\nM = A @ A.T\n```", [("code", "M = A @ A.T")]),
        ("    M = A @ A.T", [("code", "M = A @ A.T")]),
        ("> so $x$", [("prose", "so"), ("math", "x")]),
        ("- so $x$", [("prose", "so"), ("math", "x")]),
        ("| a | $x$ |\n|---|---|\n| b | $y$ |", [("math", "x"), ("math", "y")]),
        ("[^1]: see $x$", [("prose", "[^1]: see"), ("math", "x")]),
    ],
)
def test_formulas_and_code_are_found_in_markdown(written: str, want: list[tuple[str, str]]) -> None:
    found = pieces(f"## 3.a\n\n{written}\n", "3.a")
    assert [piece for piece in found if piece[0] != "prose" or piece in want] == want


@pytest.mark.parametrize(
    "written",
    [
        "q = β(k_a + k_b)",
        "q = \\beta (k_a+k_b) and \\{1, 2\\} \\, x",
        "M = A*A^T and B_x * c_y",
        "A*B and C*D",
        "2*(a+b)*c",
        "x[i](j) and [k_a, k_b](q) <a & b>",
        "it costs $5 and $6",
        "a lone $ sign",
        "US$ and more",
        "unclosed \\( formula and \\[ too",
        "w_1 + w_2_3 __init__x",
    ],
)
def test_running_text_comes_out_unharmed(written: str) -> None:
    assert pieces(f"## 3.a\n\n{written}\n", "3.a") == [("prose", written)]


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("**bold** and _slanted_ *too*", "bold and slanted too"),
        ("k\\_a \\* k\\_b", "k_a * k_b"),
        ("a &amp; b", "a & b"),
    ],
)
def test_what_only_markdown_needs_is_taken_away(written: str, want: str) -> None:
    assert pieces(f"## 3.a\n\n{written}\n", "3.a") == [("prose", want)]


def test_dollars_in_code_and_prices_swallow_no_formula() -> None:
    found = pieces("## 3.a\n\nIt costs $5 and $6, a lone $ here, `$x` code and $x_1$ at \\$4 then $y$.\n", "3.a")
    assert [text for kind, text in found if kind == "math"] == ["x_1", "y"]
    assert ("code", "$x") in found


def test_an_escaped_dollar_closes_no_formula() -> None:
    assert pieces("## 3.a\n\n$c = 5\\$ + x$ and $y$\n", "3.a") == [
        ("math", r"c = 5\$ + x"),
        ("prose", "and"),
        ("math", "y"),
    ]


@pytest.mark.parametrize("file", ["answers.md", "answers.tex"])
def test_running_text_holds_no_items_of_a_list(file: str) -> None:
    heading = "## 3.a" if file.endswith(".md") else "\\section*{3.a}"
    (answer,) = cut_into_parts(f"{heading}\nFirst.\n\nSecond.\n", file, NLP).parts.values()
    assert answer.items == frozenset()


def test_every_piece_knows_its_line() -> None:
    sheet = "# 1\n\n## b.i\none $a$\ntwo $b$\n\n$$\nc\n$$\n\n- `d`\n"
    answer = cut_into_parts(sheet, "answers.md", NLP).parts["1.b.i"]
    assert answer.line == 3
    assert {piece.text: piece.line for piece in answer.pieces if piece.kind != "prose"} == {
        "a": 4,
        "b": 5,
        "c": 7,
        "d": 11,
    }


LATEX = r"""\documentclass{article}
\newcommand{\ka}{k_a}
\begin{document}
\section{Attention} % the first
\subsection*{(a) Copying}
\begin{enumerate}[label=\roman*.]
  \item not negative, and $\sum_i w_i = 1$
  \item when \(k_j^\top q\) leads
\end{enumerate}
\subsection*{(b)}
\textbf{i.} $M = AA^\top$, 100\% \emph{sure}

\textbf{(ii)} so q = \beta (\ka + k_{b})
\begin{align*}
  q &= \beta(\ka + k_b)
\end{align*}
\paragraph{c.i} \verb|q = mu| and \[ q = s \]
\section{Training}
\begin{itemize}
  \item[(d)] five
\end{itemize}
\section{Outlook}
\begin{enumerate}
  \item facts
  \item \begin{enumerate} \item trust \item law \end{enumerate}
\end{enumerate}
\end{document}
after the end
"""


def test_a_latex_sheet_is_cut() -> None:
    assert texts(LATEX, "answers.tex") == {
        "1.a.i": r"not negative, and \sum_i w_i = 1",
        "1.a.ii": r"when k_j^\top q leads",
        "1.b.i": r"M = AA^\top , 100% sure",
        "1.b.ii": r"so q = \beta (k_a + k_{b}) \begin{align*} q &= \beta(k_a + k_b) \end{align*}",
        "1.c.i": "q = mu and q = s",
        "2.d": "five",
        "3.a": "facts",
        "3.b": "(a) trust (b) law",
    }
    assert notes(LATEX, "answers.tex") == ()
    parts = cut_into_parts(LATEX, "answers.tex", NLP).parts
    assert [(piece.kind, piece.line) for piece in parts["1.b.ii"].pieces] == [("prose", 13), ("math", 14)]
    assert pieces(LATEX, "1.c.i", "answers.tex")[0] == ("code", "q = mu")
    assert parts["3.b"].items, "items of a list are no new sentences of one argument"


def test_lists_within_lists_count_as_latex_prints_them() -> None:
    sheet = r"""\begin{enumerate}
\item Attention \begin{enumerate}
  \item Copying \begin{enumerate} \item one \item two \end{enumerate}
  \item Average \begin{enumerate} \item M \end{enumerate} \end{enumerate}
\item Training
\item Outlook \begin{enumerate} \item facts \end{enumerate}
\end{enumerate}"""
    assert texts(sheet, "answers.tex") == {"1.a.i": "one", "1.a.ii": "two", "1.b.i": "M", "3.a": "facts"}


def test_in_the_exam_class_only_solutions_are_answers() -> None:
    sheet = r"""\begin{questions}\question Attention
\begin{parts}\part[5] Copying
\begin{subparts}\subpart Say why. \begin{solution} It sums to $1$. \end{solution}
\subpart[2] And when? \begin{solution} One key fits. \end{solution}
\end{subparts}\end{parts}\end{questions}"""
    assert texts(sheet, "answers.tex") == {"1.a.i": "It sums to 1 .", "1.a.ii": "One key fits."}


YAML = """
b.ii: {q: "\\\\beta (k_a + k_b)", because: "keys $k$ are orthonormal"}
1:
  c: {i: {q: "q = C(mu_a + mu_b)"}, ii: it sways}
  d:
    - {q_1: "$q_1 = t mu_a$", q_2: 3}
    - it is calm
3.a: |
  It saw
  the facts.
"""


def test_a_yaml_sheet_is_cut() -> None:
    assert pieces(YAML, "1.b.ii", "answers.yaml") == [
        ("math", "q = \\beta (k_a + k_b)"),
        ("prose", "keys"),
        ("math", "k"),
        ("prose", "are orthonormal"),
    ]
    assert pieces(YAML, "1.c.i", "answers.yml") == [("math", "q = C(mu_a + mu_b)")]
    assert pieces(YAML, "1.d.i", "answers.yaml") == [("math", "q_1 = t mu_a"), ("math", "q_2 = 3")]
    assert texts(YAML, "answers.yaml")["3.a"] == "It saw the facts."
    assert cut_into_parts(YAML, "answers.yaml", NLP).parts["1.d.ii"].line == 7


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        ("1.f: x\n3.a: y\n", "answers.yaml:1: '1.f' is no part of this assignment; did you mean '2.f'?"),
        ("3.a: x\n2: {g: {ii: null}}\n", "answers.yaml:2: 2.g.ii is empty"),
        ("1: {b: all of it}\n", "answers.yaml:1: this stands under 1.b, but under none of its parts"),
        ("3.a: x\n3: {a: y}\n", "answers.yaml:2: 3.a was answered in line 1 already; this later answer counts"),
    ],
)
def test_yaml_that_could_not_be_placed_is_said(sheet: str, said: str) -> None:
    assert any(note.startswith(said) for note in notes(sheet, "answers.yaml")), notes(sheet, "answers.yaml")


@pytest.mark.parametrize(
    ("sheet", "place", "code"),
    [
        ("3.a: x\n3.b: 'open\n", "answers.yaml:", "not_yaml"),
        ("a: &x [1]\nb: *x\n", "answers.yaml:2: ", "not_yaml"),
        ("- one\n- two\n", "answers.yaml:1: ", "unplaced_answer"),
        ("1: " + "[" * 50, "answers.yaml:1: ", "not_yaml"),
        ("1: " + "x" * 2**16, "answers.yaml:1: ", "sheet_too_long"),
    ],
)
def test_yaml_that_cannot_be_read_says_where_and_why(sheet: str, place: str, code: str) -> None:
    with pytest.raises(StudentFault) as fault:
        cut_into_parts(sheet, "answers.yaml", NLP)
    assert (fault.value.message[: len(place)], fault.value.code) == (place, code)
    # Advice on how to write YAML helps only those whose file is none.
    assert ("after '|' on lines of its own" in fault.value.message) == ("not YAML" in fault.value.message)
