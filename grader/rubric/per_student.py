"""Numbers of each student's own, put where a rubric says `<<name>>`.

They follow from the student's id and a key that follows from the course's secret. The key is no secret itself: a kit
holds it, so that students can learn their numbers; without a kit of this year nobody can know them in advance.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from grader.grading.randomness import Draw
from grader.model import Alternative, Check, Problem, Rubric
from grader.registry import Parameter, defined
from grader.rubric.hints import did_you_mean
from grader.rubric.yaml_source import as_written

_PLACE = re.compile(r"<<\s*(\w+)\s*>>")
_Asked = TypeVar("_Asked", Problem, Alternative)
_MOST = 10_000  # numbers that one may be drawn from: more tell students no better apart


def choices(written: Any) -> tuple[str, ...]:
    """`[10, 12, 15]`, or `{from: 0.5, to: 2, step: 0.25}`: the numbers that are drawn from."""
    match written:
        case list() if written:
            found = [_number(one) for one in written]
        case {"from": first, "to": last, "step": step, **more} if not more:
            low, high, by = (_number(one) for one in (first, last, step))
            if by <= 0 or high <= low or (high - low) / by >= _MOST:
                raise ValueError(f"should go up from 'from' to 'to' in at most {_MOST} steps")
            found = [low + count * by for count in range(int((high - low) / by) + 1)]
        case _:
            raise ValueError("should be a list of numbers, or {from: 0.5, to: 2, step: 0.25}")
    texts = tuple(_text(one) for one in found)
    if len(set(texts)) < 2:
        raise ValueError("is the same for everybody; give at least two numbers")
    return texts


def _number(value: Any) -> Fraction:
    try:
        return Fraction(str(as_written(value)))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"has '{value}', which is no number") from None


def _text(value: Fraction) -> str:
    """As a decimal where it ends, as a fraction else."""
    short = f"{float(value):.10g}"
    return short if value.denominator > 1 and Fraction(short) == value else str(value)


def names_in(written: Any) -> Iterator[str]:
    """The names that stand between << and >> in what a rubric gives."""
    if isinstance(written, str):
        yield from _PLACE.findall(written)
    elif isinstance(written, dict | list):
        for one in written.values() if isinstance(written, dict) else written:
            yield from names_in(one)


def filled(written: Any, values: Mapping[str, str]) -> Any:
    """What a rubric gives, with numbers in place of names. What is only a name becomes a number."""
    if isinstance(written, dict):
        return {key: filled(one, values) for key, one in written.items()}
    if isinstance(written, list):
        return [filled(one, values) for one in written]
    if not isinstance(written, str):
        return written
    if alone := _PLACE.fullmatch(written.strip()):
        value = values[alone[1]]
        return value if "/" in value else int(value) if value.lstrip("-").isdigit() else float(value)
    return _PLACE.sub(lambda place: _within(values[place[1]]), written)


def _within(value: str) -> str:
    return f"({value})" if value.startswith("-") or "/" in value else value


def with_names(text: str) -> str:
    """A question as everybody reads it: `<<lam>>` is "your lam"."""
    return _PLACE.sub(lambda place: f"(your {place[1]})", text)


def read_for_all(
    parameter: Parameter, written: Any, ranges: Mapping[str, tuple[str, ...]], context: Mapping[str, Any]
) -> Any:
    """The value as its check gets it, with the first numbers of all ranges where it depends on the student; ValueError
    if it does not do for these, or for the last ones."""
    asked = dict.fromkeys(names_in(written))
    for name in asked:
        if name not in ranges:
            raise ValueError(f"'per_student' has no '{name}'{did_you_mean(name, ranges)}")
    if asked and (parameter.is_student_file or parameter.is_data):
        raise ValueError(f"'{parameter.name}' is a file, which is the same for all students")
    if not asked:
        return parameter.read(written, context)
    _last, first = (
        parameter.read(filled(written, {name: those[place] for name, those in ranges.items()}), context)
        for place in (-1, 0)
    )
    return first


def numbers_of(student: str, rubric: Rubric, draw: Draw) -> dict[str, str]:
    """What is drawn for a student: the same in every grading of this rubric with this secret."""
    per = rubric.per_student
    who = " ".join(unicodedata.normalize("NFKC", student).casefold().split())
    key = per.key or draw.per_student(rubric.name)
    drawn = {}
    for name, those in per.ranges.items():
        digest = hashlib.sha256(f"{key}/{who}/{name}".encode()).digest()
        drawn[name] = those[int.from_bytes(digest[:8], "big") % len(those)]
    return drawn


def for_student(rubric: Rubric, student: str, draw: Draw) -> Rubric:
    """The rubric with this student's numbers; itself, if it asks everybody the same, or has somebody's already."""
    if not rubric.per_student.ranges or rubric.per_student.drawn:
        return rubric
    values = numbers_of(student, rubric, draw)

    def own(asked: _Asked) -> _Asked:
        return replace(asked, checks=tuple(_with(check, values) for check in asked.checks))

    problems = [replace(own(one), alternatives=tuple(map(own, one.alternatives))) for one in rubric.problems]
    return replace(
        rubric, problems=tuple(problems), per_student=replace(rubric.per_student, student=student, drawn=values)
    )


def _with(check: Check, values: Mapping[str, str]) -> Check:
    if not check.personal:
        return check
    known = defined(check).parameters
    read = {name: known[name].read(filled(raw, values), {}) for name, raw in check.personal.items()}
    drawn = {name: values[name] for raw in check.personal.values() for name in names_in(raw)}
    return replace(check, parameters={**check.parameters, **read}, drawn=drawn)
