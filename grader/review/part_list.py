"""The parts of a class with what is open in each, for one reviewer. It counts rows and opens no report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from grader.batch.gradebook import Gradebook
from grader.batch.gradebook_file import ANY_ANSWER
from grader.batch.rulings import OPEN, Mark

_LATEST = "(SELECT student, MAX(id) AS id FROM results GROUP BY student)"


@dataclass(frozen=True)
class PartOverview:
    part: str
    title: str
    prompt: str
    worth: Fraction
    open: int  # for this reviewer
    decided: int
    total: int
    waiting_requests: int
    kind: str  # answer | code | files


def part_list(gradebook: Gradebook, reviewer: str) -> list[PartOverview]:
    base = gradebook.file.base
    total, waiting, decided = Counter[str](), Counter[str](), Counter[str]()
    for part, status, count in base.execute(
        f"SELECT p.part, p.status, COUNT(*) FROM {_LATEST} l JOIN parts p ON p.result = l.id GROUP BY 1, 2"
    ):
        total[part] += count
        waiting[part] += count * (status in OPEN)
    log = _standing(gradebook)
    for student, part, status, judged in base.execute(  # the few that somebody decided may stand otherwise
        f"SELECT DISTINCT d.student, d.part, p.status, p.judged FROM decisions d JOIN {_LATEST} l "
        "ON l.student = d.student JOIN parts p ON p.result = l.id AND p.part = d.part"
    ):
        is_decided, is_open = _seen(log.get((student, part), []), judged, reviewer)
        decided[part] += is_decided
        waiting[part] += is_open or (not is_decided and status in OPEN)
        waiting[part] -= status in OPEN
    asked = Counter(request.part for request in gradebook.requests.all(open_only=True))
    prompts = _prompts_of(gradebook)
    return [
        PartOverview(part, title, prompts.get(part, ""), Fraction(worth), *counted, kind)
        for part, title, kind, worth in _titles(gradebook, total.keys())
        for counted in [(waiting[part], decided[part], total[part], asked[part])]
    ]


def _titles(gradebook: Gradebook, parts: AbstractSet[str]) -> list[tuple[str, str, str, str]]:
    """In the order of the rubric of the last result; behind, parts that only earlier results have."""
    query = (
        "SELECT t.part, t.title, t.kind, p.worth FROM traits t JOIN parts p ON p.result = t.result AND p.part = t.part "
        "WHERE t.result = {} ORDER BY p.place"
    )
    base = gradebook.file.base
    found = {row[0]: row for row in base.execute(query.format("(SELECT MAX(id) FROM results)"))}
    for part in sorted(parts - found.keys()):
        last = query.format("(SELECT MAX(result) FROM parts WHERE part = :part) AND t.part = :part")
        found[part] = base.execute(last, {"part": part}).fetchone()
    return [row for part, row in found.items() if part in parts]


_Row = tuple[str, bool, int, str]  # judged, whether it has points, mark, by whom


def _standing(gradebook: Gradebook) -> dict[tuple[str, str], list[_Row]]:
    found: dict[tuple[str, str], list[_Row]] = {}
    for student, part, *row in gradebook.file.base.execute(
        "SELECT d.student, d.part, d.judged, d.points IS NOT NULL, d.mark, r.by FROM decisions d "
        "JOIN acts r ON r.id = COALESCE(d.rests_on, d.act) LEFT JOIN acts u ON u.undoes = d.act "
        "LEFT JOIN acts v ON v.undoes = d.rests_on WHERE u.id IS NULL AND v.id IS NULL ORDER BY d.id"
    ):
        found.setdefault((student, part), []).append(tuple(row))
    return found


def _seen(log: list[_Row], judged: str, reviewer: str) -> tuple[bool, bool]:
    """Whether it is decided, and whether it is open for this reviewer: as decision_log.py and double_marking.py say."""
    counting = [row for row in log if row[2] != Mark.SECOND]
    if not counting:
        return False, False
    last = counting[-1]
    own = last if last[0] == ANY_ANSWER else next((row for row in reversed(counting) if row[0] == judged), None)
    if own is None:
        return False, last[1]
    if not own[1]:
        return False, False
    seconds = [row for row in log if row[2] == Mark.SECOND and row[0] == judged and row[3] != own[3]]
    return True, own[2] == Mark.FIRST and own[3] != reviewer and not seconds


def _prompts_of(gradebook: Gradebook) -> dict[str, str]:
    row = gradebook.file.base.execute(
        "SELECT d.text FROM results r JOIN definitions d ON d.sha256 = r.definition ORDER BY r.id DESC LIMIT 1"
    ).fetchone()
    return {} if row is None else _prompts(row[0])


@lru_cache(maxsize=4)
def _prompts(definition: str) -> dict[str, str]:
    """By part, what its prose checks say was asked; many rubrics say nothing."""
    found: dict[str, str] = {}
    for part, asked in json.loads(definition).get("problems", {}).items():
        groups = [asked.get("checks", {}), *(one["checks"] for one in asked.get("alternatives", {}).values())]
        prompts = [check["parameters"].get("prompt") for checks in groups for check in checks.values()]
        found[part] = next((one for one in prompts if isinstance(one, str) and one), "")
    return found
