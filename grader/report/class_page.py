"""The page of a class, for staff, made from JSON reports alone. What keeps it harmless is in `html`.

Unlike a student's it has a script, which its policy names by its hash: it searches and sorts the rows that are there,
and leads from one student to the next. Without it the page says the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import mean, median
from typing import Any
from urllib.parse import quote as quote_address

from markupsafe import Markup

from grader.model import Status
from grader.report import class_findings, class_summary
from grader.report.circumstances import NOT_GRADED_YET, NOT_HANDED_IN, sum_of_lateness
from grader.report.html import TEMPLATES, formula, rendered, sha256_of, share_of, worth_of
from grader.report.scores import bar, histogram

_LISTED = 40  # mistakes and groups of answers: what only one or two did is in their own reports
_SPELLINGS = 4  # of one answer
_NAMED = 60  # students of one mistake; the list of students shows them all

_FILTERS = (
    ("all", "everybody"),
    ("person", "needs a person"),
    ("ungraded", "ungraded"),
    ("decided", "decided by a person"),
    ("low", "below half of the points"),
    ("late", "late"),
    ("absent", NOT_HANDED_IN),
    ("waiting", NOT_GRADED_YET),
)
_START = 'document.documentElement.classList.add("scripted", "loading");'
_ONLY_IF_ANY = ("late", "absent", "waiting")  # without a deadline, a roster, a stopped batch nobody is
_WITHOUT_GRADE = ("not_handed_in", "not_graded_yet", "disputed")


class _Listings:
    """Lists of students on the page, each by a short name that their rows carry: a row says in which lists it is."""

    def __init__(self) -> None:
        self.of: dict[str, list[str]] = defaultdict(list)
        self._count = 0

    def add(self, students: Sequence[str], part: str = "") -> dict[str, Any]:
        self._count += 1
        name = f"l{self._count}"
        for student in students:
            self.of[student].append(name)
        return {"name": name, "part": part, "students": students[:_NAMED], "count": len(students)}


def class_page(
    everybody: Sequence[Mapping[str, Any]],
    title: str,
    pages: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The whole class, for staff. `pages` has, for each submission, the place of its own page relative to this one.
    What is counted is counted among those who handed something in and have a grade."""
    reports = [one for one in everybody if not any(map(one.get, _WITHOUT_GRADE))]
    points = [report["points"] for report in reports]
    listings = _Listings()
    mistakes = class_summary.mistakes(reports)
    named = [(one, listings.add(one.students, one.part)) for one in mistakes[:_LISTED]]
    answers = class_summary.like_answers(reports)
    waiting = class_summary.for_a_person(reports)
    everybody_failed, nobody_failed = class_findings.one_sided(reports)
    times = class_findings.time_spent(reports)
    seconds = sum(report.get("seconds", 0.0) for report in reports)
    parts = class_summary.parts(reports)
    most = max(reports, key=lambda report: report["max_points"], default={"max_points": 0})
    listed = [(report, _kinds(report)) for report in sorted(everybody, key=lambda report: report["submission"])]
    return rendered(
        "class.html",
        title=title,
        scripts=_scripts(),
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
        parts=[(part, bar(part.share, f"{part.share:.0%} of the points")) for part in parts],
        mistakes=[pair for pair in named if pair[1]["count"] > 1],
        rare=[pair for pair in named if pair[1]["count"] == 1],
        more_mistakes=len(mistakes[_LISTED:]),
        spellings_shown=_SPELLINGS,
        answers=[(one, _spelled(one), listings.add(one.students, one.part)) for one in answers[:_LISTED]],
        more_answers=len(answers[_LISTED:]),
        for_a_person=[(one, listings.add(one.students, one.part)) for one in waiting],
        waiting=sum(len(one.students) for one in waiting),
        decided_before=class_summary.decided_before(reports),
        about_the_secret=class_summary.about_the_secret(reports),
        everybody_failed=everybody_failed,
        nobody_failed=nobody_failed,
        far=class_findings.far_from_the_rest(reports)[:_LISTED],
        times=[(one, bar(one.seconds / times[0].seconds, f"{one.seconds:.1f} s")) for one in times],
        seconds=seconds,
        other_seconds=max(seconds - sum(one.seconds for one in times), 0.0),
        reports=[(report, kinds, _row(report), listings.of.get(report["submission"], [])) for report, kinds in listed],
    )


@cache
def _scripts() -> list[dict[str, Any]]:
    """The page's scripts and what its policy knows them by. The first runs before any row is drawn."""
    texts = (_START, (TEMPLATES / "class.js").read_text(encoding="utf-8"))
    return [{"text": Markup(text), "sha256": sha256_of(text)} for text in texts]


def _spelled(group: class_summary.LikeAnswers) -> list[tuple[Markup, int]]:
    """Each spelling set, formula by formula, and how many wrote it so."""
    found = []
    for spelling, often in group.spellings[:_SPELLINGS]:
        each = spelling.split(class_summary.SEPARATOR) if spelling not in group.sources else [spelling]
        found.append((Markup(", ").join(formula(one, group.sources.get(one, "")) for one in each), often))
    return found


def _row(report: Mapping[str, Any]) -> dict[str, Any]:
    """How many parts of those asked for are right, and where most was lost."""
    asked = [problem for problem in report["problems"] if problem["max_points"] and not problem.get("bonus")]
    worst = max(asked, key=lambda problem: problem["max_points"] - problem["points"], default=None)
    lost = worst["max_points"] - worst["points"] if worst else 0
    return {
        "right": sum(problem["status"] == Status.PASSED for problem in asked),
        "asked": len(asked),
        "worst": worst["id"] if worst and lost > 0 and not any(map(report.get, _WITHOUT_GRADE)) else "",
        "lost": lost,
    }


def _kinds(report: Mapping[str, Any]) -> list[str]:
    """Which filters show a student. The page's style does the filtering, script or not."""
    statuses = {problem["status"] for problem in report["problems"]}
    found = {
        "person": report["provisional"],
        "ungraded": Status.UNGRADED in statuses,
        "absent": bool(report.get("not_handed_in")),
        "waiting": bool(report.get("not_graded_yet")),
        "late": bool(report.get("lateness", {}).get("days")),
        "decided": any("decision" in problem for problem in report["problems"]),
        "low": share_of(report) < 1 / 2,
    }
    return [name for name, _ in _FILTERS if found.get(name)]
