"""answers.md, .tex or .yaml → what was written for each part."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.errors import Missing
from grader.model import Answer, Answers, Piece, Submission


def read_answers(submission: Submission, parts: Sequence[str]) -> Answers:
    """The answer sheet of a submission, cut into the parts a rubric knows."""
    try:
        text = submission.read("answers.md").decode("utf-8-sig", "replace")
    except Missing:
        raise Missing("answers.md was not handed in (answers.tex and answers.yaml are read as well)") from None
    return cut_into_parts(text, "answers.md", parts)


def cut_into_parts(text: str, file: str, parts: Sequence[str]) -> Answers:
    found: dict[str, Answer] = {}
    headings = list(re.finditer(r"^#+\s*(\S+)\s*$", text, re.MULTILINE))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading[1] in parts:
            line = text.count("\n", 0, heading.start()) + 1
            body = text[heading.end() : following.start() if following else None]
            found[heading[1]] = Answer(heading[1], file, line, (Piece("prose", body.strip(), line + 1),))
    return Answers(found)
