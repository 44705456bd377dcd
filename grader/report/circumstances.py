"""What a report says beside its parts: bonus, lateness, who handed it in together, and whether anything was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_HANDED_IN = "not handed in"
NOT_GRADED_YET = "not graded yet"
# Columns that a table has only where somebody has something in them.
SOMETIMES = ("bonus_points", "handed_in", "days_late", "points_before", "deduction", "group")


def beside_points(report: Mapping[str, Any]) -> dict[str, Any]:
    """What of these a report has: bonus, and how lateness changed the points."""
    found: dict[str, Any] = {}
    if "bonus_points" in report:
        found["bonus_points"] = report["bonus_points"]
    if late := report.get("lateness"):
        found |= {"handed_in": late["handed_in"], "days_late": late["days"]}
        found |= {name: late[name] for name in ("points_before", "deduction")}
    if report.get("not_handed_in"):
        found["handed_in"] = NOT_HANDED_IN
    if report.get("not_graded_yet"):
        found["handed_in"] = NOT_GRADED_YET
    if "group" in report:
        found["group"] = " ".join(report["group"])
    return found


def sum_of_lateness(report: Mapping[str, Any]) -> str:
    """`2 days late: 57.5 − 11.5 = 46 points`; nothing for work that came in time."""
    late = report.get("lateness")
    if not late or not late["days"]:
        return ""
    reckoned = f"{late['points_before']:g} − {late['deduction']:g} = {report['points']:g} points"
    return f"{days_of(late)} late: {reckoned}"


def days_of(late: Mapping[str, Any]) -> str:
    return "1 day" if late["days"] == 1 else f"{late['days']} days"


def about_lateness(report: Mapping[str, Any]) -> str:
    """The same, with the rule and both times."""
    if not (reckoned := sum_of_lateness(report)):
        return ""
    late = report["lateness"]
    handed_in, due = (late[name].replace("T", " ") for name in ("handed_in", "deadline"))
    return f"{reckoned} ({late['rule']}; handed in {handed_in}, due {due})"
