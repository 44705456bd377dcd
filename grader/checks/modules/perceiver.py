"""The Perceiver variant: a learned basis asks the tokens, later the tokens ask it; judged by values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from grader.checks.modules.recovery import variant_properties
from grader.checks.modules.recovery.fits import Inputs
from grader.checks.modules.recovery.layers import of_size
from grader.checks.modules.recovery.obligations import not_a_function_of_its_input, trained, wrong_shape
from grader.checks.modules.recovery.perceiver_block import Block
from grader.checks.modules.recovery.workbench import BOTTLENECK, WIDTH, Workbench, build
from grader.compare import Array
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check

_DOWN, _UP = "DownProjectBlock", "UpProjectBlock"
_ALSO = ["models.py"]
_LENGTHS = (7, 3, 5, 1)  # longer and shorter than the bottleneck's 5 rows, and equal to it


def _down(
    student: Student, rng: np.random.Generator, files: Sequence[str], name: str
) -> tuple[Workbench, list[Inputs]]:
    inputs: list[Inputs] = [(rng.normal(size=(1 + n % 3, length, WIDTH)),) for n, length in enumerate(_LENGTHS)]
    return build(student, rng, files, name, inputs[0], perceiver=True), inputs


def _up(student: Student, rng: np.random.Generator, files: Sequence[str], name: str) -> tuple[Workbench, list[Inputs]]:
    inputs: list[Inputs] = [
        (rng.normal(size=(batch, BOTTLENECK, WIDTH)), rng.normal(size=(batch, length, WIDTH)))
        for batch, length in zip((1, 2, 3, 1), _LENGTHS, strict=True)
    ]
    return build(student, rng, files, name, inputs[0], perceiver=True), inputs


def _both(
    student: Student, rng: np.random.Generator, files: Sequence[str], down: str, up: str
) -> Iterator[tuple[Workbench, list[Inputs]]]:
    yield _down(student, rng, files, down)
    yield _up(student, rng, files, up)


@check
def projects_down_and_up(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    also: list[str] = _ALSO,
    down: str = _DOWN,
    up: str = _UP,
) -> Outcome:
    """(B, ℓ, d) goes down to (B, m, d) and back up to (B, ℓ, d), for any batch and every length."""
    for bench, inputs in _both(student, rng, [file, *also], down, up):
        is_down = len(inputs[0]) == 1
        for given in inputs:
            batch, length = given[-1].shape[:2]
            if wrong := wrong_shape(bench, given, (batch, BOTTLENECK if is_down else length, WIDTH)):
                return _with_direction(wrong, is_down)
        if wrong := not_a_function_of_its_input(bench, inputs[2]):
            return wrong
    return passed(f"right shapes for {len(_LENGTHS)} lengths, down and up")


def _with_direction(wrong: Outcome, is_down: bool) -> Outcome:
    who = "the queries come from C, keys and values from x" if is_down else "the queries come from x, the rest from y"
    return replace(wrong, message=f"{wrong.message}; {who}")


@check
def learns_its_basis(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = _ALSO, down: str = _DOWN
) -> Outcome:
    """C is a parameter of m × d numbers: saved and moved with the module, used, and reached by gradients."""
    bench, inputs = _down(student, rng, [file, *also], down)
    found = of_size(bench.values, BOTTLENECK, WIDTH)
    if not found:
        if any(tuple(side for side in shape if side > 1) == (BOTTLENECK, WIDTH) for shape in bench.buffers.values()):
            return failed(f"the basis of {down} is a buffer: saved, but never trained; make it an nn.Parameter")
        return failed(
            f"{down} has no parameter of shape (1, bottleneck_dim, n_embd): a basis that is no nn.Parameter is neither "
            "trained nor saved, and stays behind when the module moves"
        )
    used = bench.influential(rng, inputs[2])
    basis = next((name for name in found if name in used), None)
    if basis is None:
        return failed(f"{down} has a basis, but its output does not depend on it")
    if basis not in bench.trainable:
        return failed(f"the basis of {down} has requires_grad off, so it is never trained")
    output = bench.run(inputs[2]).outputs[0]
    gradient = bench.run(inputs[2], cotangents=[rng.normal(size=output.shape)]).gradients.get(basis)
    # Under a causal mask row 0 sees one token, whatever it asks, so its gradient may be zero.
    if gradient is None or not np.abs(gradient.reshape(BOTTLENECK, WIDTH)[1:]).max(axis=-1).all():
        return failed(f"no gradient reaches the basis of {down}; is it detached, or used under no_grad?")
    return passed("the basis is trained, saved and moved with the module")


@check
def basis_asks_the_tokens(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = _ALSO, down: str = _DOWN
) -> Outcome:
    """Down: cross-attention with queries from C, keys and values from x; then an MLP with LayerNorm and residual."""
    bench, inputs = _down(student, rng, [file, *also], down)
    for given in inputs:
        if wrong := wrong_shape(bench, given, (len(given[0]), BOTTLENECK, WIDTH)):
            return _with_direction(wrong, True)
    used = bench.influential(rng, inputs[2])
    basis = next((name for name in of_size(bench.values, BOTTLENECK, WIDTH) if name in used), None)
    if basis is None:
        return failed(f"the output of {down} depends on no parameter of shape (1, bottleneck_dim, n_embd)")

    def asking(x: Array) -> Array:
        rows = bench.values[basis].reshape(1, BOTTLENECK, WIDTH)
        return np.broadcast_to(rows, (len(x), BOTTLENECK, WIDTH))

    block = Block(bench, rng, used - {basis}, inputs, asked=lambda x: x, asking=asking, idle={basis})
    return block.judge(partial(variant_properties.of_a_down_projection, bench, rng, basis))


@check
def tokens_ask_the_bottleneck(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = _ALSO, up: str = _UP
) -> Outcome:
    """Up: cross-attention with queries from x, keys and values from y; then an MLP with LayerNorm and residual."""
    bench, inputs = _up(student, rng, [file, *also], up)
    for given in inputs:
        if wrong := wrong_shape(bench, given, given[1].shape):
            return _with_direction(wrong, False)
    if wrong := variant_properties.of_an_up_projection(bench, rng):
        return wrong
    used = bench.influential(rng, inputs[2])
    block = Block(bench, rng, used, inputs, asked=lambda y, x: y, asking=lambda y, x: x, idle=set())
    return block.judge(lambda: None)


@check
def perceiver_looks_at_no_later_row(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    also: list[str] = _ALSO,
    down: str = _DOWN,
    up: str = _UP,
) -> Outcome:
    """Row i of the bottleneck depends on tokens 0…i only, token t on bottleneck rows 0…t: the model stays causal."""
    for bench, inputs in _both(student, rng, [file, *also], down, up):
        if wrong := variant_properties.looks_at_later_rows(bench, rng, inputs[0]):
            return wrong
    return passed("no row sees a later one")


@check
def perceiver_is_trained(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    also: list[str] = _ALSO,
    down: str = _DOWN,
    up: str = _UP,
) -> Outcome:
    """Gradients flow back through both blocks, to their inputs and to every parameter they use."""
    for bench, inputs in _both(student, rng, [file, *also], down, up):
        outcome = trained(bench, rng, inputs[1])
        if outcome.score == 0:
            return outcome
    return passed("every parameter in use is trained, down and up")
