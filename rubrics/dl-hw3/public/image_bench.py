"""A student's module of images on a workbench: its crashes say the sizes, its position tables show the rows in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import permutations
from typing import Any

import numpy as np

from grader import Array, Crashed, Killed, NotImportable, Student, TimedOut, numbers, shape
from grader.modules import Workbench, started


@dataclass(frozen=True)
class PatchSizes:
    image: int
    patch: int
    channels: int
    dim: int

    @property
    def side(self) -> int:
        return self.image // self.patch

    @property
    def patches(self) -> int:
        return self.side**2

    @property
    def pixels(self) -> int:
        """How many numbers a patch holds."""
        return self.channels * self.patch**2

    def images(self, rng: np.random.Generator, batch: int) -> Array:
        return rng.normal(size=self.shape(batch))

    def shape(self, batch: int) -> tuple[int, ...]:
        return batch, self.channels, self.image, self.image

    def cut(self, images: Array, by_column: bool = False) -> Iterator[Array]:
        """Their patches (B, N, numbers of a patch), for each order in which channels, rows and columns may lie."""
        s, p = self.side, self.patch
        grid = images.reshape(len(images), self.channels, s, p, s, p)  # (B, C, row, P, column, P)
        for order in permutations((1, 3, 5)):
            yield grid.transpose(0, *((4, 2) if by_column else (2, 4)), *order).reshape(len(images), s * s, -1)

    def __str__(self) -> str:
        return ", ".join(f"{each.name}={getattr(self, each.name)}" for each in fields(self))


@dataclass(frozen=True)
class Sizes(PatchSizes):
    depth: int
    heads: int
    classes: int


@dataclass
class ImageBench(Workbench):
    """A workbench whose tables of vectors have the rows in use alone: a table may be longer than it has to be."""

    sizes: PatchSizes = field(default_factory=lambda: PatchSizes(1, 1, 1, 1))
    whole: dict[str, Array] = field(default_factory=dict)  # the tables that are cut, as long as they are
    in_use: dict[str, int] = field(default_factory=dict)  # and how many rows of each are in use

    def ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        try:
            reply = super().ask(config, self._in_full(values), inputs, cotangents, [*map(self._in_full, changes)])
        except (TimedOut, Killed, NotImportable):
            raise
        except Crashed as fault:
            message = fault.message.replace(f"{self.name}()", f"{self.name}({self.sizes})")
            raise Crashed(message, fault.detail, fault.concealed, code=fault.code) from None
        for name, rows in self.in_use.items():
            if (gradient := reply["gradients"].get(name)) is not None:
                table = numbers(gradient, self.name)
                reply["gradients"][name] = table.reshape(-1, table.shape[-1])[:rows]
        return reply

    def _in_full(self, values: Mapping[str, Array]) -> dict[str, Array]:
        return dict(values) | {name: self._longer(name, values[name]) for name in self.in_use if name in values}

    def _longer(self, name: str, rows: Array) -> Array:
        table = self.whole[name].reshape(-1, rows.shape[-1]).copy()
        table[: len(rows)] = rows
        return table.reshape(self.whole[name].shape)


def on_images(student: Student, rng: np.random.Generator, file: str, name: str, sizes: PatchSizes) -> ImageBench:
    """The module on a workbench, built for these sizes."""
    given = sizes.images(rng, 2)
    bench = ImageBench(student, file, name, asdict(sizes), by_name=True, sizes=sizes)
    try:
        started(bench, rng, (given,))
    except (TimedOut, Killed, NotImportable):
        raise
    except Crashed as fault:
        message = f"{fault.message}, given {shape(given.shape)} (batch × channels × height × width)"
        raise Crashed(message, fault.detail, fault.concealed, code=fault.code) from None
    return _cut(bench, rng, given, sizes)


def _cut(bench: ImageBench, rng: np.random.Generator, images: Array, sizes: PatchSizes) -> ImageBench:
    """With tables of vectors cut to their first rows, where none but these have any influence."""
    tables = {
        name: value
        for name, value in bench.values.items()
        if value.squeeze().ndim == 2 and value.shape[-1] == sizes.dim and value.size > (sizes.patches + 1) * sizes.dim
    }
    if not tables:
        return bench
    (output,) = bench.run((images,)).outputs
    gradients = bench.run((images,), cotangents=[rng.normal(size=output.shape)]).gradients
    rows_in_use = {}
    for name in tables:
        if (gradient := gradients.get(name)) is not None:
            used = np.abs(gradient.reshape(-1, sizes.dim)).max(axis=-1) > 0
            if 0 < (count := int(used.sum())) < len(used) and used[:count].all():
                # A class token that sees none but itself uses one row, and that is another mistake.
                rows_in_use[name] = count if count > 1 else sizes.patches + 1
    cut = {name: bench.values[name].reshape(-1, sizes.dim)[:count] for name, count in rows_in_use.items()}
    whole = {name: bench.values[name] for name in rows_in_use}
    return replace(bench, values={**bench.values, **cut}, whole=whole, in_use=rows_in_use)


def is_batch_normed(bench: Workbench) -> bool:
    """Whether a layer of torch's keeps running numbers of a batch."""
    return any(name.rpartition(".")[2] == "running_mean" for name in bench.buffers)
