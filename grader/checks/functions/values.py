"""Functions judged by the values they return."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from grader import compare
from grader.checks.functions.crash_cause import can_be_asked_more, cause_of_crash
from grader.checks.functions.ground_truth import Reference, ReferenceForCauses, reference_function
from grader.checks.functions.inputs import INPUTS, Case, Inputs
from grader.checks.functions.mistake_name import name_the_mistake
from grader.checks.functions.returned import returned, returned_for_each, told_with
from grader.compare import Array, difference
from grader.errors import Crashed, WrongKind
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check


@check
def returns_an_array(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    inputs: Inputs,
    reference: ReferenceForCauses = None,
) -> Outcome:
    """It can be called as the assignment says, and returns one array of numbers that depends on what it is given."""
    first, again = next(INPUTS[inputs](rng)), next(INPUTS[inputs](rng))  # the same shapes, other numbers
    try:
        one, other = returned_for_each(student, file, function, [first, again])
    except Crashed as fault:
        if reference and can_be_asked_more(fault, reference):
            fault.message += cause_of_crash(student, rng, (file, function), reference, inputs)
        raise
    if np.array_equal(one, other, equal_nan=True):
        return failed(f"{function}() returns the same array whatever it is given")
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
    wrong, fine = [], []
    values = returned_for_each(student, file, function, cases)
    for trial, (case, value) in enumerate(zip(cases, values, strict=True)):
        want = np.asarray(right(*case.args, **case.kwargs))
        if found := difference(value, want, rtol, atol):
            wrong.append((trial, (case, value), found, _heat_map(value, want, case)))
        else:
            fine.append((case, value))
    if not wrong:
        return passed(f"right on all {len(cases)} inputs", evidence={"inputs": len(cases)})
    trial, (case, _), found, figure = wrong[0]
    mistake = name_the_mistake(reference, [*(given for _, given, _, _ in wrong), *fine])
    looks = f"; it looks as if {mistake}" if mistake else ""
    return failed(
        f"wrong on {len(wrong)} of {len(cases)} inputs{looks}. With {case.label} {found.summary}",
        found.detail,
        evidence={"inputs": len(cases), "wrong": len(wrong), "off_by": found.size, "looks_like": mistake},
        revealing={"figure": figure} if figure else {},
        trial=trial,
    )


_HEAT_MAP_SIDE = 12  # rows and columns a phone can show


def _heat_map(got: Array, want: Array, case: Case) -> dict[str, Any] | None:
    """The student's matrix beside the right one, for reports that draw; NaN and infinity are left blank."""
    if got.ndim != 2 or want.ndim != 2 or not got.size:
        return None
    shown = {}
    for name, matrix in (("student", got), ("reference", want)):
        rows = matrix[:_HEAT_MAP_SIDE, :_HEAT_MAP_SIDE].tolist()
        shown[name] = [[round(value, 4) if math.isfinite(value) else None for value in row] for row in rows]
    whole = max(*got.shape, *want.shape) <= _HEAT_MAP_SIDE
    part = "The output" if whole else "The first rows and columns of the output"
    return {"kind": "heatmap", "title": f"{part} with {case.label}", **shown}


@check
def columns_sum_to_one(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """The weights of each query are not negative and sum to one (with V = I the output is the weights)."""
    for d, n, m in [(4, 3, 6), (5, 7, 2), (2, 4, 9)]:
        Q, K = rng.normal(size=(d, n)), rng.normal(size=(d, m))
        label = f"Q {d}×{n}, K {d}×{m}, V = I"
        weights = returned(student, file, function, Case(label, (Q, K, np.eye(m), 1.0)))
        if weights.shape != (m, n):
            detail = f"its shape is {compare.shape(weights.shape)}"
            return failed(f"with V = I it should give the {m}×{n} weights ({label})", detail)
        if not np.isfinite(weights).all() or (weights < -compare.ATOL).any():
            return failed(f"some weights are negative or not finite ({label})")
        if np.ptp(weights, axis=0).max() <= compare.ATOL:
            return failed(f"every key gets the same weight, whatever the query ({label})")
        sums = weights.sum(axis=0)
        worst = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[worst] - 1) > compare.RTOL:
            rows = np.allclose(weights.sum(axis=1), 1, atol=compare.RTOL)
            hint = "; the rows do, so the softargmax runs over the wrong axis" if rows else ""
            return failed(f"the weights of query {worst} sum to {sums[worst]:.4g}, not 1 ({label}){hint}")
    return passed("the weights of every query sum to one")


