"""How far a student's numbers are from the right ones, where, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.errors import WrongKind

Array = NDArray[Any]

# A correct solution that computes in float32 throughout stays within these on the inputs the checks draw (scores of
# ordinary size, or extreme ones that float32 holds exactly). The mistakes students make are off by 1 % and more.
RTOL = 1e-4
ATOL = 1e-5


@dataclass(frozen=True)
class Difference:
    """The worst disagreement. `size` may be shown to anyone; `got` and `want` only where answers may be."""

    summary: str
    detail: str = ""
    size: float | None = None


def numbers(value: Any, what: str) -> Array:
    """A student's value as an array of numbers."""
    if isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value):
        raise WrongKind(f"{what} returned {len(value)} things; one array was asked for")
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        raise WrongKind(f"{what} returned rows of different lengths; an array was asked for") from None
    if array.dtype.kind not in "biuf":
        kind = (
            "complex numbers"
            if array.dtype.kind == "c"
            else "nothing (None)"
            if value is None
            else type(value).__name__
        )
        raise WrongKind(f"{what} returned {kind}; an array of real numbers was asked for")
    return array


def difference(got: Array, want: Array, rtol: float = RTOL, atol: float = ATOL) -> Difference | None:
    """None if they agree everywhere, else where they disagree most."""
    if got.shape != want.shape:
        hint = ""
        if got.shape == want.shape[::-1]:
            hint = "; it looks transposed"
        elif got.squeeze().shape == want.squeeze().shape:
            hint = "; an axis of length one is missing or too many"
        return Difference(f"its shape is {shape(got.shape)} where {shape(want.shape)} is asked for{hint}")
    if want.size == 0:
        return None
    got, want = got.astype(np.float64), want.astype(np.float64)
    if not np.isfinite(got).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(got))[0])
        return Difference(f"it is {got[at]} at {at}", f"expected {want[at]:.4g}")
    error = np.abs(got - want)
    over = error - (atol + rtol * np.abs(want))
    if (over <= 0).all():
        return None
    at = tuple(int(i) for i in np.unravel_index(np.argmax(over), over.shape))
    size = float(error[at])
    return Difference(f"off by {size:.2g} at {at}", f"got {got[at]:.4g}, expected {want[at]:.4g}", size)


def shape(sides: tuple[int, ...]) -> str:
    return "×".join(str(side) for side in sides) if sides else "a single number"
