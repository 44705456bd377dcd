"""The answers: whole sheets, written from the homework's text alone, each part with the label it deserves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parent.parent.parent
FOLDER = REPOSITORY / "tests" / "answers" / "forms"
SHEETS = ("nlp_a5_first", "nlp_a5_second", "nlp_a5_third", "dl_hw3_first", "dl_hw3_second")


@dataclass(frozen=True)
class Written:
    """One answer in Markdown with LaTeX's formulas, and the label it deserves: right, partial or wrong."""

    label: str
    text: str


@dataclass(frozen=True)
class Sheet:
    name: str
    rubric: str
    answers: dict[str, Written]


@dataclass(frozen=True)
class Prompt:
    """What a part, or a group of parts, asks."""

    title: str
    text: str
    is_code: bool = False


@dataclass(frozen=True)
class Entry:
    """A step through the assignment in order: a question, a group of parts or a part."""

    id: str
    prompt: Prompt
    answer: Written | None

    @property
    def labels(self) -> list[str]:
        return self.id.split(".")


@cache
def sheet(name: str) -> Sheet:
    data = _data(name)
    answers = {part: Written(one["label"], one["text"].strip()) for part, one in data["answers"].items()}
    return Sheet(name, data["rubric"], answers)


@cache
def prompts(rubric: str) -> dict[str, Prompt]:
    return {part: Prompt(title, text, bool(code)) for part, (title, text, *code) in _data("prompts")[rubric].items()}


def entries(of: Sheet, *, with_code: bool = False) -> Iterator[Entry]:
    """Questions, groups and parts that the sheet answers, in the assignment's order; those for code if wished."""
    for part, prompt in prompts(of.rubric).items():
        is_answered = any(one == part or one.startswith(f"{part}.") for one in of.answers)
        if is_answered or (with_code and prompt.is_code):
            yield Entry(part, prompt, of.answers.get(part))


def _data(name: str) -> Any:
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
