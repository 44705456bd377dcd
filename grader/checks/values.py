"""Functions judged by the values they return."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader import compare
from grader.checks.ground_truth import Reference, reference_function
from grader.checks.inputs import INPUTS, Inputs
from grader.checks.slips import name_the_slip
from grader.compare import Array, difference, numbers
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check


@check
def returns_an_array(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, inputs: Inputs
) -> Outcome:
    """It can be called as the assignment says and returns one array of numbers."""
    case = next(INPUTS[inputs](rng))
    numbers(student.call(file, function, *case.args, **case.kwargs), f"{function}()")
    return passed(f"{function}() runs and returns an array")


@check
def matches_reference(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    reference: Reference,
    inputs: Inputs,
    rtol: float = compare.RTOL,
    atol: float = compare.ATOL,
) -> Outcome:
    """Its values equal the reference's on inputs of many shapes, in float64 and float32."""
    right = reference_function(reference)
    cases = list(INPUTS[inputs](rng))
    got = [numbers(student.call(file, function, *case.args, **case.kwargs), f"{function}()") for case in cases]
    wrong = []
    for trial, (case, value) in enumerate(zip(cases, got, strict=True)):
        want = np.asarray(right(*case.args, **case.kwargs))
        if found := difference(value, want, rtol, atol):
            wrong.append((trial, case, found))
    if not wrong:
        return passed(f"right on all {len(cases)} inputs", evidence={"inputs": len(cases)})
    trial, case, found = wrong[0]
    slip = name_the_slip(reference, [(case.args, case.kwargs) for case in cases], got)
    counted = f"wrong on {len(wrong)} of {len(cases)} inputs"
    return failed(
        f"{counted}: {found.summary} ({case.label})" + (f"; it looks as if {slip}" if slip else ""),
        detail=f"{found.detail} (trial {trial})" if found.detail else "",
        evidence={"inputs": len(cases), "wrong": len(wrong), "off_by": found.size, "looks_like": slip},
        revealing={"trial": trial},
    )


@check
def columns_sum_to_one(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """The weights of each query are not negative and sum to one (with V = I the output is the weights)."""
    for d, n, m in [(4, 3, 6), (5, 7, 2), (2, 4, 9)]:
        Q, K = rng.normal(size=(d, n)), rng.normal(size=(d, m))
        weights = numbers(student.call(file, function, Q, K, np.eye(m), 1.0), f"{function}()")
        label = f"Q {d}×{n}, K {d}×{m}, V = I"
        if weights.shape != (m, n):
            return failed(
                f"with V = I it should give the {m}×{n} weights, not {compare.shape(weights.shape)} ({label})"
            )
        if not np.isfinite(weights).all() or (weights < -compare.ATOL).any():
            return failed(f"some weights are negative or not finite ({label})")
        sums = weights.sum(axis=0)
        worst = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[worst] - 1) > compare.RTOL:
            rows = np.allclose(weights.sum(axis=1), 1, atol=compare.RTOL)
            hint = "; the rows do, so the softargmax runs over the wrong axis" if rows else ""
            return failed(f"the weights of query {worst} sum to {sums[worst]:.4g}, not 1 ({label}){hint}")
    return passed("the weights of every query sum to one")


def _extreme_scores(rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, Array]]:
    """Scores of 0 and ±10⁴, whole numbers that float32 holds exactly, and so far apart that the answer is plain."""
    for d, n, m, t in [(1, 3, 4, 2), (3, 2, 5, 3)]:
        for low, high, name in [
            (-1.0, 0.0, "down to −10⁴"),
            (0.0, 1.0, "up to 10⁴"),
            (-1.0, 1.0, "from −10⁴ to 10⁴"),
        ]:
            direction = np.zeros((d, 1))
            direction[rng.integers(d)] = 100.0
            signs = np.where(np.arange(m) == rng.integers(m), high, low)
            V = rng.normal(size=(t, m))
            yield name, np.repeat(direction, n, axis=1), direction * signs, V


@check
def stays_finite_at_extreme_scores(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, reference: Reference
) -> Outcome:
    """Scores of ±10⁴ give the right weights, not NaN, infinity or zero."""
    right = reference_function(reference)
    for name, Q, K, V in _extreme_scores(rng):
        got = numbers(student.call(file, function, Q, K, V, 1.0), f"{function}()")
        if found := difference(got, right(Q, K, V, 1.0)):
            return failed(f"with scores {name}: {found.summary}; subtract the largest score before exp", found.detail)
    return passed("scores of ±10⁴ are handled")


@check
def ignores_the_order_of_pairs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Reordering keys and values together changes nothing."""
    for d, n, m, t in [(4, 3, 5, 2), (3, 5, 8, 4)]:
        Q, K, V = rng.normal(size=(d, n)), rng.normal(size=(d, m)), rng.normal(size=(t, m))
        order = np.roll(np.arange(m), int(rng.integers(1, m)))
        before = numbers(student.call(file, function, Q, K, V, 0.7), f"{function}()")
        after = numbers(student.call(file, function, Q, K[:, order], V[:, order], 0.7), f"{function}()")
        if found := difference(after, before):
            return failed(f"reordering the {m} key–value pairs changes the output: {found.summary}", found.detail)
    return passed("the order of key–value pairs does not matter")


@check
def reordering_tokens_reorders_outputs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Self-attention without positions treats its tokens as a set."""
    for case in INPUTS["multi_head"](rng):
        C, *rest = case.args
        order = rng.permutation(C.shape[1])
        before = numbers(student.call(file, function, C, *rest), f"{function}()")
        after = numbers(student.call(file, function, C[:, order], *rest), f"{function}()")
        if before.ndim != 2 or before.shape[1] != C.shape[1]:
            return failed(f"its output has shape {compare.shape(before.shape)} for {C.shape[1]} tokens ({case.label})")
        if found := difference(after, before[:, order]):
            return failed(
                f"reordering the tokens does more than reorder the output: {found.summary} ({case.label})",
                found.detail,
            )
    return passed("reordered tokens give reordered outputs")


@check
def ignores_masked_keys(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """Changing a token leaves alone every query that may not attend to it."""
    for case in INPUTS["masked_multi_head"](rng):
        C, *rest = case.args
        allowed = case.kwargs["mask"]
        token = int(rng.integers(C.shape[1]))
        blind = [query for query in range(C.shape[1]) if query != token and not allowed[token, query]]
        if not blind:
            continue
        changed = C.copy()
        changed[:, token] += rng.normal(size=len(C))
        before = numbers(student.call(file, function, C, *rest, mask=allowed), f"{function}()")
        after = numbers(student.call(file, function, changed, *rest, mask=allowed), f"{function}()")
        if before.ndim != 2 or before.shape[1] != C.shape[1]:
            return failed(f"its output has shape {compare.shape(before.shape)} for {C.shape[1]} tokens ({case.label})")
        if found := difference(after[:, blind], before[:, blind]):
            return failed(f"a query sees a token that is masked for it: {found.summary} ({case.label})", found.detail)
    return passed("masked tokens have no influence")


@check
def leaves_inputs_unchanged(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, inputs: Inputs
) -> Outcome:
    """The caller's arrays are the same after the call."""
    for case in INPUTS[inputs](rng):
        request = {"function": function, "args": list(case.args), "kwargs": case.kwargs}
        after = student.probe("call_showing_arguments", file, **request)
        for place, (before, now) in enumerate(zip(case.args, after, strict=True), start=1):
            if isinstance(before, np.ndarray) and not np.array_equal(before, now):
                return failed(f"it changes its argument number {place} in place ({case.label}); work on a copy")
    return passed("arguments are left as they were")
