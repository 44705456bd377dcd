"""`@check` takes a function that says what it needs, and refuses one that does not."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal

import pytest

from grader.model import Outcome, passed
from grader.registry import REQUIRED, DataFile, check, definitions_in, rescorer_for, rescores


def test_the_keyword_parameters_are_the_schema() -> None:
    @check
    def stays_small(student: Any, rng: Any, *, file: str, most: float = 1.5, names: tuple[str, ...] = ()) -> Outcome:
        """It stays small.

        More for authors."""
        return passed("small")

    module = ModuleType(stays_small.__module__)
    module.stays_small = stays_small
    (definition,) = definitions_in([module]).values()
    assert definition.summary == "It stays small."
    assert [(p.name, p.kind, p.default) for p in definition.parameters.values()] == [
        ("file", "str", REQUIRED),
        ("most", "float", 1.5),
        ("names", "tuple[str, ...]", ()),
    ]


def test_types_are_told_in_words_without_what_validates_them() -> None:
    @check
    def reads(student: Any, rng: Any, *, data: Mapping[str, list[DataFile]], how: Literal["a", "b"] | None) -> Outcome:
        """It reads."""
        return passed("read")

    module = ModuleType(reads.__module__)
    module.reads = reads
    parameters = definitions_in([module])["reads"].parameters
    assert parameters["data"].kind == "Mapping[str, list[str]]"
    assert parameters["how"].kind == "'a' | 'b' | NoneType"


def test_types_are_taken_from_defaults_where_nothing_is_annotated() -> None:
    def plain(student, rng, *, length=6, name):
        """It is plain."""

    checked = check(plain)
    module = ModuleType(checked.__module__)
    module.plain = checked
    parameters = definitions_in([module])["plain"].parameters
    assert parameters["length"].read(3, {}) == 3
    with pytest.raises(ValueError, match="'length' should be a valid integer, not 'six'"):
        parameters["length"].read("six", {})
    assert parameters["name"].read(["anything"], {}) == ["anything"]


def test_what_is_no_check_is_refused() -> None:
    with pytest.raises(TypeError, match="no docstring"):
        check(lambda student, rng: passed("x"))

    def other_arguments(student: Any, seed: int) -> Outcome:
        """It takes a seed."""
        return passed("x")

    def returns_text(student: Any, rng: Any) -> str:
        """It returns text."""
        return "passed"

    with pytest.raises(TypeError, match=r"it should take \(student, rng, \*, …\)"):
        check(other_arguments)
    with pytest.raises(TypeError, match="should return an Outcome"):
        check(returns_text)


def test_rescoring_is_taken_when_nothing_but_changeable_parameters_changed() -> None:
    def reaches(student: Any, rng: Any, *, tiers: int, labels: str, score: int = 1) -> Outcome:
        """It reaches."""
        return passed("reached")

    assert rescorer_for(reaches, ["tiers"]) is None

    @rescores(reaches, "tiers", "score")
    def again(stored: Outcome, **_: Any) -> Outcome:
        return stored

    assert rescorer_for(reaches, ["tiers"]) is again
    assert rescorer_for(reaches, ["score", "tiers"]) is again
    assert rescorer_for(reaches, ["labels"]) is None
    assert rescorer_for(reaches, ["labels", "tiers"]) is None
    assert rescorer_for(reaches, ["labels", "score", "tiers"]) is None
