"""Functions that a rubric may declare for a question: which shape each gives, and what it is in numbers.

They are not known everywhere, because where they are not meant their names are letters: `det` may be d·e·t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_ONE = "1"
Shape = tuple[str, str]


def _binomial(n: Array, k: Array) -> Array:
    """n over k, by gamma functions, so that it is one also between whole numbers."""
    top, below = float(n[0, 0]), float(k[0, 0])
    try:
        value = math.gamma(top + 1) / (math.gamma(below + 1) * math.gamma(top - below + 1))
    except (ValueError, OverflowError):  # a pole
        value = math.nan
    return np.array([[value]])


def _relu(values: Array) -> Array:
    return np.asarray(np.maximum(values, 0))


def _diag(values: Array) -> Array:
    return np.diag(values[:, 0]) if values.shape[1] == 1 else np.diag(values).reshape(-1, 1)


def _number(function: Callable[[Array], Any]) -> Callable[[Array], Array]:
    return lambda values: np.array([[float(function(values))]])


ENTRYWISE: dict[str, Callable[..., Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "sign": np.sign,
    "relu": _relu,
}
OTHERS: dict[str, Callable[..., Array]] = {
    "det": _number(np.linalg.det),
    "trace": _number(np.trace),
    "diag": _diag,
    "binomial": _binomial,
    "hadamard": lambda one, other: np.asarray(one * other),
    "norm1": _number(lambda values: np.abs(values).sum()),
    "norminf": _number(lambda values: np.abs(values).max()),
}
COMPUTED = ENTRYWISE | OTHERS


def shape_of(name: str, shapes: Sequence[Shape]) -> Shape | str:
    """The shape of what the function gives, or why it cannot be taken of these."""
    first = shapes[0]
    if name in ENTRYWISE:
        return first
    if name in ("norm1", "norminf"):
        return (_ONE, _ONE)
    if name == "hadamard":
        return first if first == shapes[1] else "its two sides have other shapes"
    if name == "binomial":
        return first if set(shapes) == {(_ONE, _ONE)} else "it is taken of two numbers"
    if name == "diag":
        vector = first[1] == _ONE
        return (first[0], first[0]) if vector else (first[0], _ONE) if first[0] == first[1] else "it is not square"
    return (_ONE, _ONE) if first[0] == first[1] else "it is not square"
