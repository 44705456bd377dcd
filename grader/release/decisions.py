"""For each check of a rubric: whether students get it before the deadline, in what form, and if not, why not."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import grader
from grader.checks.functions.frozen import Question, shortened
from grader.checks.functions.ground_truth import reference_named
from grader.checks.functions.inputs import sampled
from grader.checks.functions.nested import UnsupportedValue, flat, plain, values_in
from grader.checks.functions.values import matches_reference
from grader.errors import RubricError
from grader.grading.engine import grade
from grader.grading.randomness import Draw, draw_at_home, place_of
from grader.model import Box, Check, Isolation, Limits, Probe, Problem, Rubric, Status, Submission
from grader.plugins import Plugin
from grader.registry import NamesAReference, defined
from grader.release.handout import Handout
from grader.rubric.own_functions import Offer, offered
from grader.rubric.per_student import for_student
from grader.submission.opening import OpenedSubmission

_GRADINGS = 5  # that a kit's questions are looked for in: enough to see what is drawn from a handful


@dataclass(frozen=True)
class Decision:
    problem: Problem
    check: Check
    later: str = ""  # why students do not get it, if they do not
    frozen: tuple[Question, ...] = ()  # the reference's answers, in place of the reference
    left_out: str = ""  # the labels of cases among them that it has no answer to

    @property
    def how(self) -> str:
        given = "with frozen values" if self.frozen else "as it is"
        given += f", without {self.left_out} (not drawn from rng)" if self.left_out else ""
        return f"after the deadline: {self.later}" if self.later else given


Decisions = Mapping[int, Decision]  # by the identity of the check: alternatives may use an id twice


def decide(rubric: Rubric, handout: Handout, seed: int) -> Decisions:
    """Every check of every problem, by `id(check)`."""
    decided: dict[int, Decision] = {}
    plugin = Plugin(rubric.folder)
    for problem in rubric.problems:
        for checks in (problem.checks, *(alternative.checks for alternative in problem.alternatives)):
            alone = [Decision(problem, check, _kept_back(check, handout, plugin)) for check in checks]
            asked = [one if one.later else _with_answers(one, rubric, seed) for one in alone]
            decided |= {id(one.check): one for one in _in_order(asked)}
        _keep_alternatives_together(problem, decided)
    return decided


def _kept_back(check: Check, handout: Handout, plugin: Plugin) -> str:
    """Why students do not get a check, as far as it says itself; nothing, if they may."""
    module = check.function.__module__
    if check.visibility == "hidden":
        return "it is hidden"
    if answer := answer_in(check):
        return f"'{answer}' holds the answer"
    if plugin.room_of(module) == "checks":
        return "its code is not public"
    if plugin.room_of(module) is None and module.split(".")[0] != grader.__name__:
        return "it comes from another package"
    for value in check.parameters.values():
        if (inputs := offered(value, "inputs")) and plugin.room_of(inputs.function.__module__) == "checks":
            return f"its inputs, {value}, are not public"
    missing = [file.name for file in data_files(check) if file.name not in (*handout.data, *handout.in_place_of)]
    return f"it needs {missing[0]}, which students do not get" if missing else ""


def answer_in(check: Check) -> str:
    """The parameter that gives the answer away, if one does."""
    known = defined(check).parameters
    return next((name for name in check.parameters if known[name].holds_the_answer), "")


def data_files(check: Check) -> list[Path]:
    known = defined(check).parameters
    given = [value for name, value in check.parameters.items() if known[name].is_data and value]
    return [Path(file) for value in given for file in ([value] if isinstance(value, str) else value)]


def _with_answers(decision: Decision, rubric: Rubric, seed: int) -> Decision:
    """Of a check that compares, with the reference's answers to inputs that are never those of graded work."""
    if not defined(decision.check).marked(NamesAReference):
        return decision
    if decision.check.personal:
        return replace(decision, later="its questions are each student's own, so its answers cannot be frozen")
    asked = partial(frozen_questions, rubric, decision.problem, decision.check)
    try:
        if (at_home := asked(draw_at_home(seed))) is None:
            return replace(decision, later="it asks for more than values, so its answers cannot be frozen")
    except UnsupportedValue as fault:
        return replace(decision, later=f"its inputs hold {fault}, which cannot be frozen")
    gradings = [asked(Draw(number, None)) or () for number in range(_GRADINGS)]
    again = [sum(any(map(known.is_same_as, grading)) for grading in gradings) for known in at_home]
    same = ", ".join(f"'{label}'" for label, times in zip(_labels(decision.check), again, strict=False) if times)
    # Cases that never change can be left out. What is the same now and then cannot: nobody knows when it is.
    if decision.check.function is matches_reference and 0 in again and {*again} <= {0, _GRADINGS}:
        kept = tuple(known.without_answers() if times else known for known, times in zip(at_home, again, strict=True))
        return replace(decision, frozen=kept, left_out=same)
    why = f"{same} can be the same when work is graded, and a table of answers would pass; draw it from rng"
    return replace(decision, later=why) if same else replace(decision, frozen=at_home)


