"""What runs in the sandbox next to the student's code, and returns values."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # nothing of the grader is in the sandbox
    from grader import StudentCode

_MOST_CHARACTERS = 5000  # of a vocabulary
_KINDS_SHOWN = 3
_STRAY = 10  # one in so many draws may fail before the item is given up
_STRAY_CHARACTERS = 120


def draw_items(
    code: StudentCode, file: str, name: str, data: str, block_size: int, items: list[int], times: int
) -> dict[str, Any]:
    """Build a data set from text and take these items of it, one after the other, so many times in all."""
    return looked_at(code.call(code.attribute(file, name), [data, block_size]), items, times)


def looked_at(dataset: Any, items: list[int], times: int) -> dict[str, Any]:
    """`times` draws of these items in turn, as flat ids with the length of each draw: draws may differ in length.

    Nothing is seeded in between, so what is random differs from draw to draw. A few draws that raise, or give no pair
    of rows, are told apart from the others; more than one in ten are no strays any more.
    """
    found: dict[str, Any] = {
        "length": _length(dataset),
        "vocab_size": _integer(getattr(dataset, "vocab_size", None)),
        "stoi": _pairs(getattr(dataset, "stoi", None)),
        "itos": _pairs(getattr(dataset, "itos", None)),
        "kinds": [],
    }
    xs: list[bytes] = []
    ys: list[bytes] = []
    kinds: set[str] = set()
    strays: list[str] = []
    for idx in islice(cycle(items), times):
        try:
            item = dataset[idx]
        except Exception as error:
            strays.append(f"raised {type(error).__name__}: {error}"[:_STRAY_CHARACTERS])
            if len(strays) > times // _STRAY:
                raise
            continue
        found_kinds, rows = _sides(item)
        if rows is None:
            strays.append(f"gave {', '.join(found_kinds)}"[:_STRAY_CHARACTERS])
            if len(strays) > times // _STRAY:
                found["kinds"] = sorted(found_kinds)[:_KINDS_SHOWN]
                return found
            continue
        kinds.update(found_kinds)
        xs.append(rows[0].tobytes())
        ys.append(rows[1].tobytes())
    found |= {"kinds": sorted(kinds)[:_KINDS_SHOWN], "strays": strays}
    for name, copies in (("x", xs), ("y", ys)):
        found[name] = _narrowed(np.frombuffer(b"".join(copies), np.int64))
        found[f"{name}_lengths"] = np.array(list(map(len, copies)), np.int64) // np.int64().itemsize
    return found


def _narrowed(ids: Any) -> Any:
    """In two bytes each where they fit, as those of characters do: a quarter of what has to be sent."""
    narrow = ids.astype(np.int16)
    return narrow if np.array_equal(narrow, ids) else ids


def _sides(item: Any) -> tuple[list[str], list[Any] | None]:
    """What kinds x and y are of, and their ids; no ids if it is no pair of rows."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        return [f"{type(item).__name__} instead of a pair"], None
    rows = [_ids(side) for side in item]
    return [_kind(side) for side in item], None if any(row is None for row in rows) else rows


def _kind(side: Any) -> str:
    dtype, dimensions = getattr(side, "dtype", None), getattr(side, "ndim", None)
    if dtype is None:
        return type(side).__name__
    axes = "" if dimensions == 1 else f" of {dimensions} dimensions"
    return f"{type(side).__name__} {dtype}{axes}"


def _ids(side: Any) -> Any:
    """The ids in a row, or None if these are none. Whole numbers kept as float are ids of the wrong type."""
    try:
        array = np.asarray(side)
    except Exception:  # an object of the student's own
        return None
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        return None
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.round(array))).all():
        return None
    return array.astype(np.int64, copy=False)


def _length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except TypeError:  # it has none
        return None


def _integer(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, np.integer)) else None


def _pairs(table: Any) -> list[list[Any]] | None:
    """A dictionary's entries, or a list's with their places; what is neither an integer nor text becomes None."""
    if isinstance(table, dict):
        entries = list(table.items())
    elif isinstance(table, (list, tuple, str)):
        entries = list(enumerate(table))
    else:
        return None
    return [[_plain(one), _plain(other)] for one, other in entries[:_MOST_CHARACTERS]]


def _plain(value: Any) -> Any:
    return str(value)[:8] if isinstance(value, str) else _integer(value)
