"""Formulas that say the same as the key, whatever their form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator

from grader.checks.formulas.conventions import each_way, formula_as_read
from grader.checks.formulas.key_variants import (
    Reading,
    asked_of,
    letters_of,
    vocabulary_of,
    with_readable_keys,
)
from grader.checks.formulas.readable import formula_can_be_read
from grader.formulas.answer.asked_for import (
    UNREAD,
    Formula,
    Judged,
    each_judged,
    expression,
    letter_of_another_shape,
    of_alternatives,
)
from grader.formulas.answer.softmax_direction import AXES, directed, direction_said
from grader.formulas.answer.stated_sizes import stated_of
from grader.formulas.answer.statements import Statements, read_statements
from grader.formulas.outcomes import formula_outcome, seed_from
from grader.formulas.provers import identity
from grader.formulas.provers.canonical_form import canonical
from grader.formulas.provers.verdicts import HALF, RESTATED, Verdict, right, undecided, wrong
from grader.formulas.syntax.expressions import Apply, Expression, rebuilt, walk
from grader.formulas.syntax.writer import as_read, plain
from grader.formulas.typing.shapes import Misfit, Typed, shown, typed
from grader.model import Answer, Outcome, Student
from grader.registry import HoldsTheAnswer, Prompt, check, read_by
from grader.shares import Share

_DIFFERS = "has_another_value"  # evidence that a formula was computed, and is another than the key
_SIGMAS = {"softmax": "softmax", "sigmoid": "logistic", "logistic": "logistic"}  # what σ of a vector is called
_DIRECTION = "direction_said"  # evidence that words give a softmax another direction than the formula needs


@read_by(formula_as_read)
@check(at_home=formula_can_be_read)
def formula_equals_the_key(
    student: Student,
    rng: np.random.Generator,
    *,
    readings: Annotated[list[Reading], AfterValidator(with_readable_keys), HoldsTheAnswer()],
    partial: Share = HALF,
    prompt: Prompt = "",
) -> Outcome:
    """The formula says the same as the right one, in whatever form."""
    return formula_outcome(_equals, student, partial, [reading.model_dump() for reading in readings], seed_from(rng))


def _equals(answer: Answer, readings: list[dict[str, Any]], seed: int) -> Verdict:
    tried: list[tuple[str, list[Judged]]] = []
    every = each_way([Reading.model_validate(given) for given in readings])
    for reading in [reading for reading in every if not _said_otherwise(answer, reading, reading.symbols)] or every:
        if not all(_states(answer, reading, name, text, seed) for name, text in reading.given.items()):
            continue
        judged = [_with_its_results(one, answer, reading) for one in _equals_reading(answer, reading, seed)]
        if judged[0].verdict.score == 1 and all(len(one) == 1 for one in (judged, *(earlier for _, earlier in tried))):
            return judged[0].verdict
        tried.append((reading.name, judged))
    most = max(len(judged) for _, judged in tried)
    name = next(name for name, judged in tried if len(judged) == most)
    same = [judged for other, judged in tried if len(judged) == most and (other == name or most == 1)]
    best = [Judged(_best([one.verdict for one in ways]), ways[0].found) for ways in zip(*same, strict=True)]
    return of_alternatives(best, name)


def _said_otherwise(answer: Answer, reading: Reading, shapes: Mapping[str, str]) -> str:
    """Which of these matrices the answer gives another size, in the question's own letters, in words; or nothing."""
    text = "\n".join(piece.text for piece in answer.pieces)
    letters = {name for name, meaning in reading.symbols.items() if meaning == "size"}
    for name, shape in shapes.items():
        wanted = tuple(shape.split("×"))
        for stated in stated_of(text, name) if len(wanted) == 2 else ():
            if stated != wanted and len(stated) == 2 and set(stated) <= letters:
                return f"{name} is {shape}, not {'×'.join(stated)}"
    return ""


def _with_its_results(judged: Judged, answer: Answer, reading: Reading) -> Judged:
    """Half, if another size is stated for what comes out; who gives the inputs other sizes has letters of their own."""
    verdict, said = judged.verdict, _said_otherwise(answer, reading, reading.results)
    if verdict.score != 1 or not said or _said_otherwise(answer, reading, reading.symbols):
        return judged
    return replace(
        judged,
        verdict=replace(verdict, score=HALF, message=f"the formula is right, but {said}", code="wrong_size_stated"),
    )


def _best(verdicts: Sequence[Verdict]) -> Verdict:
    """Of one formula, by the reading that is kindest to it."""
    decided = [verdict for verdict in verdicts if verdict.score is not None]
    if any(verdict.score for verdict in decided):
        return max(decided, key=lambda verdict: verdict.score or 0)
    told = [verdict for verdict in verdicts if _DIRECTION in verdict.evidence]
    unread = [verdict for verdict in verdicts if UNREAD in verdict.evidence]
    if unread and not any(_DIFFERS in verdict.evidence for verdict in decided):  # only shapes fail it
        told += unread
    return max(told or decided or verdicts, key=lambda verdict: (verdict.provisional, verdict.score or 0))


