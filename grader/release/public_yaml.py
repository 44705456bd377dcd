"""A rubric's public part as YAML: what students get of it, and how much runs later."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import yaml
from pydantic import BaseModel

from grader.checks.formulas.readable import is_answered
from grader.checks.functions.frozen import ENDING
from grader.model import Alternative, Check, CheckFunction, Problem, Rubric, is_code
from grader.registry import LeftOutOfKits, NamesAReference, Parameter, defined, definition_of, question_of
from grader.release.decisions import Decision, Decisions, released
from grader.release.handout import Handout
from grader.rubric.loading import ABOUT_A_CHECK
from grader.rubric.yaml_source import WrittenFloat, read

Written = dict[str, Any]
_FOR_STAFF = ("visibility", "review_unless")


class PublicPart:
    """The public part of one rubric, being written."""

    def __init__(self, rubric: Rubric, decisions: Decisions, handout: Handout, key: str = "") -> None:
        """`key`: what students' own numbers follow from."""
        self._rubric = rubric
        self._key = key
        self._decisions = decisions
        self._handout = handout
        self._source = _plain(read(rubric.path.read_text(encoding="utf-8")).data)
        self.frozen: dict[str, Decision] = {}  # by the name of the file that its answers go into

    def data(self) -> Written:
        pairs = zip(self._rubric.problems, self._source["problems"], strict=True)
        problems = [self._problem(problem, written) for problem, written in pairs]
        counted = (Fraction(one["points"]) for one in problems if not one.get("optional"))
        head = {key: value for key, value in self._source.items() if key not in ("points", "problems")}
        if self._rubric.per_student.ranges:
            head["per_student_key"] = self._key
        return {**head, "points": str(sum(counted, Fraction(0))), "problems": problems}

    def _problem(self, problem: Problem, written: Written) -> Written:
        shared = written.get("with", {})
        own = [self._check(*pair, shared) for pair in zip(problem.checks, written.get("checks", []), strict=True)]
        others = zip(problem.alternatives, written.get("alternatives", []), strict=True)
        alternatives = [self._alternative(one, text, shared) for one, text in others]
        alternatives = [one for one in alternatives if one["checks"]]
        here = self._points(problem.checks)
        sums = {self._points(one.checks) for one in problem.alternatives} if alternatives else {Fraction(0)}
        if len(sums) > 1:  # no number of points holds for all of them: they are told what passes, and earn it later
            for check in (check for one in alternatives for check in one["checks"]):
                check["points"] = "0"
            sums = {Fraction(0)}
        points = here + sums.pop()
        checks = [check for check in own if check] or ([] if alternatives else list(self._readable(problem, written)))
        kept_as_written = ("id", "title", "optional", "limits", "libraries")
        made = {key: written[key] for key in kept_as_written if key in written} | {"points": str(points)}
        made |= {"alternatives": alternatives} if alternatives else {}
        made |= {"best_counts": True} if alternatives and problem.best_counts else {}
        made |= {"checks": checks} if checks else {}
        if count := self._runs_later(problem):
            made["later"] = {"checks": count, "points": str(problem.points - points)}
            made["later"] |= {"files": files} if (files := self._asked_for_later(problem)) else {}
        return made

    def _asked_for_later(self, problem: Problem) -> list[str]:
        """Files to hand in that no check of the public part asks for. Code of an alternative is not among them: what
        may be answered in another way is not missing, and all code is packed anyway."""
        here = {file for decision in released(self._decisions, problem.every_check) for file in decision.check.files}
        asked = [file for check in problem.checks for file in check.files]
        others = (file for one in problem.alternatives for check in one.checks for file in check.files)
        asked += [file for file in others if not is_code(file)]
        return [file for file in dict.fromkeys(asked) if file not in here]

    def _alternative(self, alternative: Alternative, written: Written, shared: Written) -> Written:
        shared = {**shared, **written.get("with", {})}
        made: Written = {key: written[key] for key in ("name", "files", "defines", "beside") if key in written}
        checks = [self._check(*pair, shared) for pair in zip(alternative.checks, written["checks"], strict=True)]
        return {**made, "checks": [check for check in checks if check]}

    def _points(self, checks: tuple[Check, ...]) -> Fraction:
        return sum((decision.check.points for decision in released(self._decisions, checks)), Fraction(0))

    def _runs_later(self, problem: Problem) -> int:
        """Checks; of alternatives, of the one that has most."""
        counts = [sum(bool(self._decisions[id(check)].later) for check in one.checks) for one in problem.alternatives]
        return sum(bool(self._decisions[id(check)].later) for check in problem.checks) + max(counts, default=0)

    def _check(self, check: Check, written: Written, shared: Written) -> Written | None:
        """With all its parameters, those shared in the rubric among them; None if it runs later."""
        decision, known = self._decisions[id(check)], defined(check)
        if decision.later:
            return None
        own = {key: value for key, value in written.items() if key not in ABOUT_A_CHECK}
        given = {key: value for key, value in shared.items() if key in known.parameters} | own
        given = {key: value for key, value in given.items() if not known.parameters[key].has(LeftOutOfKits)}
        for name, parameter in known.parameters.items():
            if name in given and parameter.is_data:
                given[name] = _in_place(given[name], self._handout.in_place_of)
        if decision.frozen:
            file = f"{decision.problem.id}-{check.id}{ENDING}"
            self.frozen[file] = decision
            given[known.marked(NamesAReference)] = file
        about = {key: written[key] for key in ABOUT_A_CHECK if key in written and key not in _FOR_STAFF}
        return {**about, **given}

    def _readable(self, problem: Problem, written: Written) -> Iterator[Written]:
        """Whether there is an answer that can be read, where nothing else is said about it."""
        if any(one.files for one in problem.alternatives):  # handed in as code instead, it is not missing
            return
        shared = written.get("with", {})
        pairs = zip(problem.checks, written.get("checks", []), strict=True)
        judged = [(check, {**shared, **text}) for check, text in pairs if self._decisions[id(check)].holds_the_answer]
        if not judged:
            return
        yield _standing_in(is_answered, next((text for check, text in judged if question_of(check)), {}))
        for check, text in judged:
            if other := defined(check).at_home:
                yield _standing_in(other, text)


