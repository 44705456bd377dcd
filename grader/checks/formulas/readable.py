"""Whether an answer can be read, without a word on whether it is right: what students learn before the deadline."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checks.formulas.conventions import each_way, formula_as_read
from grader.checks.formulas.key_variants import AskedFor, vocabulary_of
from grader.errors import Missing
from grader.formulas.answer.asked_for import AskedName, Formula, judged
from grader.formulas.outcomes import formula_outcome
from grader.formulas.provers.verdicts import HALF, Verdict, right
from grader.formulas.syntax.writer import plain
from grader.model import Answer, Outcome, Student, failed, passed
from grader.prose import judge
from grader.registry import Prompt, check, read_by


@check(judges=False)
def is_answered(student: Student, rng: np.random.Generator, *, prompt: Prompt = "") -> Outcome:
    """There is an answer under the heading of this part, in words of your own; what it says is judged later."""
    answer = student.answer
    place = f"{answer.file}:{answer.line}"
    judgement = judge(answer.pieces, [], [], prompt)
    if judgement.empty:
        raise Missing(f"{place}: the answer to {answer.part} is empty", code="answer_empty")
    if judgement.copied:
        message = f"{place}: this repeats the question; write what you think the answer is"
        return failed(message, code="repeats_the_question")
    return passed(f"{place}: an answer is there")


@read_by(formula_as_read)
@check(judges=False)
def formula_can_be_read(student: Student, rng: np.random.Generator, *, readings: list[AskedFor]) -> Outcome:
    """A formula is found for the name asked for, and it can be read; whether it is right is judged later."""
    return formula_outcome(_read, student, HALF, [reading.model_dump() for reading in readings])


def _read(answer: Answer, readings: list[dict[str, Any]]) -> Verdict:
    verdicts = []
    for reading in each_way([AskedFor.model_validate(given) for given in readings]):
        question = AskedName(reading.name, tuple(reading.spelled))

        def say(found: Formula, name: str = reading.name) -> Verdict:
            return right("the formula can be read", f"{name} = {plain(found.expression)}")

        verdicts.append(judged(answer, vocabulary_of(reading), question, say))
    return next((verdict for verdict in verdicts if verdict.score == 1), verdicts[0])
