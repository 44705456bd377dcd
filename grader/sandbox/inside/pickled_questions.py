"""Questions of the grader, whom a box can trust: pickled, with their arrays behind them.

Arrays of one kind lie side by side, and are told of before the question, so that all are made in few goes; reading the
question then only has to put each where it belongs. There are some 1,400 in a box.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def pack(question: dict[str, Any]) -> tuple[bytes, bytes]:
    """The question without its arrays, and these. It is written twice: first to meet them, then with their places."""
    met = _Question(io.BytesIO())
    met.dump(question)
    kinds: dict[Any, list[int]] = {}
    for number, array in enumerate(met.arrays):
        kinds.setdefault((array.shape or (1,), array.dtype), []).append(number)
    groups, in_body, at = [], list[int](), 0
    for (shape, dtype), numbers in kinds.items():
        groups.append(((len(numbers), *shape), dtype, at))
        in_body += numbers
        at += sum(met.arrays[number].nbytes for number in numbers)
    places = {number: place for place, number in enumerate(in_body)}
    by_columns = [places[number] for number, one in enumerate(met.arrays) if one.flags.fnc]
    without_axes = [places[number] for number, one in enumerate(met.arrays) if not one.shape]
    text = io.BytesIO()
    _Question(text, places).dump(question)
    told = pickle.dumps((groups, by_columns, without_axes), protocol=5)
    return told + text.getvalue(), b"".join([met.arrays[number].tobytes() for number in in_body])


def unpack(text: bytes, body: bytes | memoryview) -> Any:
    """Its arrays are copies that nobody else has: code that writes into its argument should run, and be seen to."""
    stream = io.BytesIO(text)
    groups, by_columns, without_axes = pickle.Unpickler(stream).load()
    arrays: list[Array] = []
    for shape, dtype, at in groups:
        arrays += map(np.ndarray.copy, np.ndarray(shape, dtype, body, at))
    for place in by_columns:
        arrays[place] = arrays[place].copy("F")
    for place in without_axes:
        arrays[place] = arrays[place].reshape(()).copy()
    return _Reader(stream, arrays).load()


class _Question(pickle.Pickler):
    """A question with a number in place of each of its arrays: its place, or as which it was met."""

    def __init__(self, text: io.BytesIO, places: Mapping[int, int] | None = None) -> None:
        super().__init__(text, protocol=5)
        self.arrays: list[Array] = []
        self._places = places

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return None
        number = len(self.arrays)
        self.arrays.append(value)
        return self._places[number] if self._places else number


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, arrays: list[Array]) -> None:
        super().__init__(stream)
        # No method of ours, which would be called for each. Set here, because Python 3.13 takes it of no plain reader.
        self.persistent_load = arrays.__getitem__  # type: ignore[method-assign]
