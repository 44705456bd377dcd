"""A class whose answers differ in what matters to reviewers: ideas, formulas, failed checks; made without grading."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.batch.gradebook import Gradebook, Result, Run
from grader.review.desk import Desk
from grader.review.refs import Ref

IDEAS = [{"id": "positive", "label": "which sign", "weight": 2}, {"id": "sums", "label": "what sum", "weight": 1}]
CLAIMS = [{"id": "negative", "label": "a weight below zero", "at_most": "1/3"}]
PROMPT = "Why is α a distribution?"
DEFINITION = {
    "problems": {
        "1.a": {"checks": {"gives_the_ideas": {"parameters": {"ideas": IDEAS, "wrong": CLAIMS, "prompt": PROMPT}}}},
        "1.b": {"checks": {"weights_tend_to": {"parameters": {}}}},
        "2": {"checks": {"rows_sum_to_one": {"parameters": {}}}},
    }
}
ALL_FOUND = {"positive": "positive", "sums": "sum to one"}


def check(id_: str, status: str, points: float, worth: float, message: str = "", **evidence: Any) -> dict[str, Any]:
    asks = {"asks": f"It {id_.replace('_', ' ')}."}
    shown = {"points": points, "max_points": worth, "code": "prose_unread", "message": message, "evidence": evidence}
    return {"id": id_, **asks, "status": status, **shown, "visibility": "public", "seconds": 0.1}


def prose(text: str, found: Mapping[str, str] = ALL_FOUND, wrong: Mapping[str, str] = {}) -> dict[str, Any]:
    weights = {idea["id"]: Fraction(str(idea["weight"])) for idea in IDEAS}
    points = float(sum(weights[one] for one in found)) if not wrong else 1.0
    missing = [idea["label"] for idea in IDEAS if idea["id"] not in found]
    judged = check(
        "gives_the_ideas", "review", points, 3, "found", found=dict(found), not_found=missing, wrong_claims=dict(wrong)
    )
    return problem("1.a", "Weights", "review", points, 3, "answer", text, [judged])


def formula(text: str, canonical: str, status: str = "passed") -> dict[str, Any]:
    points = {"passed": 4, "review": 0}.get(status, 2)
    evidence = {"read_as": text, "canonical": canonical} if canonical else {}
    judged = check("weights_tend_to", status, points, 4, f"the scale is too small: {text}", **evidence)
    return problem("1.b", "A query", status, points, 4, "answer", text, [judged])


def code(text: str, message: str = "") -> dict[str, Any]:
    status, points = ("failed", 0) if message else ("passed", 2)
    judged = check("rows_sum_to_one", status, points, 2, message or "they do")
    return problem("2", "Attention", status, points, 2, "code", text, [judged])


def problem(
    part: str, title: str, status: str, points: float, worth: float, kind: str, text: str, checks: Sequence[Any]
) -> dict[str, Any]:
    piece = {"kind": "code" if kind == "code" else "answer", "file": "answers.md", "line": 1, "text": text}
    judged = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "kind": kind, "pieces": [piece]}
    shown = {"id": part, "title": title, "status": status, "points": points, "max_points": worth}
    return {**shown, "judged": judged, "checks": list(checks)}


def result(student: str, *problems: dict[str, Any], name: str = "") -> Result:
    worth = {one["id"]: one["max_points"] for one in problems}
    points = {one["id"]: one["points"] for one in problems}
    scores = {
        f"{one['id']}/{check['id']}": str(Fraction(str(check["points"])) / Fraction(str(check["max_points"])))
        for one in problems
        for check in one["checks"]
    }
    report = {
        "schema": 1,
        "submission": student,
        "rubric": "r",
        "rubric_sha256": "0" * 64,
        "grader_version": "1",
        "seed": 0,
        "points": sum(points.values()),
        "max_points": sum(worth.values()),
        "provisional": True,
        "seconds": 0.1,
        "notes": [],
        "isolation": {"layers": [], "missing": []},
        "problems": list(problems),
    }
    exact = {
        "points": {part: str(Fraction(str(one))) for part, one in points.items()},
        "worth": {part: str(Fraction(str(one))) for part, one in worth.items()},
        "scores": scores,
    }
    return Result(student, name, "graded", "s", "c", "r", json.dumps(DEFINITION), True, exact, report)


def keep(book: Gradebook, *results: Result) -> None:
    run = book.begin_run(Run("rubric.yaml", None, 0, (), ""), "r", "1")
    for one in results:
        book.add(run, one)


def essays(folder: Path, students: int) -> Gradebook:
    """Everybody wrote about 1.a, in words of their own, and every idea was found."""
    book = Gradebook(folder, new=True)
    keep(
        book,
        *(
            result(f"s{number}", prose(f"All are positive, and they sum to one, says {number}"))
            for number in range(students)
        ),
    )
    return book


def decide(desk: Desk, ref: Ref, points: int | None = None, **more: Any) -> Any:
    """As somebody who has just looked at it."""
    exact = None if points is None else Fraction(points)
    return desk.decide([ref], points=exact, versions={ref: desk.view(ref).version}, **more)


def grade(book: Gradebook, student: str) -> dict[str, Any]:
    from grader.batch.grades import current_grade

    latest = book.latest(student)
    assert latest is not None
    return current_grade(book, latest)
