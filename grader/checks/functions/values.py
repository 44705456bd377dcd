"""Functions judged by the values they return."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader import compare
from grader.checks.functions.ground_truth import (
    Reference,
    ReferenceForCauses,
    asked_here,
    cause_of_crash,
    code_of,
    name_the_mistake,
    reference_named,
    values_of,
)
from grader.checks.functions.inputs import (
    AttentionCall,
    Case,
    Cases,
    Inputs,
    Scale,
    Through,
    Tokens,
    blamed_on,
    returned_for_each,
    sampled,
    takes_what_is_given,
)
from grader.checks.functions.nested import Values, as_asked, difference_in, flat
from grader.compare import difference
from grader.errors import Crashed
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check
from grader.rubric.own_functions import Offer

Arguments = dict[str, int | float | str]  # to the generator of inputs, if it is the rubric's own


@check(group="values", agree=takes_what_is_given)
def returns_an_array(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    inputs: Inputs,
    given: Arguments = {},  # noqa: B006 - read only
    reference: ReferenceForCauses = None,
    through: Through = None,
) -> Outcome:
    """It can be called as the assignment says, and returns one array of numbers that depends on what it is given."""
    cases = Cases(next(sampled(inputs, rng, given)) for _ in range(2))  # the same shapes, other numbers
    try:
        first, second = returned_for_each(student, file, function, cases, through)
    except Crashed as fault:
        if reference and type(fault) is Crashed:  # it raised while it ran, and neither ended nor hung
            right = reference_named(reference)
            fault.message += cause_of_crash(student, rng, (file, function), right, inputs, through)
        raise
    if np.array_equal(first, second, equal_nan=True):
        return failed(f"{function}() returns the same array whatever it is given", code="ignores_its_input")
    return passed(f"{function}() runs and returns an array")


@check(group="values", agree=takes_what_is_given)
def matches_reference(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    reference: Reference,
    inputs: Inputs,
    given: Arguments = {},  # noqa: B006 - read only
    rtol: float = compare.RTOL,
    atol: float = compare.ATOL,
    through: Through = None,
) -> Outcome:
    """Its values equal the reference's on inputs of many shapes, in float64 and float32."""
    every = Cases(sampled(inputs, rng, given))
    cases = asked_here(reference, every)
    answers = student.probe_each("call", file, cases.questions(function, through))
    right, answered = reference_named(reference), []
    for case in cases:
        with blamed_on(case):
            answered.append((case, as_asked(next(answers), values_of(right.function, case), f"{function}()")))
    outcome = compared_outcome(right, answered, rtol, atol)
    if outcome.score == 1 and len(cases) < len(every):
        later = f"{outcome.message}; {len(every) - len(cases)} more after the deadline"
        return replace(outcome, message=later)
    return outcome


def compared_outcome(right: Offer, answered: Sequence[tuple[Case, Values]], rtol: float, atol: float) -> Outcome:
    """What values earn that the reference gives too, or gives otherwise; named, if a classic mistake gives them."""
    wrong, fine = [], []
    for trial, (case, value) in enumerate(answered):
        want = values_of(right.function, case)
        if found := difference_in(value, want, rtol, atol):
            wrong.append((trial, (case, flat(value)), found, _heat_map(value, want, case)))
        else:
            fine.append((case, flat(value)))
    if not wrong:
        return passed(f"right on all {len(answered)} inputs", evidence={"inputs": len(answered)})
    trial, (case, _), found, figure = wrong[0]
    mistake = name_the_mistake(right, [*(call for _, call, _, _ in wrong), *fine])
    looks = f"; it looks as if {mistake}" if mistake else ""
    return failed(
        f"wrong on {len(wrong)} of {len(answered)} inputs{looks}. With {case.label} {found.summary}",
        found.detail,
        evidence={"inputs": len(answered), "wrong": len(wrong), "off_by": found.size, "looks_like": mistake},
        revealing={"figure": figure} if figure else {},
        trial=trial,
        code=code_of(mistake) or found.code,
    )


