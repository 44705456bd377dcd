"""Relations among the values that a module computed on the way to its output.

A module is run on random parameters while every intermediate tensor is recorded. What it computes is then read from
those values alone: how its author names, packs, splits or loops over tensors does not matter. Tokens are rows: an array
of a module that was given (B, N, D) is looked at as one table of B·N rows, with whatever columns it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np

from grader.compare import Array
from grader.modules.workbench import Recorded

_DOUBLE, _SINGLE = 1e-6, 1e-4  # how far values may be off, of the largest
_LARGEST = 1e100  # squares stay finite
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
    _of_size: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    @cached_property
    def _sorted(self) -> Array:
        return np.unique(np.concatenate([np.zeros(1), *(np.abs(value).ravel() for value in self.values)]))

    def _are(self, entries: Array) -> Array:
        """For each entry, whether it is zero or a parameter's, but for its sign."""
        sizes = np.abs(entries)
        nearest = self._sorted[_nearest(self._sorted, sizes)]
        return np.asarray((np.abs(nearest - sizes) <= self.tolerance) | (sizes <= self.tolerance))

    def hold(self, matrix: Array, null: Array | None = None, idle: Array | None = None) -> Array | None:
        """The matrix, if all its entries are parameters, neither scaled nor mixed; None if they are not.

        With `null`, a direction that the inputs do not have, any multiple of it may be added to each column, which is
        left open where the inputs come from a LayerNorm: then each column has to be a vector of some parameter. Entries
        for `idle` inputs, which never moved, are not known.
        """
        if null is None:
            return matrix if self._are(matrix).all() else None
        every, null = self.vectors(len(matrix)), null / np.linalg.norm(null)
        if not len(every):
            return None
        known = np.ones(len(null), bool) if idle is None else ~idle
        ours, theirs = ((each - np.outer(each @ null, null))[:, known] for each in (matrix.T, every))
        one_number = np.cos(np.arange(len(null)))[known]  # of each, by which its nearest is found
        order = np.argsort(theirs @ one_number)
        nearest = order[_nearest((theirs @ one_number)[order], ours @ one_number)]
        return every[nearest].T if np.abs(theirs[nearest] - ours).max() <= 10 * self.tolerance else None

    def as_matrices(self, inputs: int, outputs: int) -> Iterator[Array]:
        """Each parameter of so many numbers, or piece of one that stacks several, either way round."""
        tables = [value for value in self.values if value.ndim > 1]
        for value in tables or self.values:
            for piece in _pieces(value, inputs * outputs):
                yield piece.reshape(inputs, outputs)
                yield piece.reshape(outputs, inputs).T

    def vectors(self, size: int) -> Array:
        """All that are so long, along any axis of any parameter, one after the other: (vectors, size)."""
        return self._vectors(size)[0]

    def owners(self, size: int) -> Array:
        """For each of them, which parameter it is of, and its number there: (vectors, 2)."""
        return self._vectors(size)[1]

    def _vectors(self, size: int) -> tuple[Array, Array]:
        if size not in self._of_size:
            ways = [np.concatenate([np.empty((0, size)), *_vectors(value, size)]) for value in self.values]
            owners = [[number, row] for number, way in enumerate(ways) for row in range(len(way))]
            self._of_size[size] = np.concatenate([np.empty((0, size)), *ways]), np.array(owners).reshape(-1, 2)
        return self._of_size[size]

    def vector(self, wanted: Array, also: float = 0.0) -> tuple[int, int] | None:
        """Which parameter, and which of its vectors, this is; `also`: or what is left of it without this."""
        return next(((number, row) for number, row, _ in self._alike(wanted, also)), None)

    def exact(self, wanted: Array, also: float = 0.0) -> Array:
        """The vector with its parameter's own numbers."""
        return next((numbers for *_, numbers in self._alike(wanted, also)), wanted)

    def _alike(self, wanted: Array, also: float) -> Iterator[tuple[int, int, Array]]:
        every, owners = self._vectors(len(wanted))
        for more in {0.0, also}:
            near = np.isclose(every + more, wanted, rtol=1e-3, atol=1e-4).all(axis=1)  # a norm's ε shows
            if near.any():
                number, row = owners[near.argmax()]
                yield int(number), int(row), every[near.argmax()] + more

    def summands(self, wanted: Array) -> list[int]:
        """The one or two of the vectors whose sum or difference this is; none if there are none."""
        every = self.vectors(len(wanted))
        signed = np.concatenate([np.zeros((1, len(wanted))), every, -every])
        order, rest, off = np.argsort(signed[:, 0]), wanted - signed, 10 * self.tolerance
        starts, ends = (np.searchsorted(signed[order, 0], rest[:, 0] + way) for way in (-off, off))
        for one in np.flatnonzero(ends > starts):
            for other in order[starts[one] : ends[one]]:
                if np.abs(signed[other] - rest[one]).max() <= off:
                    return [int(number - 1) % len(every) for number in (one, other) if number]
        return []


