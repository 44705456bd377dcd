"""A ViT's encoder and head: one block read as in 2.3, what follows it, and the same reading for several blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from grader.checks.modules.recovery.block_anatomy import Anatomy
from grader.checks.modules.recovery.block_equations import ACTIVATIONS, Function, normalised
from grader.checks.modules.recovery.block_fits import Several, Single
from grader.checks.modules.recovery.layers import Linear, Norm, Values, linears
from grader.checks.modules.recovery.projections import Projection
from grader.compare import Array

_HEAD_ACTIVATIONS = ("tanh", "GELU", "ReLU", "GELU by tanh", "SiLU")


@dataclass(frozen=True)
class Tail:
    """What follows the blocks: perhaps a LayerNorm, then a linear head or one with a hidden layer."""

    norm: Norm | None
    layers: tuple[Linear, ...]
    activation: str = ""

    def __call__(self, x: Array, values: Values) -> Array:
        return self.head(self.normed(x, values), values)

    def normed(self, x: Array, values: Values) -> Array:
        return normalised(values, self.norm)(x) if self.norm else x

    def head(self, x: Array, values: Values) -> Array:
        *hidden, last = self.layers
        for layer in hidden:
            x = ACTIVATIONS[self.activation](layer(x, values))
        return last(x, values)


def tails(values: Values, width: int, classes: int, left: tuple[Norm, ...]) -> Iterator[Tail]:
    """Every way to go on from one token to the logits, with the LayerNorms that are left."""
    plain = [(layer,) for layer in linears(values, width, classes)]
    sides = {side for value in values.values() if value.squeeze().ndim == 2 for side in value.squeeze().shape}
    deep = [
        (first, last)
        for size in sorted(sides)
        for first, last in product(linears(values, width, size), linears(values, size, classes))
        if size != classes and first.weight != last.weight and first.rows is None
    ]
    for norm in (*left, None):
        yield from (Tail(norm, layers) for layers in plain)
        yield from (Tail(norm, layers, name) for layers in deep for name in _HEAD_ACTIVATIONS)


@dataclass(frozen=True)
class Stack:
    """Blocks read alike, one after the other, and what follows."""

    blocks: tuple[tuple[Anatomy, Several], ...]
    tail: Tail
    values: Values

    def encode(self, x: Array) -> Array:
        for anatomy, block in self.blocks:
            x = block.run(anatomy, x)
        return x

    def logits(self, token: Array) -> Array:
        return self.tail(token, self.values)


def layer_names(one: Mapping[str, object], many: Mapping[str, object], depth: int) -> dict[str, list[str]] | None:
    """For each parameter of a model with one block, its names in one with several; None if names do not tell.

    Layers are numbered by torch's containers: one of the numbers in a name counts the blocks.
    """
    found = {}
    for name in one:
        numbered = [
            [f"{name[: at.start()]}{int(at.group()) + n}{name[at.end() :]}" for n in range(depth)]
            for at in re.finditer(r"\d+", name)
        ]
        names = [each for each in numbered if all(other in many for other in each) and not set(each[1:]) & set(one)]
        if len(names) > 1 or (not names and name not in many):
            return None
        found[name] = names[0] if names else [name]
    return found if {name for names in found.values() for name in names} == set(many) else None


def blocks_with_depth_one(one: Values, many: Values, depth: int) -> int | None:
    """How many blocks a model of depth one has, told by the shapes that more depth adds; None if these do not tell."""
    here, there = (Counter(value.shape for value in values.values()) for values in (one, many))
    added = {shape: there[shape] - here[shape] for shape in there if there[shape] > here[shape]}
    if not added or any(number % (depth - 1) for number in added.values()):
        return None
    return min(here[shape] * (depth - 1) // number for shape, number in added.items())


def stacked(
    anatomy: Anatomy, block: Several, tail: Tail, names: Mapping[str, list[str]], values: Values, depth: int
) -> Stack | None:
    """The same reading with the parameters of each block; None if a block has none of its own."""
    blocks = []
    for n in range(depth):
        own = {name: values[layers[n] if len(layers) > 1 else layers[0]] for name, layers in names.items()}
        body = replace(anatomy, values=own)
        if (moved := _moved(block, body)) is None:
            return None
        blocks.append((body, moved))
    return Stack(tuple(blocks), tail, {name: values[layers[-1]] for name, layers in names.items()})


def _moved(block: Several, body: Anatomy) -> Several | None:
    single = block.single
    query, key, value = (_same(body.inward, old) for old in (block.query, block.key, single.value))
    if query is None or key is None or value is None:
        return None
    output = _same(body.outward, single.output) if single.output else None
    return replace(block, query=query, key=key, single=replace(single, value=value, output=output))


def _same(found: list[Projection], old: Projection | None) -> Projection | None:
    if old is None:
        return None
    key = (old.weight, old.bias, old.layout, old.slot)
    return next((each for each in found if (each.weight, each.bias, each.layout, each.slot) == key), None)


def finishes(values: Values, every: list[Tail], left: tuple[Norm, ...]) -> Iterator[tuple[Tail, Function]]:
    """For the readings of a single token, (T, 1, D) → (T, classes): those with no LayerNorm but what is left."""
    for tail in every:
        if tail.norm is None or tail.norm in left:
            yield tail, partial(_of_one_token, tail, values)


def _of_one_token(tail: Tail, values: Values, x: Array) -> Array:
    return np.asarray(tail(x[:, 0], values))


def tail_of(single: Single) -> Tail:
    assert isinstance(single.tail, Tail)
    return single.tail
