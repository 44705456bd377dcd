"""Relations among the values that a module computed on the way to its output.

A module is run on random parameters while every intermediate tensor is recorded. What it computes is then read from
those values alone: how its author names, packs, splits or loops over tensors does not matter. Tokens are rows: an array
of a module that was given (B, N, D) is looked at as one table of B·N rows, with whatever columns it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from grader.checks.modules.workbench import Recorded
from grader.compare import Array

_DOUBLE, _SINGLE = 1e-6, 1e-4  # how far values may be off, of the largest
_UNDERFLOWN = 1e-290  # weights below have lost digits
_SPARE_ROWS = 8  # more than unknowns, so that a map that fits them all is no chance


@dataclass(frozen=True)
class AffineMap:
    """T = Y W + b, recovered from the tables Y and T."""

    table: Array  # T: (rows, outputs)
    matrix: Array  # W: (inputs, outputs)
    offset: Array  # b: (outputs,)
    idle: Array  # the inputs that never moved, so that their rows of W are not known: (inputs,)

    def __call__(self, x: Array) -> Array:
        """For other x; NaN where an input counts whose row of W is not known."""
        unknown = (np.abs(x[..., self.idle]) > 0).any(axis=-1, keepdims=True)
        return np.where(unknown, np.nan, x @ self.matrix + self.offset)

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The entries of W, by which a layer is known again."""
        return frozenset(np.round(np.abs(self.matrix[np.abs(self.matrix) > 1e-6]), 5).tolist())

    def shares_numbers_with(self, other: AffineMap) -> bool:
        return 2 * len(self.numbers & other.numbers) > min(len(self.numbers), len(other.numbers))


@dataclass(frozen=True)
class Parameters:
    """The numbers that a module learns, as they were set."""

    values: Sequence[Array]
    tolerance: float

    @cached_property
    def _sorted(self) -> Array:
        every = [np.abs(value).ravel() for value in self.values]
        return np.unique(np.concatenate([[-np.inf], *every, [np.inf]]))

    def _are(self, entries: Array) -> Array:
        """For each entry, whether it is zero or a parameter's, but for its sign."""
        sizes = np.abs(entries)
        after = np.clip(np.searchsorted(self._sorted, sizes), 1, len(self._sorted) - 1)
        nearest = np.minimum(self._sorted[after] - sizes, sizes - self._sorted[after - 1])
        return (nearest <= self.tolerance) | (sizes <= self.tolerance)

    def hold(self, matrix: Array, null: Array | None = None) -> Array | None:
        """The matrix, if all its entries are parameters, neither scaled nor mixed; None if they are not.

        With `null`, a direction that the inputs do not have, any multiple of it may be added to each column: that is
        left open where the inputs come from a LayerNorm.
        """
        if null is None:
            return matrix if self._are(matrix).all() else None
        first, second, *_ = np.argsort(-np.abs(null))
        signed = np.concatenate([self._sorted[1:-1], -self._sorted[1:-1]])
        columns = []
        for column in matrix.T:
            steps = (signed - column[first]) / null[first]
            steps = steps[self._are(column[second] + steps * null[second])]
            moved = column + steps[:, None] * null  # (steps, entries)
            right = moved[self._are(moved).all(axis=1)]
            if not len(right):
                return None
            columns.append(right[0])
        return np.stack(columns, axis=1)

    def as_matrices(self, inputs: int, outputs: int) -> Iterator[Array]:
        """Each whole parameter of so many numbers, either way round."""
        for value in self.values:
            if value.ndim > 1 and value.size == inputs * outputs:
                yield value.reshape(inputs, outputs)
                yield value.reshape(outputs, inputs).T

    def vector(self, wanted: Array, also: float = 0.0) -> tuple[int, int] | None:
        """Which parameter, and which row along any axis, is this vector; `also`: or what is left without this."""
        size = len(wanted)
        for number, value in enumerate(self.values):
            ways = [np.moveaxis(value, axis, -1).reshape(-1, size) for axis in _axes(value, size)]
            for way in ways or ([value.reshape(-1, size)] if value.size and value.size % size == 0 else []):
                for more in {0.0, also}:
                    near = np.isclose(way + more, wanted, rtol=1e-3, atol=1e-4).all(axis=1)  # a norm's ε shows
                    if near.any():
                        return number, int(near.argmax())
        return None


