"""The page of a class, for staff, made from JSON reports alone. What keeps it harmless is in `html`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any
from urllib.parse import quote as quote_address

from grader.model import Status
from grader.report import class_summary
from grader.report.circumstances import sum_of_lateness
from grader.report.html import rendered, share_of, worth_of
from grader.report.scores import bar, histogram

_LISTED = 40  # mistakes and groups of answers: what only one or two did is in their own reports

_FILTERS = (
    ("all", "everybody"),
    ("person", "needs a person"),
    ("ungraded", "ungraded"),
    ("decided", "decided by a person"),
    ("low", "below half of the points"),
    ("late", "late"),
    ("absent", "not handed in"),
)
_ONLY_IF_ANY = ("late", "absent")  # without a deadline or a roster nobody is


def class_page(
    everybody: Sequence[Mapping[str, Any]],
    title: str,
    pages: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The whole class, for staff. `pages` has, for each submission, the place of its own page relative to this one.
    What is counted is counted among those who handed something in and have a grade."""
    reports = [one for one in everybody if not one.get("not_handed_in") and not one.get("disputed")]
    points = [report["points"] for report in reports]
    mistakes = class_summary.mistakes(reports)
    answers = class_summary.like_answers(reports)
    most = max(reports, key=lambda report: report["max_points"], default={"max_points": 0})
    listed = [(report, _kinds(report)) for report in sorted(everybody, key=lambda report: report["submission"])]
    return rendered(
        "class.html",
        title=title,
        reports=listed,
        submissions=len(reports),
        notes=notes,
        late=sum_of_lateness,
        filters=[
            (name, label, sum(name in kinds for _, kinds in listed) if name != "all" else len(listed))
            for name, label in _FILTERS
            if name not in _ONLY_IF_ANY or any(name in kinds for _, kinds in listed)
        ],
        pages={name: f"./{quote_address(place)}" for name, place in (pages or {}).items()},
        mean=mean(points) if points else 0,
        median=median(points) if points else 0,
        lowest=min(points, default=0),
        highest=max(points, default=0),
        worth=worth_of,
        most=worth_of(most),
        histogram=histogram(*class_summary.bins(reports), x="share of the points, from … %"),
        parts=[(part, bar(part.share, f"{part.share:.0%} of the points")) for part in class_summary.parts(reports)],
        mistakes=mistakes[:_LISTED],
        more_mistakes=len(mistakes[_LISTED:]),
        answers=answers[:_LISTED],
        more_answers=len(answers[_LISTED:]),
        for_a_person=class_summary.for_a_person(reports),
        decided_before=class_summary.decided_before(reports),
        about_the_secret=class_summary.about_the_secret(reports),
    )


def _kinds(report: Mapping[str, Any]) -> list[str]:
    """Which filters show a student. The page's style does the filtering: it has no script."""
    statuses = {problem["status"] for problem in report["problems"]}
    found = {
        "person": report["provisional"],
        "ungraded": Status.UNGRADED in statuses,
        "absent": bool(report.get("not_handed_in")),
        "late": bool(report.get("lateness", {}).get("days")),
        "decided": any("decision" in problem for problem in report["problems"]),
        "low": share_of(report) < 1 / 2,
    }
    return [name for name, _ in _FILTERS if found.get(name)]
