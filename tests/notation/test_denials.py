"""What denies, denies a formula, a cost and an idea alike; where readers differ, the difference is the table's."""

from __future__ import annotations

import pytest

from grader.answers import cut_into_parts
from grader.formulas.answer.statements import read_statements
from grader.formulas.syntax.expressions import Symbol
from grader.notation import denials
from grader.prose.word_tokens import tokens_of
from tests.formulas.spelling_out import BASES


def _stands(text: str) -> str:
    answer = cut_into_parts(f"# 1\n\n{text}\n", "answers.md", ["1"]).parts["1"]
    (proposed,) = read_statements(answer, BASES).proposals([Symbol("M")])
    return proposed.assertion


def _denied(text: str) -> bool:
    return next(token.denied for token in tokens_of(text)[1] if token.form == "stabl")


@pytest.mark.parametrize("word", sorted(denials.NOT | denials.NEITHER))
def test_a_denial_denies_whatever_is_read(word: str) -> None:
    assert (_stands("so $M = AA^T$"), _stands(f"so {word} $M = AA^T$")) == ("stated", "denied")
    assert (_denied("it is stable"), _denied(f"it is {word} stable")) == (False, True)


@pytest.mark.parametrize("word", sorted(denials.WRONG | {"contradiction"}))
def test_a_verdict_turns_a_formula_down(word: str) -> None:
    assert _stands(f"$M = AA^T$ is {word}") == "denied"


@pytest.mark.parametrize("word", sorted(denials.HARDLY | denials.FAILING))
def test_hardly_is_not_in_prose(word: str) -> None:
    assert _denied(f"it {word} stable")


@pytest.mark.parametrize("word", sorted(denials.NO_DENIAL_BEFORE))
def test_not_only_denies_nothing(word: str) -> None:
    assert not _denied(f"not {word} stable")


@pytest.mark.parametrize("word", sorted(denials.NO_DENIAL_WITH_NO))
def test_no_matter_denies_nothing_and_not_matter_does(word: str) -> None:
    assert (_denied(f"no {word} stable"), _denied(f"it does not {word} stable")) == (False, True)


def test_what_stands_in_the_tables_is_what_people_write() -> None:
    assert not _denied("no matter what it is stable")
    assert not _denied("no doubt it is stable")
    assert _denied("it is no t that is stable"), "a letter is no part of a word"


@pytest.mark.parametrize("word", sorted(denials.CONTRASTS | denials.CONSEQUENCES))
def test_a_denial_reaches_to_the_next_clause(word: str) -> None:
    assert not _denied(f"it is not small {word} it is stable")
    assert _denied(f"it is {word} not stable")


@pytest.mark.parametrize("word", sorted(denials.CONSEQUENCES))
def test_a_verdict_before_a_consequence_is_about_something_else(word: str) -> None:
    assert _stands(f"the shape is wrong here, {word} we take the matrix $M = AA^T$") == "stated"
