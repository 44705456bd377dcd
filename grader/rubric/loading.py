"""rubric.yaml → Rubric. A typo stops here, with its line, and never in the middle of grading."""

from __future__ import annotations

import hashlib
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from grader.errors import RubricError, UsageError
from grader.model import Alternative, Check, Later, Limits, PerStudent, Problem, Rubric
from grader.plugins import Plugin
from grader.registry import REQUIRED, Definition
from grader.rubric.catalogue import Catalogue
from grader.rubric.editions import misfits
from grader.rubric.forms import (
    ABOUT_A_CHECK,
    AlternativeForm,
    CheckForm,
    LaterForm,
    LimitsForm,
    ProblemForm,
    RubricForm,
)
from grader.rubric.hints import did_you_mean, misfit
from grader.rubric.idea_files import IdeaFile
from grader.rubric.locating import data_folders, find_rubric, rubric_choices
from grader.rubric.per_student import names_in, read_for_all
from grader.rubric.yaml_errors import ESCAPE
from grader.rubric.yaml_source import Path as Place
from grader.rubric.yaml_source import Source, YamlError, read

__all__ = ["ABOUT_A_CHECK", "find_rubric", "load_rubric", "rubric_choices"]


def load_rubric(path: Path, data: Path | None = None, *, folder: Path | None = None) -> Rubric:
    """Read and check a rubric completely. RubricError lists everything that is wrong with it.

    What belongs to it lies in its folder, which is the one it lies in unless another is named: the checks and ideas of
    another rubric, of which it may use some.
    """
    shown = os.path.relpath(path) if path.is_absolute() else str(path)
    if data is not None and not data.is_dir():
        raise UsageError(f"{data}: there is no such folder of data")
    try:
        text = path.read_text(encoding="utf-8")
        source = read(text)
    except OSError as error:
        raise RubricError([f"{shown}: {error.strerror or error}"]) from None
    except UnicodeDecodeError:
        raise RubricError([f"{shown}: not a UTF-8 text file"]) from None
    except YamlError as error:
        raise RubricError([f"{shown}:{error.line}: {error.cause}"]) from None
    return _Reading(path, shown, source, folder or path.parent, data).rubric(text)


