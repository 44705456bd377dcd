"""`@check` takes a function that says what it needs, and refuses one that does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest

from grader.errors import RubricError
from grader.model import Check, Outcome, failed, needs_review, passed
from grader.registry import (
    REQUIRED,
    DataFile,
    HoldsTheAnswer,
    NamesAReference,
    Parameter,
    Prompt,
    StudentFile,
    check,
    defined,
    definition_of,
    definitions_in,
    question_of,
    read_by,
    reader_of,
    rescorer_for,
    rescores,
)
from grader.shares import Partial


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


def test_a_parameter_says_what_it_is_to_students_and_to_the_course() -> None:
    @check
    def judges(
        student: Any,
        rng: Any,
        *,
        file: StudentFile,
        name: str,
        key: Annotated[str, HoldsTheAnswer()],
        labels: DataFile,
        beside: Sequence[DataFile],
        most: int = 3,
    ) -> Outcome:
        """It judges."""
        return passed("judged")

    definition = definition_of(judges)
    assert definition is not None
    marks = ("is_student_file", "is_a_name", "holds_the_answer", "is_data")
    assert {name: [mark for mark in marks if getattr(one, mark)] for name, one in definition.parameters.items()} == {
        "file": ["is_student_file"],
        "name": ["is_a_name"],
        "key": ["holds_the_answer"],
        "labels": ["is_data"],
        "beside": ["is_data"],
        "most": [],
    }


def test_what_else_is_true_of_a_check_is_said_where_it_is_defined() -> None:
    @check(judges=False)
    def is_there(student: Any, rng: Any, *, prompt: Prompt = "") -> Outcome:
        """It is there."""
        return passed("there")

    @check(prose=True, at_home=is_there)
    def is_good(student: Any, rng: Any, *, model: Annotated[str, NamesAReference()], prompt: Prompt = "") -> Outcome:
        """It is good."""
        return passed("good")

    looking, judging = (Check(one.__name__, one, {}, "", Fraction(0)) for one in (is_there, is_good))
    assert (defined(looking).judges, defined(looking).prose, defined(looking).at_home) == (False, False, None)
    assert (defined(judging).judges, defined(judging).prose, defined(judging).at_home) == (True, True, is_there)
    assert (defined(judging).marked(NamesAReference), defined(looking).marked(NamesAReference)) == ("model", "")
    assert question_of(judging) == ""
    assert question_of(replace(judging, parameters={"model": "m", "prompt": "Why?"})) == "Why?"
    with pytest.raises(TypeError, match="public"):  # where its code lies says whether students may have it
        check(public=True)(is_there)


def test_what_a_check_does_not_say_of_itself_is_not_so() -> None:
    @check
    def is_right(student: Any, rng: Any) -> Outcome:
        """It is right."""
        return passed("right")

    known = definition_of(is_right)
    assert known is not None
    said = (known.prose, known.at_home, known.group, known.compares, known.agree)
    assert (known.judges, said) == (True, (False, None, None, False, None))


def test_a_function_that_was_never_marked_is_no_check() -> None:
    def plain(student: Any, rng: Any) -> Outcome:
        """It is plain."""
        return passed("plain")

    def reads(answer: Any) -> list[Any]:
        return [answer]

    assert definition_of(plain) is None
    assert reader_of(plain) is None
    marked = definition_of(check(read_by(reads)(plain)))
    assert marked is not None
    assert reader_of(plain) is reads


def test_a_module_defines_what_is_written_in_it_and_no_name_stands_for_two() -> None:
    def module(name: str, home: str) -> ModuleType:
        def same(student: Any, rng: Any) -> Outcome:
            """It is the same."""
            return passed("same")

        same.__module__ = home
        made = ModuleType(name)
        made.same = check(same)
        made.under_another_name = made.same
        return made

    first, second, borrowing = module("first", "first"), module("second", "second"), module("third", "first")
    assert definitions_in([first, borrowing])["same"].function is first.same
    assert definitions_in([second])["same"].function is second.same
    place = rf"{__file__}:\d+"
    with pytest.raises(RubricError, match=rf"^{place}: first has a check 'same' already; give this one another name$"):
        definitions_in([first, second])


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


def test_partial_credit_is_a_parameter_that_a_rubric_may_change_in_part() -> None:
    @check
    def steps(student: Any, rng: Any, *, partial: Partial = Partial(off_by_one="9/10", sign="1/2")) -> Outcome:
        """It steps."""
        return partial.applied(failed("one too many", code="off_by_one"))

    definition = definition_of(steps)
    assert definition is not None
    parameter = definition.parameters["partial"]
    assert repr(parameter.default) == "{off_by_one: 9/10, sign: 1/2}"
    assert steps(None, None).score == Fraction(9, 10)
    given = parameter.read({"off_by_one": "2/3"}, {})
    assert given == {"off_by_one": Fraction(2, 3), "sign": Fraction(1, 2)}
    assert steps(None, None, partial=given).score == Fraction(2, 3)
    assert steps(None, None, partial=parameter.read({"off_by_one": 1}, {})).status == "passed"
    assert steps(None, None, partial=parameter.read({"off_by_one": 0}, {})).status == "failed"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"of_by_one": "1/2"}, "'partial' has no share for 'of_by_one'; did you mean 'off_by_one'?"),
        ({"off_by_one": "3/2"}, "'partial.off_by_one' should be less than or equal to 1, not '3/2'"),
        ({"off_by_one": -1}, "'partial.off_by_one' should be greater than or equal to 0, not -1"),
        ({"off_by_one": "half"}, "'partial.off_by_one' should be a number such as 0.1 or 1/2"),
        ("1/2", "'partial' should be a valid dictionary, not '1/2'"),
    ],
)
def test_partial_credit_that_makes_no_sense_is_refused(given: Any, told: str) -> None:
    parameter = Parameter("partial", Partial(off_by_one="9/10").annotation, REQUIRED)
    with pytest.raises(ValueError, match=re.escape(told)):
        parameter.read(given, {})


def test_partial_credit_leaves_other_outcomes_alone() -> None:
    partial = Partial(off_by_one="9/10")
    for outcome in (passed("right"), failed("wrong", code="sign"), needs_review("unclear", code="off_by_one")):
        assert partial.applied(outcome) is outcome
