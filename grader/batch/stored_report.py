"""A Report as the gradebook keeps it."""

from __future__ import annotations

import json

from grader.batch import fingerprints
from grader.batch.gradebook import Result
from grader.model import Report, Rubric, Status
from grader.report.json_report import as_data


def result_of(report: Report, *, name: str, how: str, submission_sha256: str, conditions_sha256: str) -> Result:
    checks = [(f"{one.problem.id}/{result.check.id}", result) for one in report.problems for result in one.checks]
    return Result(
        student=report.submission,
        name=name,
        how=how,
        submission_sha256=submission_sha256,
        conditions_sha256=conditions_sha256,
        rubric_sha256=report.rubric.sha256,
        definition=_definition(report.rubric),
        settled=not any(result.outcome.status is Status.UNGRADED for _, result in checks),
        exact={
            "points": {one.problem.id: str(one.points) for one in report.problems},
            "worth": {one.problem.id: str(one.problem.points) for one in report.problems},
            "scores": {place: str(result.outcome.score) for place, result in checks},
        },
        report=as_data(report),
    )


_latest: list[tuple[Rubric, str]] = []


def _definition(rubric: Rubric) -> str:
    """Its text, kept for the next submission: that is graded by the same rubric, unless it has numbers of its own."""
    if not _latest or _latest[0][0] is not rubric:
        _latest[:] = [(rubric, json.dumps(fingerprints.definition(rubric)))]
    return _latest[0][1]