class _Reading:
    """One rubric being read; collects every problem before giving up."""

    def __init__(self, path: Path, shown: str, source: Source, folder: Path, data: Path | None) -> None:
        self._path = path
        self._shown = shown
        self._source = source
        self._folder = folder
        self._plugin = Plugin(folder)
        self._checks = Catalogue(self._plugin)
        self._context = {"data_folders": data_folders(folder, data), "catalogue": self._checks}
        self._ideas = IdeaFile(folder, Path(shown).parent)
        self._problems: list[tuple[int, str]] = []
        self._ranges: dict[str, tuple[str, ...]] = {}  # of numbers that each student has of their own
        self._asked_for: set[str] = set()  # of them, those that stand somewhere

    def rubric(self, text: str) -> Rubric:
        if not isinstance(self._source.data, dict):
            self._complain((), "a rubric is a mapping with 'rubric', 'title', 'points' and 'problems'")
            raise self._verdict()
        self._refuse_eaten_backslashes(self._source.data, ())
        try:
            written = RubricForm.model_validate(self._source.data)
        except ValidationError as error:
            for problem in error.errors():
                self._complain_about(problem)
            raise self._verdict() from None
        self._ranges = written.per_student
        problems = [self._problem(problem, written, index) for index, problem in enumerate(written.problems)]
        self._refuse_twice([problem.id for problem in problems], lambda index: ("problems", index, "id"), "problem")
        total = sum((problem.points for problem in problems if not problem.optional), Fraction(0))
        if total != written.points:
            self._complain(("points",), f"the problems add up to {total} points, not {written.points}")
        for place, cause in misfits(written.editions, [problem.id for problem in problems]):
            self._complain(place, cause)
        in_a_kit = "per_student_key" in written.model_fields_set  # what asks for them may run later
        for name in () if in_a_kit else written.per_student.keys() - self._asked_for:
            self._complain(("per_student", name), f"no check asks for '<<{name}>>'")
        if self._folder == self._path.parent:
            self._ideas.refuse_unnamed()
        if self._problems or self._ideas.complaints():
            raise self._verdict()
        code = self._plugin.digest.encode()
        digest = hashlib.sha256(text.encode() + code + self._ideas.content).hexdigest()
        ids, material = tuple(problem.id for problem in problems), tuple(written.course_material)
        named = (written.rubric, written.title, written.points, tuple(problems), self._path, digest)
        per_student = PerStudent(self._ranges, written.per_student_key)
        return Rubric(*named, ids, material, written.editions, per_student, self._folder)

    def _problem(self, written: ProblemForm, rubric: RubricForm, index: int) -> Problem:
        place: Place = ("problems", index)
        later = written.later
        own = self._check_list(written.checks, written, (*place, "checks"), written.shared, [])
        alternatives = []
        for number, other in enumerate(written.alternatives):
            at = (*place, "alternatives", number)
            shared = {**written.shared, **other.shared}
            checks = self._check_list(other.checks, written, (*at, "checks"), shared, own)
            alternatives.append(
                Alternative(other.name, tuple(other.files), tuple(other.defines), tuple(other.beside), tuple(checks))
            )
            self._expect_points([*checks, *own], written, (*at, "checks"), f"{written.id} as {other.name}")
            self._expect_used(other.shared, other.checks, (*at, "with"), other.name)
            if not written.best_counts and not (other.files and other.defines):
                cause = "its 'files' and what they define tell whether it was handed in; or say 'best_counts: true'"
                self._complain(at, f"{written.id} as {other.name}: {cause}")
        if written.best_counts and len(alternatives) < 2:
            self._complain((*place, "best_counts"), f"{written.id} has no alternatives to take the best of")
        if not written.alternatives:
            if not own and later is None:
                self._complain(place, f"{written.id} has no checks")
            self._expect_points(own, written, (*place, "points"), written.id)
        lists = [((*place, "checks"), written.checks)]
        lists += [((*place, "alternatives", at, "checks"), one.checks) for at, one in enumerate(written.alternatives)]
        every = {(*at, number): check for at, checks in lists for number, check in enumerate(checks)}
        self._expect_used(written.shared, [*every.values()], (*place, "with"), written.id)
        self._expect_known(every)
        return Problem(
            written.id,
            written.title,
            written.points,
            tuple(own),
            Limits(**(written.limits or rubric.limits).model_dump()),
            tuple(dict.fromkeys(written.libraries)),
            tuple(alternatives),
            written.optional,
            written.best_counts,
            Later(later.checks, later.points, tuple(later.files)) if later else Later(),
        )

    def _check_list(
        self, written: list[CheckForm], problem: ProblemForm, place: Place, shared: dict[str, Any], others: list[Check]
    ) -> list[Check]:
        """The checks of a problem or of one of its alternatives; `others` run beside them."""
        checks: list[Check] = []
        for number, check in enumerate(written):
            earlier = [one.id for one in checks]
            checks.append(self._check(check, problem, (*place, number), shared, earlier))
        ids = [check.id for check in (*others, *checks)]
        self._refuse_twice(ids, lambda number: (*place, number - len(others)), "check")
        return checks

    def _expect_points(self, checks: list[Check], written: ProblemForm, place: Place, what: str) -> None:
        total = sum((check.points for check in checks), Fraction(0))
        if total != written.points:
            self._complain(place, f"the checks of {what} add up to {total} points, not {written.points}")

    def _expect_known(self, checks: dict[Place, CheckForm]) -> None:
        for place, check in checks.items():
            others = {one.id or one.check for one in checks.values() if one is not check}
            for reason, names in check.review_unless.items():
                for name in (name for name in names if name not in others):
                    cause = f"'review_unless' names '{name}', which is no other check of the problem"
                    self._complain((*place, "review_unless", reason), f"{cause}{did_you_mean(name, others)}")

    def _expect_used(self, shared: dict[str, Any], checks: list[CheckForm], place: Place, what: str) -> None:
        used = {name for check in checks if (found := self._checks.get(check.check)) for name in found.parameters}
        for name in shared.keys() - used:
            self._complain((*place, name), f"no check of {what} takes '{name}'{did_you_mean(name, used)}")

    def _check(
        self, written: CheckForm, problem: ProblemForm, place: Place, shared: dict[str, Any], earlier: list[str]
    ) -> Check:
        definition = self._checks.get(written.check)
        own_id = written.id or written.check
        for needed in written.needs:
            if needed not in earlier:
                hint = did_you_mean(needed, earlier) or "; it must stand above the check that needs it"
                self._complain(
                    (*place, "needs"),
                    f"{own_id} needs '{needed}', which is not an earlier check of {problem.id}{hint}",
                )
        if written.gate and written.points:
            self._complain((*place, "points"), f"{own_id} is a gate and so earns no points of its own")
        if not written.gate and not written.points and problem.later is None:  # later, its points may come
            self._complain(place, f"{own_id} earns no points and is no gate; give it 'points' or 'gate: true'")
        parameters: dict[str, Any] = {}
        personal: dict[str, Any] = {}
        if definition is None:
            hint = did_you_mean(written.check, self._checks)
            self._complain((*place, "check"), f"there is no check '{written.check}'{hint}")
            self._ideas.pass_over(problem.id)
        else:
            parameters, personal = self._parameters(definition, written, shared, place, problem.id)
        known = definition.parameters if definition else {}
        # What a check asks for by default it asks for too: EncoderBlock, say, in a notebook.
        given = {key: known[key].default for key in ("name", "function") if key in known} | parameters
        names = (given[key] for key in given if known[key].is_a_name)
        return Check(
            id=own_id,
            function=definition.function if definition else _never,
            parameters=parameters,
            summary=written.asks or (definition.summary if definition else ""),
            points=written.points,
            visibility=written.visibility or problem.visibility,
            needs=tuple(written.needs),
            review_unless={reason: tuple(ids) for reason, ids in written.review_unless.items()},
            gate=written.gate,
            files=tuple(value for key, value in parameters.items() if known[key].is_student_file),
            names=tuple(name for name in names if isinstance(name, str)),
            personal=personal,
        )

    def _parameters(
        self, definition: Definition, written: CheckForm, shared: dict[str, Any], place: Place, part: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the check gets and, of that, what depends on the student, as it is written."""
        known = definition.parameters
        own = written.model_extra or {}
        for name in own.keys() - known.keys():
            self._complain((*place, name), f"{definition.name} takes no '{name}'{did_you_mean(name, known)}")
        given = {name: value for name, value in shared.items() if name in known} | own
        values, personal = {}, {}
        for name, parameter in known.items():
            if name in given:
                at = (*place, name) if name in own else (*place[:-2], "with", name)
                value, faults = self._ideas.completed(parameter, given[name], part)
                for inside, text in faults:
                    self._complain((*at, *inside), f"{definition.name}: {text}")
                if any(names_in(value)):
                    personal[name] = value
                    self._asked_for.update(names_in(value))
                try:
                    values[name] = value if faults else read_for_all(parameter, value, self._ranges, self._context)
                except ValueError as error:
                    self._complain(at, f"{definition.name}: {error}")
            elif parameter.default is REQUIRED:
                self._complain(place, f"{definition.name} needs '{name}' ({parameter.kind})")
        every = {name: one.default for name, one in known.items()} | values
        if definition.agree and REQUIRED not in every.values() and (why := definition.agree(every)):
            self._complain(place, f"{definition.name}: {why}")
        return values, personal

    def _refuse_eaten_backslashes(self, data: Any, place: Place) -> None:
        """ "\\beta" between double quotes is a backspace and `eta`: nobody means that, and formulas are full of it."""
        if isinstance(data, dict | list):
            for key, value in data.items() if isinstance(data, dict) else enumerate(data):
                self._refuse_eaten_backslashes(value, (*place, key))
        elif isinstance(data, str) and any(sign < " " and sign != "\n" for sign in data):
            self._complain(place, ESCAPE)

    def _refuse_twice(self, ids: list[str], place: Any, what: str) -> None:
        for index, name in enumerate(ids):
            if name in ids[:index]:
                hint = "; give one of them an 'id'" if what == "check" else ""
                self._complain(place(index), f"there are two {what}s '{name}'{hint}")

    def _complain_about(self, problem: Any) -> None:
        place = tuple(problem["loc"])
        hint = "; write `check: NAME`" if problem["type"] == "missing" and place[-1] == "check" else ""
        self._complain(place, misfit(problem, _keys_at(place)) + hint)

    def _complain(self, place: Place, text: str) -> None:
        self._problems.append((self._source.line(place), text))

    def _verdict(self) -> RubricError:
        told = [f"{self._shown}:{line}: {text}" for line, text in sorted(self._problems)]
        return RubricError([*told, *self._ideas.complaints()])


def _keys_at(place: tuple[int | str, ...]) -> list[str]:
    """The keys that mean something where this unknown one stands."""
    model: type[BaseModel] = RubricForm
    if "limits" in place[:-1]:
        model = LimitsForm
    elif "later" in place[:-1]:
        model = LaterForm
    elif "alternatives" in place[:-1]:
        model = AlternativeForm
    elif place[0] == "problems" and len(place) == 3:
        model = ProblemForm
    return [field.alias or name for name, field in model.model_fields.items()]


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError("a rubric with an unknown check is never graded")
