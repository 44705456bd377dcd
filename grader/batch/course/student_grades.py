"""Every student's grade as it stands: what the hand-in earned and people decided, less what lateness takes off.

The order is: parts, with bonus, add up; lateness takes its share of that; `export --cap` comes last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.batch.course.class_list import ClassList, Row, about_dispute, class_list
from grader.batch.course.lateness import LatenessRule, Span, moment
from grader.batch.course.person import folded
from grader.batch.gradebook import Gradebook, Result
from grader.batch.grades import current_grade
from grader.batch.totals import maximum
from grader.errors import UsageError
from grader.model import Status
from grader.report.circumstances import NOT_GRADED_YET, NOT_HANDED_IN
from grader.report.points import rounded


@dataclass(frozen=True)
class StudentGrade:
    row: Row
    data: dict[str, Any]  # as the JSON report has it

    @property
    def is_graded(self) -> bool:
        return bool(self.row.hand_ins) and not self.row.not_graded


def student_grades(gradebook: Gradebook, everybody: ClassList | None = None) -> Iterator[StudentGrade]:
    """One at a time, by id, so that a class of any size fits."""
    if not gradebook.students():
        raise UsageError(f"{gradebook.path}: nothing is graded yet; `grader batch` does it")
    rule, extensions = gradebook.settings.rule, gradebook.settings.extensions
    pattern: Result | None = None
    for row in (everybody or class_list(gradebook)).rows:
        result = gradebook.latest(row.hand_ins[0]) if row.hand_ins else None
        if result is None or len(row.hand_ins) > 1:
            pattern = result or pattern or _any_result(gradebook)
            yield StudentGrade(row, _nothing_yet(gradebook, row, pattern))
            continue
        data = {**current_grade(gradebook, result), "submission": row.student}
        if row.members:
            data["group"] = list(row.members)
        if rule is not None and row.came:
            extension = extensions.get(folded(row.student))
            data |= _after_lateness(rule, extension, row, _earned(gradebook, result), maximum(result))
        yield StudentGrade(row, data)


def _earned(gradebook: Gradebook, result: Result) -> Fraction:
    """Exactly, with what people decided."""
    points = {part: Fraction(text) for part, text in result.exact["points"].items()}
    for part, stands in gradebook.decisions.standing(result.student).items():
        if part in points and stands.decision is not None and stands.decision.points is not None:
            points[part] = stands.decision.points
    return sum(points.values(), Fraction(0))


def _any_result(gradebook: Gradebook) -> Result:
    return next(gradebook.everyone())


def _nothing_yet(gradebook: Gradebook, row: Row, pattern: Result) -> dict[str, Any]:
    """The report of somebody without a grade: nothing was handed in, it is not graded yet, or staff have to say which
    hand-in counts."""
    graded = current_grade(gradebook, pattern)
    said: dict[str, Any]
    status, said, note = Status.MISSING, {"not_handed_in": True}, NOT_HANDED_IN
    if row.not_graded:
        status, said, note = Status.UNGRADED, {"not_graded_yet": True}, NOT_GRADED_YET
    elif row.hand_ins:
        status, said, note = Status.REVIEW, {"disputed": list(row.hand_ins)}, about_dispute(row)
    problems = []
    for problem in graded["problems"]:
        worth = rounded(Fraction(pattern.exact["worth"][problem["id"]]))
        kept = {key: problem[key] for key in ("id", "title", "bonus") if key in problem}
        most = 0 if "bonus" in problem else worth
        problems.append({**kept, "status": str(status), "points": 0, "max_points": most, "checks": []})
    return {
        **graded,
        "submission": row.student,
        "points": 0,
        **({"bonus_points": 0} if "bonus_points" in graded else {}),
        "provisional": bool(row.hand_ins),
        "seconds": 0,
        "notes": [note],
        **said,
        "problems": problems,
    }


def _after_lateness(
    rule: LatenessRule, extension: Span | None, row: Row, earned: Fraction, most: Fraction
) -> dict[str, Any]:
    """The points as lateness leaves them, and how it came to that. What is shown adds up to the cent."""
    days = rule.days_late(moment(row.came), extension)
    before, after = rounded(earned), rounded(earned - rule.deduction(days, earned, most))
    due = (extension or Span()).after(rule.due).astimezone(rule.due.tzinfo)
    return {
        "points": after,
        "lateness": {
            "handed_in": moment(row.came).astimezone(due.tzinfo).isoformat(timespec="seconds"),
            "deadline": due.isoformat(timespec="seconds"),
            **({"extension": str(extension)} if extension else {}),
            "days": days,
            "rule": str(rule),
            "points_before": before,
            "deduction": _difference(before, after),
        },
    }


def _difference(before: float, after: float) -> int | float:
    return rounded(Fraction(round(100 * before) - round(100 * after), 100))
