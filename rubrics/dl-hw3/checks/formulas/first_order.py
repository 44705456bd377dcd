"""How the output changes when one key does a little, against the derivative of the reference attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import (
    HALF,
    ONE,
    UNSIZED,
    Add,
    Apply,
    AskedName,
    Expression,
    Judged,
    Proposed,
    Reading,
    Share,
    Statements,
    Symbol,
    Transpose,
    Typed,
    Verdict,
    canonical,
    expression,
    formula_outcome,
    found_for,
    how_read,
    judged_proposal,
    negative,
    of_alternatives,
    plain,
    read_by,
    read_statements,
    seed_from,
    shown,
    with_alternatives,
    wrong,
)
from reference.attention import attention

from . import perturbation

# How the change of the output is written, and the changed output itself.
_CHANGES = (
    *("δ h_j", "d h_j", "Δ h", "δ h", "d h", r"\hat{h}_j - h_j", r"\hat{h} - h"),
    *(r"\tilde{h}_j - h_j", r"\tilde{h} - h", "h'_j - h_j", "h_j' - h_j", "h' - h"),
)
_CHANGED_OUTPUTS = (r"\hat{h}_j", r"\hat{h}", r"\tilde{h}_j", r"\tilde{h}", "h'_j", "h_j'", "h'")
_OUTPUT = Symbol("h", ("j",))
_EXPECTED = ("t", ONE)
_QUESTION = AskedName("Δ h_j", _CHANGES, _EXPECTED)


def _as_read(answer: Answer, *, change: str, **_: object) -> list[Reading]:
    vocabulary = perturbation.SCALED if change == "scaled" else perturbation.SHIFTED
    return [how_read(answer, vocabulary, _QUESTION, _found)]


@read_by(_as_read)
@check
def agrees_to_first_order(student: Student, rng: np.random.Generator, *, change: str, partial: Share = HALF) -> Outcome:
    """The formula for a small change of the output agrees with the derivative of attention itself."""
    return formula_outcome(_first_order, student, partial, change == "scaled", seed_from(rng))


def _first_order(answer: Answer, scales: bool, seed: int) -> Verdict:
    statements = read_statements(answer, perturbation.SCALED if scales else perturbation.SHIFTED)
    found = _found(_QUESTION, statements)
    if isinstance(found, Verdict):
        return found
    worlds = perturbation.worlds(attention, scales, np.random.default_rng(seed))

    def judge(formula: Typed, statements: Statements, proposed: Proposed) -> Verdict:
        read_as = plain(formula.expression)
        if formula.shape == UNSIZED:
            detail = f"{read_as} says that nothing changes"
            return wrong("the output does change to first order", detail, code="formula_is_zero")
        if formula.shape != _EXPECTED:
            detail = f"{read_as} is {shown(formula.shape)}"
            return wrong("the change of h_j is a vector like h_j", detail, code="wrong_shape")
        verdict = perturbation.judge(formula.expression, worlds, read_as)
        same = {"canonical": canonical(formula.expression, statements.vocabulary)}
        return replace(verdict, evidence={**verdict.evidence, **same})

    each = [Judged(judged_proposal(one, statements, _QUESTION, judge), [one]) for one in found.offered]
    return of_alternatives(each, _QUESTION.name)


def _found(question: AskedName, statements: Statements) -> Proposed | Verdict:
    """The last formula for the change, or for the changed output written as a change."""
    found = found_for(question, statements)
    if isinstance(found, Proposed):
        return _with_members(found, _without_remainder)
    outputs = statements.proposals([expression(text, statements.vocabulary) for text in _CHANGED_OUTPUTS])
    readable = [one for one in with_alternatives(outputs, statements) if one.members]
    return _with_members(readable[-1], _change) if readable else found


def _with_members(found: Proposed, changed: Callable[[Expression], Expression]) -> Proposed:
    """The same equation and its alternatives, with every member changed."""
    chains = tuple(tuple(changed(member) for member in chain) for chain in found.chains)
    return replace(found, chains=chains, others=tuple(_with_members(one, changed) for one in found.others))


def _change(output: Expression) -> Expression:
    """What the changed output has more than h_j. A prime on it changes it; it transposes nothing."""
    column = output.of if isinstance(output, Transpose) else output
    return Add((_without_remainder(column), negative(_OUTPUT)))


def _without_remainder(formula: Expression) -> Expression:
    """To first order: `… + O(‖ε‖²)` is what stands before it."""
    if not isinstance(formula, Add):
        return formula
    kept = tuple(term for term in formula.terms if not (isinstance(term, Apply) and term.function in ("O", "o")))
    return kept[0] if len(kept) == 1 else replace(formula, terms=kept) if kept else formula
