"""Every fair way to read a question of which its rubric lists one: other letters, tokens in rows, a softmax turned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from grader.checks.formulas.key_variants import (
    AskedFor,
    Direction,
    Reading,
    asked_of,
    vocabulary_of,
    with_keys,
    with_symbols,
    with_where,
)
from grader.formulas.answer import explaining
from grader.formulas.answer.asked_for import expression
from grader.formulas.answer.softmax_direction import directed
from grader.formulas.syntax.expressions import Expression, Symbol, Transpose, rebuilt
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.shapes import typed
from grader.formulas.typing.vocabulary import ONE
from grader.model import Answer

_Way = TypeVar("_Way", bound=AskedFor)
_OTHER: dict[Direction, Direction] = {"each_row": "each_column", "each_column": "each_row"}


def each_way(readings: Sequence[_Way]) -> list[_Way]:
    """The first of each reading is the one that is listed."""
    return [
        way
        for reading in map(with_where, with_symbols(readings))
        for lettered in (reading, *(_with_letter(reading, letter) for letter in reading.at_also))
        for turned in (lettered, *([_transposed(lettered)] if len(reading.conventions) > 1 else []))
        for way in (turned, *_in_other_directions(turned))
    ]


def _with_letter(reading: _Way, letter: str) -> _Way:
    """h_i in place of h_j."""
    index = re.compile(rf"(?<![A-Za-z\\]){reading.at[0]}(?![A-Za-z])")

    def lettered(text: str) -> str:
        return index.sub(letter, text)

    named = {"name": lettered(reading.name), "spelled": [*map(lettered, reading.spelled)]}
    return with_keys(reading.model_copy(update={**named, "at": [*map(lettered, reading.at)]}), lettered)


def _transposed(reading: _Way) -> _Way:
    """With tokens in rows where the symbols have them in columns, or in columns where they have them in rows."""
    symbols = {name: _transposed_meaning(meaning) for name, meaning in reading.symbols.items()}
    given = {"symbols": symbols}
    if not isinstance(reading, Reading):
        return reading.model_copy(update=given)
    vocabulary = vocabulary_of(reading)

    def is_matrix(part: Expression) -> bool:
        known = vocabulary.find(part.name, part.index) if isinstance(part, Symbol) else None
        return known is not None and ONE not in known[0].shape

    def transposed(key: str) -> str:
        found = expression(_directed(key, reading), vocabulary)
        turned = rebuilt(found, lambda part: Transpose(part) if is_matrix(part) else part)
        return plain(turned if ONE in typed(found, vocabulary).shape else Transpose(turned))

    told = {
        "results": {name: _transposed_meaning(size) for name, size in reading.results.items()},
        "softmax_normalises": [_OTHER[direction] for direction in reading.softmax_normalises],
        "called": f"with tokens in {reading.conventions[1]}",
    }
    return with_keys(reading, transposed).model_copy(update={**given, **told})


def _transposed_meaning(meaning: str) -> str:
    """`n×d` for `d×n`, `row of K` for `column of K`."""
    turned = {"column of": "row of", "row of": "column of"}
    meaning = re.sub("column of|row of", lambda found: turned[found[0]], meaning)
    return re.sub(r"^(\w+)×(\w+)$", r"\2×\1", meaning)


def _in_other_directions(reading: _Way) -> Iterator[_Way]:
    """Only a softmax goes another way whose direction an answer leaves open; those of the keys stay."""
    if not isinstance(reading, Reading):
        return
    for direction in reading.softmax_normalises[1:]:
        called = f"with a softmax over {direction.replace('_', ' ')}"
        told = {
            "softmax_normalises": [direction],
            "results": {},
            "called": ", ".join(filter(None, [reading.called, called])),
        }
        yield with_keys(reading, lambda key: _directed(key, reading)).model_copy(update=told)


def _directed(key: str, reading: Reading) -> str:
    """With every softmax going the way that the rubric says."""
    if not reading.softmax_normalises:
        return key
    found = expression(key, vocabulary_of(reading))
    return plain(directed(found, "row" if reading.softmax_normalises[0] == "each_row" else "column"))


def formula_as_read(answer: Answer, *, readings: Sequence[AskedFor], **_: object) -> list[explaining.Reading]:
    """By the first fair way to read the question in which the answer can be read."""
    tried = [explaining.how_read(answer, vocabulary_of(one), asked_of(one)) for one in each_way(readings)]
    return [next((one for one in tried if isinstance(one, explaining.Read)), tried[0])]
