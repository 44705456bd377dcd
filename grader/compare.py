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
    code: str = "values_differ"


# Ten times what the largest question could ask for. A larger answer is refused before it is copied about.
MAX_NUMBERS = 2_000_000
_FAR_MORE, _NOTHING = "far more numbers than were asked for", "nothing (None)"
_CODES = {_FAR_MORE: "too_many_numbers", _NOTHING: "returned_nothing"}


def numbers(value: Any, what: str) -> Array:
    """A student's value as a float64 array. Nested lists of numbers, or of arrays as rows, count as arrays."""
    if isinstance(value, tuple) and any(isinstance(item, np.ndarray) for item in value):
        asked = "one array was asked for"
        hidden = f"{what} returned several things; {asked}"
        raise WrongKind(f"{what} returned {len(value)} things; {asked}", "", hidden, code="wrong_parts")
    if kind := _what_is_no_number(value, [MAX_NUMBERS]):
        code = _CODES.get(kind, "not_numbers")
        raise WrongKind(f"{what} returned {kind}; an array of real numbers was asked for", code=code)
    try:
        return np.array(value, dtype=np.float64)
    except (ValueError, OverflowError):
        message = f"{what} returned rows of different lengths; an array was asked for"
        raise WrongKind(message, code="ragged_rows") from None


def _what_is_no_number(value: Any, budget: list[int]) -> str:
    """The first thing in nested lists that is neither a number nor an array of numbers, or an empty string."""
    budget[0] -= value.size if isinstance(value, np.ndarray) else 1
    if budget[0] < 0:
        return _FAR_MORE
    if isinstance(value, list | tuple):
        return next((kind for item in value if (kind := _what_is_no_number(item, budget))), "")
    if value is None:
        return _NOTHING
    if np.iscomplexobj(value):
        return "complex numbers"
    if isinstance(value, int | float | np.ndarray):
        return ""
    return "text" if isinstance(value, str) else "a dictionary"


def difference(got: Array, want: Array, rtol: float = RTOL, atol: float = ATOL) -> Difference | None:
    """None if they agree everywhere, else where they disagree most."""
    if got.shape != want.shape:
        hint = ""
        if got.shape == want.shape[::-1]:
            hint = "; it looks transposed"
        elif got.squeeze().shape == want.squeeze().shape:
            hint = "; an axis of length one is missing or too many"
        asked = f"its shape is not {shape(want.shape)} as asked{hint}"
        return Difference(asked, f"it is {shape(got.shape)}", code="wrong_shape")
    if want.size == 0:
        return None
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if not np.isfinite(got).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(got))[0])
        return Difference(f"it is {got[at]} at {at}", f"expected {want[at]:.4g}", code="not_finite")
    error = np.abs(got - want)
    over = error - (atol + rtol * np.abs(want))
    if (over <= 0).all():
        return None
    at = tuple(int(i) for i in np.unravel_index(np.argmax(over), over.shape))
    size = float(error[at])
    got_text, want_text = told_apart(float(got[at]), float(want[at]))
    return Difference(f"off by {size:.2g}{f' at {at}' if at else ''}", f"got {got_text}, expected {want_text}", size)


def told_apart(got: float, want: float) -> tuple[str, str]:
    """Two numbers in as few digits, four at least, as show where they differ; in all 17, if they do not."""
    pairs = ((f"{got:.{digits}g}", f"{want:.{digits}g}") for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{got:.17g}", f"{want:.17g}"))


def shape(sides: tuple[int, ...]) -> str:
    return "×".join(str(side) for side in sides) if sides else "a single number"
