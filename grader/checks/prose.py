"""Prose judged by the ideas it gives. A person has the last word."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from grader.errors import Missing
from grader.model import Outcome, Status, Student, failed, scored
from grader.prose import Claim, Claims, Idea, Ideas, Judgement, judge
from grader.quoting import quote
from grader.registry import HoldsTheAnswer, Prompt, check

_QUOTED = 90  # characters of each quotation: a line
Index = Annotated[str, Field(pattern="^([a-z]{2})?$")]  # `ji`: the subscript that the question singles out, the others'


@check(prose=True)
def gives_the_ideas(
    student: Student,
    rng: np.random.Generator,
    *,
    ideas: Annotated[Ideas, HoldsTheAnswer()],
    wrong: Annotated[Claims, HoldsTheAnswer()] = [],  # noqa: B006 - never changed, and a rubric author reads it as `[]`
    prompt: Prompt = "",
    need: int = 0,
    distinct: bool = True,
    index: Index = "",
    review: bool = True,
) -> Outcome:
    """The answer gives the ideas the question asks for, in words or in symbols."""
    answer = student.answer
    where = f"{answer.file}:{answer.line}"
    judgement = judge(
        answer.pieces, ideas, wrong, prompt, items=answer.items, index=index, distinct=distinct and need > 0
    )
    if judgement.empty:
        raise Missing(f"{where}: the answer to {answer.part} is empty", code="answer_empty")
    if judgement.copied:
        message = f"{where}: this repeats the question; write what you think the answer is"
        return failed(message, code="repeats_the_question")
    score = _score(judgement, ideas, wrong, need)
    asked = min(need or len(ideas), len(ideas))
    message = f"found {min(len(judgement.found), asked)} of {asked} idea{'s' * (asked > 1)}"
    message += "".join(f"; {remark}" for remark in judgement.remarks)
    detail, revealing = _detail(judgement, ideas, wrong, asked), _revealing(judgement, ideas)
    code = "ideas_missing" if len(judgement.found) < asked else "wrong_claims" if score < 1 else "prose_unread"
    outcome = scored(score, message, detail, revealing=revealing, code=code)
    if judgement.suspicious:
        return replace(outcome, status=Status.REVIEW, code="suspicious_text")
    return replace(outcome, status=Status.REVIEW, code=code) if review else outcome


def _score(judgement: Judgement, ideas: list[Idea], wrong: list[Claim], need: int) -> Fraction:
    """The share of the weight asked for that was found. What is not to be believed unread earns nothing yet."""
    if judgement.suspicious:
        return Fraction(0)
    heaviest = sorted((idea.weight for idea in ideas), reverse=True)[: need or None]
    found = sorted((idea.weight for idea in ideas if idea.id in judgement.found), reverse=True)[: need or None]
    caps = [claim.at_most for claim in wrong if claim.id in judgement.wrong]
    return min(Fraction(sum(found), sum(heaviest)), *caps, Fraction(1))


def _detail(judgement: Judgement, ideas: list[Idea], wrong: list[Claim], asked: int) -> str:
    """Behind the count of ideas found: which, and which not as long as one is still asked for."""
    found = [f"{idea.label} (“{_quoted(judgement.found[idea.id])}”)" for idea in ideas if idea.id in judgement.found]
    covered = {*judgement.found, *judgement.same_reason}
    missing = [idea.label for idea in ideas if idea.id not in covered and len(found) < asked]
    claims = [
        f"{claim.label} (“{_quoted(judgement.wrong[claim.id])}”)" for claim in wrong if claim.id in judgement.wrong
    ]
    effects = [idea.label for idea in ideas if idea.id in judgement.same_reason]
    lists = {"": found, "a cause or an effect of it: ": effects, "not found: ": missing, "looks wrong: ": claims}
    return "; ".join(f"{name}{', '.join(labels)}" for name, labels in lists.items() if labels)


def _revealing(judgement: Judgement, ideas: list[Idea]) -> dict[str, object]:
    """An idea's id may give it away, so what was not found goes by its label."""
    return {
        "found": {idea: _quoted(said) for idea, said in judgement.found.items()},
        "not_found": [idea.label for idea in ideas if idea.id not in judgement.found],
        "wrong_claims": {claim: _quoted(said) for claim, said in judgement.wrong.items()},
    }


def _quoted(said: str) -> str:
    return quote(said, _QUOTED)
