"""How an input may end: in a result, or in a fault that is one line a person can read."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from benchmarks.fuzz.material import REPOSITORY, sheets
from grader.answers import cut_into_parts, read_answers
from grader.errors import StaffFault, StudentFault
from grader.model import Rubric
from grader.rubric.loading import find_rubric, load_rubric
from grader.submission.opening import open_submission


class NotOneLine(Exception):
    """What people are told has several lines, or what no terminal or file can show."""


def ends_well(read: Callable[[], Iterator[str]]) -> bool:
    """True if it was read, False if it was refused in one line. `read` yields every line that people are shown."""
    try:
        for told in read():
            must_be_one_line(told)
    except StudentFault as fault:
        must_be_one_line(fault.message)
        must_be_one_line(fault.detail or "no detail")
        return False
    except StaffFault as fault:
        must_be_one_line(str(fault))
        return False
    return True


def must_be_one_line(text: str) -> None:
    if not text.strip() or any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text):
        raise NotOneLine(ascii(text)[:300])


@cache
def rubric(name: str) -> Rubric:
    return load_rubric(REPOSITORY / "rubrics" / name / "rubric.yaml")


def get_ready() -> None:
    """Load all that readers load when they are first asked, so that the first input takes no longer than the others."""
    for name in ("nlp-a5", "dl-hw3"):
        for ending in ("md", "tex", "yaml"):
            sheets(ending)
            cut_into_parts("# 1.1.a\n", f"answers.{ending}", rubric(name).parts)


def looked_through(path: Path) -> Iterator[str]:
    """Open a submission as the grader does: its rubric, its notebooks' parts, every file asked for, its answers."""
    asked = rubric("dl-hw3")
    with open_submission(path) as opened:
        yield from (opened.name, *opened.notes)
        if opened.rubric is not None:
            yield from _told_by(lambda: find_rubric(opened.rubric or "", by_staff=False).name)
        submission = opened.for_rubric(asked)
        for file in asked.definitions:
            yield from _told_by(lambda file=file: ascii(submission.read(file)[:10]))
        yield from _told_by(lambda: " ".join(("answers", *read_answers(submission, asked.parts).notes)))


def _told_by(look: Callable[[], str]) -> Iterator[str]:
    """What it finds or, if that is a fault, the line that says so: the rest is looked through all the same."""
    try:
        yield look()
    except StudentFault as fault:
        yield fault.message
    except StaffFault as fault:
        yield str(fault)
