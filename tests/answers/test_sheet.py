"""Which file is the sheet, and what happens to sheets that were made to break the reader."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.answers import cut_into_parts, read_answers
from grader.errors import Ambiguous, Missing, StudentFault, WrongKind
from tests.answers.sheets import NLP, texts
from tests.answers.test_formats import LATEX, YAML
from tests.conftest import MakeSubmission, raises, sampled

MARKDOWN = "# 1\n## b.i\n$M = AA^T$\n\n(ii) **q** = `t`\n\n$$\nq\n$$\n## 3.b\n1. one\n2. two\n> quoted\n"


@pytest.mark.parametrize("name", ["answers.md", "Answers.md", "hw/answers.txt", "answers.markdown"])
def test_the_sheet_is_found_by_its_name(submission: MakeSubmission, name: str) -> None:
    read = read_answers(submission(**{name: "## 3.a\nfacts\n"}), NLP)
    assert (read.parts["3.a"].prose, read.parts["3.a"].file) == ("facts", name)


def test_two_sheets_are_named_and_none_is_picked(submission: MakeSubmission) -> None:
    with pytest.raises(Ambiguous, match=r"answers\.md and answers\.tex"):
        read_answers(submission(**{"answers.md": "## 3.a\nx", "answers.tex": "\\section*{3.a}\ny"}), NLP)


def test_no_sheet_says_what_to_hand_in(submission: MakeSubmission) -> None:
    with raises(Missing, "sheet_missing"):
        read_answers(submission("x = 1"), NLP)


@pytest.mark.parametrize(
    ("content", "noted"),
    [
        ("## 3.a\r\nna\u00efve\r\n".encode("utf-8-sig"), False),
        ("## 3.a\nna\u00efve\n".encode("utf-16"), False),
        ("\ufeff## 3.a\nna\u00efve\n".encode("utf-16-be"), False),
        ("\ufeff\ufeff## 3.a\rna\u00efve\r".encode(), False),  # a mark for each program that saved it
        ("## 3.a\nna\u00efve\n".encode("latin-1"), True),
    ],
)
def test_encodings_are_read_and_strange_ones_said(submission: MakeSubmission, content: bytes, noted: bool) -> None:
    made = submission(**{"answers.md": ""})
    (made.folder / "answers.md").write_bytes(content)
    read = read_answers(made, NLP)
    assert read.parts["3.a"].prose == "na\u00efve"
    assert any("not UTF-8" in note for note in read.notes) == noted


@pytest.mark.parametrize(
    ("name", "text"), [("answers.yaml", "3.a: fact\n"), ("answers.tex", "\\section*{3.a}\nfact\n")]
)
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_mark_before_the_first_part_is_no_part_of_it(
    submission: MakeSubmission, name: str, text: str, codec: str
) -> None:
    made = submission(**{name: ""})
    (made.folder / name).write_bytes(text.encode(codec))
    read = read_answers(made, NLP)
    assert ({part: answer.prose for part, answer in read.parts.items()}, read.notes) == ({"3.a": "fact"}, ())


def test_a_utf_16_mark_before_other_bytes_is_no_crash(submission: MakeSubmission) -> None:
    made = submission(**{"answers.md": ""})
    (made.folder / "answers.md").write_bytes(b"\xff\xfe#")
    assert read_answers(made, NLP).parts == {}


@pytest.mark.parametrize("text", ["x" * 2**20, "# a\n" * 10**5])
def test_a_sheet_beyond_all_measure_is_refused_in_one_line(text: str) -> None:
    with raises(WrongKind, "sheet_too_long"):
        cut_into_parts(text, "answers.md", NLP)


def _as_long_as_may_be(pattern: str) -> str:
    return "\n".join((pattern * (2**17 // len(pattern))).split("\n")[:4000])


BOMBS = (
    *("[", "(", "$", "$ ", "\\(", "\\[ ", "\\begin{align}", "\\begin{align}\n", "$$\nx\n", "*", "*a **b ", "_a ", "> "),
    *("- ", "` `` ", "\\", "1. x\n", "(b) i. x\n\n", "i. x\n\n", "{", "}", "\\item ", "\\section{", "\\textbf{", "%"),
    *(
        "\\begin{enumerate}\\item ",
        "\\newcommand{\\a}{",
        "\u202e#",
        "\\verb|",
        "$x$ ",
        "x\n---\n",
        "**(b)** ",
        "## b.ii\n",
    ),
)


# What means nothing in LaTeX is only text there.
_IN_FILES = [(pattern, "answers.md") for pattern in BOMBS]
_IN_FILES += [(pattern, "answers.tex") for pattern in BOMBS if set(pattern) & set("\\{}$%")]


@pytest.mark.parametrize(("pattern", "file"), sampled(_IN_FILES, 40))
def test_no_pattern_takes_long(pattern: str, file: str) -> None:
    text = _as_long_as_may_be(pattern)
    began = time.process_time()
    cut_into_parts(text, file, NLP)
    assert time.process_time() - began < 4  # a second on an idle machine, more where it is shared


def test_names_that_double_each_other_do_not_grow_without_end() -> None:
    names = "".join(f"\\newcommand{{\\{a}}}{{\\{b}\\{b}\\{b}}}" for a, b in ("xy", "yz", "zx"))
    text = f"{names}\n\\section*{{3.a}}\n" + "\\x " * 5000
    assert len(texts(text, "answers.tex")["3.a"]) < 2**18


def test_notes_show_nothing_that_a_terminal_obeys() -> None:
    (note,) = [n for n in cut_into_parts("## 9.z\u202e\u001b[1m\nx\n## 3.a\ny\n", "answers.md", NLP).notes if "9" in n]
    assert "\u202e" not in note
    assert "\u001b" not in note


def test_notes_are_bounded() -> None:
    assert len(cut_into_parts("## 9.z\nx\n" * 500, "answers.md", NLP).notes) <= 21


def _holds_together(text: str, file: str) -> None:
    last = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    try:
        answers = cut_into_parts(text, file, NLP)
    except StudentFault:
        return
    for part, answer in answers.parts.items():
        assert part in NLP
        assert answer.pieces
        assert 1 <= answer.line <= last
        assert all(1 <= piece.line <= last and piece.text.strip() for piece in answer.pieces)
    assert all(note.startswith(file) and "\n" not in note for note in answers.notes)


FILES = st.sampled_from(["answers.md", "answers.tex", "answers.yaml"])
MARKS = ("# ", "## ", "- ", "> ", "$", "$$", "\\(", "\\)", "\\[", "\\]", "`", "```", "*", "**", "_", "|", "---", "\\\\")
NAMES = (
    "b.ii",
    "(b) ",
    "i. ",
    "1. ",
    "2) ",
    "3.a",
    "1.b.ii",
    "x",
    "=",
    ":",
    ": ",
    " ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\0",
)
COMMANDS = ("begin{align}", "end{align}", "item ", "section{", "begin{enumerate}", "end{enumerate}", "textbf{", "part ")
CRUMBS = st.sampled_from(
    [*MARKS, *NAMES, *(f"\\{command}" for command in COMMANDS), "\\begin{solution}", "{", "}", "%"]
)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.text(max_size=300), FILES)
def test_any_text_is_read_or_refused(text: str, file: str) -> None:
    _holds_together(text, file)


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(CRUMBS, max_size=60).map("".join), FILES)
def test_any_markup_is_read_or_refused(text: str, file: str) -> None:
    _holds_together(text, file)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from([MARKDOWN, LATEX, YAML]), st.data(), FILES)
def test_damaged_sheets_are_read_or_refused(sheet: str, data: st.DataObject, file: str) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(sheet)))
        end = min(len(sheet), begin + data.draw(st.integers(0, 12)))
        sheet = sheet[:begin] + "".join(data.draw(st.lists(CRUMBS, max_size=3))) + sheet[end:]
    _holds_together(sheet, file)
