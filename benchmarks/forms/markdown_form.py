"""Markdown with a heading for each part: the form that the others are compared with."""

from __future__ import annotations

from benchmarks.forms.corpus import Sheet


def markdown(sheet: Sheet) -> str:
    return "\n".join(f"## {part}\n\n{answer.text}\n" for part, answer in sheet.answers.items())
