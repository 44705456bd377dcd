"""Several answers that are all arrays: what each is, and behind that their numbers, of one kind after the other.

Most answers of a class have the shapes that were asked for, so what a header says is read once and known from then on;
and numbers that lie side by side can be judged by one look.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Described = tuple[str, tuple[int, ...]]  # dtype and shape

KINDS = {
    code: np.dtype(code)
    for code in (
        *("<c16", "<c8", "<f2", "<f4", "<f8", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8"),
        *("|b1", "|i1", "|u1"),
    )
}
_CODES = {id(kind): code for code, kind in KINDS.items()}  # of numpy's own dtypes, which writes it anew each time
_REAL = ("<f4", "<f8")  # in the order in which they stand in a body
_MAX_ARRAYS = 10_000
_MAX_DIMENSIONS = 32
_MAX_LENGTH = 64 * 2**20
MAX_TOGETHER_BYTES = 2**20  # of several answers in one frame; what is more goes at once
_LAYOUTS_KEPT = 256
_LONGEST_KEPT = 1 << 14  # bytes of a header


class BadAnswers(Exception):
    """These bytes are no arrays."""


class Layout:
    """Where each array of a body lies. Equal headers have the same one for as long as it is kept."""

    def __init__(self, header: bytes) -> None:
        self.arrays = _described(header)
        self.shapes = [shape for _, shape in self.arrays]
        self.order = _in_body([code for code, _ in self.arrays])
        self.counts: dict[str, int] = {}  # how many numbers there are of each kind
        self.nbytes, self.offsets = 0, [0] * len(self.arrays)
        for place in self.order:
            code, shape = self.arrays[place]
            count = math.prod(shape)
            self.counts[code] = self.counts.get(code, 0) + count
            self.offsets[place] = self.nbytes
            self.nbytes += count * KINDS[code].itemsize
        self.is_real = all(code in _REAL for code in self.counts)


def _in_body(codes: Sequence[str]) -> list[int]:
    """Which array stands where: those of one kind together."""
    return sorted(range(len(codes)), key=codes.__getitem__)


def _described(header: bytes) -> list[Described]:
    try:
        listed = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise BadAnswers(f"the header is not JSON ({type(error).__name__})") from None
    if type(listed) is not list or not 0 < len(listed) <= _MAX_ARRAYS:
        raise BadAnswers("a number of arrays that is not sent")
    return [_one_described(one) for one in listed]


def _one_described(one: Any) -> Described:
    if type(one) is not list or not 0 < len(one) <= 1 + _MAX_DIMENSIONS:
        raise BadAnswers("an array of impossible shape")
    code, *shape = one
    if type(code) is not str or code not in KINDS:
        raise BadAnswers("an array of a dtype that is not sent")
    if not all(type(length) is int and 0 < length <= _MAX_LENGTH for length in shape):
        raise BadAnswers("an array of impossible shape")
    return code, tuple(shape)


_layouts: OrderedDict[bytes, Layout] = OrderedDict()


def _layout(header: bytes) -> Layout:
    if (known := _layouts.get(header)) is not None:
        return known
    layout = Layout(header)
    if len(header) <= _LONGEST_KEPT:
        _layouts[header] = layout
        if len(_layouts) > _LAYOUTS_KEPT:
            _layouts.popitem(last=False)
    return layout


class ArrayAnswers:
    """So many answers, in order."""

    def __init__(self, header: bytes, body: bytes) -> None:
        self.header, self.body = header, body
        self.layout = _layout(header)
        if self.layout.nbytes != len(body):
            raise BadAnswers("arrays that do not fill their frame")

    def __len__(self) -> int:
        return len(self.layout.arrays)

    def __getitem__(self, place: int) -> Array:
        code, shape = self.layout.arrays[place]
        return np.ndarray(shape, KINDS[code], self.body, self.layout.offsets[place])

    def __iter__(self) -> Iterator[Array]:
        return (self[place] for place in range(len(self)))

    def numbers(self) -> Array | None:
        """All numbers in the order of the layout; None if some are not real."""
        if not self.layout.is_real:
            return None
        counts, at, parts = self.layout.counts, 0, []
        for code in _REAL:
            if code in counts:
                parts.append(np.frombuffer(self.body, KINDS[code], counts[code], at))
                at += parts[-1].nbytes
        return parts[0].astype(np.float64) if len(parts) == 1 else np.concatenate(parts, dtype=np.float64)


class TakenDown:
    """Answers that are arrays, taken down one after the other, each as it was then."""

    def __init__(self) -> None:
        self._described: list[Described] = []
        self._contents: list[bytes] = []
        self.nbytes = 0

    def takes(self, answer: dict[str, Any]) -> bool:
        """Whether it is such an answer, and now taken down."""
        array = answer.get("value") if len(answer) == 1 else None
        if type(array) is not np.ndarray:
            return False
        dtype, nbytes = array.dtype, array.nbytes
        code = _CODES.get(id(dtype)) or dtype.str
        if code not in KINDS or not 0 < nbytes <= MAX_TOGETHER_BYTES or self.nbytes > MAX_TOGETHER_BYTES:
            return False
        self._described.append((code, array.shape))
        self._contents.append(array.tobytes())
        self.nbytes += nbytes
        return True

    def packed(self) -> tuple[bytes, bytes]:
        """Header and body."""
        header = f"[{', '.join([_written(code, shape) for code, shape in self._described])}]".encode()
        codes = [code for code, _ in self._described]
        ordered = [self._contents[place] for place in _in_body(codes)] if len(set(codes)) > 1 else self._contents
        return header, b"".join(ordered)


@lru_cache(maxsize=1024)
def _written(code: str, shape: tuple[int, ...]) -> str:
    """One of the header's lists, as `json` would write it: in a check most answers are of few shapes."""
    parts = [f'"{code}"', *map(str, shape)]
    return f"[{', '.join(parts)}]"
