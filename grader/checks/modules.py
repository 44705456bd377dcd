"""Torch modules judged by what they compute, whatever their attributes are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader import compare
from grader.compare import Array, difference, numbers
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check


def _outputs(student: Student, file: str, name: str, build: list[Any], inputs: list[Array]) -> list[Array]:
    found = student.probe("forward", file, name=name, build=build, inputs=inputs)
    return [numbers(output, name) for output in found["outputs"]]


@check
def keeps_the_shape(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, build: list[int], width: int
) -> Outcome:
    """Its output has the shape of its input, for any batch and length."""
    shapes = [(2, 5, width), (1, 7, width), (3, 1, width)]
    for want, got in zip(
        shapes, _outputs(student, file, name, build, [rng.normal(size=s) for s in shapes]), strict=True
    ):
        if got.shape != want:
            return failed(f"{name} turns {compare.shape(want)} into {compare.shape(got.shape)}")
    return passed(f"{name} keeps the shape of its input")


@check
def reordering_tokens_reorders_its_output(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, build: list[int], width: int
) -> Outcome:
    """Without positions, a block treats its tokens as a set, and each batch item by itself."""
    x = rng.normal(size=(3, 6, width))
    order = np.roll(np.arange(6), 2)
    plain, reordered, alone = _outputs(student, file, name, build, [x, x[:, order], x[1:2]])
    if found := difference(reordered, plain[:, order]):
        return failed(f"reordering the tokens does more than reorder the output: {found.summary}", found.detail)
    if found := difference(alone, plain[1:2]):
        return failed(f"a batch item's output depends on the others in the batch: {found.summary}", found.detail)
    return passed("tokens are a set and batch items stay apart")


@check
def gradient_agrees_with_differences(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str, build: list[int], width: int
) -> Outcome:
    """Gradients flow back through everything it computes, to its input and to every parameter."""
    x, direction, cotangent = (rng.normal(size=(2, 4, width)) for _ in range(3))
    step = 1e-6  # float64: rounding and curvature both stay below 1e-8
    request = {"name": name, "build": build, "inputs": [x, x + step * direction, x - step * direction]}
    found = student.probe("forward", file, **request, cotangent=cotangent)
    _, ahead, behind = (numbers(output, name) for output in found["outputs"])
    want = float((cotangent * (ahead - behind)).sum() / (2 * step))
    got = float((numbers(found["gradients"][0], name) * direction).sum())
    if abs(got - want) > 1e-4 * max(1.0, abs(want)):
        return failed(
            "the gradient with respect to the input is not that of the output; is something detached?",
            detail=f"along a random direction {got:.4g}, by differences {want:.4g}",
            evidence={"off_by": abs(got - want)},
        )
    if found["unreached"]:
        return failed(f"no gradient reaches {len(found['unreached'])} of its parameters, so they are never trained")
    return passed("gradients agree with finite differences")
