"""A student who has only written an answer: what a check of written answers sees."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, cast

from grader.answers import read_answers
from grader.model import Answer, Student
from grader.submission.opening import OpenedSubmission


class _Writer:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer


def answering(text: str, part: str = "1.a") -> Student:
    """The text as the answer to a part, read from a sheet."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "answers.md").write_text(f"## {part}\n\n{text}\n", encoding="utf-8")
        sheet = read_answers(OpenedSubmission("one", Path(folder), len(text), ("answers.md",)), [part])
    written: Any = _Writer(sheet.parts[part])
    return cast(Student, written)
