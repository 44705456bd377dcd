"""What runs in the sandbox next to the student's code, and returns values."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # nothing of the grader is in the sandbox
    from grader import StudentCode


# ---- the two functions of rotary positions: asked alone, replaced, or watched in attention ----


def rotate(
    code: StudentCode,
    file: str,
    name: str,
    precompute: str,
    dim: int,
    positions: int,
    inputs: list[Any],
    cache: Any = None,
    precision: str = "float64",
) -> dict[str, Any]:
    """The student's cache of rotations, and what their function `name` makes of each input with it or a given one."""
    import torch

    made = code.call(code.attribute(file, precompute), [dim, positions]) if cache is None else None
    used = made if cache is None else torch.tensor(np.array(cache))
    function = code.attribute(file, name)
    given = [torch.tensor(np.array(array), dtype=getattr(torch, precision)) for array in inputs]
    rotated = [code.call(function, [tensor, used]) for tensor in given]
    parts = made if isinstance(made, tuple | list) else [made]
    # How the cache is kept is left open: what holds no tensors is judged by what comes of it alone.
    return {"cache": [part for part in parts if isinstance(part, torch.Tensor)], "rotated": rotated}


def run_with_rotations(
    code: StudentCode, file: str, rotations: dict[str, Any], precision: str = "float64", **request: Any
) -> Any:
    """What `run_configured` gives with other functions in place of the student's two."""
    with _given_rotations(code, file, rotations, precision):
        return code.ask("run_configured", file, precision=precision, **request)


@contextlib.contextmanager
def _given_rotations(code: StudentCode, file: str, rotations: dict[str, Any], precision: str) -> Iterator[None]:
    """In place of the student's two functions, a cache and rotation matrices that were sent along.

    They hold their caller to what the assignment says of both: so much is cached as was asked for, and the rotation is
    given the queries or keys of all heads, (B, heads, T, d), and that cache.
    """
    import torch

    dtype = getattr(torch, precision)
    cache, matrices = (torch.tensor(np.array(rotations[key]), dtype=dtype) for key in ("cache", "matrices"))

    def precomputed(dim: int, max_positions: int) -> Any:
        if dim != matrices.shape[-1] or max_positions > len(cache):
            raise ValueError(f"a cache for width {dim} and {max_positions} positions")
        return cache[:max_positions].clone()

    def turned(x: Any, rope_cache: Any) -> Any:
        length = x.shape[-2]
        if not torch.allclose(rope_cache[:length].to(dtype), cache[:length]) or x.shape[-1] != matrices.shape[-1]:
            raise ValueError("it is given another cache")
        return torch.einsum("tij,...tj->...ti", matrices[:length].to(x.dtype), x)

    def bound(original: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)
        return lambda *args, **kwargs: function(*list(signature.bind(*args, **kwargs).arguments.values())[:2])

    code.load(file)
    replacing = {rotations["precompute"]: precomputed, rotations["apply"]: turned}
    with _replaced(code, {name: partial(bound, function=by) for name, by in replacing.items()}):
        yield


def shapes_rotated(
    code: StudentCode, file: str, name: str, config: dict[str, Any], inputs: list[Any], apply: str
) -> list[list[int]]:
    """What shapes the student's attention `name` hands to their function `apply`; none if it never calls it."""
    import torch

    seen: list[list[int]] = []

    def watching(original: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            given = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
            seen.extend(list(value.shape) for value in given[:1])
            return original(*args, **kwargs)

        return watched

    code.load(file)
    with _replaced(code, {apply: watching}), torch.no_grad(), contextlib.suppress(Exception):
        module = code.built(file, name, config, "float32")
        module(torch.tensor(np.array(inputs[0]), dtype=torch.float32))
    return seen


def _replaced(code: StudentCode, functions: dict[str, Callable[[Any], Any]]) -> contextlib.AbstractContextManager[None]:
    """Within, each student's module that has such a function has another, made from it."""
    modules = [(module, vars(module)) for module in code.modules()]
    kept = [(module, name, known[name]) for module, known in modules for name in functions if callable(known.get(name))]
    return code.replaced([(module, name, functions[name](was)) for module, name, was in kept])
