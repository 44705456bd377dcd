"""A student's module of tokens on a workbench: its crashes say the sizes, a tensor of several maps shows as several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Self

import numpy as np

from grader import Array, Crashed, Killed, NotImportable, TimedOut, numbers, shape
from grader.modules import Workbench

_MOST = 4  # queries, keys, values and output
_NUMBER = re.compile(r"\d+")
_Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Cut:
    """The axes of a tensor that only count what it holds, and how long they are."""

    axes: tuple[int, ...]
    counts: tuple[int, ...]

    def names(self, name: str) -> list[str]:
        return [f"{name}[{','.join(map(str, place))}]" for place in np.ndindex(self.counts)]

    def pieces(self, tensor: Array) -> list[Array]:
        front = range(len(self.axes))
        if tensor.ndim <= max(self.axes) or tuple(tensor.shape[axis] for axis in self.axes) != self.counts:
            raise Crashed("its tensors change their shapes", code="shapes_change")
        return list(np.moveaxis(tensor, self.axes, front).reshape(prod(self.counts), *self._rest(tensor.shape)))

    def joined(self, pieces: Sequence[Array]) -> Array:
        front = range(len(self.axes))
        return np.moveaxis(np.stack(pieces).reshape(*self.counts, *pieces[0].shape), front, self.axes)

    def along(self, counts: set[int]) -> Cut:
        """Along axes of these lengths alone."""
        kept = [(axis, count) for axis, count in zip(self.axes, self.counts, strict=True) if count in counts]
        return Cut(tuple(axis for axis, _ in kept), tuple(count for _, count in kept))

    def _rest(self, sides: tuple[int, ...]) -> list[int]:
        return [side for axis, side in enumerate(sides) if axis not in self.axes]


@dataclass
class TokenBench(Workbench):
    """`called` are its arguments as a student writes them, `other` arguments of which none is the same.

    An axis that is as long for the others depends on no size: it counts maps, or vectors, which lie side by side.
    """

    called: str = ""
    other: list[Any] = field(default_factory=list)
    cut: Mapping[str, Cut] = field(default_factory=dict)  # the tensors that are shown in pieces

    def less_cut(self, width: int) -> Iterator[Self]:
        """The same with short axes of one length left as they are, which may be the width of a head; then with all.

        Such an axis is one of two tensors at least that have an axis of the block's width: maps into heads and back.
        """
        lengths = {count for cut in self.cut.values() for count in cut.counts}
        maps = [cut.counts for name, cut in self.cut.items() if width in self.values[self._pieces(name)[0]].shape]
        kept = [lengths - {length} for length in sorted(lengths) if sum(length in counts for counts in maps) > 1]
        for counts in [*kept, set()] if len(kept) > 1 else kept:
            yield self._cut_along({name: cut.along(counts) for name, cut in self.cut.items()})

    def _cut_along(self, cut: Mapping[str, Cut]) -> Self:
        bench = replace(self, cut={name: each for name, each in cut.items() if each.axes})
        bench.values, bench.fresh = (bench._in_pieces(self._whole(each, each)) for each in (self.values, self.fresh))
        return bench

    def ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        try:
            whole = [self._whole({**values, **change}, change) for change in changes]
            reply = super().ask(config, self._whole(values, values), inputs, cotangents, whole)
        except (TimedOut, Killed, NotImportable):
            raise
        except Crashed as fault:
            raise self._with_sizes(fault, inputs) from None
        if not self.values:
            self.cut = self._cuts(_shapes(reply["parameters"], self.name))
        reply["trainable"] = [piece for name in reply["trainable"] for piece in self._pieces(name)]
        return reply | {kind: self._in_pieces(reply[kind]) for kind in ("parameters", "gradients")}

    def _cuts(self, shapes: _Shapes) -> dict[str, Cut]:
        short = {name: sides for name, sides in shapes.items() if _is_short(sides)}
        if not short or not self.other:
            return {}
        try:
            one = np.zeros((1, 2, self.other[0]))  # lazy layers have no shapes before they have seen an input
            others = _shapes(super().ask(self.other, {}, [(one,)], ())["parameters"], self.name)
        except (TimedOut, Killed, NotImportable):
            raise
        except Crashed:
            return {}  # which is told when it is built so to be judged
        found = {}
        for name, sides in short.items():
            both = enumerate(zip(sides, _alike(name, len(sides), others), strict=True))
            if axes := tuple(axis for axis, (side, other) in both if side == other and _may_count(side)):
                found[name] = Cut(axes, tuple(sides[axis] for axis in axes))
        return found

    def _with_sizes(self, fault: Crashed, inputs: Sequence[Sequence[Array]]) -> Crashed:
        """The crash, with the sizes the module was built with and, if they are all alike, those of its input."""
        built = f"{self.name}({self.called})"
        shapes = {shape(array.shape) for arrays in inputs for array in arrays}
        given = f", given {shapes.pop()} (batch × tokens × width)" if len(shapes) == 1 else ""
        message = fault.message.replace(f"{self.name}()", built)
        return Crashed(message + given, fault.detail, fault.concealed, code=fault.code)

    def _pieces(self, name: str) -> list[str]:
        return self.cut[name].names(name) if name in self.cut else [name]

    def _in_pieces(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in tensors.items():
            pieces = self.cut[name].pieces(numbers(value, self.name)) if name in self.cut else [value]
            found |= dict(zip(self._pieces(name), pieces, strict=True))
        return found

    def _whole(self, values: Mapping[str, Array], changed: Mapping[str, Array]) -> dict[str, Array]:
        """Those that are changed, put together from all pieces."""
        pieces = {piece: name for name in self.cut for piece in self._pieces(name)}
        found = {name: value for name, value in changed.items() if name not in pieces}
        for name in {pieces[piece] for piece in changed if piece in pieces}:
            found[name] = self.cut[name].joined([values[piece] for piece in self._pieces(name)])
        return found


def _shapes(tensors: Mapping[str, Any], module: str) -> _Shapes:
    return {name: numbers(value, module).shape for name, value in tensors.items()}


def _may_count(side: int) -> bool:
    return 1 < side <= _MOST


def _is_short(sides: tuple[int, ...]) -> bool:
    return any(map(_may_count, sides)) and _is_table(sides)


def _is_table(sides: tuple[int, ...]) -> bool:
    return len([side for side in sides if side > 1]) > 1


def _alike(name: str, axes: int, others: _Shapes) -> tuple[int, ...]:
    """The shape of the same tensor there; one of another number, if there is a tensor for each head; or no shape."""
    if len(others.get(name, ())) == axes:
        return others[name]
    pattern = _NUMBER.sub("#", name)
    found = (sides for other, sides in others.items() if len(sides) == axes and _NUMBER.sub("#", other) == pattern)
    return next(found, (0,) * axes)
