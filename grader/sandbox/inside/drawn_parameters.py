"""A module whose parameters are drawn in its box: who knows the seed and the shapes knows them, and nobody sends them.

So what is asked of a module is the same for a whole class, whatever its parameters are called, and all that a check
wants to know of one module is one question.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import student_code
from .calls import call_as_asked
from .configured import built
from .kept_modules import lent

_DOUBLE = "float64"


def run_drawn(
    file: str,
    name: str,
    config: list[Any],
    seed: int,
    inputs: list[Any],
    parameters: dict[str, Any] | None = None,
    cotangent: Any = None,
    moves: Sequence[tuple[int, float]] = (),
    changes: Sequence[dict[str, Any]] = (),
    watched: bool = False,
    in_float32: int | None = None,
) -> dict[str, Any]:
    """Build a module in evaluation mode, draw its parameters from a seed and run it on each input.

    `parameters` stand in place of what is drawn. With a cotangent, the gradients of <cotangent, first output>, those of
    all parameters in one row, by name. `moved` are the outputs for the first input, with all parameters a step of so
    much along what is drawn from another seed; `changed`, under each change of some parameters. `given` are the inputs
    as they are afterwards, if they are `watched`; `single` is the output for one of them, in single precision. It is
    `steady` if all these calls have left no trace in it.
    """
    same = (file, name, repr(config), _DOUBLE, True)
    build = partial(built, file, name, config, _DOUBLE)
    with lent(file, same, student_code.attribute(file, name), build) as loan:
        found = _run(loan.module, seed, inputs, parameters or {}, cotangent, moves, changes)
        found["given"] = found["given"] if watched else []
        found["single"] = None if in_float32 is None else _in_float32(loan.module, inputs[in_float32])
        found["steady"] = found["steady"] and loan.left_no_trace
        return found


def _run(
    module: Any,
    seed: int,
    inputs: list[Any],
    parameters: dict[str, Any],
    cotangent: Any,
    moves: Sequence[tuple[int, float]],
    changes: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    import torch

    own, buffers = dict(module.named_parameters()), dict(module.named_buffers())
    shapes = {key: tuple(value.shape) for key, value in own.items()}
    drawn = {**dict(_parameters(seed, shapes)), **parameters}
    given = [torch.tensor(array, dtype=torch.float64) for array in inputs]
    first = given[0]
    with torch.no_grad():
        _set(own, drawn)
        before = [(one, one.clone()) for one in (*own.values(), *buffers.values())]
    wanted = cotangent is not None
    with torch.set_grad_enabled(wanted):
        first.requires_grad_(wanted)
        outputs = [call_as_asked(module.forward, [first], {})]
        if wanted:
            total = (outputs[0] * torch.tensor(cotangent, dtype=first.dtype)).sum()
            total.backward()
    reached = {key: value.grad for key, value in own.items() if value.grad is not None}
    with torch.no_grad():
        outputs += [call_as_asked(module.forward, [one], {}) for one in given[1:]]
        steady = all(torch.equal(one, was) for one, was in before)
        moved, changed = list[Any](), list[Any]()
        for drawn_from, step in moves:
            ways = dict(_pieces(np.random.default_rng(drawn_from), shapes))
            _set(own, {key: drawn[key] + step * way for key, way in ways.items()})
            moved.append(call_as_asked(module.forward, [first], {}))
        for change in changes:
            _set(own, {**drawn, **change} if moves or changed else change)
            changed.append(call_as_asked(module.forward, [first], {}))
        if moves or changes:
            _set(own, drawn)
    return {
        "made": _described(own, buffers),
        "outputs": outputs,
        "reached": sorted(reached),
        "gradients": torch.cat([reached[key].reshape(-1) for key in sorted(reached)]) if reached else None,
        "input_gradient": first.grad,
        "moved": moved,
        "changed": changed,
        "given": given,
        "steady": steady,
    }


def _in_float32(module: Any, array: Any) -> Any:
    """The output of this module as `float()` makes it; afterwards it has the tensors that it had."""
    import torch

    own = [(value, value.data) for value in module.parameters()]
    buffers = [(one._buffers, dict(one._buffers)) for one in module.modules()]
    try:
        with torch.no_grad():
            return call_as_asked(module.float().forward, [torch.tensor(array, dtype=torch.float32)], {})
    finally:
        for value, data in own:
            value.data = data
        for held, first in buffers:
            held.update(first)


def _described(own: Mapping[str, Any], buffers: Mapping[str, Any]) -> str:
    """Shapes, in the order in which they were made; what is trained; and buffers. As one text, which is soon sent."""
    trainable = [key for key, value in own.items() if value.requires_grad]
    return json.dumps([{key: tuple(value.shape) for key, value in own.items()}, trainable, list(buffers)])


def _parameters(seed: int, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Any]]:
    """As the grader draws them: matrices that keep scores near one, vectors that are mostly positive."""
    for key, numbers in _pieces(np.random.default_rng(seed), shapes):
        sides = [side for side in shapes[key] if side > 1]
        yield key, (numbers * 0.5 + 0.6 if len(sides) < 2 else numbers * (1.4 / math.sqrt(min(sides))))


def _pieces(rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Any]]:
    """Numbers of a normal distribution for each tensor, in the order of their names."""
    numbers, at = rng.standard_normal(sum(map(math.prod, shapes.values()))), 0
    for key in sorted(shapes):
        end = at + math.prod(shapes[key])
        yield key, numbers[at:end].reshape(shapes[key])
        at = end


def _set(own: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    import torch

    for key, value in values.items():
        own[key].copy_(torch.tensor(value))
