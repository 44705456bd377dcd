"""Fair ways to read a question whose answer has a key: each with its symbols, the key, and known mistakes."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pydantic import BaseModel, ConfigDict

from grader.checks.formulas.formula_outcomes import Share
from grader.formulas.answer import explaining
from grader.formulas.answer.asked_for import AskedName, expression
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import Symbol, symbols_in
from grader.formulas.typing.shapes import Misfit, typed
from grader.formulas.typing.vocabulary import ONE, SCALAR, Declared, Shape, Vocabulary
from grader.model import Answer


class KnownMistake(BaseModel):
    """A mistake that can be named: what it equals, why it is not right, and what it is worth."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    equals: str
    because: str
    score: Share = Fraction(0)


class Reading(BaseModel):
    """One fair way to read the question: the name asked for, its symbols with their shapes, and the key."""

    model_config = ConfigDict(extra="forbid")
    name: str
    symbols: dict[str, str]
    equals: list[str]
    restates: list[str] = []  # what is true and no answer: the definition of what is asked
    spelled: list[str] = []
    given: dict[str, str] = {}  # equations the answer has to state for this reading to apply
    at: list[str] = []  # indices that are fixed, as j in h_j
    softmax_over: Literal["rows", "columns"] = "rows"
    called: str = ""
    mistakes: list[KnownMistake] = []


def _shape(text: str) -> Shape:
    sides = text.replace(" ", "").replace("x", "×").split("×")
    return (sides[0], sides[1]) if len(sides) == 2 else (text, ONE)


def vocabulary_of(reading: Reading) -> Vocabulary:
    """`{Q: d×n, k_i: d for i in m, β: scalar, d: size}`; `ℓ/l: scalar` gives ℓ another spelling."""
    declared, dimensions = [], []
    for spelled, meaning in reading.symbols.items():
        name, *aliases = spelled.split("/")
        what, _, family = meaning.partition(" for ")
        letter, _, index = name.partition("_")
        if meaning == "size":
            dimensions.append(name)
        elif family:
            runs_to = tuple(family.split(" in ")[1].split(", "))
            declared.append(Declared(letter, _shape(what), runs_to, tuple(reading.at), aliases=tuple(aliases)))
        elif index:
            declared.append(Declared(letter, _shape(what), labels=(index,), aliases=tuple(aliases)))
        else:
            declared.append(Declared(name, SCALAR if what == "scalar" else _shape(what), aliases=tuple(aliases)))
    return Vocabulary(tuple(declared), tuple(dimensions), (reading.name,))


def letters_of(reading: Reading) -> frozenset[Symbol]:
    """The letters of the keys: what they are is the question's business."""
    vocabulary = vocabulary_of(reading)
    keys = [expression(text, vocabulary) for text in reading.equals]
    return frozenset(symbol for key in keys for symbol in symbols_in(key))


def asked_of(reading: Reading) -> AskedName:
    return AskedName(reading.name, tuple(reading.spelled), given=letters_of(reading))


def with_readable_keys(readings: list[Reading]) -> list[Reading]:
    """Keys are in the students' own language, so a typo in one is found when the rubric is loaded."""
    for reading in readings:
        vocabulary = vocabulary_of(reading)
        for key in (
            *reading.equals,
            *reading.restates,
            *reading.given.values(),
            *(mistake.equals for mistake in reading.mistakes),
        ):
            try:
                typed(expression(key, vocabulary), vocabulary)
            except (Unreadable, Misfit) as fault:
                raise ValueError(f"cannot read the key '{key}': {fault}") from None
    return readings


def formula_as_read(answer: Answer, *, readings: list[Reading], **_: object) -> list[explaining.Reading]:
    """By the first fair way to read the question in which the answer can be read."""
    tried = [explaining.how_read(answer, vocabulary_of(one), asked_of(one)) for one in readings]
    return [next((one for one in tried if isinstance(one, explaining.Read)), tried[0])]
