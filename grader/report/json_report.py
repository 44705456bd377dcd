"""The report as JSON: the contract of `schema.json`, the same bytes for the same work but for times."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from grader import __version__
from grader.grading.concealment import seconds_shown
from grader.model import CheckResult, ProblemResult, Report
from grader.report.points import rounded

SCHEMA_VERSION = 1


def to_json(report: Report) -> str:
    text = json.dumps(as_data(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return text.encode("utf-8", "replace").decode()  # a lone surrogate is legal in Python and in no file


def as_data(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION,
        "submission": report.submission,
        "rubric": report.rubric.name,
        "title": report.rubric.title,
        "rubric_sha256": report.rubric.sha256,
        "grader_version": __version__,
        "seed": report.seed,
        "secret": report.secret,
        "points": rounded(report.points),
        "max_points": rounded(report.max_points),
        **_bonus(report),
        "provisional": report.provisional,
        "seconds": float(f"{report.seconds:.2g}"),  # not to the millisecond: code of hidden checks can choose those
        "isolation": {"layers": list(report.isolation.layers), "missing": list(report.isolation.missing)},
        "notes": list(report.notes),
        "problems": [_problem(problem) for problem in report.problems],
    }


def _bonus(report: Report) -> dict[str, Any]:
    """Only where a rubric has any, so that the others' reports stay as they were."""
    if not report.max_bonus:
        return {}
    return {"bonus_points": rounded(report.bonus_points), "max_bonus": rounded(report.max_bonus)}


def _problem(result: ProblemResult) -> dict[str, Any]:
    return {
        "id": result.problem.id,
        "title": result.problem.title,
        **({"chosen": result.chosen} if result.chosen else {}),
        "status": str(result.status),
        "points": rounded(result.points),
        "max_points": rounded(result.max_points),
        **({"bonus": True} if result.problem.optional else {}),
        **({"judged": _plain(result.judged)} if result.judged else {}),
        "checks": [_check(check) for check in result.checks],
    }


def _check(result: CheckResult) -> dict[str, Any]:
    return {
        "id": result.check.id,
        "asks": result.check.summary,
        "status": str(result.outcome.status),
        "points": rounded(result.points),
        "max_points": rounded(result.check.points),
        "code": result.outcome.code,
        "message": result.outcome.message,
        "evidence": _plain(result.outcome.evidence),
        "visibility": result.check.visibility,
        "seconds": seconds_shown(result.seconds, result.check.visibility),
    }


_ALWAYS_PLAIN = frozenset({str, int, bool, type(None)})


def _plain(value: Any) -> Any:
    """Evidence as JSON has it; what is not finite becomes text, because JSON has no NaN."""
    if type(value) in _ALWAYS_PLAIN:  # most of it
        return value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
