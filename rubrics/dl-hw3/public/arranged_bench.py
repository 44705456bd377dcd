"""A module whose tensors are read in another arrangement than the one they are kept in: the module is asked as it is.

Rows kept one by one are one table, two gains in one tensor are two, a matrix kept the other way round is turned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from grader import Array, numbers

from .image_bench import ImageBench


@dataclass(frozen=True)
class Piece:
    """A tensor as it is read: one of the student's or a part of it, or several vectors as the rows of a table."""

    sources: tuple[str, ...]
    part: int | slice | None = None  # along the first axis that is longer than one, once it is turned
    is_turned: bool = False
    is_flat: bool = False

    def read(self, values: Mapping[str, Array]) -> Array:
        if len(self.sources) > 1:
            return np.stack([values[source].reshape(-1) for source in self.sources])
        value = values[self.sources[0]]
        if self.is_turned:
            value = value.squeeze().T
        if self.part is not None:
            value = value.squeeze()[self.part]
        return value.reshape(-1) if self.is_flat else value

    def write(self, value: Array, into: dict[str, Array]) -> None:
        """The student's own tensors, changed to hold this."""
        if len(self.sources) > 1:
            for source, row in zip(self.sources, value, strict=True):
                into[source] = row.reshape(into[source].shape)
            return
        (source,) = self.sources
        whole = into[source].copy()
        kept = whole.reshape([side for side in whole.shape if side > 1])
        part = (kept.T if self.is_turned else kept)[... if self.part is None else self.part]
        part[...] = value.reshape(part.shape)
        into[source] = whole


@dataclass
class ArrangedBench(ImageBench):
    """Its values are those of the pieces; the bench beneath it has the tensors that they are made of."""

    pieces: dict[str, Piece] = field(default_factory=dict)
    beneath: ImageBench | None = None

    def ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        assert self.beneath
        beneath = replace(self.beneath, precision=self.precision, dropout=self.dropout, watched=self.watched)
        changed = [self._as_kept({**values, **change}, set(change)) for change in changes]
        reply = beneath.ask(config, self._as_kept(values, set(values)), inputs, cotangents, changed)
        found = {name: numbers(value, self.name) for name, value in reply["gradients"].items()}
        reply["gradients"] = {
            name: piece.read(found) for name, piece in self.pieces.items() if set(piece.sources) <= set(found)
        }
        return reply

    def _as_kept(self, values: Mapping[str, Array], touched: set[str]) -> dict[str, Array]:
        sources = {source for name in touched for source in self.pieces[name].sources}
        assert self.beneath
        into = {source: self.beneath.values[source] for source in sources}
        for name, piece in self.pieces.items():
            if name in values and set(piece.sources) <= sources:
                piece.write(values[name], into)
        return into


def arranged(bench: ImageBench, pieces: Mapping[str, Piece]) -> ArrangedBench:
    """Every tensor that no piece is made of is read as it is."""
    every = _in_order(bench, pieces)
    own = {each.name: getattr(bench, each.name) for each in fields(ImageBench)}
    own["values"] = {name: every[name].read(bench.values) for name in sorted(every)}
    own["fresh"] = {name: piece.read(bench.fresh) for name, piece in every.items()}
    own["trainable"] = [name for name in own["values"] if set(every[name].sources) <= set(bench.trainable)]
    return ArrangedBench(**own, pieces=every, beneath=bench)


def _in_order(bench: ImageBench, pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    """As the student's code has made them, so that blocks come one after the other."""
    taken = {source for piece in pieces.values() for source in piece.sources}
    every = {name: Piece((name,)) for name in bench.fresh if name not in taken} | dict(pieces)
    place = {name: n for n, name in enumerate(bench.fresh)}
    return dict(sorted(every.items(), key=lambda item: place[item[1].sources[0]]))
