"""Of each graded part the few values that decisions and lists of open parts need, as rows beside the report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from grader.model import Status

INSERT_PART = "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def part_rows(result: int, exact: Mapping[str, Any], report: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for place, problem in enumerate(report["problems"]):
        part = problem["id"]
        judged = problem.get("judged", {}).get("sha256", "")
        found = every_idea_found(problem, exact["scores"])
        yield result, place, part, problem["status"], exact["points"][part], exact["worth"][part], judged, int(found)


def part_rows_of_text(result: int, exact: str, report: str) -> Iterator[tuple[Any, ...]]:
    return part_rows(result, json.loads(exact), json.loads(report))


def every_idea_found(problem: Mapping[str, Any], scores: Mapping[str, str]) -> bool:
    """Whether it waits for a person only because prose does, and in the prose nothing asked for is missing or wrong."""
    waiting = [check for check in problem["checks"] if check["status"] in (Status.REVIEW, Status.UNGRADED)]
    return bool(waiting) and all(
        check["status"] == Status.REVIEW
        and scores.get(f"{problem['id']}/{check['id']}") == "1"
        and "not_found" in check["evidence"]
        and not check["evidence"].get("wrong_claims")
        for check in waiting
    )
