"""Multi-head attention where scores are so large that a plain exp overflows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from grader import SCORE_SPREADS, ExtremeCase, ScoreSpread, inputs

from ..public.multi_head import PROJECTIONS


@inputs
def multi_head_extremes(rng: np.random.Generator) -> Iterator[ExtremeCase]:
    """Heads of 4, 1 and 16 rows, so that 1/√(d/heads) is a power of two; the next head's scores have the other sign.
    Scores that are close only in a single head of one row, where another scale would be right too."""
    sizes = [(6, 8, 5, 2), (5, 3, 4, 3), (7, 16, 6, 1), (5, 1, 4, 1)]
    for (e, d, n, heads), precision in zip(sizes, (np.float64, np.float32, np.float64, np.float64), strict=True):
        for spread in SCORE_SPREADS:
            if spread.is_close == (d == 1):
                case = _heads_with(rng, spread, e, d, n, heads, precision)
                yield case
                yield _hiding(case, d // heads)


def _heads_with(
    rng: np.random.Generator, spread: ScoreSpread, e: int, d: int, n: int, heads: int, precision: Any
) -> ExtremeCase:
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
    return ExtremeCase(label, (*arrays, heads), names=PROJECTIONS, is_close=spread.is_close)


def _hiding(case: ExtremeCase, rows: int) -> ExtremeCase:
    """The same with a mask: every query but the first is kept from the key that it scores highest in the first head."""
    C, W_Q, W_K, *_ = (np.asarray(array, np.float64) for array in case.args)
    scores = (W_K[:rows] @ C).T @ (W_Q[:rows] @ C)
    mask = np.ones(scores.shape, dtype=bool)
    mask[scores.argmax(axis=0)[1:], np.arange(1, len(scores))] = False
    return replace(case, label=f"{case.label[:-1]}, some keys masked)", kwargs={"mask": mask}, masked=True)