class Record:
    """Everything that was computed for one input of B sequences of N tokens."""

    def __init__(self, recorded: Recorded, parameters: Sequence[Array], batch: int, tokens: int) -> None:
        self.batch, self.tokens = batch, tokens
        self.tolerance = _SINGLE if recorded.single else _DOUBLE
        self.parameters = Parameters(parameters, self.tolerance / 10)
        self.arrays = list(_with_turns_apart(recorded.values))
        self._tables: dict[int, dict[bytes, Array]] = {}
        for array in self.arrays:
            for table in self._as_tables(array):
                self._tables.setdefault(table.shape[1], {}).setdefault(np.round(table, 6).tobytes(), table)
        self._affine: dict[bytes, tuple[list[AffineMap], Array | None, bool]] = {}

    def close(self, got: Array, want: Array) -> bool:
        """Whether two arrays are the same but for rounding."""
        if got.shape != want.shape:
            return False
        return bool(np.abs(got - want).max(initial=0) <= self.tolerance * max(1.0, np.abs(want).max(initial=0)))

    def of_width(self, width: int) -> list[Array]:
        return list(self._tables.get(width, {}).values())

    def has(self, table: Array) -> bool:
        return any(self.close(table, other) for other in self.of_width(table.shape[1]))

    @property
    def widths(self) -> list[int]:
        return sorted(self._tables)

    def sequences(self, table: Array) -> Array:
        """A table as (B, N, features)."""
        return table.reshape(self.batch, self.tokens, -1)

    def table(self, sequences: Array) -> Array:
        return sequences.reshape(self.batch * self.tokens, -1)

    def _unfolded(self, array: Array) -> Iterator[Array]:
        """The array, and what it is if its first axis holds those of batch, tokens or others."""
        yield array
        if array.ndim:
            first, rest, B, N = len(array), array.shape[1:], self.batch, self.tokens
            if first % (B * N) == 0:
                more = first // (B * N)
                for sides in ((B, more, N), (more, B, N), (B, N, more)) if more > 1 else ((B, N), (N, B)):
                    yield array.reshape(*sides, *rest)
            for side in (B, N):
                if first % side == 0 and first > side:
                    yield array.reshape(side, -1, *rest)
                    yield array.reshape(-1, side, *rest)

    def _as_tables(self, array: Array) -> Iterator[Array]:
        """The array with tokens as rows, in every way its axes allow: (B·N, features)."""
        if array.size % (self.batch * self.tokens) or not array.size:
            return
        for each in self._unfolded(array):
            for first, second in product(_axes(each, self.batch), _axes(each, self.tokens)):
                if first != second:
                    yield np.moveaxis(each, (first, second), (0, 1)).reshape(self.batch * self.tokens, -1)

    @cached_property
    def weights(self) -> list[Array]:
        """All attention weights as (B, rows, columns): of each row, the entries are not negative and sum to one."""
        found: dict[bytes, Array] = {}
        for array in self.arrays:
            if not array.size or array.size % (self.batch * self.tokens**2) or (array < 0).any():
                continue
            for each in self._unfolded(array):
                tokens = _axes(each, self.tokens)
                for first, rows, columns in product(_axes(each, self.batch), tokens, tokens):
                    if rows < columns and first not in (rows, columns):
                        moved = np.moveaxis(each, (first, rows, columns), (-3, -2, -1))
                        for one in moved.reshape(-1, *moved.shape[-3:]):
                            for way in (one, one.swapaxes(-1, -2)):
                                if np.allclose(way.sum(-1), 1):
                                    found.setdefault(np.round(way, 6).tobytes(), way)
        return list(found.values())

    def affine_maps(self, *inputs: Array) -> list[AffineMap]:
        """All recorded T = Y W + b for the columns Y of these tables, narrow ones first."""
        return self._solved(inputs)[0]

    def _solved(self, inputs: Sequence[Array]) -> tuple[list[AffineMap], Array | None, bool]:
        """Likewise, and the direction of its inputs, if there is one, in which a map is not determined."""
        Y = np.hstack(inputs)
        key = np.round(Y, 6).tobytes()
        if key not in self._affine:
            moving = np.ptp(Y, axis=0) > 1e-12  # units that are always off tell nothing
            Y1 = np.hstack([Y[:, moving], np.ones((len(Y), 1))])
            left, size, right = np.linalg.svd(Y1, full_matrices=False)
            rank = int((size > self.tolerance / 10 * size[0]).sum())
            inverse = (right[:rank].T / size[:rank]) @ left[:, :rank].T
            missing, found = len(size) - rank, []
            proves = rank < len(Y1) - _SPARE_ROWS  # else anything is an affine map of it
            for width in self.widths if proves else ():
                every = np.stack(self.of_width(width))  # (tables, rows, width)
                solved = inverse @ every
                off = np.abs(Y1 @ solved - every).max(axis=(1, 2))
                largest = np.maximum(1.0, np.abs(every).max(axis=(1, 2)))
                constant = np.ptp(every, axis=1).max(axis=1) <= self.tolerance
                for number in np.flatnonzero((off <= self.tolerance * largest) & ~constant):
                    matrix = np.zeros((Y.shape[1], width))
                    matrix[moving] = solved[number, :-1]
                    found.append(AffineMap(every[number], matrix, solved[number, -1], ~moving))
            null = None
            if missing == 1:
                null = np.zeros(Y.shape[1])
                null[moving] = right[-1][:-1]
            self._affine[key] = (found, null, not proves or missing > 1)
        return self._affine[key]

    def learned_maps(self, *inputs: Array, width: int | None = None) -> list[AffineMap]:
        """Those whose W is made of parameters as they are: layers, not what comes of scaling or chaining them."""
        every, null, undetermined = self._solved(inputs)
        Y = np.hstack(inputs)
        if undetermined:
            return list(self._by_parameters(Y, width))
        found = []
        for each in every:
            if width in (None, each.table.shape[1]):
                matrix = self.parameters.hold(each.matrix, null)
                if matrix is not None:
                    found.append(self._with_rows_of_a_parameter(Y, replace(each, matrix=matrix)))
        return found

    def _with_rows_of_a_parameter(self, Y: Array, found: AffineMap) -> AffineMap:
        """With all rows, if the known ones are those of a whole parameter."""
        if found.idle.any():
            for matrix in self.parameters.as_matrices(*found.matrix.shape):
                if np.abs(matrix - found.matrix)[~found.idle].max() <= self.parameters.tolerance:
                    found = replace(found, matrix=matrix, idle=np.zeros_like(found.idle))
                    break
        return replace(found, offset=(found.table - Y @ found.matrix).mean(axis=0))

    def _by_parameters(self, Y: Array, width: int | None) -> Iterator[AffineMap]:
        """Where the values leave W open, because Y has more columns than its values determine: W is a whole parameter."""
        for side in self.widths if width is None else [width]:
            for matrix in self.parameters.as_matrices(Y.shape[1], side):
                made = Y @ matrix
                for table in self.of_width(side):
                    offset = (table - made).mean(axis=0)
                    if self.close(made + offset, table):
                        yield AffineMap(table, matrix, offset, np.zeros(len(matrix), bool))


