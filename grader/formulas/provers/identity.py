"""*equals*: is the answer the same function of its symbols as the key? Sampled, and simplified if both are numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from grader.formulas.compute.evaluation import Values, evaluate, family_name
from grader.formulas.compute.symbolic import as_sympy, attempted
from grader.formulas.syntax.expressions import Expression, Symbol, rebuilt
from grader.formulas.typing.shapes import Misfit, Typed, typed
from grader.formulas.typing.vocabulary import ONE, SCALAR, Vocabulary

_DRAWS = 6
_RTOL = 1e-10  # float64 on numbers of order one, with room for a few hundred roundings
_NUMBERS = (0.4, 2.2)  # positive, as scales and sizes are, and near 1, so that exp of a few stays small
_MAX_RENAMINGS = 120  # of free letters: five letters in any order
# (free letters, rng) → values of every symbol for which the hypotheses of the question hold
Sample = Callable[[Sequence[Symbol], np.random.Generator], Values]


@dataclass(frozen=True)
class Agreement:
    holds: bool
    off_by: float = 0.0
    sizes: str = ""
    renamed: str = ""  # the letters that stand for the key's, when they differ


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def agree(
    found: Typed,
    key: Expression,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    axis: int = 0,
    sample: Sample | None = None,
) -> Agreement:
    """Compare with the key under every fair renaming of free letters, for any values or for those of `sample`."""
    want = typed(key, vocabulary, found.shape)
    if want.shape != found.shape:
        return Agreement(False)
    own, keys = vocabulary.free(found.expression), vocabulary.free(want.expression)
    letters = [*own, *keys]
    draws = [
        sample(letters, rng) if sample else _drawn(vocabulary, letters, rng, number, axis) for number in range(_DRAWS)
    ]
    best = Agreement(False, float("inf"))
    for names in _renamings(own, keys):
        agreement = _compared(found.expression, _renamed(want.expression, names), draws)
        if agreement.holds:
            changed = ", ".join(f"{new} for {old}" for old, new in names.items() if old != new)
            return Agreement(True, agreement.off_by, "", changed)
        best = min(best, agreement, key=lambda one: one.off_by)
    return best


def proved(found: Typed, key: Expression) -> bool:
    """Whether sympy simplifies the difference of two scalars to nothing."""
    if found.shape != SCALAR:
        return False

    def proof() -> bool:
        import sympy

        difference = as_sympy(found.expression, {}, {}, 0) - as_sympy(key, {}, {}, 0)
        return bool(sympy.simplify(difference) == 0)

    return bool(attempted(proof))


def _renamed(expression: Expression, names: Mapping[Symbol, Symbol]) -> Expression:
    return rebuilt(expression, lambda part: names.get(part, part) if isinstance(part, Symbol) else part)


def _renamings(own: Sequence[Symbol], keys: Sequence[Symbol]) -> list[Mapping[Symbol, Symbol]]:
    """Letters both have are taken to mean the same; the others are tried in every order."""
    shared = [symbol for symbol in keys if symbol in own]
    rest = [symbol for symbol in keys if symbol not in own]
    others = [symbol for symbol in own if symbol not in keys]
    if len(others) < len(rest):
        return [{symbol: symbol for symbol in keys}]
    tries = [dict(zip(rest, order, strict=True)) for order in islice(permutations(others, len(rest)), _MAX_RENAMINGS)]
    return [{**{symbol: symbol for symbol in shared}, **names} for names in tries]


def _compared(one: Expression, other: Expression, draws: Sequence[Values]) -> Agreement:
    worst, sizes = 0.0, ""
    for values in draws:
        try:
            got, want = evaluate(one, values), evaluate(other, values)
        except Misfit:
            return Agreement(False, float("inf"))
        if got.shape != want.shape or not np.isfinite(want).all():
            return Agreement(False, float("inf"))
        error = float(np.abs(got - want).max() / (1 + np.abs(want).max())) if np.isfinite(got).all() else float("inf")
        if error > worst:
            worst, sizes = error, ", ".join(f"{name}={size}" for name, size in values.sizes.items())
    return Agreement(worst <= _RTOL, worst, sizes)


def _drawn(vocabulary: Vocabulary, free: Sequence[Symbol], rng: np.random.Generator, number: int, axis: int) -> Values:
    """Sizes all different, so that a transpose in the wrong place cannot go unnoticed."""
    least = max([2, *(len(one.labels) for one in vocabulary.declared)])  # v_{j-1}, v_j and v_{j+1} are three
    pool = rng.permutation(np.arange(least, least + 2 * len(vocabulary.dimensions) + 2))
    sizes = {name: int(pool[place]) for place, name in enumerate(vocabulary.dimensions)}
    arrays, families = {}, {}
    for one in vocabulary.declared:
        rows, columns = (1 if side == ONE else sizes[side] for side in one.shape)
        if one.runs_to:
            members = tuple(sizes[dimension] for dimension in one.runs_to)
            families[family_name(one.name, len(members))] = rng.standard_normal((*members, rows))
        elif one.labels:
            for label in one.labels:
                arrays[f"{one.name}_{label}"] = rng.standard_normal((rows, columns))
        else:
            is_number = one.shape == SCALAR
            arrays[one.name] = rng.uniform(*_NUMBERS, (1, 1)) if is_number else rng.standard_normal((rows, columns))
    for one in vocabulary.declared:
        if one.columns_of in arrays:
            families[one.name] = arrays[one.columns_of].T
        elif one.rows_of in arrays:
            families[one.name] = arrays[one.rows_of]
    scalars = {symbol: float(rng.uniform(*_NUMBERS)) for symbol in free}
    labels = {label: place for one in vocabulary.declared if one.runs_to for place, label in enumerate(one.labels)}
    return Values(sizes, arrays, families, labels, scalars, softmax_axis=axis)
