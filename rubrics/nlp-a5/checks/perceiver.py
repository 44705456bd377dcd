"""The Perceiver variant: a learned basis asks the tokens, later the tokens ask it; judged by values."""

from __future__ import annotations

from functools import partial

import numpy as np

from grader import Array, Outcome, Student, StudentFile, check, failed
from grader.modules import wrong_shape
from rubrics.module_recovery.layers import of_size

from ..public.configuration import BOTTLENECK, WIDTH
from ..public.perceiver_form import ALSO, DOWN, UP, down_block, up_block, with_direction
from .recovery import variant_properties
from .recovery.perceiver_block import Block


@check(group="values", compares=True)
def basis_asks_the_tokens(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = ALSO, down: str = DOWN
) -> Outcome:
    """Down: cross-attention with queries from C, keys and values from x; then an MLP with LayerNorm and residual."""
    bench, inputs = down_block(student, rng, [file, *also], down)
    if found := wrong_shape(bench, [(given, (len(given[0]), BOTTLENECK, WIDTH)) for given in inputs]):
        return with_direction(found[1], True)
    used = bench.influential(rng, inputs[2])
    basis = next((name for name in of_size(bench.values, BOTTLENECK, WIDTH) if name in used), None)
    if basis is None:
        message = f"the output of {down} depends on no parameter of shape (1, bottleneck_dim, n_embd)"
        return failed(message, code="not_learned")

    def asking(x: Array) -> Array:
        rows = bench.values[basis].reshape(1, BOTTLENECK, WIDTH)
        return np.broadcast_to(rows, (len(x), BOTTLENECK, WIDTH))

    block = Block(bench, rng, used - {basis}, inputs, asked=lambda x: x, asking=asking, idle={basis})
    return block.judge(partial(variant_properties.of_a_down_projection, bench, rng, basis))


@check(group="values", compares=True)
def tokens_ask_the_bottleneck(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = ALSO, up: str = UP
) -> Outcome:
    """Up: cross-attention with queries from x, keys and values from y; then an MLP with LayerNorm and residual."""
    bench, inputs = up_block(student, rng, [file, *also], up)
    if found := wrong_shape(bench, [(given, given[1].shape) for given in inputs]):
        return with_direction(found[1], False)
    if wrong := variant_properties.of_an_up_projection(bench, rng):
        return wrong
    used = bench.influential(rng, inputs[2])
    block = Block(bench, rng, used, inputs, asked=lambda y, x: y, asking=lambda y, x: x, idle=set())
    return block.judge(lambda: None)
