"""What one decision costs in a large class, and what a reviewer's desk does meanwhile:
`python -m benchmarks.deciding --students 500 --parts 20`.

A class is made on the spot, with answers and messages as long as those of the samples. Every decision is on the disk
before it is counted (WAL, synchronous FULL).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from grader.batch.deciding.class_status import acceptable
from grader.batch.files import write_files
from grader.batch.gradebook import Gradebook, Result, Run
from grader.batch.rulings import Kind, PartState, Ruling
from grader.review.desk import Desk
from grader.review.refs import Ref, ref_of

DECISIONS = 1000
ANSWER = "The weights are positive and sum to one, because each is an exponential over the sum of all. " * 6


def a_result(student: str, parts: int) -> Result:
    problems = [_problem(student, f"{number // 5 + 1}.{'abcde'[number % 5]}", number) for number in range(parts)]
    points = {one["id"]: "3" for one in problems}
    report = {
        "schema": 1,
        "submission": student,
        "rubric": "r",
        "title": "A class",
        "rubric_sha256": "0" * 64,
        "grader_version": "1",
        "seed": 0,
        "points": 3 * parts,
        "max_points": 3 * parts,
        "provisional": True,
        "seconds": 1.0,
        "notes": [],
        "isolation": {"layers": [], "missing": []},
        "problems": problems,
    }
    ready = {one["id"]: "not_found" in one["checks"][0]["evidence"] for one in problems}
    scores = {f"{part}/gives_the_ideas": "1" if found else "0" for part, found in ready.items()}
    exact = {"points": points, "worth": points, "scores": scores}
    return Result(student, "", "graded", "s", "c", "r", _definition(list(points)), True, exact, report)


def _definition(parts: list[str]) -> str:
    ideas = [{"id": name, "label": f"whether it {name}", "weight": 1} for name in ("positive", "sums_to_one")]
    check = {"gives_the_ideas": {"parameters": {"ideas": ideas, "prompt": ANSWER[:100]}}}
    return json.dumps({"problems": {part: {"checks": check} for part in parts}})


def _problem(student: str, part: str, number: int) -> dict[str, Any]:
    evidence: dict[str, Any] = {"found": {"positive": ANSWER[:80], "sums_to_one": ANSWER[:80]}, "wrong_claims": {}}
    check = {
        "id": "gives_the_ideas",
        "asks": "The answer gives the ideas the question asks for, in words or in symbols.",
        "status": "review",
        "points": 3,
        "max_points": 3,
        "message": ANSWER[:300],
        "evidence": evidence | ({"not_found": []} if number % 2 else {}),
        "visibility": "public",
        "seconds": 0.01,
    }
    piece = {"kind": "answer", "file": "answers.md", "line": 1, "text": f"{student}: {ANSWER}"}
    judged = {"sha256": f"{number:064}", "kind": "answer", "pieces": [piece]}
    shown = {"id": part, "title": "Weights", "status": "review", "points": 3, "max_points": 3}
    return {**shown, "judged": judged, "checks": [check]}


def milliseconds(action: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of the processor: on a busy machine only the second says what was done."""
    began, worked = time.perf_counter(), time.process_time()
    action()
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--parts", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder, Gradebook(Path(folder), new=True) as book:
        run = book.begin_run(Run("r.yaml", None, 0, (), ""), "r", "1")
        for number in range(asked.students):
            book.add(run, a_result(f"s{number:04}", asked.parts))
        states = book.decisions.states()
        print(f"{asked.students} students × {asked.parts} parts, {book.path.stat().st_size / 2**20:.0f} MiB")
        chosen = [states[number * 7919 % len(states)] for number in range(DECISIONS)]

        def one(state: PartState) -> Callable[[], object]:
            ruling = Ruling(state.student, state.part, Fraction(2), "read", judged=state.judged)
            return lambda: book.decisions.decide([ruling], by="Kim", kind=Kind.REVIEW)

        _measure("one decision", *map(one, chosen))
        _measure("undo of one", *[lambda: book.items.undo("Kim")] * 100)
        part = states[1].part
        _measure("what is open in one part", *[lambda: book.decisions.states(part=part)] * 50)
        _measure("what is open in the class", *[book.decisions.states] * 20)
        rulings = [Ruling(one.student, one.part, one.points) for one in acceptable(book.decisions.states(part=part))]
        accept = f"accept {len(rulings)} answers at once"
        _measure(accept, lambda: book.decisions.decide(rulings, by="Lee", kind=Kind.ACCEPT))
        decided = ["s0001", "1.a", "2", "--by", "Kim", "--why", "read", "--out", folder]
        command = [sys.executable, "-m", "grader", "override", *decided]
        null = subprocess.DEVNULL
        _measure("grader override, whole process", *[lambda: subprocess.run(command, check=True, stdout=null)] * 5)
        _at_the_desk(book, states)
        _measure("write all pages", lambda: write_files(book, Path(folder)))


def _at_the_desk(book: Gradebook, states: list[PartState]) -> None:
    """The same class with a thousand decisions in it: what a page asks for, and what keys do."""
    desk = Desk(book, "Max", double=Fraction(1, 10))
    parts = list(dict.fromkeys(state.part for state in states))
    refs = [ref_of(states[number * 7907 % len(states)]) for number in range(300)]
    _measure("the list of parts", *[desk.parts] * 30)
    _measure("groups of a part", *[partial(desk.groups, part) for part in parts * 3])
    _measure("items of a part", *[partial(desk.items, part) for part in parts * 3])
    _measure("view of an answer", *[partial(desk.view, ref) for ref in refs])
    _measure("next open answer", *[partial(desk.next, part) for part in parts * 5])
    decided = [ref for ref in refs if desk.view(ref).is_open]
    versions = {ref: desk.view(ref).version for ref in decided}
    _measure("decide by items", *[partial(_by_items, desk, ref, versions) for ref in dict.fromkeys(decided)])
    part, item = parts[2], desk.items(parts[2])[0].id
    waiting = [ref for group in desk.groups(part) for ref in group.open][:200]
    seen = {ref: desk.view(ref).version for ref in waiting}
    _measure(f"decide {len(waiting)} of a group at once", lambda: desk.decide(waiting, items=[item], versions=seen))
    edits = [partial(desk.edit_item, item, points=Fraction(points)) for points in (1, 2) * 10]
    _measure("edit an item that 200 answers have", *edits)
    _measure("undo of such an edit", *[desk.undo] * 20)


def _by_items(desk: Desk, ref: Ref, versions: dict[Ref, str]) -> object:
    return desk.decide([ref], items=[desk.items(ref.part)[0].id], versions={ref: versions[ref]})


def _measure(what: str, *actions: Callable[[], object]) -> None:
    taken = [milliseconds(action) for action in actions]
    clock, worked = (sorted(times) for times in zip(*taken, strict=True))
    late = int(0.95 * len(clock))
    said = f"median {clock[len(clock) // 2]:9.2f} ms, p95 {clock[late]:9.2f} ms; processor p95 {worked[late]:9.2f} ms"
    print(f"{what:36} {said}")


if __name__ == "__main__":
    main()
