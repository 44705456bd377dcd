"""What a result adds up to, exactly: all points, the maximum, and the bonus on top of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grader.batch.gradebook import Result
from grader.report.points import rounded


def totals(result: Result, exact: Mapping[str, Fraction]) -> dict[str, Any]:
    """Of these points by part, as the report has them; bonus only where a part is optional and worth anything."""
    optional = _optional(result.definition)
    found = {"points": rounded(_sum(exact.values())), "max_points": rounded(maximum(result))}
    if most := _sum(_worth(result, part) for part in exact if part in optional):
        earned = _sum(points for part, points in exact.items() if part in optional)
        found |= {"bonus_points": rounded(earned), "max_bonus": rounded(most)}
    return found


def maximum(result: Result) -> Fraction:
    """Of what is asked of everybody."""
    optional = _optional(result.definition)
    return _sum(_worth(result, part) for part in result.exact["points"] if part not in optional)


def marked(result: Result, problems: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The problems, with `bonus` where they are: reports did not always say it."""
    optional = _optional(result.definition)
    return [{**problem, "bonus": True} if problem["id"] in optional else problem for problem in problems]


def _worth(result: Result, part: str) -> Fraction:
    return Fraction(result.exact["worth"][part])


@lru_cache(maxsize=64)
def _optional(definition: str) -> frozenset[str]:
    """A class has few definitions, and each is long."""
    problems = json.loads(definition).get("problems", {})
    return frozenset(part for part, asked in problems.items() if asked.get("optional"))


def _sum(points: Iterable[Fraction]) -> Fraction:
    return sum(points, Fraction(0))
