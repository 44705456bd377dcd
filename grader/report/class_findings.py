"""What a teacher asks about a class and no single report says: which checks tell nobody apart, who is far from the
rest, and how time was spent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

_Data = Mapping[str, Any]
_TRIED = ("passed", "partial", "failed", "crashed")
_FEWEST = 3  # students who tried: of one or two nothing follows
_FEWEST_FOR_FENCES = 8  # students, for a middle half to mean anything
_FENCE = 1.5  # times the middle half's width: Tukey's fences
_EASY = 0.9  # share of the class that has a part in full


@dataclass(frozen=True)
class OneSided:
    """A check that comes out the same for all who tried it."""

    part: str
    check: str
    asks: str
    students: int


@dataclass(frozen=True)
class Far:
    student: str
    why: str


@dataclass(frozen=True)
class TimeSpent:
    """Seconds that the public checks of one part took; of hidden ones reports say no more than 1, 10 or 100 s."""

    part: str
    title: str
    seconds: float
    typical: float  # for one student
    longest: float
    student: str  # who took longest


def one_sided(reports: Sequence[_Data]) -> tuple[list[OneSided], list[OneSided]]:
    """Checks that everybody failed (is the check wrong, or was it never taught?), and those that nobody failed."""
    tried: dict[tuple[str, str], list[_Data]] = defaultdict(list)
    for report in reports:
        for problem in report["problems"]:
            for check in problem["checks"]:
                if check["status"] in _TRIED:
                    tried[problem["id"], check["id"]].append(check)
    everybody, nobody = [], []
    for (part, name), checks in tried.items():
        if len(checks) < _FEWEST:
            continue
        record = OneSided(part, name, checks[0].get("asks", ""), len(checks))
        if all(check["status"] in ("failed", "crashed") for check in checks):
            everybody.append(record)
        elif all(check["status"] == "passed" for check in checks) and checks[0].get("max_points"):
            nobody.append(record)
    return everybody, nobody


def far_from_the_rest(reports: Sequence[_Data]) -> list[Far]:
    """Totals beyond Tukey's fences, then good work that has nothing in a part which hardly anybody lost."""
    if len(reports) < _FEWEST_FOR_FENCES:
        return []
    totals = [report["points"] for report in reports]
    low, middle, high = quantiles(totals, n=4, method="inclusive")
    reach = _FENCE * (high - low)
    around = f"half of the class have {low:g} to {high:g}"
    found = [
        Far(report["submission"], f"{report['points']:g} points; {around}")
        for report in sorted(reports, key=lambda report: abs(report["points"] - middle), reverse=True)
        if not low - reach <= report["points"] <= high + reach
    ]
    return found + _odd_parts(reports, middle)


def _odd_parts(reports: Sequence[_Data], middle: float) -> list[Far]:
    by_part: dict[str, list[tuple[_Data, _Data]]] = defaultdict(list)
    for report in reports:
        for problem in report["problems"]:
            if problem["max_points"] and problem["status"] != "review":
                by_part[problem["id"]].append((report, problem))
    found = []
    for part, several in by_part.items():
        share = sum(problem["points"] >= problem["max_points"] for _, problem in several) / len(several)
        if share < _EASY or len(several) < _FEWEST_FOR_FENCES:
            continue
        for report, problem in several:
            if not problem["points"] and report["points"] >= middle:
                why = f"nothing for {part} ({problem['status']}), which {100 * share:.0f} % have in full"
                found.append(Far(report["submission"], f"{why}; {report['points']:g} in all"))
    return found


def time_spent(reports: Sequence[_Data]) -> list[TimeSpent]:
    """The part that took longest first."""
    by_part: dict[str, dict[str, float]] = defaultdict(dict)
    titles: dict[str, str] = {}
    for report in reports:
        for problem in report["problems"]:
            titles.setdefault(problem["id"], problem["title"])
            taken = sum(one.get("seconds", 0.0) for one in problem["checks"] if one.get("visibility") == "public")
            by_part[problem["id"]][report["submission"]] = taken
    found = []
    for part, taken in by_part.items():
        slowest = max(taken, key=lambda student: taken[student])
        whole, typical = sum(taken.values()), median(taken.values())
        found.append(TimeSpent(part, titles[part], whole, typical, taken[slowest], slowest))
    return sorted((one for one in found if one.seconds), key=lambda one: -one.seconds)
