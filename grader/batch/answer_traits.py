"""What a reviewer's lists need to know of each graded part, as rows beside the report: which answers are the same, and
which items the grader itself would give. Made once, when a result is added: no list of a class opens a report.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from grader.batch.causes import cause_of
from grader.model import Status
from grader.quoting import quote

IDEA, MISTAKE, PERSON = "idea", "mistake", "person"  # where an item comes from
ALONE = "alone"
_WORDS = 300  # characters of an item made by the grader: two lines
_BEGINNING = 240  # characters of an answer in a list

_Data = Mapping[str, Any]
_AskedOfChecks = list[tuple[_Data, list[_Data]]]  # of each the ideas it asks for, and the wrong claims it knows


class Finding(NamedTuple):  # every result has a dozen
    """An item that the grader made, and whether this answer has it."""

    part: str
    origin: str
    place: int
    text: str
    points: Fraction
    found: bool


@lru_cache(maxsize=2048)  # a class has the same few items in every result
def _item(part: str, origin: str, text: str, points: str) -> str:
    """Its id says nothing: an idea's own name may give the answer away."""
    return "i" + _digest([part, origin, text, points])[:12]


class Asked:
    """What a rubric asked by each check of its parts; found once for a class."""

    def __init__(self, definition: _Data) -> None:
        self._problems: _Data = definition.get("problems", {})
        self._found: dict[tuple[str, ...], _AskedOfChecks] = {}  # by the part, what was chosen in it, and its checks

    def of(self, problem: _Data) -> _AskedOfChecks:
        """Of its alternatives the one that was chosen."""
        part, chosen, checks = problem["id"], problem.get("chosen", ""), [check["id"] for check in problem["checks"]]
        if (part, chosen, *checks) not in self._found:
            asked = self._problems.get(part, {})
            known = asked.get("checks", {}) | asked.get("alternatives", {}).get(chosen, {}).get("checks", {})
            found = [_asked_for(known.get(check, {}).get("parameters", {})) for check in checks]
            self._found[part, chosen, *checks] = found
        return self._found[part, chosen, *checks]


def add_traits(base: sqlite3.Connection, result: int, asked: Asked, exact: _Data, report: _Data) -> None:
    traits: list[tuple[Any, ...]] = []
    items: list[tuple[Any, ...]] = []
    found: list[tuple[Any, ...]] = []
    for problem in report["problems"]:
        part = problem["id"]
        judged = problem.get("judged", {})
        asked_here = asked.of(problem)
        text, likeness, why = _likeness(problem, result, _labels(asked_here))
        said = (problem.get("title", ""), _kind(problem), text, likeness, why, _beginning(judged))
        traits.append((result, part, *map(_storable, said)))
        for one in findings(problem, asked_here, exact["scores"]):
            points = str(one.points)
            item = _item(part, one.origin, one.text, points)
            items.append((item, part, one.origin, one.place, _storable(one.text), points))
            found.append((result, part, item, int(one.found)))
    base.executemany("INSERT INTO traits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", traits)
    base.executemany("INSERT OR IGNORE INTO initial_items VALUES (?, ?, ?, ?, ?, ?)", items)
    base.executemany("INSERT OR IGNORE INTO findings VALUES (?, ?, ?, ?)", found)


def findings(problem: _Data, asked: _AskedOfChecks, scores: Mapping[str, str]) -> Iterator[Finding]:
    """Of each check: prose gives an item for every idea, any other one for being passed; so is each mistake."""
    part = problem["id"]
    for number, (check, (ideas, claims)) in enumerate(zip(problem["checks"], asked, strict=True)):
        place = 100 * number
        worth = _exactly(str(check["max_points"]))
        if ideas:
            yield from _of_prose(part, place, check, worth, ideas, claims)
        elif worth and check.get("asks"):
            yield Finding(part, IDEA, place, _words(check["asks"]), worth, check["status"] == Status.PASSED)
        if check["status"] in (Status.FAILED, Status.PARTIAL, Status.CRASHED, Status.MISSING):
            score = Fraction(scores.get(f"{part}/{check['id']}", "0"))
            yield Finding(part, MISTAKE, place + 50, _words(cause_of(check)), worth * score, True)


_exactly = lru_cache(maxsize=256)(Fraction)  # of few numbers, each as text


