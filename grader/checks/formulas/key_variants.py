"""Fair ways to read a question whose answer has a key: each with its symbols, the key, and known mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from grader.formulas.answer.asked_for import AskedName, expression
from grader.formulas.answer.statements import put_in
from grader.formulas.lexing.derivatives import names_a_derivative
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import Apply, Expression, Symbol, symbols_in, walk
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.shapes import Misfit, typed
from grader.formulas.typing.vocabulary import ONE, SCALAR, Declared, Shape, Vocabulary
from grader.notation.function_names import DECLARABLE
from grader.registry import KeyToAFormula, SaidInFeedback
from grader.rubric.hints import did_you_mean
from grader.shares import Share

Direction = Literal["each_row", "each_column"]


_Reading = TypeVar("_Reading", bound="AskedFor")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value or []


def _declarable(name: str) -> str:
    if name not in DECLARABLE.values():
        known = sorted(set(DECLARABLE.values()))
        raise ValueError(f"names no function that can be declared: '{name}'{did_you_mean(name, known)}")
    return name


class KnownMistake(BaseModel):
    """A mistake that can be named: what it equals, why it is not right, and what it is worth."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    equals: Annotated[str, KeyToAFormula()]
    because: Annotated[str, SaidInFeedback()]
    score: Share = Fraction(0)


class AskedFor(BaseModel):
    """What is asked for: its name, how else that is spelled, and the symbols of the question with their shapes."""

    model_config = ConfigDict(extra="forbid")
    name: str
    symbols: dict[str, str] = {}  # without any, those of the reading before
    conventions: list[
        Literal["columns", "rows"]
    ] = []  # where tokens stand in symbols and keys, and where else they may
    spelled: list[str] = []
    at: list[str] = []  # indices that are fixed, as j in h_j
    at_also: list[str] = []  # other letters for the first of them
    functions: list[Annotated[str, AfterValidator(_declarable)]] = []  # beyond those that every question knows
    defined: dict[str, str] = {}  # functions of a number x that the question gives: {softplus: log(1 + exp(x))}

    where: dict[str, str] = {}  # letters that the question defines by others: {z: W h}


class Reading(AskedFor):
    """One fair way to read the question, with the key."""

    equals: Annotated[list[str], KeyToAFormula()]
    restates: list[str] = []  # what is true and no answer: the definition of what is asked
    given: dict[str, str] = {}  # equations the answer has to state for this reading to apply
    # What sums to one in a key with a softmax, and what else may in an answer that leaves it open.
    softmax_normalises: Annotated[list[Direction], BeforeValidator(_listed)] = []
    called: Annotated[str, SaidInFeedback()] = ""
    results: dict[str, str] = {}  # sizes of what comes out, such as {H: t×n}; another that is stated costs half
    mistakes: list[KnownMistake] = []


def _shape(text: str) -> Shape:
    sides = text.replace(" ", "").replace("x", "×").split("×")
    return (sides[0], sides[1]) if len(sides) == 2 else (text, ONE)


def vocabulary_of(reading: AskedFor) -> Vocabulary:
    """`{Q: d×n, k_i: d for i in m, β: scalar, d: size}`; `ℓ/l: scalar` gives ℓ another spelling.

    `k_i: d for i in m, column of K` says that k_i is a column of K, and `row of K` the same of rows.
    """
    declared, dimensions = [], []
    for spelled, meaning in reading.symbols.items():
        name, *aliases = spelled.split("/")
        what, _, family = meaning.partition(" for ")
        letter, _, index = name.partition("_")
        if meaning == "size":
            dimensions.append(name)
        elif family:
            runs_to = tuple(family.split(" in ")[1].split(", "))
            belongs = {
                kind: one.removeprefix(f"{kind} of ")
                for one in runs_to
                for kind in ("column", "row")
                if f"{kind} of " in one
            }
            runs_to = tuple(one for one in runs_to if " of " not in one)
            declared.append(
                Declared(
                    letter,
                    _shape(what),
                    runs_to,
                    tuple(reading.at),
                    belongs.get("column", ""),
                    tuple(aliases),
                    belongs.get("row", ""),
                )
            )
        elif index:
            declared.append(Declared(letter, _shape(what), labels=(index,), aliases=tuple(aliases)))
        else:
            declared.append(Declared(name, SCALAR if what == "scalar" else _shape(what), aliases=tuple(aliases)))
    ready = {spelling for spelling, name in DECLARABLE.items() if name in reading.functions}
    of_x = Vocabulary((Declared("x"),), functions=frozenset(ready))
    defined = {name: expression(text, of_x) for name, text in reading.defined.items()}
    functions = frozenset({*ready, *defined})
    derivatives = any(map(names_a_derivative, (reading.name, *reading.spelled)))
    vocabulary = Vocabulary(
        tuple(declared), tuple(dimensions), (reading.name,), functions, defined=defined, derivatives=derivatives
    )
    where: dict[Symbol, Expression] = {}
    for name, text in reading.where.items():
        symbol = expression(name, vocabulary)
        if not isinstance(symbol, Symbol) or symbol.index or (vocabulary.knows(symbol) and not symbol.mark):
            raise Unreadable(f"'{name}' is no letter that is free to be defined")
        where[symbol] = put_in(expression(text, vocabulary), where, vocabulary)
    return replace(vocabulary, where=where)


