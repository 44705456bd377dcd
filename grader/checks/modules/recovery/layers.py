"""Layers found among a module's parameters by shape and by which tensors belong together, whatever they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np

from grader.compare import Array

Values = Mapping[str, Array]

# Where names say what a layer is for, that assignment is tried first. Names decide the order, never a verdict.
_HINTS = {"query": "q", "key": "k", "value": "v", "output": "op", "hidden": "w"}


@dataclass(frozen=True)
class Linear:
    """An affine map x → xW + b: some rows of a weight as torch keeps it, or a bare matrix in either orientation."""

    weight: str
    bias: str = ""
    rows: tuple[int, int] | None = None  # of a weight that holds several maps
    transposed: bool = True  # torch's Linear keeps W as (out, in)

    def __call__(self, x: Array, values: Values) -> Array:
        weight = values[self.weight].squeeze()
        part = slice(*self.rows) if self.rows else slice(None)
        mapped = x @ (weight[part].T if self.transposed else weight[:, part])
        return mapped + values[self.bias].squeeze()[part] if self.bias else mapped

    @property
    def tensors(self) -> set[tuple[str, tuple[int, int] | None]]:
        return {(name, self.rows) for name in (self.weight, self.bias) if name}


@dataclass(frozen=True)
class Stacked:
    """One map made of a layer for each head, side by side."""

    parts: tuple[Linear, ...]
    rows: None = None

    def __call__(self, x: Array, values: Values) -> Array:
        return np.concatenate([part(x, values) for part in self.parts], axis=-1)

    @property
    def weight(self) -> str:
        return self.parts[0].weight

    @property
    def bias(self) -> str:
        return self.parts[0].bias

    @property
    def tensors(self) -> set[tuple[str, tuple[int, int] | None]]:
        return set[tuple[str, tuple[int, int] | None]]().union(*(part.tensors for part in self.parts))


Map = Linear | Stacked


@dataclass(frozen=True)
class Norm:
    """A LayerNorm's gain and shift."""

    gain: str
    shift: str


def _sides(values: Values) -> dict[str, tuple[int, ...]]:
    """Shapes without axes of length one, which are a matter of broadcasting."""
    return {name: values[name].squeeze().shape for name in values}


def partner(name: str, names: Mapping[str, object]) -> str:
    """`attn.key.weight` → `attn.key.bias`, if there is one."""
    head, _, leaf = name.rpartition(".")
    other = f"{head}.{leaf.replace('weight', 'bias')}".lstrip(".")
    return other if "weight" in leaf and other in names else ""


def linears(values: Values, inner: int, outer: int) -> list[Linear]:
    """Every map from `inner` to `outer` features. Weights that hold two or three such maps count as that many."""
    sides, found = _sides(values), []
    if 0 in (inner, outer):  # torch does make layers of no features
        return []
    owned = {partner(name, sides) for name in sides}
    loose = [name for name, side in sides.items() if side == (outer,) and name not in owned and not is_weight(name)]
    for name, side in sides.items():
        if len(side) != 2:
            continue
        if is_weight(name):
            parts = side[0] // outer
            if side == (parts * outer, inner) and (parts == 1 or parts in (2, 3)):
                rows = [(n * outer, (n + 1) * outer) for n in range(parts)] if parts > 1 else [None]
                found += [Linear(name, partner(name, sides), part) for part in rows]
        else:
            for bias in (*([vector for vector in loose if leaf_alike(name, vector)] or loose), ""):
                found += [Linear(name, bias, None, False)] if side == (inner, outer) else []
                found += [Linear(name, bias, None, True)] if side == (outer, inner) else []
    return list(dict.fromkeys(found))


def maps(values: Values, width: int, heads: int) -> list[Map]:
    """Every map from `width` to `width` features, be it one layer or one for each head."""
    alike: dict[str, list[Linear]] = {}
    for part in linears(values, width, width // heads):
        if part.rows is None and part.transposed:
            for number in re.finditer(r"\d+", part.weight):  # any of the numbers in its name may count the heads
                pattern = f"{part.weight[: number.start()]}#{part.weight[number.end() :]}"
                alike.setdefault(pattern, []).append(part)
    stacks = [Stacked(tuple(parts)) for parts in alike.values() if len(parts) == heads]
    return [*linears(values, width, width), *stacks]


def is_weight(name: str) -> bool:
    """A layer's own, as torch names it; a bare parameter may be anything."""
    return "weight" in name.rpartition(".")[2]


def leaf_alike(one: str, other: str) -> bool:
    """w1 and b1, W_q and b_q: alike but for their first letter; gamma_1 and beta_1: alike in how they end."""
    first, second = one.rpartition(".")[2], other.rpartition(".")[2]
    return first[1:] == second[1:] or (bool(_ending(first)) and _ending(first) == _ending(second))


def _ending(leaf: str) -> str:
    found = re.search(r"_[a-z0-9]+$|[0-9]+$", leaf, re.IGNORECASE)
    return found.group() if found else ""


def norms(values: Values, width: int) -> list[Norm]:
    sides = _sides(values)
    gains = [name for name, side in sides.items() if side == (width,) and "weight" in name.rpartition(".")[2]]
    return [Norm(name, shift) for name in gains if (shift := partner(name, sides))]


def of_size(values: Values, *sides: int) -> list[str]:
    """Parameters of this shape, but for axes of length one."""
    return [name for name, found in _sides(values).items() if found == sides]


def count_apart(layers: Sequence[Map]) -> int:
    """How many of them can be used at once. Layers for each head may be stacked in several ways, and used in one."""
    shares: dict[tuple[str, tuple[int, int] | None], Fraction] = {}
    for layer in layers:
        parts = layer.parts if isinstance(layer, Stacked) else (layer,)
        shares |= {(part.weight, part.rows): Fraction(1, len(parts)) for part in parts}
    return int(sum(shares.values()))


def assignments(layers: Sequence[Map], roles: Sequence[str]) -> Iterator[dict[str, Map]]:
    """Every way to give each role a layer of its own, those that fit the layers' names first."""

    def misfit(chosen: tuple[Map, ...]) -> int:
        return sum(not _hinted(layer, role) for layer, role in zip(chosen, roles, strict=True))

    apart = (
        chosen
        for chosen in permutations(layers, len(roles))
        if len(set[object]().union(*(layer.tensors for layer in chosen))) == sum(len(layer.tensors) for layer in chosen)
        and len({(layer.weight, layer.rows) for layer in chosen}) == len(chosen)
    )
    for chosen in sorted(apart, key=misfit):
        yield dict(zip(roles, chosen, strict=True))


def _hinted(layer: Map, role: str) -> bool:
    if layer.rows is not None:  # packed as query, key, value in torch's own layer
        return layer.rows[0] // (layer.rows[1] - layer.rows[0]) == {"query": 0, "key": 1, "value": 2}.get(role, -1)
    words = layer.weight.lower().replace(".", "_").split("_")
    return any(word[0] in _HINTS[role] for word in words if word and word not in ("weight", "attn", "attention"))
