"""Where in a block a loose vector may be added: a bias of one of its maps, or the shift of a LayerNorm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np

from grader import Array
from rubrics.module_recovery.layers import Linear, Mlp, in_order, layouts

from .block_fits import ManyTokens
from .head_maps import STACKED

NO_SHIFT = "(a shift that is not found yet)"


def has_both_shifts(fit: ManyTokens) -> bool:
    return all(norm.shift != NO_SHIFT for norm in fit.single.norms)


def with_vector(fit: ManyTokens, name: str, vector: Array) -> Iterator[ManyTokens]:
    """The fit with this vector in each place that it may have; first with it in none, for one that does nothing."""
    yield fit
    yield from _as_shift(fit, name, vector)
    yield from _in_the_network(fit, vector)
    yield from _behind_the_heads(fit, vector)
    yield from _in_the_heads(fit, vector)


def _as_shift(fit: ManyTokens, name: str, vector: Array) -> Iterator[ManyTokens]:
    for n, norm in enumerate(fit.single.norms):
        if norm.shift == NO_SHIFT and vector.size == norm.gains.size:
            moved = list(fit.single.norms)
            moved[n] = replace(norm, shift=name, shifts=vector)
            yield replace(fit, single=replace(fit.single, norms=(moved[0], moved[1])))


def _in_the_network(fit: ManyTokens, vector: Array) -> Iterator[ManyTokens]:
    mlp = fit.single.mlp
    layers = [mlp.widen, *mlp.between, mlp.narrow]
    for n, layer in enumerate(layers):
        if layer.matrix.shape[1] == vector.size:
            moved = [*layers[:n], _plus(layer, vector), *layers[n + 1 :]]
            network = Mlp(moved[0], moved[-1], tuple(moved[1:-1]))
            yield replace(fit, single=replace(fit.single, mlp=network))


def _behind_the_heads(fit: ManyTokens, vector: Array) -> Iterator[ManyTokens]:
    output = fit.single.output
    if output and output.matrix.shape[1] == vector.size:
        yield replace(fit, single=replace(fit.single, output=_plus(output, vector)))


def _in_the_heads(fit: ManyTokens, vector: Array) -> Iterator[ManyTokens]:
    """With a bias of one map, or one for all maps that are packed in a tensor."""
    value = fit.single.value
    assert value is not None
    roles = {"query": fit.query, "key": fit.key, "value": value}
    for role, layer in roles.items():
        for offset in _of_one_map(layer, vector, fit.heads):
            yield _with_roles(fit, roles | {role: _plus(layer, offset)})
    packed = {role: layer for role, layer in roles.items() if layer.is_packed}
    for tensor in {layer.weight for layer in packed.values()}:
        of_it = {role: layer for role, layer in packed.items() if layer.weight == tensor}
        offsets = [_of_packed_maps(layer, vector, fit.heads) for layer in of_it.values()]
        for way in range(min(map(len, offsets))):
            moved = {
                role: _plus(layer, offset[way]) for (role, layer), offset in zip(of_it.items(), offsets, strict=True)
            }
            yield _with_roles(fit, roles | moved)
    yield from _for_several(fit, roles, vector)
    yield from _shared(fit, roles, vector)


def _for_several(fit: ManyTokens, roles: dict[str, Linear], vector: Array) -> Iterator[ManyTokens]:
    """With one vector for maps that are not packed alike: its parts may be any of theirs, in any order."""
    joined = fit.query.matrix.shape[1]
    count, left = divmod(vector.size, joined)
    if left or not 1 <= count <= len(roles) or any(layer.matrix.shape[1] != joined for layer in roles.values()):
        return
    axes = {"part": count, "head": fit.heads, "feature": joined // fit.heads}
    for layout in layouts(axes):
        (offsets,) = in_order(vector.reshape(1, *(axes[each] for each in layout)), layout, count, joined).swapaxes(0, 1)
        for chosen in permutations(roles, count):
            moved = {role: _plus(roles[role], offset) for role, offset in zip(chosen, offsets, strict=True)}
            yield _with_roles(fit, roles | moved)


def _shared(fit: ManyTokens, roles: dict[str, Linear], vector: Array) -> Iterator[ManyTokens]:
    """With one bias that several maps add, or all heads: no bias is asked for, so neither is one for each."""
    for count, copies in product(range(1, 1 + len(roles)), {1, fit.heads}):
        for chosen in combinations(roles, count):
            if all(vector.size * copies == roles[role].matrix.shape[1] for role in chosen):
                moved = {role: _plus(roles[role], np.tile(vector, copies)) for role in chosen}
                yield _with_roles(fit, roles | moved)


def _of_one_map(layer: Linear, vector: Array, heads: int) -> Iterator[Array]:
    """Added to all heads, or to one of them."""
    joined = layer.matrix.shape[1]
    if vector.size == joined:
        yield vector
        if _heads_take_turns(layer):
            yield vector.reshape(-1, heads).T.reshape(-1)
    if vector.size * heads == joined:
        yield from (np.kron(row, vector) for row in np.eye(heads))


def _heads_take_turns(layer: Linear) -> bool:
    return {"feature", "head"} <= set(layer.layout) and layer.layout.index("feature") < layer.layout.index("head")


def _of_packed_maps(layer: Linear, vector: Array, heads: int) -> list[Array]:
    """What of a vector for all maps of a tensor is this map's, laid out as the tensor is; or of one head's tensor."""
    joined = layer.matrix.shape[1]
    if STACKED in layer.layout:
        parts, left = divmod(vector.size * heads, joined)
        if left or parts < 2:
            return []
        axes = {"part": parts, "feature": joined // heads}
        layout = layer.layout[1:]
        own = vector.reshape([axes[each] for each in layout]).transpose([layout.index(e) for e in axes])[layer.slot]
        return [np.kron(row, own) for row in np.eye(heads)]
    parts, left = divmod(vector.size, joined)
    if left or parts < 2 or layer.slot >= parts:
        return []
    axes = {"part": parts, "head": heads, "feature": joined // heads}
    shaped = vector.reshape(1, *(axes[each] for each in layer.layout))
    return [in_order(shaped, layer.layout, parts, joined)[layer.slot][0]]


def _with_roles(fit: ManyTokens, roles: dict[str, Linear]) -> ManyTokens:
    single = replace(fit.single, value=roles["value"])
    return replace(fit, query=roles["query"], key=roles["key"], single=single)


def _plus(layer: Linear, vector: Array) -> Linear:
    return replace(layer, offset=layer.offset + vector)
