"""Self-attention by hand: K, Q and V that turn given tokens into given outputs."""

from __future__ import annotations

import numpy as np

from grader.checks.formula_outcomes import Share, formula_outcome, seed_from
from grader.formulas import by_hand
from grader.formulas.explaining import Reading, how_read
from grader.formulas.expressions import Expression
from grader.formulas.reading import Question, found_for, settled
from grader.formulas.shapes import UNSIZED, Misfit, shown
from grader.formulas.statements import read_statements
from grader.formulas.verdicts import HALF, Verdict, partly, right, undecided, wrong
from grader.formulas.vocabulary import SCALAR
from grader.formulas.writer import plain
from grader.model import Answer, Outcome, Student
from grader.registry import check, read_by

_NAMES = ("K", "Q", "V")


def _as_read(answer: Answer, **_: object) -> list[Reading]:
    questions = [Question(name, expected=by_hand.EXPECTED, may_be_bare=False) for name in _NAMES]
    return [how_read(answer, by_hand.VOCABULARY, question) for question in questions]


@read_by(_as_read)
@check
def self_attention_gives_the_targets(
    student: Student,
    rng: np.random.Generator,
    *,
    tokens: list[dict[str, Share]],
    targets: dict[str, dict[str, Share]],
    partial: Share = HALF,
) -> Outcome:
    """With the proposed K, Q and V the outputs tend to the ones asked for as the norm of the u's grows."""
    numbered = dict(enumerate(tokens, start=1))
    wanted = {int(number): parts for number, parts in targets.items()}
    return formula_outcome(_by_hand, student, partial, numbered, wanted, seed_from(rng))


def _by_hand(
    answer: Answer, tokens: dict[int, by_hand.Combination], targets: dict[int, by_hand.Combination], seed: int
) -> Verdict:
    matrices = _matrices(answer)
    if isinstance(matrices, Verdict):
        return matrices
    texts = [f"{name} = {plain(matrix)}" for name, matrix in matrices.items()]
    free = dict.fromkeys(symbol for one in matrices.values() for symbol in by_hand.VOCABULARY.free(one))
    try:
        outputs = by_hand.outputs(matrices, list(free), tokens, targets, np.random.default_rng(seed))
    except Misfit as misfit:
        return wrong("the matrices do not fit together", f"{misfit.what} in {', '.join(texts)}")
    errors = {f"c_{token}": list(found) for token, found in outputs.errors.items()}
    evidence = {"read_as": texts, "errors": errors, "norms": list(by_hand.NORMS)}
    missed = [token for token in targets if not outputs.reaches(token)]
    if not missed:
        return right("every output tends to its target", "; ".join(texts), evidence)
    names = " and ".join(f"c_{token}" for token in missed)
    norm = f"{by_hand.NORMS[-1]:g}"
    off = "; ".join(f"c_{token} is off by {outputs.errors[token][-1]:.2g} β at β = {norm}" for token in missed)
    detail = f"{off} with {', '.join(texts)}"
    if len(missed) < len(targets):
        return partly(f"{names} does not tend to its target, the other does", detail, evidence)
    return wrong(f"{names} do not tend to their targets", detail, evidence)


def _matrices(answer: Answer) -> dict[str, Expression] | Verdict:
    """The three matrices an answer proposes, or what is wrong with one of them."""
    statements = read_statements(answer, by_hand.VOCABULARY)
    found: dict[str, Expression] = {}
    missing: dict[str, Verdict] = {}
    for name in _NAMES:
        question = Question(name, expected=by_hand.EXPECTED, may_be_bare=False)
        proposed = found_for(question, statements)
        if isinstance(proposed, Verdict):
            missing[name] = proposed
            continue
        one = settled(proposed, question, statements)
        if isinstance(one, Verdict):
            return one
        if one.shape == UNSIZED:
            return wrong(f"{name} is zero, so it tells no two tokens apart", f"{name} = {plain(one.expression)}")
        if one.shape == SCALAR and (unknown := by_hand.VOCABULARY.free(one.expression)):
            return undecided(f"the formula for {name} could not be read", f"it is not said what {plain(unknown[0])} is")
        if one.shape != by_hand.EXPECTED:
            return wrong(f"{name} should be a square matrix", f"{name} = {plain(one.expression)} is {shown(one.shape)}")
        found[name] = one.expression
    unread = [verdict for verdict in missing.values() if verdict.evidence]
    if missing and (unread or not found):
        return next(iter(missing.values())) if not found else unread[0]
    if missing:
        return wrong(f"{' and '.join(missing)} is not given", next(iter(missing.values())).message)
    return found
