"""A rubric's public part as YAML: what students get of it, and how much runs later."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import yaml
from pydantic import BaseModel

from grader.checks.formulas.readable import is_answered
from grader.checks.functions.frozen import ENDING, Question
from grader.model import Alternative, Check, CheckFunction, Problem, Rubric, is_code
from grader.registry import LeftOutOfKits, NamesAReference, Parameter, defined, definition_of, question_of
from grader.release.decisions import Decisions, answer_in
from grader.rubric.loading import ABOUT_A_CHECK
from grader.rubric.yaml_source import WrittenFloat, read

Written = dict[str, Any]
_FOR_STAFF = ("visibility", "review_unless")
_AS_WRITTEN = ("id", "title", "optional", "limits", "libraries", "name", "files", "defines", "beside")


@dataclass(frozen=True)
class PublicPart:
    """The public part of one rubric, being written."""

    rubric: Rubric
    decisions: Decisions
    key: str = ""  # what students' own numbers follow from
    frozen: dict[str, Sequence[Question]] = field(default_factory=dict)  # answers, by the file that they go into

    def as_yaml(self) -> tuple[str, Fraction]:
        source = _plain(read(self.rubric.path.read_text(encoding="utf-8")).data)
        pairs = zip(self.rubric.problems, source["problems"], strict=True)
        problems = [self._problem(problem, written) for problem, written in pairs]
        points = sum((Fraction(one["points"]) for one in problems if not one.get("optional")), Fraction(0))
        head = {key: value for key, value in source.items() if key not in ("points", "problems")}
        if self.rubric.per_student.ranges:
            head["per_student_key"] = self.key
        data = {**head, "points": str(points), "problems": problems}
        note = "# The public part of this rubric. `later` says how much more runs after the deadline.\n"
        return note + yaml.dump(data, Dumper=_WrittenOut, sort_keys=False, allow_unicode=True, width=120), points

    def _problem(self, problem: Problem, written: Written) -> Written:
        shared, points = written.get("with", {}), self._points(problem.checks)
        others = zip(problem.alternatives, written.get("alternatives", []), strict=True)
        alternatives = [made for one in others if (made := self._alternative(*one, shared))["checks"]]
        sums = {self._points(one.checks) for one in problem.alternatives}
        points += sums.pop() if len(sums) == 1 else 0
        if sums:  # no number of points holds for all of them: they are told what passes, and earn it later
            for check in (check for one in alternatives for check in one["checks"]):
                check["points"] = "0"
        checks = self._checks(problem.checks, written, shared)
        made = {
            "points": str(points),
            "alternatives": alternatives,
            "best_counts": bool(alternatives) and problem.best_counts,
            "checks": checks or ([] if alternatives else list(self._readable(problem, written, shared))),
            "later": self._later(problem, points),
        }
        kept = {key: written[key] for key in _AS_WRITTEN if key in written}
        return kept | {key: value for key, value in made.items() if value}

    def _points(self, checks: Sequence[Check]) -> Fraction:
        return sum((check.points for check in checks if not self._is_later(check)), Fraction(0))

    def _is_later(self, check: Check) -> bool:
        return bool(self.decisions[id(check)].later)

    def _later(self, problem: Problem, points: Fraction) -> Written:
        """How much; of alternatives, of the one that has most. Their code is not asked for: what may be answered in
        another way is not missing, and all code is packed anyway."""
        ways = [(*problem.checks, *one.checks) for one in problem.alternatives] or [problem.checks]
        asked = [file for check in problem.checks for file in check.files]
        asked += [file for checks in ways for check in checks for file in check.files if not is_code(file)]
        here = {file for check in problem.every_check if not self._is_later(check) for file in check.files}
        made = {
            "checks": max(sum(map(self._is_later, checks)) for checks in ways),
            "points": str(problem.points - points),
            "files": [file for file in dict.fromkeys(asked) if file not in here],
        }
        return {key: value for key, value in made.items() if value} if made["checks"] else {}

    def _alternative(self, alternative: Alternative, written: Written, shared: Written) -> Written:
        made: Written = {key: written[key] for key in _AS_WRITTEN if key in written}
        return {**made, "checks": self._checks(alternative.checks, written, {**shared, **written.get("with", {})})}

    def _checks(self, checks: Sequence[Check], written: Written, shared: Written) -> list[Written]:
        pairs = zip(checks, written.get("checks", []), strict=True)
        return [self._check(check, text, shared) for check, text in pairs if not self._is_later(check)]

    def _check(self, check: Check, written: Written, shared: Written) -> Written:
        """With all its parameters, those shared in the rubric among them."""
        decision, known = self.decisions[id(check)], defined(check)
        own = {key: value for key, value in written.items() if key not in ABOUT_A_CHECK}
        given = {key: value for key, value in shared.items() if key in known.parameters} | own
        given = {key: value for key, value in given.items() if not known.parameters[key].has(LeftOutOfKits)}
        if decision.frozen:
            file = f"{decision.problem.id}-{check.id}{ENDING}"
            self.frozen[file] = decision.frozen
            given[known.marked(NamesAReference)] = file
        about = {key: written[key] for key in ABOUT_A_CHECK if key in written and key not in _FOR_STAFF}
        return about | given

    def _readable(self, problem: Problem, written: Written, shared: Written) -> Iterator[Written]:
        """Whether there is an answer that can be read, where nothing else is said about it."""
        pairs = zip(problem.checks, written.get("checks", []), strict=True)
        public = ((check, {**shared, **text}) for check, text in pairs if check.visibility == "public")
        judged = [(check, text) for check, text in public if answer_in(check)]
        if not judged or any(one.files for one in problem.alternatives):  # submitted as code, it is not missing
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


def _plain(value: Any, key: str = "") -> Any:
    """As YAML can write it. An id 1.10 and half a point stay what they look like; other numbers are numbers."""
    if isinstance(value, WrittenFloat):
        return value.text if key in ("id", "points", "score", "accuracy") else float(value)
    if isinstance(value, dict):
        return {name: _plain(one, name) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


class _WrittenOut(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """A value that several checks share is written for each: rubrics hold no aliases."""
        return True
