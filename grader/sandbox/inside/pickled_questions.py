"""Questions of the grader, whom a box can trust: pickled, with their arrays behind them."""

from __future__ import annotations

import io
import pickle
from typing import Any, Literal

import numpy as np


def pack(question: dict[str, Any]) -> tuple[bytes, bytes]:
    """The question without its arrays, and these."""
    arrays: list[bytes] = []
    text = io.BytesIO()
    _Question(text, arrays).dump(question)
    return text.getvalue(), b"".join(arrays)


def unpack(text: bytes, arrays: bytes | memoryview) -> Any:
    return _QuestionReader(text, arrays).load()


class _Question(pickle.Pickler):
    """A question without its arrays, of which it says the kinds: shape, dtype, order in memory, bytes."""

    def __init__(self, text: io.BytesIO, arrays: list[bytes]) -> None:
        super().__init__(text, protocol=5)
        self._arrays = arrays
        self._kinds: dict[Any, Any] = {}  # the same object for each kind, so that it is written once

    def persistent_id(self, value: Any) -> Any:
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return None
        order: Literal["C", "F"] = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        self._arrays.append(value.tobytes(order))
        kind = (value.shape, value.dtype, order, value.nbytes)
        return self._kinds.setdefault(kind, kind)


class _QuestionReader(pickle.Unpickler):
    """Its arrays are copies that nobody else has: code that writes into its argument should run, and be seen to."""

    def __init__(self, text: bytes, body: bytes | memoryview) -> None:
        super().__init__(io.BytesIO(text))
        self._body = body
        self._at = 0

    def persistent_load(self, kind: Any) -> np.ndarray[Any, Any]:
        shape, dtype, order, nbytes = kind
        at = self._at
        self._at = at + nbytes
        return np.ndarray(shape, dtype, self._body, at, None, order).copy("K")
