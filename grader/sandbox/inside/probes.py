"""What the grader may ask of a box. Each probe runs beside the student's code and returns values, never verdicts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import source, student_code

Probe = Callable[..., Any]


class WrongSignature(Exception):
    """The student's function cannot be called the way the assignment calls it."""


def call(file: str, function: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What the student's function returns."""
    return _call(student_code.attribute(file, function), [_own(arg) for arg in args], kwargs)


def call_showing_arguments(file: str, function: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The arguments as they are after the call."""
    own = [_own(arg) for arg in args]
    _call(student_code.attribute(file, function), own, kwargs)
    return own


def forward(
    file: str, name: str, build: list[Any], inputs: list[Any], training: bool = False, cotangent: Any = None
) -> dict[str, Any]:
    """Build a torch module once, in float64, and run it on each input.

    With a cotangent, also the gradient of <cotangent, output> for each input, and how many parameters it reaches.
    """
    import torch

    module = _call(student_code.attribute(file, name), build, {})
    module = module.double().train(training)
    outputs, gradients = [], []
    reached: set[str] = set()
    for array in inputs:
        tensor = torch.from_numpy(_own(array)).requires_grad_(cotangent is not None)
        with torch.set_grad_enabled(cotangent is not None):
            output = module(tensor)
        outputs.append(output)
        if cotangent is not None:
            module.zero_grad()
            output.backward(torch.from_numpy(_own(cotangent)))
            gradients.append(torch.zeros_like(tensor) if tensor.grad is None else tensor.grad)
            reached |= {key for key, parameter in module.named_parameters() if parameter.grad is not None}
    unreached = sorted(key for key, _ in module.named_parameters() if key not in reached)
    return {
        "outputs": outputs,
        "gradients": gradients,
        "unreached": unreached if cotangent is not None else [],
    }


def names_used(file: str) -> list[source.Mention]:
    """Every name the source takes from elsewhere, imported or reached by attribute or by string, with its place."""
    return source.mentions(file)


def _own(value: Any) -> Any:
    """A writable copy of an array: code that writes into its argument should run, and be seen to."""
    return np.array(value) if isinstance(value, np.ndarray) else value


def _call(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if not callable(function):
        raise WrongSignature("is not a function")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some callables have none; calling them tells
        return function(*args, **kwargs)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise WrongSignature(f"is defined with {signature}, which does not fit: {error}") from None
    return function(*args, **kwargs)


PROBES: dict[str, Probe] = {probe.__name__: probe for probe in (call, call_showing_arguments, forward, names_used)}