def _of_prose(
    part: str, place: int, check: _Data, worth: Fraction, ideas: _Data, claims: list[_Data]
) -> Iterator[Finding]:
    """Each idea has its share of the points; a wrong claim takes what it keeps from being earned."""
    need = ideas["need"] or len(ideas["list"])
    weights = sorted((idea["weight"] for idea in ideas["list"]), reverse=True)[:need] or [1]
    for number, idea in enumerate(ideas["list"]):
        share = worth * Fraction(idea["weight"], sum(weights))
        found = idea["id"] in check["evidence"].get("found", {})
        yield Finding(part, IDEA, place + number, _words(idea["label"]), share, found)
    for claim in claims:
        if claim["id"] in check["evidence"].get("wrong_claims", {}):
            less = worth * (1 - Fraction(str(claim["at_most"])))
            yield Finding(part, MISTAKE, place + 50, _words(claim["label"]), -less, True)


def _asked_for(parameters: _Data) -> tuple[_Data, list[_Data]]:
    ideas = parameters.get("ideas") or []
    if not all(isinstance(idea, dict) and {"id", "label", "weight"} <= idea.keys() for idea in ideas):
        return {}, []
    claims: list[_Data] = [one for one in parameters.get("wrong") or [] if isinstance(one, dict) and "at_most" in one]
    return ({"list": ideas, "need": parameters.get("need", 0)} if ideas else {}), claims


def _labels(asked: _AskedOfChecks) -> dict[str, str]:
    """What people call the ideas and wrong claims of a part; their ids are for the code alone."""
    return {one["id"]: one["label"] for ideas, claims in asked for one in [*ideas.get("list", ()), *claims]}


def _likeness(problem: _Data, result: int, labels: Mapping[str, str]) -> tuple[str, str, str]:
    """What is the same text, what is the same thing, and in which words."""
    text = _text_of(problem.get("judged", {}))
    if not text and all(check["status"] == Status.MISSING for check in problem["checks"]):
        return "", _digest(["missing"]), "nothing handed in"
    read, ideas, failed = [], [], []
    known = True  # whether what was found says what the answer is
    for check in problem["checks"]:
        evidence, status = check["evidence"], check["status"]
        if "not_found" in evidence:
            found, wrong = sorted(evidence.get("found", {})), sorted(evidence.get("wrong_claims", {}))
            ideas.append([check["id"], found, wrong])
            known = known and bool(found or wrong)
        elif canonical := evidence.get("canonical") or evidence.get("read_as"):
            read.append([check["id"], status, canonical])
        elif status == Status.PASSED:
            continue
        elif status in (Status.FAILED, Status.CRASHED, Status.PARTIAL, Status.MISSING, Status.SKIPPED):
            failed.append([check["id"], status, cause_of(check)])
        else:
            known = False
    if not known or (_kind(problem) == "answer" and not (read or ideas or failed)):
        return text, _digest(["text", text or result]), ALONE
    return text, _digest([problem.get("chosen", ""), read, ideas, failed]), _why(read, ideas, failed, labels)


def _kind(problem: _Data) -> str:
    return str(problem.get("judged", {}).get("kind", "answer"))


def _text_of(judged: _Data) -> str:
    """The same for answers that are the same but for blanks; all else is the same only if everything it rests on is."""
    pieces = judged.get("pieces", ())
    if not pieces:
        return ""
    if judged["kind"] == "answer" and all(piece.get("text") and "left_out" not in piece for piece in pieces):
        return _digest([" ".join(piece["text"].split()) for piece in pieces])
    return str(judged["sha256"])


def _beginning(judged: _Data) -> str:
    """Of what was handed in, for lists of answers."""
    texts = (piece.get("text") or piece.get("file", "") for piece in judged.get("pieces", ()))
    return quote(" ".join(text[:_BEGINNING] for text in texts), _BEGINNING)


def _why(read: list[Any], ideas: list[Any], failed: list[Any], labels: Mapping[str, str]) -> str:
    said = []
    for _, _, canonical in read:
        said.append("read as " + (canonical if isinstance(canonical, str) else ", ".join(map(str, canonical))))
    found = [labels.get(name, name) for _, names, _ in ideas for name in names]
    wrong = [labels.get(name, name) for _, _, names in ideas for name in names]
    if found:
        said.append("same ideas: " + ", ".join(found))
    if wrong:
        said.append("same wrong claims: " + ", ".join(wrong))
    said += [f"fails {check}: {cause}" for check, status, cause in failed if status != Status.SKIPPED]
    return quote("; ".join(said) or "passes every check", 400)


@lru_cache(maxsize=512)  # what checks ask, and few mistakes
def _words(text: str) -> str:
    return quote(text, _WORDS)


def _storable(text: str) -> str:
    """A lone surrogate is legal in Python only."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()
