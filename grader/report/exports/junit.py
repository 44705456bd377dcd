"""JUnit XML as pytest writes it (family xunit2): a suite for each submission, a test case for each check.

https://docs.pytest.org/en/stable/how-to/output.html#creating-junitxml-format-files; points stand in properties, where
`record_property` puts its values.
"""

from __future__ import annotations

from typing import Literal
from xml.etree import ElementTree

from grader.model import Status
from grader.report.circumstances import beside_points
from grader.report.exports.reports import (
    CheckData,
    ProblemData,
    ReportData,
    Reports,
    decided_by,
    left_out,
    one_line,
    out_of,
)

Kind = Literal["failure", "error", "skipped"]

# Wrong work is a failure; what did not run to its end, whoever's fault, an error; what nobody has decided, skipped.
_KINDS: dict[str, Kind] = {
    Status.PARTIAL: "failure",
    Status.FAILED: "failure",
    Status.MISSING: "failure",
    Status.CRASHED: "error",
    Status.UNGRADED: "error",
    Status.SKIPPED: "skipped",
    Status.REVIEW: "skipped",
}


def junit(reports: Reports) -> str:
    root = ElementTree.Element("testsuites", name="grader")
    for student, report in reports.items():
        root.append(_suite(student, report))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(student: str, report: ReportData) -> ElementTree.Element:
    checks = [(problem, check) for problem in report["problems"] for check in problem["checks"]]
    kinds = [_kind(problem, check) for problem, check in checks]
    suite = ElementTree.Element(
        "testsuite",
        name=one_line(student),
        errors=str(kinds.count("error")),
        failures=str(kinds.count("failure")),
        skipped=str(kinds.count("skipped")),
        tests=str(len(checks)),
        time=f"{report['seconds']:.3f}",
    )
    _properties(
        suite,
        rubric=report["rubric"],
        points=report["points"],
        max_points=report["max_points"],
        **beside_points(report),
        provisional=str(report["provisional"]).lower(),
    )
    suite.extend(_case(report, problem, check) for problem, check in checks)
    return suite


def _case(report: ReportData, problem: ProblemData, check: CheckData) -> ElementTree.Element:
    classname = one_line(f"{report['rubric']}.{problem['id']}")
    case = ElementTree.Element(
        "testcase", classname=classname, name=one_line(check["id"]), time=f"{check['seconds']:.3f}"
    )
    _properties(
        case,
        points=check["points"],
        max_points=check["max_points"],
        status=_status(problem, check),
        visibility=check["visibility"],
    )
    if decided := decided_by(problem):
        ElementTree.SubElement(case, "system-out").text = f"{problem['id']}: {out_of(problem)} points, {decided}"
    if kind := _kind(problem, check):
        message = one_line(check["message"])
        ElementTree.SubElement(case, kind, type=_status(problem, check), message=message).text = message
    return case


def _kind(problem: ProblemData, check: CheckData) -> Kind | None:
    return "skipped" if left_out(problem) else _KINDS.get(_status(problem, check))


def _status(problem: ProblemData, check: CheckData) -> Status:
    """The part's, for a check that waited for a person who has decided."""
    settled = "decision" in problem and check["status"] in (Status.REVIEW, Status.UNGRADED)
    return problem["status"] if settled else check["status"]


def _properties(parent: ElementTree.Element, **values: int | float | str) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", name=name, value=one_line(str(value)))
