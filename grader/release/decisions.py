"""For each check of a rubric: whether students get it before the deadline, in what form, and if not, why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import grader
from grader.checks.functions.frozen import Question
from grader.checks.functions.nested import UnsupportedValue
from grader.grading.randomness import Draw, draw_at_home
from grader.model import Check, Problem, Rubric
from grader.plugins import Plugin
from grader.registry import NamesAReference, defined
from grader.release.freezing import frozen_questions
from grader.release.handout import Handout
from grader.rubric.own_functions import offered

_GRADINGS = 5  # that a kit's questions are looked for in: enough to see what is drawn from a handful


@dataclass(frozen=True)
class Decision:
    problem: Problem
    check: Check
    later: str = ""  # why students do not get it, if they do not
    holds_the_answer: bool = False  # its parameters do: they can at least be told whether their answer can be read
    frozen: tuple[Question, ...] = ()  # the reference's answers, in place of the reference

    @property
    def how(self) -> str:
        if self.later:
            return f"after the deadline: {self.later}"
        return "with frozen values" if self.frozen else "as it is"


Decisions = Mapping[int, Decision]  # by the identity of the check: alternatives may use an id twice


def decide(rubric: Rubric, handout: Handout, seed: int) -> Decisions:
    """Every check of every problem, by `id(check)`."""
    decided: dict[int, Decision] = {}
    plugin = Plugin(rubric.folder)
    for problem in rubric.problems:
        for checks in (problem.checks, *(alternative.checks for alternative in problem.alternatives)):
            alone = [_alone(rubric, problem, check, handout, plugin, seed) for check in checks]
            decided |= {id(decision.check): decision for decision in _in_order(alone)}
        _keep_alternatives_together(problem, decided)
    return decided


def _alone(rubric: Rubric, problem: Problem, check: Check, handout: Handout, plugin: Plugin, seed: int) -> Decision:
    """What is to be said of a check by itself."""
    known = defined(check)
    decision = Decision(problem, check)
    if check.visibility == "hidden":
        return replace(decision, later="it is hidden")
    if answers := [name for name in check.parameters if known.parameters[name].holds_the_answer]:
        return replace(decision, later=f"'{answers[0]}' holds the answer", holds_the_answer=True)
    if known.name in handout.later:
        return replace(decision, later="the author keeps it back")
    module = check.function.__module__
    if plugin.room_of(module) == "checks":
        return replace(decision, later="its code is not public")
    if plugin.room_of(module) is None and module.split(".")[0] != grader.__name__:
        return replace(decision, later="it comes from another package")
    for name in check.parameters.values():
        if (inputs := offered(name, "inputs")) and plugin.room_of(inputs.function.__module__) == "checks":
            return replace(decision, later=f"its inputs, {name}, are not public")
    for file in data_files(check):
        if file.name not in handout.data and file.name not in handout.in_place_of:
            return replace(decision, later=f"it needs {file.name}, which students do not get")
    if named := known.marked(NamesAReference):
        if check.personal:
            return replace(decision, later="its questions are each student's own, so its answers cannot be frozen")
        return _with_answers(decision, rubric, check.parameters[named], seed)
    return decision


def _with_answers(decision: Decision, rubric: Rubric, reference: str, seed: int) -> Decision:
    """With the reference's answers to what is asked at home, if nothing of that is asked when work is graded."""

    def asked(draw: Draw) -> tuple[Question, ...] | None:
        return frozen_questions(rubric, decision.problem, decision.check, reference, draw)

    try:
        at_home = asked(draw_at_home(seed))
    except UnsupportedValue as fault:
        return replace(decision, later=f"its inputs hold {fault}, which cannot be frozen")
    if at_home is None:
        return replace(decision, later="it asks for more than values, so its answers cannot be frozen")
    graded = chain.from_iterable(asked(Draw(one, None)) or () for one in range(_GRADINGS))
    if any(_is_among(one, at_home) for one in graded):
        return replace(decision, later="it asks the same when work is graded, so a table of its answers would pass")
    return replace(decision, frozen=at_home)


def _is_among(asked: Question, known: Sequence[Question]) -> bool:
    return any(one.is_asked_by(asked.args, asked.kwargs) for one in known)


def data_files(check: Check) -> Iterator[Path]:
    known = defined(check)
    for name, value in check.parameters.items():
        if known.parameters[name].is_data and value:
            yield from (Path(one) for one in ([value] if isinstance(value, str) else value))


def _in_order(alone: Sequence[Decision]) -> Iterator[Decision]:
    """What builds on a check that runs later runs later itself: at home nobody could say whether it is to be tried."""
    gone: list[str] = []
    closed = ""  # a gate that runs later
    for decision in alone:
        check = decision.check
        needed = next((name for name in check.needs if name in gone), closed)
        if needed and not decision.later:
            late = replace(decision, later=f"it builds on {needed}, which runs later", frozen=())
        else:
            late = decision
        if late.later:
            gone.append(check.id)
            closed = closed or (check.id if check.gate else "")
        yield late


def _keep_alternatives_together(problem: Problem, decided: dict[int, Decision]) -> None:
    """Which alternative counts is told from all of them, so students get something of each, or of none."""
    empty = [one.name for one in problem.alternatives if all(decided[id(check)].later for check in one.checks)]
    if not empty:
        return
    for check in (check for one in problem.alternatives for check in one.checks):
        if not decided[id(check)].later:
            later = f"of the alternative {empty[0]} nothing can run before the deadline"
            decided[id(check)] = replace(decided[id(check)], later=later, frozen=())


def listing(decisions: Decisions, rubric: Rubric) -> Iterator[tuple[str, str, str]]:
    """Problem, check and fate of every public check."""
    for problem in rubric.problems:
        for check in problem.every_check:
            if check.visibility == "public":
                yield problem.id, check.id, decisions[id(check)].how


def released(decisions: Decisions, checks: Sequence[Check]) -> list[Decision]:
    return [decisions[id(check)] for check in checks if not decisions[id(check)].later]
