"""Torch modules judged by what they compute, whatever their attributes are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader import compare
from grader.compare import Array, difference, numbers
from grader.errors import Crashed, WrongKind
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check

_SIZES = ((2, 5), (1, 7), (3, 1))  # batch and length


def _ran(
    student: Student, file: str, name: str, build: dict[str, int], inputs: list[Array], cotangents: list[Array | None]
) -> tuple[list[Array], list[Any], set[str]]:
    """Outputs, gradients of the inputs and the parameters no gradient reached; nothing of it is taken on trust."""
    request = {"name": name, "build": build, "inputs": [[array] for array in inputs], "cotangents": cotangents}
    match student.probe("run_configured", file, **request, tell=["parameters", "input_gradients"]):
        case {
            "outputs": list(outputs),
            "parameters": dict(parameters),
            "gradients": dict(gradients),
            "input_gradients": list(rows),
        } if len(outputs) == len(inputs) and len(rows) == len(cotangents):
            unreached = set(parameters) - set(gradients)
            return [numbers(output, name) for output in outputs], [row[0] for row in rows], unreached
    raise Crashed(f"{name} did not give an output for each input", code="no_outputs")


def _shaped(student: Student, file: str, name: str, build: dict[str, int], inputs: list[Array]) -> list[Array]:
    outputs, _, _ = _ran(student, file, name, build, inputs, [])
    for given, output in zip(inputs, outputs, strict=True):
        if output.shape != given.shape:
            detail = f"it gives {compare.shape(output.shape)}"
            message = f"{name} should turn {compare.shape(given.shape)} into the same shape"
            raise WrongKind(message, detail, code="wrong_output_shape")
    return outputs


@check(group="values")
def keeps_the_shape(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, build: dict[str, int], width: int
) -> Outcome:
    """Its output has the shape of its input, for any batch and length."""
    _shaped(student, file, name, build, [rng.normal(size=(batch, length, width)) for batch, length in _SIZES])
    return passed(f"{name} keeps the shape of its input")


@check(group="values")
def reordering_tokens_reorders_its_output(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, build: dict[str, int], width: int
) -> Outcome:
    """Without positions, a block treats its tokens as a set, and each batch item by itself."""
    x = rng.normal(size=(3, 6, width))
    order = np.roll(np.arange(6), 2)
    plain, reordered, alone = _shaped(student, file, name, build, [x, x[:, order], x[1:2]])
    if found := difference(reordered, plain[:, order]):
        message = f"reordering the tokens does more than reorder the output: {found.summary}"
        return failed(message, found.detail, code="token_order_counts")
    if found := difference(alone, plain[1:2]):
        message = f"a batch item's output depends on the others in the batch: {found.summary}"
        return failed(message, found.detail, code="mixes_batch_items")
    return passed("tokens are a set and batch items stay apart")


@check(group="values")
def gradient_agrees_with_differences(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, build: dict[str, int], width: int
) -> Outcome:
    """Gradients flow back through everything it computes, to its input and to every parameter."""
    x, direction, cotangent = (rng.normal(size=(2, 4, width)) for _ in range(3))
    step = 1e-6  # float64: rounding and curvature both stay below 1e-8
    inputs = [x, x + step * direction, x - step * direction]
    outputs, gradients, unreached = _ran(student, file, name, build, inputs, [cotangent, None, None])
    if any(found.shape != x.shape for found in outputs):
        message = f"{name} should give outputs of the shape of its input"
        raise WrongKind(message, code="wrong_output_shape")
    _, ahead, behind = outputs
    want = float((cotangent * (ahead - behind)).sum() / (2 * step))
    got = 0.0 if gradients[0] is None else float((numbers(gradients[0], name) * direction).sum())
    if abs(got - want) > 1e-4 * max(1.0, abs(want)):
        return failed(
            "the gradient with respect to the input is not that of the output; is something detached?",
            detail=f"along a random direction {got:.4g}, by differences {want:.4g}",
            evidence={"off_by": abs(got - want)},
            code="wrong_input_gradient",
        )
    if unreached:
        message = f"no gradient reaches {len(unreached)} of its parameters, so they are never trained"
        return failed(message, evidence={"unreached": len(unreached)}, code="no_gradient")
    return passed("gradients agree with finite differences")
