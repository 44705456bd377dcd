"""The parts of the two assignments, and short ways to look at a sheet that was cut."""

from __future__ import annotations

from grader.answers import cut_into_parts

NLP = (
    [f"1.a.{roman}" for roman in ("i", "ii", "iii", "iv")]
    + [f"1.{letter}.{roman}" for letter in "bcde" for roman in ("i", "ii")]
    + ["2.d", "2.e", "2.f", "2.g.i", "2.g.ii", "3.a", "3.b", "3.c"]
)
DL = (
    [f"1.1.{letter}" for letter in "abcdef"]
    + ["1.2.a", "1.2.b"]
    + [f"1.{number}.{letter}" for number in (3, 4) for letter in "abcde"]
    + [f"1.5.{letter}" for letter in "abcd"]
    + [f"2.{number}" for number in range(1, 6)]
)


def pieces(text: str, part: str, file: str = "answers.md", parts: list[str] = NLP) -> list[tuple[str, str]]:
    """The kinds and texts of one part's pieces."""
    found = cut_into_parts(text, file, parts).parts
    return [(piece.kind, piece.text) for piece in found[part].pieces] if part in found else []


def texts(text: str, file: str = "answers.md", parts: list[str] = NLP) -> dict[str, str]:
    """What each part holds, in one line."""
    found = cut_into_parts(text, file, parts).parts
    return {part: " ".join(" ".join(piece.text for piece in found[part].pieces).split()) for part in found}


def notes(text: str, file: str = "answers.md", parts: list[str] = NLP) -> tuple[str, ...]:
    return cut_into_parts(text, file, parts).notes
