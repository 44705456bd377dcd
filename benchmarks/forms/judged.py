"""Grades a sheet in a form, its written parts only, and says of each part how it fares beside the Markdown form."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cache
from pathlib import Path

from benchmarks.forms.corpus import REPOSITORY, Sheet, prompts
from benchmarks.forms.every_form import MARKDOWN, Form
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import ProblemResult, Rubric, Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission

STEM = "answers"


class Fate(StrEnum):
    """How an answer fares in a form, beside the same answer in Markdown."""

    SAME = "same"
    REVIEW = "review"  # a person decides, and so far it has no more points than in Markdown
    DIFFERENT = "different"
    MISSING = "missing"


@dataclass(frozen=True)
class Verdict:
    """What one part got: its status and points, check by check."""

    status: Status
    points: Fraction
    checks: tuple[tuple[str, Status, Fraction], ...]
    message: str

    def __str__(self) -> str:
        return f"{self.status} {float(self.points):g}"


class Judge:
    """Grades sheets. Written parts need no box, but the grader's own runner would open one if a check asked."""

    def __init__(self, runner: BoxRunner) -> None:
        self._runner = runner
        self._in_markdown: dict[str, dict[str, Verdict]] = {}

    def in_markdown(self, sheet: Sheet) -> dict[str, Verdict]:
        """What every other form is compared with; graded once."""
        if sheet.name not in self._in_markdown:
            self._in_markdown[sheet.name] = self(sheet, MARKDOWN)
        return self._in_markdown[sheet.name]

    def __call__(self, sheet: Sheet, form: Form, stem: str = STEM) -> dict[str, Verdict]:
        """The verdict of every written part, answered or not."""
        rubric = _written_parts(sheet.rubric)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / f"{stem}.{form.ending}").write_bytes(form.content(sheet))
            with open_submission(Path(folder)) as submission:
                report = grade(rubric, submission, self._runner, Draw(0, None))
        return {result.problem.id: _verdict(result) for result in report.problems}

    def points(self, rubric: str) -> dict[str, Fraction]:
        """The most that each written part can earn."""
        return {problem.id: problem.points for problem in _written_parts(rubric).problems}


@contextmanager
def judge() -> Iterator[Judge]:
    with BoxRunner(("numpy",)) as runner:
        yield Judge(runner)


def fate(want: Verdict, got: Verdict) -> Fate:
    if got.checks == want.checks:
        return Fate.SAME
    if any(status is Status.MISSING for _, status, _ in got.checks):
        return Fate.MISSING
    is_less = got.points <= want.points
    return Fate.REVIEW if got.status is Status.REVIEW and is_less else Fate.DIFFERENT


def differing(want: dict[str, Verdict], got: dict[str, Verdict], sheet: Sheet, form: Form) -> list[str]:
    """The answers that do not get what they should: text the verdict of Markdown, a PDF that or a person's."""
    allowed = (Fate.SAME, Fate.REVIEW) if form.is_pdf else (Fate.SAME,)
    return [part for part in sheet.answers if fate(want[part], got[part]) not in allowed]


@cache
def _written_parts(name: str) -> Rubric:
    """The rubric with only those problems that are answered in writing: by every sheet, or asked of it."""
    rubric = load_rubric(REPOSITORY / "rubrics" / name / "rubric.yaml")
    problems = tuple(problem for problem in rubric.problems if not _is_code(name, problem.id))
    parts = rubric.parts or tuple(problem.id for problem in rubric.problems)
    return replace(rubric, problems=problems, parts=parts)


def _is_code(rubric: str, part: str) -> bool:
    known = prompts(rubric)
    return part not in known or known[part].is_code


def _verdict(result: ProblemResult) -> Verdict:
    checks = tuple((one.check.id, one.outcome.status, one.points) for one in result.checks)
    messages = "; ".join(dict.fromkeys(one.outcome.message for one in result.checks))
    return Verdict(result.status, result.points, checks, messages)
