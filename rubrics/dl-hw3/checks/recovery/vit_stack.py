"""A ViT's encoder and head: one block fitted as in 2.3, what follows it, and the same fit for several blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product

from grader import Array
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import ACTIVATIONS
from reference.mistakes.mixing import HIDES_LATER, RIGHT, SELF_ATTENTION
from reference.numpy_layers import Function, layer_norm
from rubrics.module_recovery.layers import Linear, Norm, Values, linears, matrix_sides, mlps

from .block_anatomy import Anatomy
from .block_fits import ManyTokens, OneToken

_HEAD_ACTIVATIONS = ("tanh", "GELU", "ReLU", "GELU by tanh", "SiLU")


@dataclass(frozen=True)
class Tail:
    """What follows the blocks: perhaps a LayerNorm, then a linear head or one with a hidden layer."""

    norm: Norm | None
    layers: tuple[Linear, ...]
    activation: str = ""

    def __call__(self, x: Array) -> Array:
        return self.head(self.normed(x))

    def normed(self, x: Array) -> Array:
        return self.norm(x, layer_norm) if self.norm else x

    def head(self, x: Array) -> Array:
        *hidden, last = self.layers
        for layer in hidden:
            x = ACTIVATIONS[self.activation](layer(x))
        return last(x)


def tails(values: Values, width: int, classes: int, left: tuple[Norm, ...]) -> Iterator[Tail]:
    """Every way to go on from one token to the logits, with the LayerNorms that are left."""
    plain = [(layer,) for layer in linears(values, width, classes)]
    deep = [
        (first, last)
        for size in sorted(matrix_sides(values))
        for first, last in product(linears(values, width, size), linears(values, size, classes))
        if size != classes and first.weight != last.weight and not first.is_packed
    ]
    for norm in (*left, None):
        yield from (Tail(norm, layers) for layers in plain)
        yield from (Tail(norm, layers, name) for layers in deep for name in _HEAD_ACTIVATIONS)


@dataclass(frozen=True)
class Stack:
    """Blocks read alike, one after the other, and what follows."""

    blocks: tuple[ManyTokens, ...]
    tail: Tail


_Blocks = tuple[ManyTokens, ...]
UNKNOWN = Diagnosis("unknown", "blocks_not_chained")
(_CAUSAL,) = SELF_ATTENTION[HIDES_LATER]


def _one_after_the_other(blocks: _Blocks, x: Array) -> Array:
    for block in blocks:
        x = block.run(x)
    return x


def _masked(blocks: _Blocks, x: Array) -> Array:
    """A class token behind all others sees them all even so; with one block nothing shows."""
    return _one_after_the_other(tuple(replace(block, mix=_CAUSAL) for block in blocks), x)


# How blocks may follow each other, by what is wrong with it.
STACKS: dict[Diagnosis, Callable[[_Blocks, Array], Array]] = {
    RIGHT: _one_after_the_other,
    HIDES_LATER: _masked,
    Diagnosis("only the first one is used", "first_block_alone"): lambda blocks, x: blocks[0].run(x),
    Diagnosis("only the last one counts, or each is given the first tokens", "last_block_alone"): lambda blocks, x: (
        blocks[-1].run(x)
    ),
    Diagnosis("they come in the opposite order", "blocks_reversed"): lambda blocks, x: _one_after_the_other(
        blocks[::-1], x
    ),
    Diagnosis("the last one is left out", "block_left_out"): lambda blocks, x: _one_after_the_other(blocks[:-1], x),
    Diagnosis("the first one is left out", "block_left_out"): lambda blocks, x: _one_after_the_other(blocks[1:], x),
    Diagnosis("the first one is used each time", "blocks_share_weights"): lambda blocks, x: _one_after_the_other(
        blocks[:1] * len(blocks), x
    ),
    Diagnosis("what one gives is added to what it was given", "residual_round_blocks"): lambda blocks, x: reduce(
        lambda y, b: y + b.run(y), blocks, x
    ),
}


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


def layers_in_order(one: Values, many: Values, depth: int) -> Iterator[dict[str, list[str]]]:
    """Likewise by the order in which they were made: some before the blocks, each block as the first, some behind.

    There may be several ways to see it so, of which the values tell one.
    """
    here, there = list(one), list(many)
    size = (len(there) - len(here)) // (depth - 1)
    for start in range(len(here) - size + 1) if size > 0 else ():
        block, end = here[start : start + size], start + size * depth
        every = [*here[:start], *block * depth, *here[start + size :]]
        if [one[name].shape for name in every] == [many[name].shape for name in there]:
            outside = {name: [other] for name, other in zip(here[:start], there[:start], strict=True)}
            outside |= {name: [other] for name, other in zip(here[start + size :], there[end:], strict=True)}
            yield outside | {name: there[start + n : end : size] for n, name in enumerate(block)}


def blocks_with_depth_one(one: Values, many: Values, depth: int) -> int | None:
    """How many blocks a model of depth one has, told by the shapes that more depth adds; None if these do not tell."""
    here, there = (Counter(value.shape for value in values.values()) for values in (one, many))
    added = {shape: there[shape] - here[shape] for shape in there if there[shape] > here[shape]}
    if not added or any(number % (depth - 1) for number in added.values()):
        return None
    return min(here[shape] * (depth - 1) // number for shape, number in added.items())


def stacked(
    anatomy: Anatomy, block: ManyTokens, tail: Tail, names: Mapping[str, list[str]], values: Values, depth: int
) -> Stack | None:
    """The same fit with the parameters of each block; None if a block has none of its own."""
    blocks = []
    for n in range(depth):
        own = {name: values[layers[n] if len(layers) > 1 else layers[0]] for name, layers in names.items()}
        if (moved := _moved(block, anatomy, own)) is None:
            return None
        blocks.append(moved)
    last = {name: values[layers[-1]] for name, layers in names.items()}
    head = tuple(layer for old in tail.layers for layer in linears(last, *old.matrix.shape) if layer == old)
    norm = tail.norm and Norm.of(last, tail.norm.gain, tail.norm.shift)
    return Stack(tuple(blocks), replace(tail, norm=norm, layers=head))


def _moved(block: ManyTokens, anatomy: Anatomy, own: Values) -> ManyTokens | None:
    """With these numbers in place of those it was found with."""
    one, two = (Norm.of(own, norm.gain, norm.shift) for norm in block.single.norms)
    every = (*mlps(own, anatomy.width), *mlps(own, anatomy.width, anatomy.width))
    networks = tuple(mlp for mlp in every if mlp in anatomy.mlps)
    norms = tuple(Norm.of(own, norm.gain, norm.shift) for norm in anatomy.norms)
    single = block.single
    # Other tensors are no part of these layers, so it need not be tried what they may be.
    parts = {weight for old in (block.query, block.key, single.value, single.output) if old for weight in old.weights}
    body = replace(anatomy, values=own, used=anatomy.used & parts, mlps=networks, norms=norms)
    query, key, value = (_same_layer(body.inward, old) for old in (block.query, block.key, single.value))
    mlp = next((each for each in networks if each == single.mlp), None)
    if query is None or key is None or value is None or mlp is None:
        return None
    output = _same_layer(body.outward, single.output) if single.output else None
    moved = replace(single, value=value, output=output, mlp=mlp, norms=(one, two))
    return replace(block, query=query, key=key, single=moved)


def _same_layer(found: Iterable[Linear], old: Linear | None) -> Linear | None:
    """The one made of the same tensors in the same way."""
    alike = (each for each in found if each == old)
    return next((each for each in alike if old and each.matrix.shape == old.matrix.shape), None)


def finishes(every: list[Tail], left: tuple[Norm, ...]) -> Iterator[tuple[Tail, Function]]:
    """For the fits of a single token, (T, 1, D) → (T, classes): those with no LayerNorm but what is left."""
    for tail in every:
        if tail.norm is None or tail.norm in left:
            yield tail, partial(_of_one_token, tail)


def _of_one_token(tail: Tail, x: Array) -> Array:
    return tail(x[:, 0])


def tail_of(single: OneToken) -> Tail:
    assert isinstance(single.tail, Tail)
    return single.tail
