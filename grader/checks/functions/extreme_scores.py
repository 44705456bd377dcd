"""Functions judged where scores are so large that a plain exp overflows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from grader.checks.functions.ground_truth import (
    Reference,
    code_of,
    names_among,
    reference_named,
    values_of,
)
from grader.checks.functions.inputs import (
    AttentionCall,
    Case,
    Cases,
    Inputs,
    Scale,
    Tokens,
    returned_for_each,
    sampled,
)
from grader.compare import ATOL, RTOL, Array, Difference, difference
from grader.model import Outcome, Student, passed, scored
from grader.registry import StudentFile, check
from grader.rubric.own_functions import Mistaken

# float32 keeps scores near 10⁴ to 10⁻³, and code that computes s − (max + log Σ) in it is right to as much, as are
# the weights of scores that differ by one; clipping is off by 0.2.
_CLOSE = 1e-2


@dataclass(frozen=True)
class ScoreSpread:
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
SCORE_SPREADS = (
    ScoreSpread("down to −10⁴", 0, -_HUGE, -_HUGE),
    ScoreSpread("up to 10⁴", _HUGE, 0, 0),
    ScoreSpread("from −10⁴ to 10⁴", _HUGE, -_HUGE, -_HUGE),
    ScoreSpread("up to 10⁴ for one query and down to −10⁴ for the next", _HUGE, 0, 0, turned=True),
    ScoreSpread("of 10⁴ and 0.9·10⁴ for one query", _HUGE, 9_000, 0),
    ScoreSpread("of −0.9·10⁴ and −10⁴, none larger", -9_000, -_HUGE, -_HUGE),
    ScoreSpread("of 10⁴ and 10⁴ − 1 for one query", _HUGE, _HUGE - 1, 0, unit=1),
    ScoreSpread("of −10⁴ + 1 and −10⁴, none larger", 1 - _HUGE, -_HUGE, -_HUGE, unit=1),
)


@dataclass(frozen=True)
class ExtremeCase(Case):
    """One set of arguments with huge scores, and what they ask beside that."""

    is_close: bool = False
    masked: bool = False
    scaled: bool = False  # by another β than 1

    @property
    def asks_more(self) -> bool:
        """Than what huge scores do: other checks ask that of usual scores."""
        return self.masked or self.scaled

    @property
    def tolerances(self) -> tuple[float, float]:
        """Relative and absolute."""
        least = _CLOSE if self.is_close or self.args[0].dtype == np.float32 else 0.0
        return max(RTOL, least), max(ATOL, least)


def _attention_extremes(rng: np.random.Generator, call: AttentionCall) -> Iterator[ExtremeCase]:
    wide = 3 if call.scale == "argument" else 4  # its root is a whole number
    for (d, n, m, t), precision in (((1, 3, 4, 2), np.float64), ((wide, 2, 5, 3), np.float32)):
        for spread, beta in product(SCORE_SPREADS, (1.0, 0.5) if call.scale == "argument" else (call.beta(d, 1.0),)):
            if spread.is_close and (d, beta) != (1, 1.0):
                continue  # another scale than β would be wrong there too, and is judged elsewhere
            place = rng.integers(d)
            Q, K = np.zeros((d, n)), np.zeros((d, m))
            Q[place] = spread.unit * spread.signs(n)
            K[place] = spread.scores(rng, m) / (spread.unit * beta)
            V = rng.normal(size=(t, m))
            label = f"{spread.label} ({{Q}}, {{K}}{{beta}}, {precision.__name__})"
            case = call.case(label, Q.astype(precision), K.astype(precision), V.astype(precision), beta)
            yield ExtremeCase(case.label, case.args, names=case.names, is_close=spread.is_close, scaled=beta != 1)


def _as_extreme(case: Case) -> ExtremeCase:
    """One that comes without a word about it is held to what every huge score is."""
    return case if isinstance(case, ExtremeCase) else ExtremeCase(case.label, case.args, case.kwargs, case.names)


@check(group="values")
def stays_finite_at_extreme_scores(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    reference: Reference,
    tokens: Tokens = "columns",
    scale: Scale = "argument",
    extremes: Inputs | None = None,
) -> Outcome:
    """Scores of ±10⁴, two different ones of a query among them, give the right weights, not NaN, infinity or zero."""
    made = sampled(extremes, rng) if extremes else _attention_extremes(rng, AttentionCall(tokens, scale))
    cases = [_as_extreme(case) for case in made]
    values = returned_for_each(student, file, function, Cases(cases))
    right, answers = reference_named(reference), list[_Answer]()
    for case, got in zip(cases, values, strict=True):
        want = values_of(right.function, case)
        answers.append(_Answer(case, got, want, difference(got, want, *case.tolerances)))
    wrong = [answer for answer in answers if answer.found]
    # What is wrong with a mask, or any β but 1, however large the scores are, costs where usual scores are judged.
    usual = set(_causes(right.mistakes, answers))
    if all(answer.case.asks_more for answer in wrong) and (usual or not wrong):
        return passed("scores of ±10⁴ are handled")
    # Where a mask is asked for too, what is right without one counts for half.
    failing, kinds = ({answer.case.masked for answer in those} for those in (wrong, answers))
    found, case = wrong[0].found, wrong[0].case
    assert found is not None
    # Several mistakes of usual scores may look alike where one score takes all the weight.
    cause = next(_causes(right.at_extremes, answers), "") or (usual.pop() if len(usual) == 1 else "")
    hint = f"; it looks as if {cause}" if cause else ""
    if not cause and not np.isfinite(wrong[0].got).all():
        hint = "; subtract each query's largest score before exp"
    score = 1 - Fraction(len(failing), len(kinds))
    return scored(
        score, f"with scores {case.label} {found.summary}{hint}", found.detail, code=code_of(cause) or found.code
    )


@dataclass(frozen=True)
class _Answer:
    case: ExtremeCase
    got: Array
    want: Array
    found: Difference | None


def _causes(mistakes: Iterable[Mistaken], answers: Sequence[_Answer]) -> Iterator[str]:
    """Told from float64 alone: where exp overflows depends on the precision. What is right is no NaN of a mistake."""
    double = [answer for answer in answers if answer.case.args[0].dtype == np.float64]
    if not any(answer.found for answer in double):
        return iter(())
    double.sort(key=lambda answer: not answer.found)
    return names_among(mistakes, [(answer.case, answer.got) for answer in double], [*map(_right_entries, double)])


def _right_entries(answer: _Answer) -> NDArray[np.bool_] | None:
    got, want = answer.got, answer.want
    return np.isclose(got, want, rtol=RTOL, atol=ATOL) if got.shape == want.shape else None
