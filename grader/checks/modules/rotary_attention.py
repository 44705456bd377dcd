"""The RoPE variant in attention: queries and keys are rotated, in every head, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from grader.checks.modules.recovery import arithmetic, rotations, variant_properties
from grader.checks.modules.recovery.judgements import (
    explanation,
    not_a_function_of_its_input,
    trained,
    wrong_shape,
)
from grader.checks.modules.recovery.layers import Map, assignments, count_apart, maps
from grader.checks.modules.recovery.rotations import Angles, angles
from grader.checks.modules.recovery.workbench import BLOCK, HEAD, HEADS, WIDTH, Workbench, build
from grader.compare import Array
from grader.model import Outcome, Status, Student, failed, passed
from grader.registry import StudentFile, check

_ATTENTION = "CausalSelfAttention"
_NEIGHBOURS = np.arange(HEAD).reshape(-1, 2)
_LAYOUTS = (
    _NEIGHBOURS,
    np.arange(HEAD).reshape(2, -1).T,
    _NEIGHBOURS[:, ::-1],
    np.arange(HEAD).reshape(2, -1).T[:, ::-1],
)


def _attend(
    x: Array,
    roles: dict[str, Map],
    bench: Workbench,
    pairs: Array,
    *,
    of: Angles = angles,
    rotated: str = "qk",
    backwards: str = "",
    whole: bool = False,
    scale: float = 1 / sqrt(HEAD),
    masked: bool = True,
) -> Array:
    """Causal attention with queries and keys rotated in each head, or that with one thing done differently."""

    def turned(letter: str, heads: Array) -> Array:
        if letter not in rotated:
            return heads
        if whole:
            flat = arithmetic.join_heads(heads)
            turned = arithmetic.turn(flat, of(WIDTH, x.shape[1]), np.arange(WIDTH).reshape(-1, 2))
            return arithmetic.split_heads(turned, HEADS)
        angle = of(HEAD, x.shape[1])
        return arithmetic.turn(heads, -angle if letter in backwards else angle, pairs)

    mapped = (arithmetic.split_heads(roles[role](x, bench.values), HEADS) for role in ("query", "key", "value"))
    q, k, v = (turned(letter, heads) for letter, heads in zip("qkv", mapped, strict=True))
    scores = q @ k.swapaxes(-1, -2) * scale
    if masked:
        scores = np.where(arithmetic.future(*scores.shape[-2:]), -np.inf, scores)
    joined = arithmetic.join_heads(turned("o", arithmetic.softmax(scores) @ v))
    return roles["output"](joined, bench.values)


_SLIPS: dict[str, dict[str, Any]] = {
    "queries and keys are not rotated at all, or along the heads instead of the tokens": {"rotated": ""},
    "the values are rotated too; only queries and keys should be": {"rotated": "qkv"},
    "only the queries are rotated": {"rotated": "q"},
    "only the keys are rotated": {"rotated": "k"},
    "keys and values are rotated instead of queries and keys": {"rotated": "kv"},
    "queries and values are rotated instead of queries and keys": {"rotated": "qv"},
    "queries and keys are rotated in opposite directions": {"backwards": "k"},
    "the rotation is applied before the heads are split, over all n_embd features": {"whole": True},
    "nothing is masked": {"masked": False},
    "the scores are not divided by √(n_embd/n_head)": {"scale": 1.0},
}


def _readings(
    bench: Workbench, layers: list[Map], different: dict[str, Any]
) -> Iterator[tuple[bool, Callable[..., Array]]]:
    for roles in assignments(layers, ("query", "key", "value", "output")):
        for pairs in _LAYOUTS:
            yield True, partial(_attend, roles=roles, bench=bench, pairs=pairs, **different)


@check
def attention_rotates_queries_and_keys(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _ATTENTION
) -> Outcome:
    """With config.rope, queries and keys are rotated by their positions in every head, and values are left alone."""
    inputs = [(rng.normal(size=(batch, length, WIDTH)),) for batch, length in ((2, BLOCK), (3, 5), (1, 2), (1, 1))]
    bench = build(student, rng, [file], name, inputs[0], rope=True)
    for given in inputs:
        if wrong := wrong_shape(bench, given, given[0].shape):
            return wrong
    if wrong := not_a_function_of_its_input(bench, inputs[1]):
        return wrong
    outputs = bench.run(*inputs).outputs
    used = bench.influential(rng, inputs[0])
    defined = maps(bench.values, WIDTH, HEADS)
    layers = [layer for layer in defined if layer.weight in used]
    if count_apart(defined) < 4 or count_apart(layers) > 4:
        return variant_properties.too_few_parameters(
            bench, used, 4 * WIDTH**2
        ) or variant_properties.of_rotary_attention(bench, rng)
    if explanation(_readings(bench, layers, {}), inputs, outputs):
        return passed(f"right on all {len(inputs)} inputs", evidence={"inputs": len(inputs), "judged_by": "values"})
    for slip, different in _SLIPS.items():
        if explanation(_readings(bench, layers, different), inputs, outputs):
            return failed(f"its values are wrong; it looks as if {slip}", evidence={"looks_like": slip})
    for slip, of in rotations.SLIPS.items():
        if explanation(_readings(bench, layers, {"of": of}), inputs, outputs):
            message = f"queries and keys are rotated, and nothing else; but it looks as if {slip}"
            return Outcome(Status.PARTIAL, Fraction(1, 2), message, evidence={"looks_like": slip})
    return failed("its values are not those of causal attention with rotated queries and keys")


@check
def rotary_attention_is_trained(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _ATTENTION
) -> Outcome:
    """Gradients flow back through the rotation, to the input and to every parameter in use."""
    x = rng.normal(size=(2, 5, WIDTH))
    return trained(build(student, rng, [file], name, (x,), rope=True), rng, (x,))
