"""The Perceiver's blocks judged by their shapes, their basis and their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader import Outcome, Student, StudentFile, check, failed, passed
from grader.modules import Inputs, Workbench, not_a_function_of_its_input, trained, wrong_shape

from .configuration import BOTTLENECK, WIDTH, build

DOWN, UP = "DownProjectBlock", "UpProjectBlock"
ALSO = ["models.py"]
LENGTHS = (7, 3, 5, 1)  # longer and shorter than the bottleneck's 5 rows, and equal to it


def down_block(
    student: Student, rng: np.random.Generator, files: Sequence[str], name: str
) -> tuple[Workbench, list[Inputs]]:
    inputs: list[Inputs] = [(rng.normal(size=(1 + n % 3, length, WIDTH)),) for n, length in enumerate(LENGTHS)]
    return build(student, rng, files, name, inputs[0], perceiver=True), inputs


def up_block(
    student: Student, rng: np.random.Generator, files: Sequence[str], name: str
) -> tuple[Workbench, list[Inputs]]:
    inputs: list[Inputs] = [
        (rng.normal(size=(batch, BOTTLENECK, WIDTH)), rng.normal(size=(batch, length, WIDTH)))
        for batch, length in zip((1, 2, 3, 1), LENGTHS, strict=True)
    ]
    return build(student, rng, files, name, inputs[0], perceiver=True), inputs


def both(
    student: Student, rng: np.random.Generator, files: Sequence[str], down: str, up: str
) -> Iterator[tuple[Workbench, list[Inputs]]]:
    yield down_block(student, rng, files, down)
    yield up_block(student, rng, files, up)


@check(group="values")
def projects_down_and_up(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    also: list[str] = ALSO,
    down: str = DOWN,
    up: str = UP,
) -> Outcome:
    """(B, ℓ, d) goes down to (B, m, d) and back up to (B, ℓ, d), for any batch and every length."""
    for bench, inputs in both(student, rng, [file, *also], down, up):
        is_down = len(inputs[0]) == 1
        shapes = [given[-1].shape[:2] for given in inputs]
        wanted = [(batch, BOTTLENECK if is_down else length, WIDTH) for batch, length in shapes]
        if found := wrong_shape(bench, list(zip(inputs, wanted, strict=True))):
            return with_direction(found[1], is_down)
        if wrong := not_a_function_of_its_input(bench, inputs[2]):
            return wrong
    return passed(f"right shapes for {len(LENGTHS)} lengths, down and up")


def with_direction(wrong: Outcome, is_down: bool) -> Outcome:
    who = "the queries come from C, keys and values from x" if is_down else "the queries come from x, the rest from y"
    return replace(wrong, message=f"{wrong.message}; {who}")


@check  # in a sandbox of its own: it imports the code again
def learns_its_basis(
    student: Student, rng: np.random.Generator, *, file: StudentFile, also: list[str] = ALSO, down: str = DOWN
) -> Outcome:
    """C is a parameter of m × d numbers: saved and moved with the module, used, and reached by gradients."""
    bench, inputs = down_block(student, rng, [file, *also], down)
    found = [key for key, value in bench.values.items() if value.squeeze().shape == (BOTTLENECK, WIDTH)]
    if not found:
        if any(tuple(side for side in shape if side > 1) == (BOTTLENECK, WIDTH) for shape in bench.buffers.values()):
            message = f"the basis of {down} is a buffer: saved, but never trained; make it an nn.Parameter"
            return failed(message, code="buffer_not_parameter")
        return failed(
            f"{down} has no parameter of shape (1, bottleneck_dim, n_embd): a basis that is no nn.Parameter is neither "
            "trained nor saved, and stays behind when the module moves",
            code="not_a_parameter",
        )
    used = bench.influential(rng, inputs[2])
    basis = next((name for name in found if name in used), None)
    if basis is None:
        return failed(f"{down} has a basis, but its output does not depend on it", code="parameter_unused")
    if basis not in bench.trainable:
        message = f"the basis of {down} has requires_grad off, so it is never trained"
        return failed(message, code="requires_grad_off")
    output = bench.run(inputs[2]).outputs[0]
    gradient = bench.run(inputs[2], cotangents=[rng.normal(size=output.shape)]).gradients.get(basis)
    # Under a causal mask row 0 sees one token, whatever it asks, so its gradient may be zero.
    if gradient is None or not np.abs(gradient.reshape(BOTTLENECK, WIDTH)[1:]).max(axis=-1).all():
        message = f"no gradient reaches the basis of {down}; is it detached, or used under no_grad?"
        return failed(message, code="no_gradient")
    if _stays_behind(bench):
        return failed(
            f"on a GPU the basis of {down} is no nn.Parameter: nn.Parameter(…).to(device) is a plain tensor there, "
            "neither trained nor saved; move the tensor before, or the whole module afterwards",
            code="not_a_parameter_on_gpu",
        )
    return passed("the basis is trained, saved and moved with the module")


def _stays_behind(bench: Workbench) -> bool:
    """Whether no parameter has the basis' shape where the module is built beside a GPU."""
    match bench.student.probe("parameters_on_a_gpu", bench.file, name=bench.name, config=bench.settings):
        case dict(found):
            sides = [[side for side in shape if side > 1] for shape in found.values() if isinstance(shape, list)]
            return [BOTTLENECK, WIDTH] not in sides and [WIDTH, BOTTLENECK] not in sides
    return False


@check(group="values")
def perceiver_is_trained(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    also: list[str] = ALSO,
    down: str = DOWN,
    up: str = UP,
) -> Outcome:
    """Gradients flow back through both blocks, to their inputs and to every parameter they use."""
    for bench, inputs in both(student, rng, [file, *also], down, up):
        outcome = trained(bench, rng, inputs[1])
        if outcome.score == 0:
            return outcome
    return passed("every parameter in use is trained, down and up")