def _labels(check: Check) -> Iterator[str]:
    """Of what it asks, in order."""
    if inputs := check.parameters.get("inputs") or check.parameters.get("extremes"):
        yield from (case.label for case in sampled(inputs, np.random.default_rng(0), check.parameters.get("given")))
    yield from (f"input {number}" for number in count(1))


def _in_order(alone: Sequence[Decision]) -> Iterator[Decision]:
    """What builds on a check that runs later runs later itself: at home nobody could say whether it is to be tried."""
    gone: list[str] = []
    closed = ""  # a gate that runs later
    for decision in alone:
        check = decision.check
        needed = next((name for name in check.needs if name in gone), closed)
        later = decision.later or (f"it builds on {needed}, which runs later" if needed else "")
        if later:
            gone.append(check.id)
            closed = closed or (check.id if check.gate else "")
        yield replace(decision, later=later)


def _keep_alternatives_together(problem: Problem, decided: dict[int, Decision]) -> None:
    """Which alternative counts is told from all of them, so students get something of each, or of none."""
    empty = [one.name for one in problem.alternatives if all(decided[id(check)].later for check in one.checks)]
    for check in (check for one in problem.alternatives for check in one.checks if empty):
        why = f"of the alternative {empty[0]} nothing can run before the deadline"
        decided[id(check)] = replace(decided[id(check)], later=decided[id(check)].later or why)


class _MoreThanValues(Exception):
    """The check asked for something that only a student's file can answer."""


class _Reference:
    """The reference in a student's place: it answers calls, and remembers them. It is our own and needs no sandbox."""

    printed, lacked_a_gpu, isolation = "", False, Isolation((), ())

    def __init__(self, right: Callable[..., Any]) -> None:
        self._right = right
        self.asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    @contextmanager
    def open(self, submission: Submission, limits: Limits, seed: int) -> Iterator[Box]:
        yield self

    def begin_check(self) -> None:
        """It draws no random numbers."""

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        self.asked.append((args, kwargs))
        return values_in(self._right(*args, **kwargs))

    def probe(self, probe: str | Probe, file: str, /, **request: Any) -> Any:
        raise _MoreThanValues(str(probe))

    def probe_each(self, probe: str | Probe, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        for request in requests:
            if probe != "call":
                raise _MoreThanValues(str(probe))
            yield self.call(file, request["function"], *request["args"], **request["kwargs"])


def frozen_questions(rubric: Rubric, problem: Problem, check: Check, draw: Draw) -> tuple[Question, ...] | None:
    """What the check asks its reference, with every answer; None if it asks for more than values."""
    name = check.parameters[defined(check).marked(NamesAReference)]
    reference = reference_named(name)
    if asks := defined(check).asks:
        rng = np.random.default_rng(draw.questions(place_of(rubric.name, problem.id, check.id)))
        return tuple(_answered(reference, args, kwargs) for args, kwargs in asks(rng, check.parameters))
    student = _Reference(reference.function)
    alone = replace(problem, checks=(replace(check, needs=(), review_unless={}, gate=False),), alternatives=())
    with tempfile.TemporaryDirectory() as empty:
        nothing = OpenedSubmission("reference", Path(empty), 0, ())
        asked = for_student(replace(rubric, problems=(alone,)), nothing.name, draw)
        report = grade(asked, nothing, student, draw)
    (result,) = report.problems[0].checks
    if result.fault.startswith(_MoreThanValues.__name__):
        return None
    if result.outcome.status is not Status.PASSED:
        why = result.fault or result.outcome.message
        raise RubricError([f"{problem.id} {check.id}: the reference {name} does not pass it: {why}"])
    return tuple(_answered(reference, args, kwargs) for args, kwargs in student.asked)


def _answered(reference: Offer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Question:
    with np.errstate(all="ignore"):  # mistakes overflow
        wrong = [(what, values_in(mistake(*args, **kwargs))) for what, mistake in reference.mistakes]
    mistaken = [(what, shortened(flat(values))) for what, values in wrong]
    return Question(plain(args), plain(kwargs), values_in(reference.function(*args, **kwargs)), mistaken)
