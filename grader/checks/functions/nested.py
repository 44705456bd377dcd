"""Values as functions take and return them: arrays, tensors, texts, None, and containers of these."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from grader.compare import Array, Difference, difference, numbers
from grader.errors import WrongKind
from grader.quoting import quote

Values = Any  # an array, a text, None, or a tuple or dictionary of values


class UnsupportedValue(TypeError):
    """It holds something that is neither a number, an array, a text nor made of these."""


def plain(value: Any) -> Any:
    """The same with arrays in place of tensors, and plain containers and numbers in place of their subclasses."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.float() if value.dtype == torch.bfloat16 else value
        try:
            value = value.detach().cpu().numpy()
        except (TypeError, RuntimeError):  # sparse, quantised, on the device "meta"
            raise UnsupportedValue(f"a tensor of layout {value.layout} on {value.device}") from None
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "biuf":
            raise UnsupportedValue(f"an array of dtype {value.dtype}")
        return value if isinstance(value, np.ndarray) else value.item()
    if isinstance(value, dict):
        return {plain(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return (tuple if isinstance(value, tuple) else list)(map(plain, value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise UnsupportedValue(f"an object of type {type(value).__name__}")


def values_in(value: Any) -> Values:
    """What a reference returns. A list of numbers, or of such lists, is one array; a tuple or dictionary is several."""
    value = plain(value)
    if isinstance(value, dict):
        return {key: values_in(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = tuple(map(values_in, value))
        is_row = isinstance(value, list) and all(isinstance(part, bool | int | float | list) for part in value)
        shapes = {part.shape if isinstance(part, np.ndarray) else None for part in parts}
        return np.asarray(parts) if is_row and None not in shapes and len(shapes) < 2 else parts
    return value if value is None or isinstance(value, str) else np.asarray(value)


def as_asked(got: Any, want: Values, what: str) -> Values:
    """A student's value, in the parts that the right one has; WrongKind if it has others."""
    if isinstance(want, np.ndarray):
        return numbers(got, what)
    try:
        return _in_parts(got, want, what)
    except WrongKind as fault:  # code chooses which part is wrong
        concealed = "it returned another kind of value than was asked for"
        raise WrongKind(fault.message, fault.detail, concealed, code=fault.code) from None


def _in_parts(got: Any, want: Values, what: str) -> Values:
    if isinstance(want, dict):
        if isinstance(got, dict) and got.keys() == want.keys():
            return {key: _in_parts(got[key], part, f"{what}[{key!r}]") for key, part in want.items()}
        asked = f"a dictionary with {', '.join(map(str, want))} was asked for"
        raise WrongKind(f"{what} returned {_kind_in_words(got)}; {asked}", code="wrong_parts")
    if isinstance(want, tuple):
        if _number_of_parts(got) == len(want):
            pairs = enumerate(zip(got, want, strict=True))
            return tuple(_in_parts(value, part, f"{what}[{at}]") for at, (value, part) in pairs)
        raise WrongKind(f"{what} returned {_kind_in_words(got)}; {len(want)} values were asked for", code="wrong_parts")
    if want is None or isinstance(want, str):
        if type(got) is type(want):
            return got
        asked = "text" if isinstance(want, str) else "nothing (None)"
        raise WrongKind(f"{what} returned {_kind_in_words(got)}; {asked} was asked for", code="wrong_kind")
    return numbers(got, what)


def _number_of_parts(got: Any) -> int:
    """How many parts it has, the rows of an array among them; -1 for what has none."""
    return len(got) if isinstance(got, list | tuple) or (isinstance(got, np.ndarray) and got.ndim) else -1


def _kind_in_words(got: Any) -> str:
    if isinstance(got, dict):
        return f"a dictionary with {quote(', '.join(got))}" if got else "an empty dictionary"
    if isinstance(got, list | tuple):
        return f"{len(got)} values"
    if got is None or isinstance(got, str):
        return "nothing (None)" if got is None else "text"
    return "an array" if isinstance(got, np.ndarray) else "one value"


def difference_in(got: Values, want: Values, rtol: float, atol: float) -> Difference | None:
    """The worst disagreement in the first part that is wrong. The detail says which part: code chooses that."""
    for place, value, right in _pairs(got, want):
        if found := _text_difference(value, right) if isinstance(right, str) else difference(value, right, rtol, atol):
            return replace(found, detail=f"in {place}, {found.detail}") if place else found
    return None


def _text_difference(got: str, want: str) -> Difference | None:
    if got == want:
        return None
    return Difference("it is another text", f"got {quote(got)}, expected {quote(want)}", code="other_text")


def flat(values: Values) -> Array:
    """One array as it is; of several parts all numbers, one after the other, and of texts their characters' numbers."""
    if isinstance(values, np.ndarray):
        return values
    parts = (list(map(ord, part)) if isinstance(part, str) else part.ravel() for _, part, _ in _pairs(values, values))
    return np.concatenate([np.empty(0), *parts])


def _pairs(got: Values, want: Values, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each array or text of what was returned beside the right one, and where it stands."""
    if isinstance(want, np.ndarray | str):
        yield place, got, want
    elif want is not None:
        for key in want if isinstance(want, dict) else range(len(want)):
            yield from _pairs(got[key], want[key], f"{place}[{key!r}]")
