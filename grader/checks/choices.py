"""Multiple choice in written answers: one right option, or several."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from grader.errors import Missing
from grader.model import Outcome, Student, needs_review, passed, scored
from grader.prose.chosen_options import Chosen, chosen_in
from grader.quoting import quote
from grader.registry import HoldsTheAnswer, OffersOptions, Prompt, check
from grader.rubric.yaml_source import as_written


def _texts_by_label(value: Any) -> Any:
    """Labels may be numbers, and so may what an option says."""
    return {str(label): as_written(text) for label, text in value.items()} if isinstance(value, dict) else value


def _list_of_texts(value: Any) -> Any:
    several = value if isinstance(value, list) else [value]
    return [as_written(label) for label in several]


Options = Annotated[dict[str, str], BeforeValidator(_texts_by_label), OffersOptions()]
Labels = Annotated[list[str], BeforeValidator(_list_of_texts)]


@check(judges=False)
def option_can_be_read(student: Student, rng: np.random.Generator, *, options: Options, prompt: Prompt = "") -> Outcome:
    """It is clear which option is chosen; whether it is right is judged later."""
    choice, where = _choice_and_place(student, options)
    if choice.unclear:
        return _needs_review(choice, where)
    return passed(f"{where}: read as {' and '.join(choice.options)}")


def _are_options(given: Mapping[str, Any]) -> str:
    unknown = [label for label in given["right"] if label not in given["options"]]
    if unknown or not given["right"]:
        named = f"'{unknown[0]}'" if unknown else "nothing"
        return f"'right' names {named}; the options are {', '.join(given['options'])}"
    return ""


@check(at_home=option_can_be_read, agree=_are_options)
def chooses_the_option(
    student: Student,
    rng: np.random.Generator,
    *,
    options: Options,
    right: Annotated[Labels, HoldsTheAnswer()],
    partial: bool = True,
    prompt: Prompt = "",
) -> Outcome:
    """The right option is chosen; where several are right, those and no others."""
    choice, where = _choice_and_place(student, options)
    if choice.unclear:
        return _needs_review(choice, where)
    chosen, wanted = set(choice.options), set(right)
    hits, extra = len(chosen & wanted), len(chosen - wanted)
    share = max(Fraction(0), Fraction(hits - extra, len(wanted)))
    score = share if partial or share == 1 else Fraction(0)
    read = f"read as {' and '.join(choice.options)}"
    if score == 1:
        return passed("the right choice" if len(wanted) == 1 else "the right choices", detail=read)
    message = "this is not the right choice"
    if len(wanted) > 1:
        message = f"{hits} of {len(wanted)} right options are chosen, and {extra} others"
    elif hits:
        message = f"one option is right, and {len(chosen)} are chosen"
    return scored(score, message, read, code="wrong_choice")


def _choice_and_place(student: Student, options: dict[str, str]) -> tuple[Chosen, str]:
    answer = student.answer
    where = f"{answer.file}:{answer.line}"
    if not answer.text.strip():
        raise Missing(f"{where}: the answer to {answer.part} is empty", code="answer_empty")
    return chosen_in(answer.text, options), where


def _needs_review(choice: Chosen, where: str) -> Outcome:
    return needs_review(f"{where}: {quote(choice.unclear, 90)}; a person decides", code="choice_unclear")