_HEAT_MAP_SIDE = 12  # rows and columns a phone can show


def _heat_map(got: Values, want: Values, case: Case) -> dict[str, Any] | None:
    """The student's matrix beside the right one, for reports that draw; NaN and infinity are left blank."""
    if not isinstance(want, np.ndarray) or got.ndim != 2 or want.ndim != 2 or not got.size:
        return None
    shown = {}
    for name, matrix in (("student", got), ("reference", want)):
        rows = matrix[:_HEAT_MAP_SIDE, :_HEAT_MAP_SIDE].tolist()
        shown[name] = [[round(value, 4) if math.isfinite(value) else None for value in row] for row in rows]
    whole = max(*got.shape, *want.shape) <= _HEAT_MAP_SIDE
    part = "The output" if whole else "The first rows and columns of the output"
    return {"kind": "heatmap", "title": f"{part} with {case.label}", **shown}


@check(group="values")
def columns_sum_to_one(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, scale: Scale = "argument"
) -> Outcome:
    """The weights of each query are not negative and sum to one (with V = I the output is the weights)."""
    return _weights_sum_to_one(student, rng, file, function, AttentionCall("columns", scale))


@check(group="values")
def rows_sum_to_one(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str, scale: Scale = "argument"
) -> Outcome:
    """The weights of each query, a row, are not negative and sum to one (with V = I the output is the weights)."""
    return _weights_sum_to_one(student, rng, file, function, AttentionCall("rows", scale))


def _weights_sum_to_one(
    student: Student, rng: np.random.Generator, file: str, function: str, call: AttentionCall
) -> Outcome:
    cases = _with_unit_values(rng, call)
    answers = returned_for_each(student, file, function, cases)
    for case, output in zip(cases, answers, strict=True):
        m, n = (call.columns(case.args[place]).shape[1] for place in (1, 0))
        want = (m, n) if call.tokens == "columns" else (n, m)
        if output.shape != want:
            detail = f"its shape is {compare.shape(output.shape)}"
            message = f"with V = I it should give the {compare.shape(want)} weights ({case.label})"
            return failed(message, detail, code="wrong_shape")
        weights = call.columns(output)
        if not np.isfinite(weights).all() or (weights < -compare.ATOL).any():
            return failed(f"some weights are negative or not finite ({case.label})", code="impossible_weights")
        if np.ptp(weights, axis=0).max() <= compare.ATOL:
            message = f"every key gets the same weight, whatever the query ({case.label})"
            return failed(message, code="uniform_weights")
        sums = weights.sum(axis=0)
        worst = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[worst] - 1) > compare.RTOL:
            others = "rows" if call.tokens == "columns" else "columns"
            turned = np.allclose(weights.sum(axis=1), 1, atol=compare.RTOL)
            hint = f"; the {others} do, so the softargmax runs over the wrong axis" if turned else ""
            message = f"the weights of query {worst} sum to {sums[worst]:.4g}, not 1 ({case.label}){hint}"
            return failed(message, code="wrong_weight_sums")
    return passed("the weights of every query sum to one")


def _with_unit_values(rng: np.random.Generator, call: AttentionCall) -> Cases:
    cases = []
    for d, n, m in [(4, 3, 6), (5, 7, 2), (2, 4, 9)]:
        Q, K = rng.normal(size=(d, n)), rng.normal(size=(d, m))
        cases.append(call.case("{Q}, {K}, V = I", Q, K, np.eye(m), call.beta(d, 1.0)))
    return Cases(cases)


