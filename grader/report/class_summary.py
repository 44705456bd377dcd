"""What a class has in common, from its JSON reports: how hard each part was, what went wrong, who needs a person."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_Data = Mapping[str, Any]
_BINS = 10
_REPLAY = re.compile(r" \(seed \d+, trial \d+\)$")
_NUMERAL = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,/×]\d+)*(?:e[-+]?\d+)?(?!\w|\.\w)")  # not the 1 of q_1 or 1.b.ii
_OF_A_PROBLEM = ("id", "title", "status", "points", "max_points", "bonus", "decision", "decided_before")
_OF_A_CLASS = ("lateness", "group", "not_handed_in", "not_graded_yet", "disputed")
_EVIDENCE = ("looks_like", "read_as", "read_as_latex", "weights_by_scale")
_OF_A_CHECK = ("id", "asks", "status", "message", "max_points", "visibility", "seconds")
SEPARATOR = ", "  # between the formulas of one answer
_NOT_A_MISTAKE = ("passed", "skipped", "review", "ungraded", "missing")


@dataclass(frozen=True)
class Part:
    """One problem over the whole class. Optional ones count only those who handed them in."""

    id: str
    title: str
    max_points: float
    students: int
    mean: float
    full: int
    zero: int
    missing: int

    @property
    def share(self) -> float:
        return self.mean / self.max_points


@dataclass(frozen=True)
class Mistake:
    part: str
    check: str
    what: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class LikeAnswers:
    """Answers that mean the same, the commonest spelling first."""

    part: str
    status: str
    spellings: tuple[tuple[str, int], ...]
    students: tuple[str, ...]
    sources: Mapping[str, str]  # formulas that the reports have in LaTeX, too


@dataclass(frozen=True)
class ForAPerson:
    part: str
    title: str
    status: str  # review or ungraded
    students: tuple[str, ...]


@dataclass(frozen=True)
class DecidedBefore:
    part: str
    student: str
    points: float
    max_points: float
    by: str
    on: str


def needed_for_class_page(report: _Data) -> dict[str, Any]:
    """What the class's page needs of a report: figures and evidence are large, and a class may have thousands."""
    return {
        **{name: report[name] for name in ("submission", "points", "max_points", "provisional")},
        "secret": report.get("secret", ""),
        "seconds": report.get("seconds", 0.0),
        "max_bonus": report.get("max_bonus", 0),
        **{name: report[name] for name in _OF_A_CLASS if name in report},
        "problems": [
            {
                **{name: problem[name] for name in _OF_A_PROBLEM if name in problem},
                "checks": [
                    {
                        **{name: check[name] for name in _OF_A_CHECK if name in check},
                        "evidence": {name: check["evidence"][name] for name in _EVIDENCE if name in check["evidence"]},
                    }
                    for check in problem["checks"]
                ],
            }
            for problem in report["problems"]
        ],
    }


def about_the_secret(reports: Sequence[_Data]) -> str:
    """Whether the whole class was asked the same, and whether anybody could have known the inputs."""
    counts = Counter(report.get("secret", "") for report in reports)
    if not any(counts):
        cause = "no course secret was set, so anybody who has this grader can draw the same inputs"
        return f"{cause}; set GRADER_SECRET and run the batch again"
    if len(counts) == 1:
        return f"all inputs were drawn from the secret {next(iter(counts))}"
    listed = ", ".join(f"{often} from {secret or 'none'}" for secret, often in counts.most_common())
    return f"inputs were drawn from different secrets ({listed}); run the batch again, so that all are asked the same"