class Record:
    """Everything that was computed for one input of B sequences of N tokens."""

    def __init__(self, recorded: Recorded, parameters: Sequence[Array], batch: int, tokens: int) -> None:
        self.batch, self.tokens = batch, tokens
        self.tolerance = _SINGLE if recorded.single else _DOUBLE
        self.parameters = Parameters(parameters, self.tolerance / 10)
        self._arrays = list(_with_turns_apart(recorded))
        made: dict[int, dict[bytes, tuple[Array, int]]] = {}
        for array, line in self._arrays:
            for table in self._as_tables(array):
                made.setdefault(table.shape[1], {}).setdefault(np.round(table, 6).tobytes(), (table, line))
        self._tables = {width: np.stack([table for table, _ in each.values()]) for width, each in made.items()}
        self._lines = {width: [line for _, line in each.values()] for width, each in made.items()}
        self._mixed: dict[int, tuple[Array, Array]] = {}
        self._affine: dict[bytes, tuple[list[AffineMap], Array | None, bool]] = {}

    def close(self, got: Array, want: Array) -> bool:
        """Whether two arrays are the same but for rounding."""
        if got.shape != want.shape:
            return False
        return bool(np.abs(got - want).max(initial=0) <= self.tolerance * max(1.0, np.abs(want).max(initial=0)))

    def of_width(self, width: int) -> Array:
        """All recorded tables of so many columns: (tables, rows, width)."""
        return self._tables.get(width, np.empty((0, self.batch * self.tokens, width)))

    def has(self, table: Array) -> bool:
        return self._number(table) is not None

    def line_of(self, table: Array) -> int:
        """The line of the student's code that made it; 0 if that is not known."""
        number = self._number(table)
        return 0 if number is None else self._lines[table.shape[1]][number]

    def _number(self, table: Array) -> int | None:
        every = self.of_width(table.shape[1])
        near = np.abs(every[:, 0] - table[0]).max(axis=1) <= self.tolerance * max(1.0, np.abs(table).max())
        return next((int(number) for number in np.flatnonzero(near) if self.close(every[number], table)), None)

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
        return [weights for weights, _ in self._weights.values()]

    def line_of_weights(self, weights: Array) -> int:
        """The line of the student's code that made them."""
        return self._weights[np.round(weights, 6).tobytes()][1]

    @cached_property
    def _weights(self) -> dict[bytes, tuple[Array, int]]:
        found: dict[bytes, tuple[Array, int]] = {}
        for array, line in self._arrays:
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
                                    found.setdefault(np.round(way, 6).tobytes(), (way, line))
        return found

    def affine_maps(self, *inputs: Array) -> list[AffineMap]:
        """All recorded T = Y W + b for the columns Y of these tables, narrow ones first."""
        return self._solved(inputs)[0]

    def _solved(self, inputs: Sequence[Array]) -> tuple[list[AffineMap], Array | None, bool]:
        """Likewise, and the direction of its inputs, if there is one, in which a map is not determined."""
        Y = np.hstack(inputs)
        key = np.round(Y, 6).tobytes()
        if not (np.abs(Y) < _LARGEST).all():
            return [], None, False
        if key not in self._affine:
            moving = np.ptp(Y, axis=0) > 1e-12  # units that are always off tell nothing
            Y1 = np.hstack([Y[:, moving], np.ones((len(Y), 1))])
            left, size, right = np.linalg.svd(Y1, full_matrices=False)
            rank = int((size > self.tolerance / 10 * size[0]).sum())
            inverse = (right[:rank].T / size[:rank]) @ left[:, :rank].T
            missing, found = len(size) - rank, []
            proves = rank < len(Y1) - _SPARE_ROWS  # else anything is an affine map of it
            for width in self.widths if proves else ():
                # A mixture of the columns of T is affine in Y, too: few tables are left by that.
                mixtures, size_of = self._mixtures(width)
                likely = np.abs(mixtures - Y1 @ (inverse @ mixtures)).max(axis=0) <= self.tolerance * width * size_of
                every = self.of_width(width)[likely]
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

    def _mixtures(self, width: int) -> tuple[Array, Array]:
        """Of each table one mixture of its columns, with weights up to 1, and the largest entry: (rows, tables)."""
        if width not in self._mixed:
            self._mixed[width] = _mixtures(self.of_width(width))
        return self._mixed[width]

    def learned_maps(self, *inputs: Array, width: int | None = None, sparse: bool = False) -> list[AffineMap]:
        """Those whose W is made of parameters as they are, each once: no layers that are scaled or chained.

        `sparse`: be it mostly zeros and repetitions, as where each head has a share of the columns.
        """
        every, null, undetermined = self._solved(inputs)
        Y = np.hstack(inputs)
        if undetermined:
            return list(self._by_parameters(Y, width))
        found = []
        for each in every:
            if width in (None, each.table.shape[1]):
                whole = next(self._of_a_parameter(Y, each.table[None], *_mixtures(each.table[None])), None)
                is_full = sparse or 2 * len(each.numbers) >= each.matrix[~each.idle].size
                if whole is None and is_full:
                    matrix = self.parameters.hold(each.matrix, null, each.idle)
                    if matrix is not None:
                        idle = each.idle & (null is None)  # else columns are whole vectors of parameters
                        offset = (each.table - Y @ matrix).mean(axis=0)
                        whole = replace(each, matrix=matrix, idle=idle, offset=offset)
                if whole is not None:
                    found.append(whole)
        return found

    def _by_parameters(self, Y: Array, width: int | None) -> Iterator[AffineMap]:
        """Where Y has more columns than its values determine."""
        for side in self.widths if width is None else [width]:
            yield from self._of_a_parameter(Y, self.of_width(side), *self._mixtures(side))

    def _of_a_parameter(self, Y: Array, every: Array, mixtures: Array, largest: Array) -> Iterator[AffineMap]:
        """T = Y W + b with W a parameter or a piece of one: known even where the values leave some of it open.

        One mixture of each table's columns rules out most of them.
        """
        weights = np.cos(np.arange(every.shape[2]))
        for matrix in self.parameters.as_matrices(Y.shape[1], every.shape[2]):
            rest = mixtures - (Y @ (matrix @ weights))[:, None]
            for number in np.flatnonzero(np.ptp(rest, axis=0) <= self.tolerance * len(weights) * largest):
                left = every[number] - Y @ matrix
                if np.ptp(left, axis=0).max() <= self.tolerance * largest[number]:
                    yield AffineMap(every[number], matrix, left.mean(axis=0), np.zeros(len(matrix), bool))