@check(group="values")
def ignores_the_order_of_pairs(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    tokens: Tokens = "columns",
    scale: Scale = "argument",
) -> Outcome:
    """Reordering keys and values together changes nothing."""
    call = AttentionCall(tokens, scale)
    cases = _reordered_pairs(rng, call)
    answers = returned_for_each(student, file, function, cases)
    for case in cases[::3]:
        before, after = next(answers), next(answers)
        if found := difference(after, before):
            m = call.columns(case.args[1]).shape[1]
            message = f"when the {m} key–value pairs are reordered the output changes: {found.summary}"
            return failed(message, found.detail, code="depends_on_order")
        torn_apart = next(answers)
        if difference(torn_apart, before) is None:
            return failed("the output does not depend on which value belongs to which key", code="ignores_its_input")
    return passed("the order of key–value pairs does not matter")


def _reordered_pairs(rng: np.random.Generator, call: AttentionCall) -> Cases:
    """Three each: some pairs, the same in another order, and the values alone in that order."""
    cases = []
    for d, n, m, t in [(4, 3, 5, 2), (3, 5, 8, 4)]:
        Q, K, V = rng.normal(size=(d, n)), rng.normal(size=(d, m)), rng.normal(size=(t, m))
        order = np.roll(np.arange(m), int(rng.integers(1, m)))
        pairs = ((K, V), (K[:, order], V[:, order]), (K, V[:, order]))
        beta = call.beta(d, 0.7)
        cases += [call.case("{Q}, {K}, {V}{beta}", Q, keys, values, beta) for keys, values in pairs]
    return Cases(cases)


@check  # in a sandbox of its own: code that counts its calls would know when to leave them alone
def leaves_inputs_unchanged(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    inputs: Inputs,
    through: Through = None,
) -> Outcome:
    """The caller's arrays are the same after the call."""
    cases = _some_of(Cases(sampled(inputs, rng)))
    answers = student.probe_each("call", file, cases.questions(function, through))
    for case in cases:
        with blamed_on(case):
            next(answers)
    match student.probe("latest_arguments", file, calls=len(cases)):
        case list(calls) if len(calls) == len(cases):
            pass
        case _:
            raise Crashed("its arguments could not be looked at after the call", code="malformed_reply")
    for case, call in zip(cases, calls, strict=True):
        now = _arguments_now(case, call)
        for name, value in case.arguments().items():
            if not _equal(value, now.get(name)):
                message = f"it changes its {name} in place ({case.label}); work on a copy"
                return failed(message, code="changes_its_input")
    return passed("arguments are left as they were")


_FEW = 6


def _some_of(cases: Cases) -> Cases:
    """One in three, counted from the last: so both precisions are among them, more queries than keys, a single key, one
    head and several, both kinds of mask. All, where there are few."""
    return cases if len(cases) <= _FEW else Cases(reversed(cases[::-3]))


def _arguments_now(case: Case, call: Any) -> dict[str, Any]:
    match call:
        case {"args": list(args), "kwargs": dict(kwargs)} if len(args) == len(case.args):
            return Case(case.label, tuple(args), kwargs, case.names).arguments()
    raise Crashed("its arguments could not be looked at after the call", code="malformed_reply")


def _equal(before: Any, now: Any) -> bool:
    """Whether an argument is as it was: an array or tensor, a plain value, or a container of them."""
    if isinstance(now, str) and now == type(before).__name__:  # all that comes back of an object of another kind
        return True
    if isinstance(before, dict):
        same_keys = isinstance(now, dict) and [*map(str, before)] == [*now]
        return same_keys and all(map(_equal, before.values(), now.values()))
    if isinstance(before, list | tuple):
        return isinstance(now, list) and len(before) == len(now) and all(map(_equal, before, now))
    if not hasattr(before, "tolist"):
        return bool(before == now or before != before)
    if hasattr(before, "to_dense"):  # a tensor, which comes back as an array
        before = before.to_dense()
    values = np.array(before.tolist()).reshape(before.shape)
    return isinstance(now, np.ndarray | complex | float | int) and np.array_equal(values, now, equal_nan=True)
