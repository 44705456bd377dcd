"""How the output changes when one key does a little, against the derivative of the reference attention."""

from __future__ import annotations

import numpy as np

from grader.checks.formula_outcomes import Share, formula_outcome, seed_from
from grader.formulas import perturbation
from grader.formulas.expressions import Add, Expression, Symbol, negative
from grader.formulas.reading import expression
from grader.formulas.shapes import UNSIZED, Misfit, shown, typed
from grader.formulas.statements import Proposed, Statements, read_statements
from grader.formulas.tokens import Unreadable
from grader.formulas.verdicts import HALF, Verdict, undecided, wrong
from grader.formulas.vocabulary import ONE
from grader.formulas.writer import plain
from grader.model import Answer, Outcome, Student
from grader.quoting import quote
from grader.registry import check
from reference.attention import attention

# How the change of the output is written, and the changed output itself.
_CHANGES = (
    *("Δ h_j", "δ h_j", "d h_j", "Δ h", "δ h", "d h", r"\hat{h}_j - h_j", r"\hat{h} - h"),
    *(r"\tilde{h}_j - h_j", r"\tilde{h} - h", "h'_j - h_j", "h_j' - h_j", "h' - h"),
)
_CHANGED_OUTPUTS = (r"\hat{h}_j", r"\hat{h}", r"\tilde{h}_j", r"\tilde{h}", "h'_j", "h_j'", "h'")
_OUTPUT = Symbol("h", ("j",))
_EXPECTED = ("t", ONE)


@check
def agrees_to_first_order(student: Student, rng: np.random.Generator, *, change: str, partial: Share = HALF) -> Outcome:
    """The formula for a small change of the output agrees with the derivative of attention itself."""
    return formula_outcome(_first_order, student, partial, change == "scaled", seed_from(rng))


def _first_order(answer: Answer, scales: bool, seed: int) -> Verdict:
    statements = read_statements(answer, perturbation.SCALED if scales else perturbation.SHIFTED)
    candidates = _candidates(statements)
    if isinstance(candidates, Verdict):
        return candidates
    worlds = perturbation.worlds(attention, scales, np.random.default_rng(seed))
    verdicts = [_judged(formula, proposed, statements, worlds) for formula, proposed in candidates]
    decided = [verdict for verdict in verdicts if verdict.score is not None]
    return max(decided or verdicts, key=lambda verdict: verdict.score or 0)


def _candidates(statements: Statements) -> list[tuple[Expression, Proposed]] | Verdict:
    """Every formula the answer gives for the change, written as one."""
    changes, outputs = (_proposals(statements, texts) for texts in (_CHANGES, _CHANGED_OUTPUTS))
    found = [(member, one) for one in changes for member in one.members]
    found += [(Add((member, negative(_OUTPUT))), one) for one in outputs for member in one.members]
    if found:
        return found
    faults = [fault for one in (*changes, *outputs) for fault in one.faults] + [*statements.faults]
    bare = statements.bare()
    if len(bare) == 1 and not faults:
        return [(member, bare[0]) for member in bare[0].members]
    answer = statements.answer
    cause = str(faults[0]) if faults else f"{answer.file}:{answer.line}: write Δh_j ≈ …"
    return undecided("no formula for the change Δh_j could be read", cause)


def _proposals(statements: Statements, texts: tuple[str, ...]) -> list[Proposed]:
    return statements.proposals([expression(text, statements.vocabulary) for text in texts])


def _judged(
    formula: Expression, proposed: Proposed, statements: Statements, worlds: list[perturbation.World]
) -> Verdict:
    read_as = plain(formula)
    try:
        found = typed(statements.expanded(formula), statements.vocabulary, _EXPECTED)
        if found.shape == UNSIZED:
            return wrong("the output does change to first order", f"{read_as} says that nothing changes")
        if found.shape != _EXPECTED:
            return wrong("the change of h_j is a vector like h_j", f"{read_as} is {shown(found.shape)}")
        return perturbation.judge(found.expression, worlds, read_as)
    except Misfit as misfit:
        return wrong("the formula does not fit together", f"in '{quote(proposed.text)}': {misfit.what}")
    except Unreadable as fault:
        return undecided("the formula could not be read", f"{proposed.place}: {fault.cause}")
