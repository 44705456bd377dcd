"""Text pasted from elsewhere, with and without blank lines: parts are found by the sequence of their labels."""

from __future__ import annotations

import pytest

from tests.answers.sheets import DL, NLP, texts
from tests.answers.styles import DL_ANSWERS, NLP_ANSWERS, PASTED_STYLES, Style, plain, spaced
from tests.conftest import sampled

STYLES = [*PASTED_STYLES, *(spaced(style) for style in PASTED_STYLES)]


@pytest.mark.parametrize("file", ["answers.txt", "answers.md"])
@pytest.mark.parametrize(("answers", "parts"), [(NLP_ANSWERS, NLP), (DL_ANSWERS, DL)], ids=["nlp", "dl"])
@pytest.mark.parametrize("style", sampled(STYLES, 3), ids=lambda style: getattr(style, "__name__", "style"))
def test_every_answer_lands_in_its_part(style: Style, answers: dict[str, str], parts: list[str], file: str) -> None:
    found = texts(style(answers), file, parts)
    assert {part: plain(text) for part, text in found.items()} == {part: plain(text) for part, text in answers.items()}


@pytest.mark.parametrize(
    ("sheet", "want"),
    [
        # Labels within sentences and lists within answers are content.
        (
            "(a)\ni. They are (i) positive and\n(ii) add up to one\nii. one score leads\n",
            {"1.a.i": "They are (i) positive and (ii) add up to one", "1.a.ii": "one score leads"},
        ),
        (
            "(a)\ni. as we will use in\nii. of this\nii. one score leads\n",
            {"1.a.i": "as we will use in ii. of this", "1.a.ii": "one score leads"},
        ),
        (
            "3.\n(a) facts\n(b) Two:\n1. trust\n2. law\n(c) bias\n",
            {"3.a": "facts", "3.b": "Two: 1. trust 2. law", "3.c": "bias"},
        ),
        (
            "3.\n(a) facts\n(b) Two:\n(a) trust\n(b) law\n(c) bias\n",
            {"3.a": "facts", "3.b": "Two: (a) trust (b) law", "3.c": "bias"},
        ),
        (
            "3.\n(a) facts\n(b) Three:\n(a) trust\n(b) law\n(c) harm\n(c) bias\n",
            {"3.a": "facts", "3.b": "Three: (a) trust (b) law (c) harm", "3.c": "bias"},
        ),
        (
            "3a. facts\n3b. Two:\na) trust\nb) law\n3c. bias\n",
            {"3.a": "facts", "3.b": "Two: a) trust b) law", "3.c": "bias"},
        ),
        (
            "1.a.i one\nc = v_j here\ni = j then\n1.a.ii two\n",
            {"1.a.i": "one c = v_j here i = j then", "1.a.ii": "two"},
        ),
        # A label alone on its line, written as those before, ends a sentence even if that has no full stop.
        (
            "1a\ni) one\niv) the key that it looks for\n1b\ni) M = AB\nii) q = k\n",
            {"1.a.i": "one", "1.a.iv": "the key that it looks for", "1.b.i": "M = AB", "1.b.ii": "q = k"},
        ),
        (
            "1a\ni) one, as used in\n1b of this\niv) copies\n",
            {"1.a.i": "one, as used in 1b of this", "1.a.iv": "copies"},
        ),
        # Parts that are left out.
        (
            "(a)\ni. one\n(c)\nii. it sways\n(d)\ni. two queries\n",
            {"1.a.i": "one", "1.c.ii": "it sways", "1.d.i": "two queries"},
        ),
        ("1(a)(i) one\n1(c)(ii) it sways\n3(b) trust\n", {"1.a.i": "one", "1.c.ii": "it sways", "3.b": "trust"}),
        # Titles on lines of their own.
        (
            "1. Attention\n(a) Copying\ni. one\nii. two\n(b) Two at once\ni. M\nii. q\n2. Training\n"
            "(d) five\n3. Outlook\n(a) facts\n",
            {"1.a.i": "one", "1.a.ii": "two", "1.b.i": "M", "1.b.ii": "q", "2.d": "five", "3.a": "facts"},
        ),
        (
            "Question 1\nPart a\ni) one\nii) two\nPart b\ni) M\nQuestion 3\nPart a\nfacts\n",
            {"1.a.i": "one", "1.a.ii": "two", "1.b.i": "M", "3.a": "facts"},
        ),
        # Questions between the label and the answer.
        (
            "1.a.i Explain why you may read them so.\nAnswer: one\n1.a.ii When is that? (2 points)\nAnswer: two\n",
            {"1.a.i": "one", "1.a.ii": "two"},
        ),
        (
            "1.a.i\n\nExplain briefly why it is a distribution.\n\none\n\n"
            "1.a.ii\n\nWhen would you say that holds?\n\ntwo\n",
            {"1.a.i": "one", "1.a.ii": "two"},
        ),
    ],
)
def test_the_next_label_in_order_begins_a_part(sheet: str, want: dict[str, str]) -> None:
    assert texts(sheet, "answers.txt") == want
