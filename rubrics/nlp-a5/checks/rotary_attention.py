"""The RoPE variant in attention: queries and keys are rotated, in every head, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial as bound
from itertools import product

import numpy as np

from grader import (
    Array,
    Killed,
    Outcome,
    Partial,
    Status,
    Student,
    StudentFault,
    StudentFile,
    TimedOut,
    check,
    failed,
    passed,
    scored,
)
from grader.modules import Inputs, Workbench, not_a_function_of_its_input, started, wrong_shape
from reference.mistakes.rotary import ANGLES, ROTATED, UNROTATED
from reference.numpy_attention import RotaryMixing
from rubrics.module_recovery import behaviour
from rubrics.module_recovery.fits import assignments, assignments_in_any_layout, explanation
from rubrics.module_recovery.layers import Linear, count_apart, maps

from ..public.configuration import BLOCK, HEAD, HEADS, WIDTH, configured
from ..public.rotary_training import ATTENTION
from .recovery import variant_properties
from .recovery.arrangements import is_as_torch_has_it, read_in_any
from .rotary_wiring import APPLY, PRECOMPUTE, SHOWN_TOKENS, shapes_rotated, with_right_rotations

_ROLES = ("query", "key", "value", "output")
_RIGHT = RotaryMixing()
_NOT_ROTARY = "its values are not those of causal attention with rotated queries and keys"
_NEIGHBOURS = np.arange(HEAD).reshape(-1, 2)
_LAYOUTS = (
    _NEIGHBOURS,
    np.arange(HEAD).reshape(2, -1).T,
    _NEIGHBOURS[:, ::-1],
    np.arange(HEAD).reshape(2, -1).T[:, ::-1],
)


def _attend(x: Array, roles: dict[str, Linear], mix: RotaryMixing, pairs: Array) -> Array:
    q, k, v = (roles[role](x) for role in ("query", "key", "value"))
    return roles["output"](mix(q, k, v, HEADS, pairs))


def _fits(assigned: list[dict[str, Linear]], mix: RotaryMixing = _RIGHT) -> Iterator[tuple[bool, Callable[..., Array]]]:
    for roles, pairs in product(assigned, _LAYOUTS):
        yield True, bound(_attend, roles=roles, mix=mix, pairs=pairs)


@check(group="values", compares=True)
def attention_rotates_queries_and_keys(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = ATTENTION,
    precompute: str = PRECOMPUTE,
    apply: str = APPLY,
    partial: Partial = Partial(wrong_angles="1/2"),
) -> Outcome:
    """With config.rope, queries and keys are rotated by their positions in every head, and values are left alone."""
    inputs: list[Inputs] = [
        (rng.normal(size=(batch, length, WIDTH)),) for batch, length in ((2, BLOCK), (3, 5), (1, 2), (1, 1))
    ]
    bench = configured(student, file, name, rope=True)
    own = _tried(bench, rng, inputs, partial)
    if isinstance(own, Outcome) and own.status in (Status.PASSED, Status.REVIEW):
        return own
    # What is wrong in the two functions themselves, other checks say.
    given = _tried(with_right_rotations(bench, precompute, apply), rng, inputs, partial)
    if isinstance(given, Outcome) and given.status is Status.PASSED:
        return passed("right, when the functions it calls are", evidence={"given": "right rotations"})
    shapes = shapes_rotated(student, file, name, apply)
    if shapes and all(shape[1:3] == (SHOWN_TOKENS, HEADS) for shape in shapes):
        message = "queries and keys are rotated along the heads instead of the tokens; transpose them first"
        return failed(message, code="rotated_along_heads")
    if isinstance(given, Outcome) and given.evidence.get("looks_like"):
        if given.evidence["looks_like"] == UNROTATED and not shapes:
            message = f"its values are wrong: with config.rope on, {apply}() is never called"
            return failed(message, code=UNROTATED.code)
        return given
    if isinstance(own, StudentFault):
        raise own
    return own


def _tried(
    bench: Workbench, rng: np.random.Generator, inputs: list[Inputs], partial: Partial
) -> Outcome | StudentFault:
    try:
        return _judged(started(bench, rng, inputs[0]), rng, inputs, partial)
    except (TimedOut, Killed):
        raise
    except StudentFault as fault:
        return fault


def _judged(bench: Workbench, rng: np.random.Generator, inputs: list[Inputs], partial: Partial) -> Outcome:
    if found := wrong_shape(bench, [(given, given[0].shape) for given in inputs]):
        return found[1]
    if wrong := not_a_function_of_its_input(bench, inputs[1]):
        return wrong
    outputs = bench.run(*inputs).outputs
    if outcome := read_in_any(bench, bound(_of_reading, rng, inputs, outputs, partial)):
        return outcome
    used = bench.influential(rng, inputs[0])
    return behaviour.too_few_parameters(bench, used, 4 * WIDTH**2) or variant_properties.of_rotary_attention(bench, rng)


def _of_reading(
    rng: np.random.Generator,
    inputs: list[Inputs],
    outputs: list[Array],
    partial: Partial,
    bench: Workbench,
    naming: bool,
) -> Outcome | None:
    """None if nothing tried explains its values, be it that its layers are not four."""
    layers = maps(bench.values, WIDTH, HEADS, bench.influential(rng, inputs[0]))
    if count_apart(maps(bench.values, WIDTH, HEADS)) < 4 or count_apart(layers) > 4:
        return None
    usual = list(assignments(dict.fromkeys(_ROLES, layers)))
    unusual = assignments_in_any_layout(bench.values, layers, _ROLES, HEADS)
    if explanation(_fits([*usual, *unusual]), inputs, outputs):
        return passed(f"right on all {len(inputs)} inputs", evidence={"inputs": len(inputs), "judged_by": "values"})
    if not naming:
        return None
    for mistake, mix in ROTATED.items():
        if explanation(_fits(usual, mix), inputs, outputs):
            message = f"its values are wrong; it looks as if {mistake}"
            return failed(message, evidence={"looks_like": mistake}, code=mistake.code)
    for mistake, of in ANGLES.items() if not bench.sent_along else ():  # whose angles are right
        if explanation(_fits(usual, RotaryMixing(of=of)), inputs, outputs):
            message = f"queries and keys are rotated, and nothing else; but it looks as if {mistake}"
            return scored(partial["wrong_angles"], message, evidence={"looks_like": mistake}, code=mistake.code)
    return failed(_NOT_ROTARY, code="outputs_differ") if is_as_torch_has_it(bench) else None
