"""The Perceiver variant: a learned basis asks the tokens, later the tokens ask it; judged by what both compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader import Array, Outcome, Student, StudentFile, check, failed
from grader.modules import Inputs, Workbench, not_a_function_of_its_input, wrong_shape
from rubrics.module_recovery import behaviour

from ..public.configuration import BOTTLENECK, WIDTH, build
from ..public.perceiver_form import ALSO, DOWN, UP, down_block, up_block, with_direction
from . import variant_properties
from .perceiver_block import Block
from .recorded_layers import records_of

# Rows enough to tell a map of all units of an MLP four times as wide, and no other size.
_TOKENS, _ROWS = 67, 61
_SIZES = {"perceiver": True, "bottleneck_dim": _ROWS, "block_size": 71}
_NEEDED = 6 * WIDTH**2  # attention, and an MLP at least as wide


@check(group="values", compares=True)
def basis_asks_the_tokens(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = ALSO, down: str = DOWN
) -> Outcome:
    """Down: cross-attention with queries from C, keys and values from x; then an MLP with LayerNorm and residual."""
    bench, inputs = down_block(student, rng, [file, *also], down)
    if found := wrong_shape(bench, [(given, (len(given[0]), BOTTLENECK, WIDTH)) for given in inputs]):
        return with_direction(found[1], True)
    used = bench.influential(rng, inputs[2])
    bases = (name for name, value in bench.values.items() if value.squeeze().shape == (BOTTLENECK, WIDTH))
    basis = next((name for name in bases if name in used), None)
    if basis is None:
        message = f"the output of {down} depends on no parameter of shape (1, bottleneck_dim, n_embd)"
        return failed(message, code="not_learned")
    x = rng.normal(size=(1, _TOKENS, WIDTH))
    wide = build(student, rng, [file, *also], down, (x,), **_SIZES)
    rows = wide.values[basis].reshape(1, _ROWS, WIDTH)

    def split(x: Array) -> Inputs:
        return x, np.broadcast_to(rows, (len(x), _ROWS, WIDTH))

    outcome = _by_relations(wide, used, (x,), inputs, split)
    if isinstance(outcome, Outcome):
        return outcome
    return (
        behaviour.too_few_parameters(bench, used - {basis}, _NEEDED)
        or not_a_function_of_its_input(bench, inputs[2])
        or variant_properties.of_a_down_projection(bench, rng, basis)
        or variant_properties.of_cross_attention(bench, rng, inputs[0], outcome)
    )


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
    y, x = rng.normal(size=(1, _ROWS, WIDTH)), rng.normal(size=(1, _TOKENS, WIDTH))
    wide = build(student, rng, [file, *also], up, (y, x), **_SIZES)
    outcome = _by_relations(wide, used, (y, x), inputs, lambda y, x: (y, x))
    if isinstance(outcome, Outcome):
        return outcome
    return (
        behaviour.too_few_parameters(bench, used, _NEEDED)
        or not_a_function_of_its_input(bench, inputs[2])
        or variant_properties.of_cross_attention(bench, rng, inputs[0], outcome)
    )


def _by_relations(
    bench: Workbench, used: set[str], recorded: Inputs, inputs: list[Inputs], split: Callable[..., Inputs]
) -> Outcome | str:
    """Words for a person, if no relation shows its layers."""
    asked, asking = split(*recorded)
    output, *outputs = bench.run(recorded, *inputs).outputs
    of_asked, of_asking = records_of(bench, recorded, asked, asking)
    block = Block(bench, bench.values.keys() - used, asked, asking, output, of_asked, of_asking)
    return block.judge([split(*given) for given in inputs], outputs)
