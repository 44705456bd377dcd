"""Layers of attention found among the values that a module computed, and formulas that are run on them.

How a student names, packs, splits or loops over tensors does not matter: a layer is a recorded T = Y W + b whose
numbers are the module's own parameters, as the grader has set them. What is found so is then run on other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

import numpy as np

from grader import ATOL, RTOL, Array
from grader.modules import AffineMap, Inputs, Record, Workbench

from ..public.configuration import HEAD, HEADS, WIDTH

_SLACK = 100.0  # b is what W leaves of a table, with all that W is off by
_Fit = TypeVar("_Fit")
_Fits = Iterable[tuple[_Fit, Callable[..., Array]]]


def records_of(bench: Workbench, inputs: Inputs, *rows: Array) -> list[Record]:
    """What is computed for these inputs, as tables with a row for each of these rows, all (B, rows, D)."""
    recorded = bench.recorded(inputs)
    return [Record(recorded, list(bench.values.values()), *each.shape[:2]) for each in rows]


def layers(record: Record, x: Array, width: int | None = WIDTH, every: bool = False) -> list[AffineMap]:
    """Every recorded x W + b with W and b made of parameters.

    If not `every`, those that bring features of their own: tensors are cut into halves, and halves put together.
    """
    found: list[AffineMap] = []
    known = np.empty((len(x) * x.shape[1], 0))
    for each in _all_layers(record, record.table(x), width):
        table = np.abs(each.table)  # rotations change signs
        is_new = np.abs(table[:, :, None] - known[:, None]).max(axis=0) > record.tolerance  # (features, known ones)
        if is_learned(record, each) and (every or is_new.all(axis=1).any()):
            found.append(each)
            known = np.hstack([known, table])
    return found


def _all_layers(record: Record, x: Array, width: int | None) -> Iterator[AffineMap]:
    """Those of this width; those side by side in one that is twice or three times as wide, whole or for each head."""
    yield from record.learned_maps(x, width=width)
    for several in (2, 3) if width == WIDTH else ():
        numbers = np.arange(several * WIDTH)
        blocks = [*numbers.reshape(several, WIDTH), *numbers.reshape(HEADS, several, HEAD).swapaxes(0, 1)]
        for wide, block in product(record.learned_maps(x, width=several * WIDTH), blocks):
            columns = block.reshape(-1)
            table, matrix, offset = wide.table[:, columns], wide.matrix[:, columns], wide.offset[columns]
            yield replace(wide, table=table, matrix=matrix, offset=offset)


def is_learned(record: Record, layer: AffineMap) -> bool:
    """Whether b is made of parameters, too: that W is `learned_maps` has seen to."""
    numbers = np.abs(np.concatenate([[0.0], *(value.ravel() for value in record.parameters.values)]))
    off = np.abs(np.abs(layer.offset)[:, None] - numbers).min(axis=1)
    return bool((off <= _SLACK * record.parameters.tolerance).all())


def orders_of_heads(found: Sequence[AffineMap]) -> Iterator[list[AffineMap]]:
    """The layers with each head's features side by side: as they are, or if heads take turns now."""
    yield list(found)
    turns = np.arange(WIDTH).reshape(HEAD, HEADS).T.reshape(-1)
    yield [
        replace(each, table=each.table[:, turns], matrix=each.matrix[:, turns], offset=each.offset[turns])
        for each in found
    ]


def layer_between(record: Record, y: Array, output: Array) -> AffineMap | None:
    """The layer that makes this output of y."""
    Y, T = record.table(y), record.table(output)
    solved, *_ = np.linalg.lstsq(np.hstack([Y, np.ones((len(Y), 1))]), T, rcond=None)
    found = AffineMap(T, solved[:-1], solved[-1], np.zeros(len(solved) - 1, bool))
    if not record.close(found(Y), T) or record.parameters.hold(solved) is None:
        return None
    return found


def values_before_mixing(record: Record, weights: Array, x: Array) -> Iterator[AffineMap]:
    """V with recorded A V, where A x is computed first, so that V itself is not recorded; A is (B, H, T, T)."""
    mixed = np.moveaxis(weights @ x[:, None], 1, 2)  # (B, T, H, D)
    for found in record.learned_maps(record.table(mixed), width=WIDTH, sparse=True):
        by_head = found.matrix.reshape(HEADS, WIDTH, HEADS, HEAD)
        matrix = np.concatenate([by_head[head, :, head] for head in range(HEADS)], axis=1)
        if np.isclose(np.abs(matrix).sum(), np.abs(found.matrix).sum()):  # each head has its own columns
            yield AffineMap(record.table(x) @ matrix + found.offset, matrix, found.offset, np.zeros(WIDTH, bool))


def first_wrong_line(record: Record, made: Iterable[Array], asked: Iterable[Array]) -> dict[str, int]:
    """The line of the student's code that made the first of these steps that is not as asked, if it is recorded."""
    for step, right in zip(made, asked, strict=True):
        by_token = np.moveaxis(step, 1, 2) if step.ndim == 4 else step  # (B, H, T, …) has tokens behind heads
        if not record.close(step, right) and (line := record.line_of(record.table(by_token))):
            return {"line": line}
    return {}


def explanation(fits: _Fits[_Fit], inputs: Sequence[Inputs], outputs: Sequence[Array]) -> _Fit | None:
    """The first fit whose arithmetic gives every output."""
    for fit, compute in fits:
        if all(agree(compute(*given), output) for given, output in zip(inputs, outputs, strict=True)):
            return fit
    return None


def agree(got: Array, output: Array) -> bool:
    return got.shape == output.shape and np.allclose(got, output, rtol=RTOL, atol=ATOL)
