"""YAML with lines, and without surprises."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.rubric.yaml_source import WrittenFloat, YamlError, as_written, read


def test_every_part_knows_its_line() -> None:
    source = read("a: 1\nb:\n  - x: 2\n    y: 3\n  - 4\n")
    assert source.data == {"a": 1, "b": [{"x": 2, "y": 3}, 4]}
    assert [source.line(path) for path in [("a",), ("b", 0, "y"), ("b", 1), ("b", 1, "deeper", 5)]] == [1, 4, 5, 5]


def test_numbers_keep_their_spelling() -> None:
    number = read("id: 1.10").data["id"]
    assert isinstance(number, WrittenFloat)
    assert (number, number.text) == (1.1, "1.10")


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("a: 1\nb: 2\na: 3", 3, "'a' is given twice"),
        ("a: [1, 2", 1, "not YAML"),
        ("a: 1\n\tb: 2", 2, "not YAML"),
        ("a: &x [1]\nb: *x", 2, "instead of the alias"),
        ("? [1, 2]\n: 3", 1, "a key must be plain text"),
        ('a: "\\UFFFFFFFF"', 1, "not YAML"),
        ("[" * 100_000, 1, "nested more than 20 deep"),
        ("- " * 30_000, 1, "nested more than 20 deep"),
        ("a:\n " + "{a: " * 30, 2, "nested more than 20 deep"),
        ("a" * (2**20 + 1), 1, "longer than"),
    ],
)
def test_what_is_refused_is_refused_with_its_line(text: str, line: int, cause: str) -> None:
    with pytest.raises(YamlError, match=cause.replace("[", r"\[")) as caught:
        read(text)
    assert caught.value.line == line


def test_tags_construct_nothing() -> None:
    assert read("a: !!python/object/apply:os.system ['true']").data == {"a": ["true"]}
    assert read("a: !!python/name:os.system x").data == {"a": "x"}


@pytest.mark.parametrize("scalar", ["2024-13-45", "!!bool maybe", "!!int x", "1" * 5000, "!!timestamp now", "=", "<<"])
def test_what_is_no_number_is_text(scalar: str) -> None:
    assert read(f"a: {scalar}").data == {"a": scalar.rpartition(" ")[2]}


@pytest.mark.parametrize("half", [r'"\uD800"', "a: \ud800"])
def test_half_a_character_is_refused(half: str) -> None:
    with pytest.raises(YamlError, match="not YAML"):
        read(half)


def test_numbers_of_no_digits_or_of_too_many_are_text() -> None:
    hours = "9:" * 300 + "9.5"  # base sixty
    assert read(f"a: !!int ''\nb: !!float ''\nc: !!float {hours}").data == {"a": "", "b": "", "c": hours}


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 5_000, "0b" + "1" * 20_000, "1" + ":59" * 3_000], ids=["hex", "bits", "sixty"]
)
def test_a_number_that_python_would_not_write_out_is_text(number: str) -> None:
    assert read(f"a: {number}").data == {"a": number}


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
    )
    with pytest.raises(YamlError, match="alias"):
        read(bomb)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(YamlError):
        read(text)


def test_a_number_with_zeros_before_it_keeps_them() -> None:
    plain, written = read("[123, 00123]").data
    assert (type(plain), as_written(plain), as_written(written)) == (int, "123", "00123")


def test_what_names_no_line_is_reported_at_the_first() -> None:
    with pytest.raises(YamlError, match="not YAML: unacceptable character #x0001: control characters") as caught:
        read("a: 1\nb: \x01")
    assert (caught.value.line, "\n" in caught.value.cause) == (1, False)
