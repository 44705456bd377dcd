"""One formula tried out: how it is read for a part and, where the part is public, whether it works."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from grader.answers import read_answers
from grader.errors import UsageError
from grader.formulas.answer.asked_for import AskedName
from grader.formulas.answer.explaining import NotRead, Read, Reading, how_read
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.typing.vocabulary import Vocabulary
from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.model import Answer, Check, CheckResult, Problem, Rubric
from grader.registry import reader_of
from grader.rubric.per_student import for_student
from grader.sandbox.host.open_runner import OpenRunner
from grader.selfcheck.home_rubric import at_home, is_judged
from grader.submission.opening import OpenedSubmission

SHEET = "answers.md"
LINE = 3  # of the sheet: above the formula stand its heading and an empty line


@dataclass(frozen=True)
class Trial:
    """A check's reading of the formula. The result is None where it is not told."""

    check: Check | None
    readings: tuple[Reading, ...]
    result: CheckResult | None
    answer: Answer
    judged_whole: bool = False  # by `grader check`, with the rest of the answer


def try_formula(text: str, part: str, whole: Rubric) -> list[Trial]:
    """What is checked at home is judged; of a hidden check only the reading is shown."""
    rubric = at_home(whole)
    (whole_problem,) = (problem for problem in whole.problems if problem.id == part)
    (problem,) = (problem for problem in rubric.problems if problem.id == part)
    with tempfile.TemporaryDirectory(prefix="grader-formula-") as folder:
        (Path(folder) / SHEET).write_text(f"## {problem.id}\n\n{text}\n", encoding="utf-8")
        sheet = OpenedSubmission("formula", Path(folder), len(text), (SHEET,))
        answer = read_answers(sheet, rubric.parts).parts.get(problem.id)
        if answer is None:
            raise UsageError("there is no formula; write one in quotation marks, such as 'W = 2 U V^\\top'")
        checks = [check for check in whole_problem.checks if reader_of(check.function)]
        if not checks:
            return _only_read(whole_problem, problem, answer, text)
        public = {check.id for check in problem.checks}
        whose = bool(rubric.per_student.drawn)  # without it, nobody's numbers are right
        told = (check for check in checks if check.id in public and (whose or not check.personal))
        judged = replace(problem, checks=tuple(told), alternatives=())
        with OpenRunner() as runner:  # no check of a formula asks it anything
            asked = for_student(replace(rubric, problems=(judged,)), sheet.name, draw_at_home())
            report = grade(asked, sheet, runner, draw_at_home())
    results = {result.check.id: result for result in report.problems[0].checks}
    return [Trial(check, tuple(readings_of(check, answer)), results.get(check.id), answer) for check in checks]


def _only_read(whole: Problem, here: Problem, answer: Answer, text: str) -> list[Trial]:
    """Checks that judge the whole answer, or one of several ways to answer, show how they read a formula."""
    judged = {check.id for check in _with_alternatives(here) if is_judged(check)}
    trials = [
        Trial(check, tuple(readings), None, answer, check.id in judged)
        for check in _with_alternatives(whole)
        if (readings := readings_of(check, answer))
    ]
    if trials:
        return trials
    # What its letters stand for is not known here: only how it is spelled can be told.
    return [Trial(None, (_without_symbols(answer, text),), None, answer, any(map(is_judged, here.checks)))]


def _with_alternatives(problem: Problem) -> list[Check]:
    return [*problem.checks, *(check for one in problem.alternatives for check in one.checks)]


def readings_of(check: Check, answer: Answer) -> list[Reading]:
    reader = reader_of(check.function, alone=False)
    return list(reader(answer, **check.parameters)) if reader else []


def why_unread(check: Check, answer: Answer) -> str:
    """Where reading stopped, if nothing of what the check asks for could be read."""
    readings = readings_of(check, answer) if reader_of(check.function) else []
    unread = [reading for reading in readings if isinstance(reading, NotRead)]
    if not unread or len(unread) < len(readings):
        return ""
    return f"{unread[0].place}: {unread[0].cause}" if unread[0].place else unread[0].cause


def column_in(text: str, unread: NotRead, answer: Answer) -> int | None:
    """Where in the text, from 0, reading stopped."""
    if unread.place is None or unread.place.line != LINE:
        return None
    begins = text.find(answer.pieces[unread.place.piece].text)  # places count from where the formula begins
    return min(max(begins, 0) + unread.place.column - 1, max(len(text) - 1, 0))


def _without_symbols(answer: Answer, text: str) -> Reading:
    """The left side is taken for the name that was asked for."""
    name = text.partition("=")[0].strip("$`\\()[] \t") or "x"
    try:
        reading = how_read(answer, Vocabulary(()), AskedName(name))
    except Unreadable as fault:
        return NotRead(fault.cause)
    return replace(reading, shape="", letters={}, misfit="", expanded=None) if isinstance(reading, Read) else reading
