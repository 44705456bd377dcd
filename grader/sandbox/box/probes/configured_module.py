"""Modules and functions built from a configuration, as the course's starter code does, or from plain arguments."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..calls import call_as_asked, replaced
from ..loading import student_code
from .intermediate_values import IntermediateValues

TOLD = ("parameters", "given")


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
    config: dict[str, Any] | list[Any],
    parameters: dict[str, Any],
    inputs: list[list[Any]],
    cotangents: list[Any],
    precision: str = "float64",
    changes: list[dict[str, Any]] | None = None,
    dropout: bool = True,
    tell: tuple[str, ...] = TOLD,
) -> dict[str, Any]:
    """Build a module in evaluation mode, give these parameters new values and run it on each list of inputs.

    With cotangents, one for each list of inputs, also the gradients of the sum of all <cotangent, output>. `given` are
    the inputs as they are afterwards. `changed` are the outputs for all inputs under each change of the parameters, one
    change at a time. Without `dropout`, none of torch's is at work, whatever the module's `training` says. `tell` names
    what of all this is wanted, beside outputs and gradients.
    """
    import torch  # before a student's file does, which would be watched meanwhile

    dtype = getattr(torch, precision)
    switch = contextlib.nullcontext() if dropout else _without_dropout()
    with switch:
        module = built(file, name, config, precision)
        return _run(file, module, parameters, inputs, cotangents, dtype, changes or [], tell)


def _run(
    file: str,
    module: Any,
    parameters: dict[str, Any],
    inputs: list[list[Any]],
    cotangents: list[Any],
    dtype: Any,
    changes: list[dict[str, Any]],
    tell: tuple[str, ...],
) -> dict[str, Any]:
    import torch

    given = [[torch.tensor(np.array(array), dtype=dtype) for array in arrays] for arrays in inputs]
    with torch.no_grad():
        if given and any(torch.nn.parameter.is_lazy(value) for value in module.parameters()):
            module(*given[0])  # lazy layers have no parameters before their first input
        own = dict(module.named_parameters())
        _set(own, parameters)
    watched = "given" in tell
    outputs, recorded, total = [], [], torch.zeros((), dtype=dtype)
    for number, tensors in enumerate(given):
        record = IntermediateValues(module.parameters(), file) if "recorded" in tell else None
        with torch.set_grad_enabled(bool(cotangents)), record or contextlib.nullcontext():
            for tensor in tensors:
                tensor.requires_grad_(bool(cotangents))
            output = call_as_asked(module.forward, tensors, {})
        outputs.append(output)
        recorded += [record.found()] if record else []
        if cotangents and _fits(output, cotangents[number]):
            total = total + (output * torch.tensor(cotangents[number], dtype=dtype)).sum()
    if total.requires_grad:
        total.backward()
    about = "parameters" in tell
    return {
        "parameters": {key: value.detach().clone() for key, value in own.items()} if about else {},
        "trainable": [key for key, value in own.items() if about and value.requires_grad],
        "buffers": {key: list(value.shape) for key, value in module.named_buffers()} if about else {},
        "outputs": outputs,
        "gradients": {key: value.grad for key, value in own.items() if value.grad is not None},
        "input_gradients": [[tensor.grad for tensor in tensors] for tensors in given] if cotangents else [],
        "given": given if watched else [],
        "changed": [_changed(module, own, change, given) for change in changes],
        "recorded": recorded,
    }


def _set(own: dict[str, Any], values: dict[str, Any]) -> None:
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


def built(file: str, name: str, config: dict[str, Any] | list[Any], precision: str) -> Any:
    import torch

    # What is drawn outside the parameters is the same each time it is built. torch.manual_seed also looks for devices,
    # which takes longer than building it.
    torch.default_generator.manual_seed(0)
    arguments = config if isinstance(config, list) else [Configuration(**config)]
    module = call_as_asked(student_code.attribute(file, name), arguments, {})
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
    return bool(tuple(getattr(output, "shape", ())) == cotangent.shape)
