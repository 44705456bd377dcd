"""Modules and functions built from a configuration, as the course's starter code does, or from plain arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from ..calls import built_by_name, call_as_asked, replaced
from ..loading import student_code
from .intermediate_values import IntermediateValues

TOLD = ("parameters", "given", "input_gradients")


class Configuration(SimpleNamespace):
    """The settings a module is built from: `config.n_embd`, `config["n_embd"]` and `config.get("n_embd")` all work."""

    def __getitem__(self, key: str) -> Any:
        return vars(self)[key]

    def __contains__(self, key: object) -> bool:
        return key in vars(self)

    def get(self, key: str, default: Any = None) -> Any:
        return vars(self).get(key, default)


def run_configured(
    file: str,
    name: str,
    config: dict[str, Any] | list[Any] | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    inputs: Sequence[Sequence[Any]] = (),
    cotangents: Sequence[Any] = (),
    precision: str = "float64",
    changes: list[dict[str, Any]] | None = None,
    dropout: bool = True,
    tell: tuple[str, ...] = TOLD,
    build: dict[str, Any] | None = None,
    training: bool = False,
    attributes: Sequence[str] = (),
) -> dict[str, Any]:
    """Build a module, give these parameters new values and run it on each list of inputs.

    It is built from a configuration, from plain arguments (`config`) or from arguments by name (`build`). Inputs may be
    numbers, which get the precision, whole numbers and truth values, which stay as they are, and None. Where
    `attributes` are named, an output is a list: what the module returns, and these attributes after it.

    With cotangents, one for each list of inputs, also the gradients of the sum of all <cotangent, output>; for several
    outputs a list of cotangents. `given` are the inputs as they are afterwards. `changed` are the outputs for all
    inputs under each change of the parameters, one change at a time. Without `dropout`, none of torch's is at work,
    whatever the module's `training` says. `tell` names what of all this is wanted, beside outputs and gradients.
    """
    import torch  # before a student's file does, which would be watched meanwhile

    dtype = getattr(torch, precision)
    switch = contextlib.nullcontext() if dropout else _without_dropout()
    with switch:
        module = built(file, name, config, precision, build).train(training)
        return _run(file, module, parameters, inputs, cotangents, dtype, changes or [], tell, attributes)


def _run(
    file: str,
    module: Any,
    parameters: Mapping[str, Any],
    inputs: Sequence[Sequence[Any]],
    cotangents: Sequence[Any],
    dtype: Any,
    changes: list[dict[str, Any]],
    tell: tuple[str, ...],
    attributes: Sequence[str],
) -> dict[str, Any]:
    import torch

    given = [[_as_input(value, dtype) for value in values] for values in inputs]
    with torch.no_grad():
        if given and any(torch.nn.parameter.is_lazy(value) for value in module.parameters()):
            module(*given[0])  # lazy layers have no parameters before their first input
        own = dict(module.named_parameters())
        _set(own, parameters)
    watched, with_inputs = "given" in tell, bool(cotangents) and "input_gradients" in tell
    outputs, recorded, total = [], [], torch.zeros((), dtype=dtype)
    for number, tensors in enumerate(given):
        record = IntermediateValues(module.parameters(), file) if "recorded" in tell else None
        with torch.set_grad_enabled(bool(cotangents)), record or contextlib.nullcontext():
            for tensor in tensors:
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    tensor.requires_grad_(with_inputs)  # else code may write into what it is given
            output = call_as_asked(module.forward, tensors, {})
            if attributes:
                output = [output, *(getattr(module, attribute) for attribute in attributes)]
        outputs.append(output)
        recorded += [record.found()] if record else []
        if cotangents:
            total = total + _product(output, cotangents[number], dtype)
    if total.requires_grad:
        total.backward()
    about = "parameters" in tell
    return {
        "parameters": {key: value.detach().clone() for key, value in own.items()} if about else {},
        "trainable": [key for key, value in own.items() if about and value.requires_grad],
        "buffers": {key: list(value.shape) for key, value in module.named_buffers()} if about else {},
        "outputs": outputs,
        "gradients": {key: value.grad for key, value in own.items() if value.grad is not None},
        "input_gradients": [[getattr(tensor, "grad", None) for tensor in tensors] for tensors in given]
        if with_inputs
        else [],
        "given": given if watched else [],
        "changed": [_changed(module, own, change, given) for change in changes],
        "recorded": recorded,
    }


def _set(own: dict[str, Any], values: Mapping[str, Any]) -> None:
    import torch

    for key, value in values.items():
        own[key].copy_(torch.tensor(value))


def _changed(module: Any, own: dict[str, Any], change: dict[str, Any], given: list[list[Any]]) -> list[Any]:
    import torch

    with torch.no_grad():
        kept = {key: own[key].clone() for key in change}
        _set(own, change)
        outputs = [call_as_asked(module.forward, tensors, {}) for tensors in given]
        for key, value in kept.items():
            own[key].copy_(value)
    return outputs


def _as_input(value: Any, dtype: Any) -> Any:
    """Real numbers in the precision; whole numbers, truth values and None as they are."""
    import torch

    if not isinstance(value, np.ndarray):
        return value
    return torch.tensor(np.array(value), dtype=dtype if value.dtype.kind == "f" else None)


def _product(output: Any, cotangent: Any, dtype: Any) -> Any:
    """<cotangent, output>, over all outputs if there are several; 0 where one is no tensor of the cotangent's shape."""
    import torch

    if isinstance(cotangent, list) and isinstance(output, list | tuple):
        return sum(_product(*pair, dtype) for pair in zip(output, cotangent, strict=False))
    if cotangent is None or not _fits(output, cotangent):
        return torch.zeros((), dtype=dtype)
    return (output * torch.tensor(cotangent, dtype=dtype)).sum()


def built(
    file: str,
    name: str,
    config: dict[str, Any] | list[Any] | None,
    precision: str,
    build: dict[str, Any] | None = None,
) -> Any:
    import torch

    # What is drawn outside the parameters is the same each time it is built. torch.manual_seed also looks for devices,
    # which takes longer than building it.
    torch.default_generator.manual_seed(0)
    kind = student_code.attribute(file, name)
    if build is not None or config is None:
        module = built_by_name(kind, build or {})
    else:
        module = call_as_asked(kind, config if isinstance(config, list) else [Configuration(**config)], {})
    # .to() would spoil complex buffers
    return (module.double() if precision == "float64" else module.float()).eval()


def _without_dropout() -> AbstractContextManager[None]:
    import torch
    from torch.nn import functional

    attend = functional.scaled_dot_product_attention

    def undropped(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, *rest: Any, **more: Any
    ) -> Any:
        return attend(query, key, value, attn_mask, 0.0, *rest, **more)

    return replaced(
        [
            (functional, "dropout", lambda x, *rest, **more: x),
            (torch, "dropout", lambda x, *rest, **more: x),
            (functional, "scaled_dot_product_attention", undropped),
        ]
    )


def _fits(output: Any, cotangent: Any) -> bool:
    return bool(tuple(getattr(output, "shape", ())) == np.shape(cotangent))