def _with_turns_apart(values: Sequence[Array]) -> Iterator[Array]:
    """Each place's turns together, then each turn by itself."""
    finite = [turns for turns in values if np.isfinite(turns).all()]
    yield from (turns[0] if len(turns) == 1 else turns for turns in finite)
    yield from (turn for turns in finite if len(turns) > 1 for turn in turns)


def _axes(array: Array, side: int) -> list[int]:
    return [axis for axis, length in enumerate(array.shape) if length == side]


def scores_of(weights: Array, queries: Array, keys: Array, tolerance: float) -> float | None:
    """The c with softmax(c · q kᵀ) = A: log A and c · q kᵀ differ by a constant in each row; None if there is none."""
    scores = queries @ keys.swapaxes(-1, -2)
    known = weights > _UNDERFLOWN
    count = np.maximum(known.sum(axis=-1, keepdims=True), 1)

    def centred(values: Array) -> Array:
        return np.where(known, values - np.where(known, values, 0.0).sum(axis=-1, keepdims=True) / count, 0.0)

    logs, centred_scores = centred(np.log(np.where(known, weights, 1.0))), centred(scores)
    size = float((centred_scores**2).sum())
    c = float((centred_scores * logs).sum()) / size if size else 0.0
    largest = max(1.0, float(np.abs(logs).max()))
    if not c or np.abs(c * centred_scores - logs).max() > tolerance * largest:
        return None
    powers = np.exp(c * (scores - np.where(c > 0, scores, -scores).max(axis=-1, keepdims=True) * np.sign(c)))
    return c if np.abs(powers / powers.sum(axis=-1, keepdims=True) - weights).max() <= 100 * tolerance else None