def _standing_in(other: CheckFunction, text: Written) -> Written:
    """This check with what it has in common with another one, of which students do not get all."""
    known = definition_of(other)
    assert known is not None
    given = {name: _in_common(one, text[name]) for name, one in known.parameters.items() if name in text}
    return {"check": known.name, "gate": True, **given}


def _in_common(parameter: Parameter, value: Any) -> Any:
    """Of a list of descriptions, what this parameter knows of each."""
    (item,) = typing.get_args(parameter.annotation)[:1] or (None,)
    if not (isinstance(item, type) and issubclass(item, BaseModel)):
        return value
    return [{key: one[key] for key in item.model_fields if key in one} for one in value]


def _in_place(value: Any, stand_ins: Mapping[str, str]) -> Any:
    return [stand_ins.get(one, one) for one in value] if isinstance(value, list) else stand_ins.get(value, value)


def _plain(value: Any, key: str = "") -> Any:
    """As YAML can write it. An id 1.10 and half a point stay what they look like; other numbers are numbers."""
    if isinstance(value, WrittenFloat):
        return value.text if key in ("id", "points", "score", "accuracy") else float(value)
    if isinstance(value, dict):
        return {name: _plain(one, name) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def as_yaml(data: Written) -> str:
    note = "# The public part of this rubric. `later` says how much more runs after the deadline.\n"
    return note + yaml.dump(data, Dumper=_WrittenOut, sort_keys=False, allow_unicode=True, width=120)


class _WrittenOut(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """A value that several checks share is written for each: rubrics hold no aliases."""
        return True
