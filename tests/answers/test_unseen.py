"""What no reader sees is left out, what readers see stays, and lines keep their numbers."""

from __future__ import annotations

import time

import pytest

from grader.answers import cut_into_parts
from grader.answers.unseen import seen
from tests.conftest import sampled


@pytest.mark.parametrize(
    "text",
    [
        "<!-- HIDDEN -->",
        "<!--\nHIDDEN\n\nstill HIDDEN\n-->",
        "<!-- never closed HIDDEN",
        "[//]: # (HIDDEN)",
        "[comment]: <> (\nHIDDEN)",
        "~~HIDDEN $q$~~",
        "<del>HIDDEN</del> <s>HIDDEN</s> <strike>HIDDEN</strike>",
        '<span style="color: #fff">HIDDEN</span>',
        "<div hidden><div>HIDDEN</div> HIDDEN</div>",
        '<abbr title="HIDDEN">x</abbr>',
        "![HIDDEN](a.png)",
        r"$\textcolor{white}{HIDDEN} + \cancel{HIDDEN}$",
        r"{\color{white} HIDDEN {HIDDEN}}",
        "$5 <!-- HIDDEN --> $6",
    ],
)
def test_hidden_text_is_gone_and_lines_stay(text: str) -> None:
    visible = seen(f"before\n{text}\n\nafter" if "never" not in text else text)
    assert "HIDDEN" not in visible.text
    assert "never" in text or (visible.text.startswith("before") and visible.text.endswith("after"))
    assert "never" in text or visible.text.count("\n") == text.count("\n") + 3


@pytest.mark.parametrize(
    "text",
    ["`<!-- SEEN -->`", "```html\n<s>SEEN</s>\n```", "$a <s> SEEN </s>$", "a ~ SEEN ~ b", "50% of \\emph{SEEN}"],
)
def test_what_is_shown_stays(text: str) -> None:
    assert seen(text).text == text
    assert not seen(text).left_out


def test_latex_is_left_out_only_where_it_is_not_a_comment() -> None:
    text = "% \\iffalse\nSEEN\n\\iffalse\nHIDDEN\n\\fi\nSEEN"
    assert seen(text, latex=True).text.count("SEEN") == 2
    assert "HIDDEN" not in seen(text, latex=True).text


def test_tags_give_way_to_what_they_mean() -> None:
    assert seen("<p>k<sub>a</sub><sup>T</sup></p>").text == "k_{a}^{T}"


def test_note_says_where_something_was_left_out() -> None:
    answers = cut_into_parts("# 1.a\n\n~~q = 1~~\n\nq = 2\n", "answers.md", ["1.a"])
    assert [note for note in answers.notes if "struck-out" in note and note.startswith("answers.md:3:")]
    assert "q = 1" not in answers.parts["1.a"].prose


@pytest.mark.parametrize(
    "unit",
    sampled(["`", "~", "<!--", "![", "``a", "<s>", "~~a ", '<a b="', "`a", "$", r"\color{white}", "<p hidden>"], 3),
)
def test_much_that_is_never_closed_takes_no_longer(unit: str) -> None:
    began = time.process_time()
    seen(unit * (2**17 // len(unit)))
    assert time.process_time() - began < 5


def test_what_the_sheet_itself_asks_is_no_answer_and_no_news() -> None:
    sheet = "## 1.b.ii\n\n<!--? Which query? Say\nwhy. -->\n\n$q = 3 k$\n"
    told = seen(sheet)
    assert told.text.split() == ["##", "1.b.ii", "$q", "=", "3", "k$"]
    assert told.text.count("\n") == sheet.count("\n")
    assert told.notes == []
    assert seen(sheet.replace("<!--?", "<!--")).notes