@check
def ignores_the_order_of_pairs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Reordering keys and values together changes nothing."""
    for d, n, m, t in [(4, 3, 5, 2), (3, 5, 8, 4)]:
        Q, K, V = rng.normal(size=(d, n)), rng.normal(size=(d, m)), rng.normal(size=(t, m))
        order = np.roll(np.arange(m), int(rng.integers(1, m)))
        case = Case(f"Q {d}×{n}, K {d}×{m}, V {t}×{m}, β = 0.7", (Q, K, V, 0.7))
        before = returned(student, file, function, case)
        after = returned(student, file, function, replace(case, args=(Q, K[:, order], V[:, order], 0.7)))
        if found := difference(after, before):
            return failed(
                f"when the {m} key–value pairs are reordered the output changes: {found.summary}", found.detail
            )
        torn_apart = returned(student, file, function, replace(case, args=(Q, K, V[:, order], 0.7)))
        if difference(torn_apart, before) is None:
            return failed("the output does not depend on which value belongs to which key")
    return passed("the order of key–value pairs does not matter")


@check
def reordering_tokens_reorders_outputs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Self-attention without positions treats its tokens as a set, and lets each see the others."""
    influences = []
    for case in INPUTS["multi_head"](rng):
        C, *rest = case.args
        order = rng.permutation(C.shape[1])
        reordered = replace(case, args=(C[:, order], *rest))
        before, after = (
            _one_output_per_token(output, case)
            for output in returned_for_each(student, file, function, [case, reordered])
        )
        if found := difference(after, before[:, order]):
            message = f"with the tokens reordered the output is not just reordered: {found.summary} ({case.label})"
            return failed(message, found.detail)
        if C.shape[1] > 1:
            influences.append(_influence(student, rng, file, function, case, source=0, target=1))
    if max(influences) == 0:
        return failed("no token has any influence on the output of another")
    return passed("reordered tokens give reordered outputs")


@check
def ignores_masked_keys(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """Changing a token changes the output of those queries that may attend to it, and of no others."""
    influences = []
    for case in INPUTS["masked_multi_head"](rng):
        allowed = case.kwargs["mask"]
        source, target = (int(place) for place in rng.choice(len(allowed), size=2, replace=False))
        for sees in (True, False):
            mask = allowed.copy()
            mask[[source, target], target] = sees, True
            masked = replace(case, kwargs={"mask": mask})
            influence = _influence(student, rng, file, function, masked, source=source, target=target)
            if sees:
                influences.append(influence)
            elif influence > compare.ATOL:
                return failed(f"a query sees a token that is masked for it ({case.label})")
    if max(influences) == 0:
        return failed("no query sees the tokens it may attend to")
    return passed("masked tokens have no influence, others have")


def _influence(
    student: Student, rng: np.random.Generator, file: str, function: str, case: Case, *, source: int, target: int
) -> float:
    """How much the output at token `target` changes, at most, when token `source` does; relative to its size."""
    C, *rest = case.args
    changed = C.copy()
    changed[:, source] += rng.normal(size=len(C))
    cases = [replace(case, args=(tokens, *rest)) for tokens in (C, changed)]
    before, after = (
        _one_output_per_token(output, case)[:, target] for output in returned_for_each(student, file, function, cases)
    )
    return float(np.abs(after - before).max() / (1 + np.abs(before).max()))


def _one_output_per_token(output: Array, case: Case) -> Array:
    tokens = case.args[0].shape[1]
    if output.ndim != 2 or output.shape[1] != tokens:
        detail = f"its shape is {compare.shape(output.shape)}"
        raise WrongKind(f"it should return one column for each of the {tokens} tokens ({case.label})", detail)
    if not np.isfinite(output).all():  # NaN compares as neither changed nor unchanged
        raise WrongKind(f"it returns NaN or infinity ({case.label})")
    return output


@check(own_box=True)  # code that counts its calls would know when to leave them alone
def leaves_inputs_unchanged(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, inputs: Inputs
) -> Outcome:
    """The caller's arrays are the same after the call."""
    cases = list(INPUTS[inputs](rng))
    for case in cases:
        with told_with(case):
            student.call(file, function, *case.args, **case.kwargs)
        match student.probe("latest_arguments", file):
            case {"args": list(args), "kwargs": dict(kwargs)} if len(args) == len(case.args):
                now = replace(case, args=tuple(args), kwargs=kwargs).arguments()
            case _:
                raise Crashed("its arguments could not be looked at after the call")
        for name, value in case.arguments().items():
            if isinstance(value, np.ndarray) and not _equal(value, now.get(name)):
                return failed(f"it changes its {name} in place ({case.label}); work on a copy")
    return passed("arguments are left as they were")


def _equal(before: Array, now: Any) -> bool:
    return isinstance(now, np.ndarray) and before.dtype == now.dtype and np.array_equal(before, now)
