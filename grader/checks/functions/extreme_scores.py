"""Functions judged where scores are so large that a plain exp overflows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.checks.functions.ground_truth import Reference, reference_function
from grader.checks.functions.inputs import Case
from grader.checks.functions.returned import returned_for_each
from grader.compare import Array, difference
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check


def _extreme_scores(rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, Array]]:
    """Scores of 0 and ±10⁴, whole numbers that float32 holds exactly, and so far apart that the answer is plain."""
    for d, n, m, t in [(1, 3, 4, 2), (3, 2, 5, 3)]:
        turned = np.where(np.arange(n) % 2, -1.0, 1.0)
        for low, high, queries, name in [
            (-1.0, 0.0, np.ones(n), "down to −10⁴"),
            (0.0, 1.0, np.ones(n), "up to 10⁴"),
            (-1.0, 1.0, np.ones(n), "from −10⁴ to 10⁴"),
            (0.0, 1.0, turned, "up to 10⁴ for one query and down to −10⁴ for the next"),
        ]:
            direction = np.zeros((d, 1))
            direction[rng.integers(d)] = 100.0
            signs = np.where(np.arange(m) == rng.integers(m), high, low)
            V = rng.normal(size=(t, m))
            yield name, direction * queries, direction * signs, V


@check
def stays_finite_at_extreme_scores(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, reference: Reference
) -> Outcome:
    """Scores of ±10⁴ give the right weights, not NaN, infinity or zero."""
    right = reference_function(reference)
    cases = [Case(name, (Q, K, V, 1.0)) for name, Q, K, V in _extreme_scores(rng)]
    for case, got in zip(cases, returned_for_each(student, file, function, cases), strict=True):
        if found := difference(got, right(*case.args)):
            hint = "" if np.isfinite(got).all() else "; subtract each query's largest score before exp"
            return failed(f"with scores {case.label} {found.summary}{hint}", found.detail)
    return passed("scores of ±10⁴ are handled")
