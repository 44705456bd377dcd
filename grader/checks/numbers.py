"""Numbers with tolerance and unit in written answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BeforeValidator

from grader.checks.formulas.key_variants import KnownMistake
from grader.formulas.answer.explaining import NotRead, Read, Reading
from grader.formulas.outcomes import formula_outcome
from grader.formulas.provers.verdicts import HALF, Verdict, right, undecided
from grader.formulas.quantities.found_numbers import chains_in, computed
from grader.formulas.quantities.plain_text import plain
from grader.formulas.quantities.right_number import Key, counting, judge, known_mistake, written_names
from grader.formulas.quantities.unit_reading import asked_unit, own_words
from grader.model import Answer, Outcome, Student
from grader.registry import HoldsTheAnswer, Prompt, check, read_by
from grader.rubric.yaml_source import as_written
from grader.shares import Share


def _calculation(text: str) -> str:
    if computed(text) is None:
        raise ValueError(f"should be a number or a calculation such as 7/2 or exp(-1), not '{text}'")
    return text


def _unit(text: str) -> str:
    if text:
        asked_unit(text)
    return text


Calculation = Annotated[str, BeforeValidator(as_written), AfterValidator(_calculation)]
UnitName = Annotated[str, AfterValidator(_unit)]


def _as_read(
    answer: Answer, *, name: str = "", spelled: Sequence[str] = (), unit: str = "", **_: object
) -> list[Reading]:
    found = _read(answer, [name, *spelled] if name else list(spelled), unit)
    return [Read(name or "number", found.detail, "")] if found.score else [NotRead(f"{found.message}; {found.detail}")]


@read_by(_as_read)
@check(judges=False)
def number_can_be_read(
    student: Student,
    rng: np.random.Generator,
    *,
    name: str = "",
    spelled: list[str] = [],  # noqa: B006 - read only
    unit: UnitName = "",
    prompt: Prompt = "",
) -> Outcome:
    """A number is found, and it can be read; whether it is right is judged later."""
    return formula_outcome(_read, student, HALF, [name, *spelled] if name else spelled, unit)


@read_by(_as_read)
@check(at_home=number_can_be_read)
def gives_the_number(
    student: Student,
    rng: np.random.Generator,
    *,
    value: Annotated[Calculation, HoldsTheAnswer()],
    unit: UnitName = "",
    rtol: float = 0.01,
    atol: float = 0.0,
    name: str = "",
    spelled: list[str] = [],  # noqa: B006 - read only
    needs_unit: bool = False,
    mistakes: Annotated[list[KnownMistake], HoldsTheAnswer()] = [],  # noqa: B006 - read only
    partial: Share = HALF,
    prompt: Prompt = "",
) -> Outcome:
    """The answer gives the right number, in whatever form and unit."""
    asked = {"names": [name, *spelled] if name else spelled, "unit": unit, "needs_unit": needs_unit}
    known = [mistake.model_dump() for mistake in mistakes]
    return formula_outcome(_judged, student, partial, value, {**asked, "rtol": rtol, "atol": atol}, known)


def _judged(answer: Answer, value: str, asked: Mapping[str, Any], mistakes: list[dict[str, Any]]) -> Verdict:
    key = _key(value, asked)
    verdict = judge(answer, key)
    known = [KnownMistake.model_validate(mistake) for mistake in mistakes]
    place = known_mistake(answer, key, [_key(one.equals, asked) for one in known]) if verdict.score == 0 else None
    if place is None:
        return verdict
    return Verdict(known[place].score, known[place].because, verdict.detail, verdict.evidence, code="known_mistake")


def _key(value: str, asked: Mapping[str, Any]) -> Key:
    known = computed(value)
    assert known is not None, f"{value} was read when the rubric was"
    unit = asked["unit"]
    return Key(
        known,
        asked_unit(unit) if unit else None,
        asked.get("rtol", 0.0),
        asked.get("atol", 0.0),
        asked.get("needs_unit", False),
        written_names(asked["names"]),
        own_words(unit),
    )


def _read(answer: Answer, names: list[str], unit: str) -> Verdict:
    text = plain(answer.text)
    key = _key("0", {"names": names, "unit": unit})
    chains = [chain for chain in chains_in(text, key.own_units) if not chain.is_denied]
    if not chains:
        message, example = f"{answer.file}:{answer.line}: no number was found", "write for example 3.5, 7/2 or 3.5 m/s"
        return undecided(message, example, code="number_not_found")
    read = dict.fromkeys(" = ".join(one.text for one in chain.members) for chain in counting(text, chains, key))
    return right("a number can be read", " or ".join(read))
