"""Functions judged where scores are so large that a plain exp overflows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator

from grader.checks.functions.ground_truth import (
    Reference,
    mistakes_at_extremes,
    mistakes_in,
    reference_function,
    right_values,
)
from grader.checks.functions.inputs import PROJECTIONS, QKV, Case, Cases
from grader.checks.functions.mistake_name import code_of, names_among
from grader.checks.functions.preparation import drawn
from grader.checks.functions.returned import returned_for_each
from grader.compare import ATOL, RTOL, Array, Difference, difference
from grader.model import Outcome, Student, passed, scored
from grader.registry import StudentFile, check
from grader.rubric.hints import did_you_mean
from grader.rubric.own_functions import Mistaken

# float32 keeps scores near 10⁴ to 10⁻³, and code that computes s − (max + log Σ) in it is right to as much, as are
# the weights of scores that differ by one; clipping is off by 0.2.
_CLOSE = 1e-2


@dataclass(frozen=True)
class _Spread:
    """Scaled scores of one query: the largest, the next, all others; whole numbers that float32 holds exactly."""

    label: str
    largest: int
    next: int
    rest: int
    turned: bool = False  # every second query scores them with the other sign
    unit: int = 100  # what the query contributes: 1 where the scores are no multiples of 100

    @property
    def is_close(self) -> bool:
        """Whether two scores share the weight."""
        return 0 < self.largest - self.next < 10

    def scores(self, rng: np.random.Generator, keys: int) -> Array:
        scores = np.full(keys, float(self.rest))
        scores[rng.choice(keys, size=2, replace=False)] = self.largest, self.next
        return scores

    def signs(self, queries: int) -> Array:
        return np.where(np.arange(queries) % 2, -1.0 if self.turned else 1.0, 1.0)


_HUGE = 10_000
_SPREADS = (
    _Spread("down to −10⁴", 0, -_HUGE, -_HUGE),
    _Spread("up to 10⁴", _HUGE, 0, 0),
    _Spread("from −10⁴ to 10⁴", _HUGE, -_HUGE, -_HUGE),
    _Spread("up to 10⁴ for one query and down to −10⁴ for the next", _HUGE, 0, 0, turned=True),
    _Spread("of 10⁴ and 0.9·10⁴ for one query", _HUGE, 9_000, 0),
    _Spread("of −0.9·10⁴ and −10⁴, none larger", -9_000, -_HUGE, -_HUGE),
    _Spread("of 10⁴ and 10⁴ − 1 for one query", _HUGE, _HUGE - 1, 0, unit=1),
    _Spread("of −10⁴ + 1 and −10⁴, none larger", 1 - _HUGE, -_HUGE, -_HUGE, unit=1),
)


@dataclass(frozen=True)
class _Extreme:
    case: Case
    is_close: bool
    masked: bool = False
    scaled: bool = False  # by another β than 1

    @property
    def asks_more(self) -> bool:
        """Than what huge scores do: other checks ask that of usual scores."""
        return self.masked or self.scaled

    @property
    def tolerances(self) -> tuple[float, float]:
        """Relative and absolute."""
        least = _CLOSE if self.is_close or self.case.args[0].dtype == np.float32 else 0.0
        return max(RTOL, least), max(ATOL, least)


def _attention_extremes(rng: np.random.Generator) -> Iterator[_Extreme]:
    for (d, n, m, t), precision in (((1, 3, 4, 2), np.float64), ((3, 2, 5, 3), np.float32)):
        for spread, beta in product(_SPREADS, (1.0, 0.5)):
            if spread.is_close and (d, beta) != (1, 1.0):
                continue  # another scale than β would be wrong there too, and is judged elsewhere
            place = rng.integers(d)
            Q, K = np.zeros((d, n)), np.zeros((d, m))
            Q[place] = spread.unit * spread.signs(n)
            K[place] = spread.scores(rng, m) / (spread.unit * beta)
            V = rng.normal(size=(t, m))
            arrays = (array.astype(precision) for array in (Q, K, V))
            label = f"{spread.label} (Q {d}×{n}, K {d}×{m}, β = {beta:g}, {precision.__name__})"
            yield _Extreme(Case(label, (*arrays, beta), names=QKV), spread.is_close, scaled=beta != 1)


def _multi_head_extremes(rng: np.random.Generator) -> Iterator[_Extreme]:
    """Heads of 4, 1 and 16 rows, so that 1/√(d/heads) is a power of two; the next head's scores have the other sign.
    Scores that are close only in a single head of one row, where another scale would be right too."""
    sizes = [(6, 8, 5, 2), (5, 3, 4, 3), (7, 16, 6, 1), (5, 1, 4, 1)]
    for (e, d, n, heads), precision in zip(sizes, (np.float64, np.float32, np.float64, np.float64), strict=True):
        for spread in _SPREADS:
            if spread.is_close == (d == 1):
                case = _heads_with(rng, spread, e, d, n, heads, precision)
                yield _Extreme(case, spread.is_close)
                yield _Extreme(_hiding(case, d // heads), spread.is_close, masked=True)


def _heads_with(rng: np.random.Generator, spread: _Spread, e: int, d: int, n: int, heads: int, precision: Any) -> Case:
    rows = d // heads
    C = np.zeros((e, n))
    C[rng.permutation(e)[:n], np.arange(n)] = 1.0  # each token picks a column of the matrices, which are its q, k and v
    Q, K = rng.normal(size=(d, n)), np.zeros((d, n))
    for head in range(heads):
        place = head * rows + rng.integers(rows)
        Q[place] = spread.unit * spread.signs(n) * (-1.0 if head % 2 else 1.0)
        K[place] = spread.scores(rng, n) / spread.unit * np.sqrt(rows)
    W_Q, W_K, W_V = Q @ C.T, K @ C.T, rng.normal(size=(d, e))
    arrays = (array.astype(precision) for array in (C, W_Q, W_K, W_V, rng.normal(size=(e, d)) / np.sqrt(d)))
    label = f"{spread.label} (C {e}×{n}, W_Q {d}×{e}, {heads} head{'s' if heads > 1 else ''}, {precision.__name__})"
    return Case(label, (*arrays, heads), names=PROJECTIONS)


def _hiding(case: Case, rows: int) -> Case:
    """The same with a mask: every query but the first is kept from the key that it scores highest in the first head."""
    C, W_Q, W_K, *_ = (np.asarray(array, np.float64) for array in case.args)
    scores = (W_K[:rows] @ C).T @ (W_Q[:rows] @ C)
    mask = np.ones(scores.shape, dtype=bool)
    mask[scores.argmax(axis=0)[1:], np.arange(1, len(scores))] = False
    return replace(case, label=f"{case.label[:-1]}, some keys masked)", kwargs={"mask": mask})


EXTREMES: dict[str, Callable[[np.random.Generator], Iterator[_Extreme]]] = {
    "column_attention": _attention_extremes,
    "multi_head": _multi_head_extremes,
}


def _all_extremes(rng: np.random.Generator, inputs: str) -> tuple[list[_Extreme], Cases]:
    extremes = list(EXTREMES[inputs](rng))
    return extremes, Cases(extreme.case for extreme in extremes)


def _known(name: str) -> str:
    if name not in EXTREMES:
        raise ValueError(f"names no kind of input with extreme scores: '{name}'{did_you_mean(name, EXTREMES)}")
    return name


_HANDLED = "scores of ±10⁴ are handled"
ExtremeInputs = Annotated[str, AfterValidator(_known)]


@check(group="values")
def stays_finite_at_extreme_scores(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    reference: Reference,
    inputs: ExtremeInputs = "column_attention",
) -> Outcome:
    """Scores of ±10⁴, two different ones of a query among them, give the right weights, not NaN, infinity or zero."""
    extremes, cases = drawn(rng, _all_extremes, inputs)
    values = returned_for_each(student, file, function, cases)
    right, answers = reference_function(reference), list[_Answered]()
    for extreme, got in zip(extremes, values, strict=True):
        want = right_values(right, reference, extreme.case)
        answers.append(_Answered(extreme, got, want, difference(got, want, *extreme.tolerances)))
    wrong = [answer for answer in answers if answer.found]
    # What is wrong with a mask, or any β but 1, however large the scores are, costs where usual scores are judged.
    usual = set(_causes(mistakes_in(reference), answers))
    if all(answer.extreme.asks_more for answer in wrong) and (usual or not wrong):
        return passed(_HANDLED)
    # Where a mask is asked for too, what is right without one counts for half.
    failing, kinds = ({answer.extreme.masked for answer in those} for those in (wrong, answers))
    found, case = wrong[0].found, wrong[0].extreme.case
    assert found is not None
    # Several mistakes of usual scores may look alike where one score takes all the weight.
    cause = next(_causes(mistakes_at_extremes(reference), answers), "") or (usual.pop() if len(usual) == 1 else "")
    hint = f"; it looks as if {cause}" if cause else ""
    if not cause and not np.isfinite(wrong[0].got).all():
        hint = "; subtract each query's largest score before exp"
    score = 1 - Fraction(len(failing), len(kinds))
    return scored(
        score, f"with scores {case.label} {found.summary}{hint}", found.detail, code=code_of(cause) or found.code
    )


@dataclass(frozen=True)
class _Answered:
    extreme: _Extreme
    got: Array
    want: Array
    found: Difference | None


def _causes(mistakes: Iterable[Mistaken], answers: Sequence[_Answered]) -> Iterator[str]:
    """Told from float64 alone: where exp overflows depends on the precision. What is right is no NaN of a mistake."""
    double = sorted(
        (one for one in answers if one.extreme.case.args[0].dtype == np.float64), key=lambda one: not one.found
    )
    if not any(one.found for one in double):
        return iter(())
    given = [(one.extreme.case, one.got) for one in double]
    settled = [
        np.isclose(one.got, one.want, rtol=RTOL, atol=ATOL) if one.got.shape == one.want.shape else None
        for one in double
    ]
    return names_among(mistakes, given, settled)