def _mixtures(tables: Array) -> tuple[Array, Array]:
    mixed = (tables @ np.cos(np.arange(tables.shape[2]))).T
    return mixed, np.maximum(1.0, np.abs(tables).max(axis=(1, 2), initial=0))


def _with_turns_apart(recorded: Recorded) -> Iterator[tuple[Array, int]]:
    """Each place's turns together, then each turn by itself, with its line."""
    for turns, line in zip(recorded.values, recorded.lines, strict=True):
        if (np.abs(turns) < _LARGEST).all():
            yield turns[0] if len(turns) == 1 else turns, line
            yield from ((turn, line) for turn in turns if len(turns) > 1)


def _vectors(parameter: Array, size: int) -> list[Array]:
    """Those along each axis that is as long; any that follow each other, if all lies in one: (vectors, size)."""
    ways = [np.moveaxis(parameter, axis, -1).reshape(-1, size) for axis in _axes(parameter, size)]
    return ways or ([_pieces(parameter, size)] if parameter.ndim == 1 else [])


def _pieces(parameter: Array, size: int) -> Array:
    """What it is made of, one behind the other; all that it may be made of, if it has one axis: (pieces, size)."""
    if parameter.ndim == 1 and parameter.size >= size:
        return np.lib.stride_tricks.sliding_window_view(parameter, size)
    return parameter.reshape(-1, size) if parameter.ndim > 1 and parameter.size % size == 0 else np.empty((0, size))


def _nearest(ascending: Array, numbers: Array) -> Array:
    """The place of the number that is nearest to each of these."""
    after = np.clip(np.searchsorted(ascending, numbers), 1, len(ascending) - 1)
    closer = numbers - ascending[after - 1] < ascending[after] - numbers
    return np.where(closer, after - 1, after)


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