def bins(reports: Sequence[_Data]) -> tuple[list[int], list[str]]:
    """How many students have less than 10 %, 20 %, … of the maximum; full marks belong to the last class, and
    whoever has more, by bonus, to one of their own."""
    counts = [0] * (_BINS + 1)
    for report in reports:
        share = report["points"] / report["max_points"] if report["max_points"] else 0.0
        counts[_BINS if share > 1 else min(int(share * _BINS), _BINS - 1)] += 1
    labels = [*(str(100 * number // _BINS) for number in range(_BINS)), ">100"]
    used = _BINS + 1 if counts[_BINS] else _BINS
    return counts[:used], labels[:used]


def parts(reports: Sequence[_Data]) -> list[Part]:
    """The hardest first."""
    by_id: dict[str, list[_Data]] = defaultdict(list)
    for _, problem in _problems(reports):
        if problem["max_points"]:
            by_id[problem["id"]].append(problem)
    found = []
    for part, problems in by_id.items():
        points, most = [problem["points"] for problem in problems], problems[0]["max_points"]
        full, zero = sum(one >= most for one in points), sum(one == 0 for one in points)
        missing = sum(problem["status"] == "missing" for problem in problems)
        average = sum(points) / len(points)
        found.append(Part(part, problems[0]["title"], most, len(points), average, full, zero, missing))
    return sorted(found, key=lambda part: part.share)


def mistakes(reports: Sequence[_Data]) -> list[Mistake]:
    """The commonest first. What was not handed in is no mistake of its own: parts count it."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for report, problem, check in _checks(reports):
        if problem["max_points"] and check["status"] not in _NOT_A_MISTAKE:
            found[problem["id"], check["id"], _cause(check)].append(report["submission"])
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    return [Mistake(*key, tuple(students)) for key, students in ordered]


def _cause(check: _Data) -> str:
    """What is wrong, without what is one student's own: two students rarely err by the same number.

    A message is a cause, then perhaps a colon and details. A file's name before the colon is no cause.
    """
    named = check["evidence"].get("looks_like")
    if isinstance(named, str) and named:
        return f"it looks as if {named}"
    message = _REPLAY.sub("", check["message"])
    head, colon, _ = message.partition(": ")
    return _NUMERAL.sub("…", head if colon and " " in head else message)


def like_answers(reports: Sequence[_Data]) -> list[LikeAnswers]:
    """Formulas that were read, grouped by what they do where that was measured, else by their canonical spelling."""
    found: dict[tuple[Any, ...], list[tuple[str, str]]] = defaultdict(list)
    sources: dict[str, str] = {}
    for report, problem, check in _checks(reports):
        read, latex = (_several(check["evidence"].get(key)) for key in ("read_as", "read_as_latex"))
        spelling = SEPARATOR.join(read)
        if spelling:
            key = (problem["id"], check["id"], check["status"], _measured(check["evidence"]) or spelling)
            found[key].append((report["submission"], spelling))
            sources |= dict(zip(read, latex, strict=False))
    groups = []
    for (part, _, status, _), answers in found.items():
        spellings = Counter(spelling for _, spelling in answers).most_common()
        students = tuple(student for student, _ in answers)
        groups.append(LikeAnswers(part, status, tuple(spellings), students, sources))
    order = {problem["id"]: number for number, (_, problem) in reversed(list(enumerate(_problems(reports))))}
    return sorted(groups, key=lambda group: (order[group.part], -len(group.students)))


def _several(read: Any) -> list[str]:
    """Formulas of one answer; a report has a list only where there are several."""
    return [str(one) for one in (read if isinstance(read, list) else [read]) if one]


def _measured(evidence: _Data) -> tuple[Any, ...] | None:
    """Weights at several scales tell queries apart, whatever letters they are written in; at one scale they do not:
    1000(u − w) and 10⁶(u − w) reach the same limit."""
    match evidence.get("weights_by_scale"):
        case [_, _, *_] as rows if all(isinstance(row, Mapping) for row in rows):
            return tuple(round(float(value), 3) for row in rows for value in row.values())
    return None


def for_a_person(reports: Sequence[_Data]) -> list[ForAPerson]:
    """What a person has still to look at; our own faults first, since they may hide any score."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for report, problem in _problems(reports):
        if problem["status"] in ("review", "ungraded"):
            found[problem["id"], problem["title"], problem["status"]].append(report["submission"])
    ordered = sorted(found.items(), key=lambda item: item[0][2] != "ungraded")
    return [ForAPerson(*key, tuple(students)) for key, students in ordered]


def decided_before(reports: Sequence[_Data]) -> list[DecidedBefore]:
    """Parts that are open again, because the answer changed since a person decided it."""
    found = []
    for report, problem in _problems(reports):
        if said := problem.get("decided_before"):
            points = (said["points"], problem["max_points"])
            found.append(DecidedBefore(problem["id"], report["submission"], *points, said["by"], said["on"]))
    return found


def _problems(reports: Sequence[_Data]) -> Iterator[tuple[_Data, _Data]]:
    for report in reports:
        for problem in report["problems"]:
            yield report, problem


def _checks(reports: Sequence[_Data]) -> Iterator[tuple[_Data, _Data, _Data]]:
    for report, problem in _problems(reports):
        for check in problem["checks"]:
            yield report, problem, check
