"""Queries whose attention weights tend to the ones asked for, one by one and as a pair of heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import (
    HALF,
    ONE,
    AskedName,
    Constant,
    Expression,
    Formula,
    GrowthClaim,
    Misfit,
    Reading,
    Share,
    Statements,
    Symbol,
    Verdict,
    formula_outcome,
    how_read,
    judged,
    judged_together,
    read_by,
    rebuilt,
    right,
    seed_from,
    wrong,
)

from . import heads, weights
from .weight_limits import Query, Setting

_VECTOR = ("d", ONE)


def _query_as_read(
    answer: Answer, *, targets: dict[str, Share], name: str = "q", keys: str = "k", random_keys: str = "", **_: object
) -> list[Reading]:
    vocabulary = Setting(keys, random_keys, tuple(targets)).vocabulary(name)
    return [how_read(answer, vocabulary, AskedName(name, expected=_VECTOR, up_to_scale=True))]


@read_by(_query_as_read)
@check
def weights_tend_to_their_targets(
    student: Student,
    rng: np.random.Generator,
    *,
    targets: dict[str, Share],
    name: str = "q",
    keys: str = "k",
    random_keys: str = "",
    n: int = 10,
    partial: Share = HALF,
) -> Outcome:
    """The query's attention weights tend to the ones asked for as its scale grows."""
    return formula_outcome(_weights, student, partial, name, dict(targets), keys, random_keys, n, seed_from(rng))


def _weights(
    answer: Answer, name: str, targets: dict[str, Fraction], keys: str, drawn: str, n: int, seed: int
) -> Verdict:
    setting = Setting(keys, drawn, tuple(targets), n)

    def judge(found: Formula) -> Verdict:
        query = _query(found, setting)
        if drawn and _calls_means_random(found.statements, setting):
            found = replace(found, expression=_with_random_keys(found.expression, setting))
            query = replace(query, expression=found.expression)
        verdict = weights.judge(found, query, targets, name, np.random.default_rng(seed))
        if found.relation == "∝" and verdict.score == HALF:
            message = "the weights tend to what is asked, if the constant is large"
            return right(message, verdict.detail, verdict.evidence)
        return verdict

    return judged(answer, setting.vocabulary(name), AskedName(name, expected=_VECTOR, up_to_scale=True), judge)


def _calls_means_random(statements: Statements, setting: Setting) -> bool:
    """`where m_i = k_i are the keys`: what was read as a mean is said to be a key."""
    return any(
        isinstance(one, Symbol)
        and isinstance(other, Symbol)
        and (one.name, other.name) == (setting.known, setting.drawn)
        for one, other in statements.equations
    )


def _with_random_keys(expression: Expression, setting: Setting) -> Expression:
    return rebuilt(
        expression,
        lambda part: (
            Symbol(setting.drawn, part.index) if isinstance(part, Symbol) and part.name == setting.known else part
        ),
    )


def _query(found: Formula, setting: Setting) -> Query:
    endless = Symbol("∞")  # a query ∞ times a vector has a scale without bound
    scaled = rebuilt(found.expression, lambda part: endless if part == Constant("∞") else part)
    claims = replace(found, expression=scaled).claims
    if endless in claims:
        claims[endless] = GrowthClaim("large", "+")
    return Query(scaled, claims, setting)


def _queries_as_read(
    answer: Answer, *, names: list[str], keys: str = "μ", random_keys: str = "k", **_: object
) -> list[Reading]:
    vocabulary = Setting(keys, random_keys, ("a", "b")).vocabulary(*names)
    return [how_read(answer, vocabulary, _head(name)) for name in names]


@read_by(_queries_as_read)
@check
def heads_copy_one_value_each(
    student: Student,
    rng: np.random.Generator,
    *,
    names: list[str],
    keys: str = "μ",
    random_keys: str = "k",
    variance: Share = HALF,
    n: int = 10,
    partial: Share = HALF,
) -> Outcome:
    """Two different queries, one for each value: their average is right, and stays so when a key's length varies."""
    return formula_outcome(_heads, student, partial, tuple(names), keys, random_keys, variance, n, seed_from(rng))


def _heads(
    answer: Answer, names: tuple[str, ...], keys: str, drawn: str, variance: Fraction, n: int, seed: int
) -> Verdict:
    setting = Setting(keys, drawn, ("a", "b"), n)

    def judge(pair: Mapping[str, Formula]) -> Verdict:
        queries = {name: (found, _query(found, setting)) for name, found in pair.items()}
        try:
            return heads.judge(queries, variance, np.random.default_rng(seed))
        except Misfit as misfit:
            return wrong("the queries do not fit together", misfit.what, code="dimension_mismatch")

    return judged_together(answer, setting.vocabulary(*names), [_head(name) for name in names], judge, setting.sampled)


def _head(name: str) -> AskedName:
    return AskedName(name, expected=_VECTOR, may_be_bare=False)