def with_keys(reading: _Reading, change: Callable[[str], str]) -> _Reading:
    if not isinstance(reading, Reading):
        return reading
    mistakes = [one.model_copy(update={"equals": change(one.equals)}) for one in reading.mistakes]
    keys = {"equals": [*map(change, reading.equals)], "restates": [*map(change, reading.restates)]}
    return reading.model_copy(update={**keys, "mistakes": mistakes})


def with_where(reading: _Reading) -> _Reading:
    """With the letters that the question defines put into the keys."""
    vocabulary = vocabulary_of(reading)
    if not vocabulary.where:
        return reading
    return with_keys(reading, lambda key: plain(put_in(expression(key, vocabulary), vocabulary.where, vocabulary)))


def letters_of(reading: Reading) -> frozenset[Symbol]:
    """The letters of the keys: what they are is the question's business."""
    vocabulary = vocabulary_of(reading)
    keys = [expression(text, vocabulary) for text in reading.equals]
    return frozenset(symbol for key in keys for symbol in symbols_in(key))


def asked_of(reading: AskedFor) -> AskedName:
    """At home there is no key, and so no letter of one."""
    given = letters_of(reading) if isinstance(reading, Reading) else frozenset[Symbol]()
    return AskedName(reading.name, tuple(reading.spelled), given=given)


def with_symbols(readings: Sequence[_Reading]) -> list[_Reading]:
    """A reading that names no symbols has those of the one before."""
    filled: list[_Reading] = []
    for reading in readings:
        symbols = reading.symbols or (filled[-1].symbols if filled else {})
        filled.append(reading.model_copy(update={"symbols": symbols}))
    return filled


def _is_of_a_vector(applied: Apply, vocabulary: Vocabulary) -> bool:
    """Whether there is one way to normalise. Within a sum its index is not known here, so the rubric says it."""
    try:
        return ONE in typed(applied.arguments[0], vocabulary).shape
    except Misfit:
        return False


def with_readable_keys(readings: list[Reading]) -> list[Reading]:
    """Keys are in the students' own language, so a typo in one is found when the rubric is loaded."""
    for reading in with_symbols(readings):
        try:
            vocabulary = vocabulary_of(reading)
        except Unreadable as fault:
            raise ValueError(f"cannot read what is 'defined' or stands under 'where': {fault}") from None
        if reading.where and len(reading.conventions) > 1:
            raise ValueError("'where' needs one of the 'conventions': list each in a reading of its own")
        for letter, formula in vocabulary.where.items():
            try:
                typed(formula, vocabulary)
            except (Unreadable, Misfit) as fault:
                raise ValueError(f"cannot read what {letter} is under 'where': {fault}") from None
        if reading.at_also and not reading.at:
            raise ValueError("'at_also' names other letters for an index, and 'at' fixes none")
        for name in (reading.name, *reading.spelled):
            try:
                expression(name, vocabulary)
            except Unreadable as fault:
                raise ValueError(f"cannot read the name '{name}': {fault}") from None
        for name, shape in reading.results.items():
            if not re.fullmatch(r"\w+×\w+", shape) or not set(shape.split("×")) <= set(vocabulary.dimensions):
                known = ", ".join(vocabulary.dimensions)
                raise ValueError(f"the size of {name}, '{shape}', should be two of {known} with × between them")
        for key in (
            *reading.equals,
            *reading.restates,
            *reading.given.values(),
            *(mistake.equals for mistake in reading.mistakes),
        ):
            try:
                whole = put_in(expression(key, vocabulary), vocabulary.where, vocabulary)
                parts = walk(typed(whole, vocabulary).expression)
            except (Unreadable, Misfit) as fault:
                raise ValueError(f"cannot read the key '{key}': {fault}") from None
            applied = [part for part in parts if isinstance(part, Apply)]
            if any(part.function == "σ" for part in applied):
                raise ValueError(f"σ of a vector in '{key}' may be either: write sigmoid or softmax")
            is_open = not reading.softmax_normalises
            if is_open and any(
                part.function == "softmax" and not _is_of_a_vector(part, vocabulary) for part in applied
            ):
                choices = "each_row (every row sums to one) or each_column"
                raise ValueError(f"needs 'softmax_normalises' for '{key}': {choices}")
    return readings
