"""Students' own words are shown on one line, short, and obeyed by no terminal or browser."""

from __future__ import annotations

import pytest

from grader.quoting import place, quote, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with Grüße und 数", "plain, with Grüße und 数"),
        ("  two\n\tlines\r\n here ", "two lines here"),
        ("\x1b[31mred\x07", "�[31mred�"),
        ("a\u202eb\u200bc", "a�b�c"),  # written from right to left, and nothing at all
        ("\ud800 \ue000 \u0378", "� � �"),  # half a character, a private one, an unassigned one
        ("a\u2028b\u2029c", "a b c"),  # line breaks by another name
        ("a\u3164\u2800b", "a b"),  # letters that are drawn as nothing
        ("", ""),
    ],
)
def test_what_would_be_obeyed_or_not_seen_is_shown(text: str, shown: str) -> None:
    assert quote(text) == shown


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    assert quote("x" * 200) == "x" * 200
    assert quote("x" * 201) == "x" * 199 + "…"
    assert quote("abcdef", 5) == "abcd…"
    assert quote("abcde", 5) == "abcde"
    assert quote(" " * 35 + "abcdef", 5) == "abcde", "no more than eight times as much is looked at"


def test_a_place_is_a_line_of_a_file_or_of_a_cell() -> None:
    assert place("src/work.py", 3) == "src/work.py:3"
    assert place("hw3.ipynb cell 2", 3) == "hw3.ipynb cell 2 line 3"
    assert place("a\nb.py", 1) == "a b.py:1"
    assert place("a\n.ipynb cell 1", 1) == "a .ipynb cell 1 line 1"


def test_many_lines_keep_their_places() -> None:
    text = "a\tb\n\u202ec\x1b\u200bd\ufdd0\ud800 \u3164e"
    assert visible(text) == "a\tb\n�c��d��  e"
    assert len(visible(text)) == len(text)
