"""An answer tried out: how it is read for a part and, where the part is public, what it earns."""

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
from grader.registry import defined, options_of, reader_of
from grader.sandbox.host.open_runner import OpenRunner
from grader.selfcheck.home_rubric import is_judged
from grader.submission.opening import OpenedSubmission

SHEET = "answers.md"
LINE = 3  # of the sheet: above the formula stand its heading and an empty line


@dataclass(frozen=True)
class Trial:
    """A check's reading of the answer. The result is None where it is not told."""

    check: Check | None
    readings: tuple[Reading, ...]
    result: CheckResult | None
    answer: Answer
    judged_whole: bool = False  # by `grader check`, with the rest of the answer

    @property
    def finds_something(self) -> bool:
        """Whether the answer is meant for this check, too, if it holds a formula for another."""
        told = self.result.outcome if self.result else None
        return told is not None and (told.score > 0 or bool(told.evidence.get("wrong_claims")))


def try_answer(text: str, part: str, whole: Rubric) -> list[Trial]:
    """What is public is judged, prose too where its ideas are at hand; of a hidden check only the reading is shown."""
    (problem,) = (problem for problem in whole.problems if problem.id == part)
    with tempfile.TemporaryDirectory(prefix="grader-answer-") as folder:
        (Path(folder) / SHEET).write_text(f"## {part}\n\n{text}\n", encoding="utf-8")
        sheet = OpenedSubmission("answer", Path(folder), len(text), (SHEET,))
        answer = read_answers(sheet, whole.parts).parts.get(part)
        if answer is None:
            raise UsageError("there is no answer; write one in quotation marks, such as 'W = 2 U V^\\top'")
        formulas = [check for check in problem.checks if reader_of(check.function)]
        words = [check for check in problem.checks if _is_in_words(check)]
        whose = bool(whole.per_student.drawn)  # without it, nobody's numbers are right
        told = [one for one in (*formulas, *words) if one.visibility == "public" and (whose or not one.personal)]
        alone = [replace(check, needs=(), review_unless={}, gate=False) for check in told]
        judged = replace(problem, checks=tuple(alone), alternatives=())
        with OpenRunner() as runner:  # no check of a written answer asks it anything
            report = grade(replace(whole, problems=(judged,)), sheet, runner, draw_at_home())
    results = {result.check.id: result for result in report.problems[0].checks}
    trials = [Trial(check, tuple(readings_of(check, answer)), results.get(check.id), answer) for check in formulas]
    trials = trials or _only_read(problem, answer)
    is_read = any(isinstance(reading, Read) or reading.place for trial in trials for reading in trial.readings)
    in_words = (Trial(check, (), results.get(check.id), answer) for check in words)
    trials += [trial for trial in in_words if not is_read or trial.finds_something]
    # What the letters stand for is not known without a check: only how a formula is spelled can be told.
    judged_here = any(is_judged(check) for check in problem.checks if check.visibility == "public")
    return trials or [Trial(None, (_without_symbols(answer, text),), None, answer, judged_here)]


def _is_in_words(check: Check) -> bool:
    """Whether it judges what is written, and no formula of it: ideas or a choice."""
    is_other = check.files or reader_of(check.function, alone=False)
    return not is_other and bool(defined(check).judges or options_of(check))


def _only_read(problem: Problem, answer: Answer) -> list[Trial]:
    """Checks that judge the whole answer, or one of several ways to answer, show how they read a formula."""
    return [
        Trial(check, tuple(readings), None, answer, check.visibility == "public" and is_judged(check))
        for check in problem.every_check
        if (readings := readings_of(check, answer))
    ]


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
