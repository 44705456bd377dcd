"""Self-attention by hand: K, Q and V that turn given tokens into given outputs."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import (
    HALF,
    SCALAR,
    UNSIZED,
    AskedName,
    Expression,
    Judged,
    Misfit,
    Proposed,
    Reading,
    Share,
    Statements,
    Verdict,
    all_as_read,
    canonical,
    combinations,
    formula_outcome,
    found_for,
    how_read,
    of_alternatives,
    partly,
    plain,
    read_by,
    read_statements,
    right,
    seed_from,
    settled,
    shown,
    undecided,
    wrong,
)

from . import three_tokens

_NAMES = ("K", "Q", "V")


def _as_read(answer: Answer, **_: object) -> list[Reading]:
    return [how_read(answer, three_tokens.VOCABULARY, _question(name)) for name in _NAMES]


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
    answer: Answer, tokens: dict[int, three_tokens.Combination], targets: dict[int, three_tokens.Combination], seed: int
) -> Verdict:
    statements = read_statements(answer, three_tokens.VOCABULARY)
    found = _found(statements, tokens)
    if isinstance(found, Verdict):
        return found
    judged = [
        Judged(_reaches(offered, statements, tokens, targets, seed), list(offered.values()))
        for offered in combinations(found)
    ]
    return of_alternatives(judged, " and ".join(_NAMES))


def _reaches(
    offered: Mapping[str, Proposed],
    statements: Statements,
    tokens: dict[int, three_tokens.Combination],
    targets: dict[int, three_tokens.Combination],
    seed: int,
) -> Verdict:
    """Whether the outputs tend to their targets with three matrices."""
    matrices = _matrices(offered, statements, tokens)
    if isinstance(matrices, Verdict):
        return matrices
    texts = [f"{name} = {plain(matrix)}" for name, matrix in matrices.items()]
    free = dict.fromkeys(symbol for one in matrices.values() for symbol in three_tokens.VOCABULARY.free(one))
    try:
        outputs = three_tokens.outputs(matrices, list(free), tokens, targets, np.random.default_rng(seed))
    except Misfit as misfit:
        detail = f"{misfit.what} in {', '.join(texts)}"
        return wrong("the matrices do not fit together", detail, code="dimension_mismatch")
    errors = {f"c_{token}": list(found) for token, found in outputs.errors.items()}
    same = [f"{name} = {canonical(matrix, three_tokens.VOCABULARY)}" for name, matrix in matrices.items()]
    evidence = {**all_as_read(matrices), "canonical": same, "errors": errors, "norms": list(three_tokens.NORMS)}
    missed = [token for token in targets if not outputs.reaches(token)]
    if not missed:
        return right("every output tends to its target", "; ".join(texts), evidence)
    names = " and ".join(f"c_{token}" for token in missed)
    norm = f"{three_tokens.NORMS[-1]:g}"
    off = "; ".join(f"c_{token} is off by {outputs.errors[token][-1]:.2g} β at β = {norm}" for token in missed)
    detail = f"{off} with {', '.join(texts)}"
    if len(missed) < len(targets):
        message = f"{names} does not tend to its target, the other does"
        return partly(message, detail, evidence, code="misses_targets")
    return wrong(f"{names} do not tend to their targets", detail, evidence, code="misses_targets")


def _question(name: str) -> AskedName:
    return AskedName(name, expected=three_tokens.EXPECTED, may_be_bare=False)


def _found(statements: Statements, tokens: dict[int, three_tokens.Combination]) -> dict[str, Proposed] | Verdict:
    """The equations for the three matrices, or why one is not there."""
    proposals = {name: found_for(_question(name), statements) for name in _NAMES}
    found = {name: one for name, one in proposals.items() if isinstance(one, Proposed)}
    missing = {name: one for name, one in proposals.items() if isinstance(one, Verdict)}
    unread = [verdict for verdict in missing.values() if verdict.evidence]
    if not missing:
        return found
    if not found:
        return next(iter(missing.values()))
    matrices = _matrices(found, statements, tokens)
    if isinstance(matrices, Verdict):
        return matrices
    if unread:
        return unread[0]
    cause = next(iter(missing.values())).message
    return wrong(f"{' and '.join(missing)} is not given", cause, code="formula_not_found")


def _matrices(
    offered: Mapping[str, Proposed], statements: Statements, tokens: dict[int, three_tokens.Combination]
) -> dict[str, Expression] | Verdict:
    """The matrices that were proposed, or what is wrong with one of them."""
    found: dict[str, Expression] = {}
    for name, proposed in offered.items():
        one = settled(proposed, _question(name), statements, functools.partial(three_tokens.sampled, tokens))
        if isinstance(one, Verdict):
            return one
        if one.shape == UNSIZED:
            message = f"{name} is zero, so it tells no two tokens apart"
            return wrong(message, f"{name} = {plain(one.expression)}", code="formula_is_zero")
        if one.shape == SCALAR and (unknown := three_tokens.VOCABULARY.free(one.expression)):
            detail = f"it is not said what {plain(unknown[0])} is"
            return undecided(f"the formula for {name} could not be read", detail, code="undefined_letter")
        if one.shape != three_tokens.EXPECTED:
            detail = f"{name} = {plain(one.expression)} is {shown(one.shape)}"
            return wrong(f"{name} should be a square matrix", detail, code="wrong_shape")
        found[name] = one.expression
    return found