def _states(answer: Answer, reading: Reading, name: str, text: str, seed: int) -> bool:
    """Whether one of the answer's equations for a name says this."""
    vocabulary = vocabulary_of(reading)
    statements = read_statements(answer, vocabulary)
    wanted = expression(text, vocabulary)
    for proposed in statements.proposals([expression(name, vocabulary)]):
        for member in proposed.members:
            try:
                found = typed(member, vocabulary)
            except Misfit:
                continue
            if identity.agree(found, wanted, vocabulary, np.random.default_rng(seed)).holds:
                return True
    return False


def _equals_reading(answer: Answer, reading: Reading, seed: int) -> list[Judged]:
    def judge(found: Formula) -> Verdict:
        return _compared(found, found.statements, reading, np.random.default_rng(seed))

    return each_judged(answer, vocabulary_of(reading), asked_of(reading), judge)


def _compared(found: Typed, statements: Statements, reading: Reading, rng: np.random.Generator) -> Verdict:
    """With σ of a vector as the sigmoid and as the softmax: the key knows which is meant, if no words say it."""
    if not _has(found.expression, "σ"):
        return _in_the_direction_said(found, statements, reading, rng)
    words = " ".join(piece.text.lower() for piece in statements.answer.pieces if piece.kind == "prose")
    said = {function for word, function in _SIGMAS.items() if word in words}
    keys = [expression(key, statements.vocabulary) for key in reading.equals]
    likely_first = sorted(
        said or {*_SIGMAS.values()}, key=lambda function: (not any(_has(key, function) for key in keys), function)
    )
    return _best(
        [
            _in_the_direction_said(
                replace(found, expression=_with_sigma_as(function, found.expression)), statements, reading, rng
            )
            for function in likely_first
        ]
    )


def _has(expression: Expression, function: str) -> bool:
    return any(isinstance(part, Apply) and part.function == function for part in walk(expression))


def _with_sigma_as(function: str, expression: Expression) -> Expression:
    def named(part: Expression) -> Expression:
        return replace(part, function=function) if isinstance(part, Apply) and part.function == "σ" else part

    return rebuilt(expression, named)


def _in_the_direction_said(found: Typed, statements: Statements, reading: Reading, rng: np.random.Generator) -> Verdict:
    """By the direction that the words beside a softmax give it, if they do; by the reading's own else."""
    said = direction_said(statements.answer.pieces)
    if said is None:
        return _in_one_direction(found, statements, reading, rng)
    told = _in_one_direction(replace(found, expression=directed(found.expression, said)), statements, reading, rng)
    untold = _in_one_direction(found, statements, reading, rng)
    if (worth := untold.score or Fraction(0)) > (told.score or 0):
        message = f"the formula would earn more if its softmax did not go over each {said}, as the words beside it say"
        where = f"{statements.answer.file}:{statements.answer.line}"
        message, detail = f"{message}; a person decides", f"{where}: {told.detail}"
        return undecided(message, detail, {_DIRECTION: said}, worth / 2, code="softmax_direction")
    return told


def _in_one_direction(found: Typed, statements: Statements, reading: Reading, rng: np.random.Generator) -> Verdict:
    """With every key, then with every known mistake."""
    vocabulary = statements.vocabulary
    axis = AXES["row" if reading.softmax_normalises[:1] == ["each_row"] else "column"]
    formula = f"{reading.name} = {plain(found.expression)}"
    evidence: dict[str, Any] = {
        **as_read(found.expression, reading.name),
        "canonical": canonical(found.expression, vocabulary),
    }
    tried = []
    for text in reading.restates:
        if identity.agree(found, expression(text, vocabulary), vocabulary, rng, axis).holds:
            message = f"this only restates what {reading.name} is"
            return undecided(message, formula, {RESTATED: True}, code="only_restates")
    for text in reading.equals:
        key = statements.expanded(expression(text, vocabulary), letters_of(reading))
        agreement = identity.agree(found, key, vocabulary, rng, axis)
        if agreement.holds:
            evidence["proved"] = not agreement.renamed and identity.proved(found, key)
            how = f" ({reading.called})" if reading.called else ""
            note = f", with {agreement.renamed}" if agreement.renamed else ""
            return right(f"the formula is right{how}", f"{formula}{note}", evidence)
        tried.append(agreement)
    for mistake in reading.mistakes:
        if identity.agree(found, expression(mistake.equals, vocabulary), vocabulary, rng, axis).holds:
            return Verdict(mistake.score, mistake.because, formula, evidence, code="known_mistake")
    want = typed(expression(reading.equals[0], vocabulary), vocabulary, found.shape)
    unknown = [str(symbol) for symbol in vocabulary.free(found.expression) if symbol.name.isupper()]
    unsaid = unknown[:1] or letter_of_another_shape(found.expression, statements, want.shape)
    if want.shape != found.shape and unsaid:
        detail = f"it is not said what {''.join(unsaid)} is"
        return undecided(f"the formula for {reading.name} could not be read", detail, code="undefined_letter")
    if want.shape != found.shape:
        detail = f"{formula} is {shown(found.shape)}"
        return wrong(f"{reading.name} has the wrong shape", detail, evidence, code="wrong_shape")
    nearest = min(tried, key=lambda agreement: agreement.off_by)
    off = f"it is off by {nearest.off_by:.2g}" if np.isfinite(nearest.off_by) else "it differs"
    where = f" (sampled with {nearest.sizes})" if nearest.sizes else ""
    evidence[_DIFFERS] = True
    detail = f"{formula}: {off} for random values{where}"
    return wrong(f"the formula for {reading.name} is not right", detail, evidence, code="formula_wrong")
