"""A module's tensors called and laid out as torch's own layers have them, however its author keeps them.

Layers of one's own have other names, or keep (in, out) where torch keeps (out, in); a map into heads may have an axis
for each of head, feature and width, a tensor for each head, or an axis for queries, keys and values. What is computed
is the same, so each is read as the layers that it stands for, and the module is run with its own tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice, product
from typing import Any

import numpy as np

from grader import Array, Outcome, Status
from grader.modules import Workbench
from rubrics.module_recovery.layers import is_weight, loose_vectors, maps, norms, partner

from ...public.configuration import HEAD, HEADS, WIDTH

_Places = dict[str, Array]  # for each tensor, where its numbers are among all numbers of the module
_MOST = 16  # ways to read one module; each is tried with all that an assignment leaves open
_MOST_LAYERS = 20  # that four roles are given to
_PARTS = (2, 3)  # keys and values in one tensor, or queries too
_PER_HEAD = sorted((HEADS, HEAD, WIDTH))


@dataclass
class Rearranged(Workbench):
    """A module on the workbench whose tensors are read in another way than they are kept."""

    kept: dict[str, Array] = field(default_factory=dict)  # as its author has them
    places: _Places = field(default_factory=dict)

    def ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        whole = self.values | dict(values)
        rows = [self._as_kept({**whole, **change}) for change in changes]
        return super().ask(config, self._as_kept(whole), inputs, cotangents, rows)

    def _as_kept(self, values: Mapping[str, Array]) -> dict[str, Array]:
        flat = _flat(self.kept)
        for name, value in values.items():
            flat[self.places[name]] = value
        return {name: flat[places] for name, places in _places(self.kept).items()}


def arrangements(bench: Workbench) -> list[Workbench]:
    """The module read in other ways, likely ones first; none if its tensors are as torch's own layers have them."""
    kept = _places(bench.values)
    found: list[Workbench] = []
    for places in islice(_readings(bench, kept), _MOST):
        if places.keys() != kept.keys() or any(places[name].shape != kept[name].shape for name in kept):
            found.append(_rearranged(bench, places))
    return found


def is_as_torch_has_it(bench: Workbench) -> bool:
    """Whether no other way to read it is known, so that what explains nothing is no matter of reading."""
    return not isinstance(bench, Rearranged) and not arrangements(bench)


def with_turned_squares(bench: Workbench) -> Workbench:
    """The module with each square matrix of a layer kept as (in, out). By its shape alone nobody can tell."""
    places = bench.places if isinstance(bench, Rearranged) else _places(bench.values)
    square = {name for name, place in places.items() if is_weight(name) and place.shape == (WIDTH, WIDTH)}
    turned = {name: place.T if name in square else place for name, place in places.items()}
    return (
        replace(bench, places=turned, values=_read(bench.kept, turned))
        if isinstance(bench, Rearranged)
        else (_rearranged(bench, turned))
    )


def read_in_any(bench: Workbench, judge: Callable[[Workbench, bool], Outcome | None]) -> Outcome | None:
    """What `judge` says of the module in the first way that shows it right, else in the first that shows a mistake.

    `judge` is given the module read in some way, and whether to look for what is wrong where nothing right explains it.
    """
    others = arrangements(bench)
    # Where every matrix may go with every vector, trying it all would take hours.
    as_kept = [] if others and len(maps(bench.values, WIDTH, HEADS)) > _MOST_LAYERS else [bench]
    wrong = None if others else judge(bench, True)
    if wrong and wrong.status is Status.PASSED:
        return wrong
    turned = with_turned_squares([bench, *others][:2][-1])
    for each in (*others, *(as_kept if others else ()), turned):
        outcome = judge(each, False)
        if outcome and outcome.status is Status.PASSED:
            return outcome
    return wrong or next(filter(None, (judge(each, True) for each in (*others, turned, *as_kept) if others)), None)


def _rearranged(bench: Workbench, places: _Places) -> Rearranged:
    same = {each.name: getattr(bench, each.name) for each in fields(bench)}
    return Rearranged(**{**same, "values": _read(bench.values, places)}, kept=dict(bench.values), places=places)


def _flat(values: Mapping[str, Array]) -> Array:
    return np.concatenate([value.reshape(-1) for value in values.values()])


def _places(values: Mapping[str, Array]) -> _Places:
    ends = np.cumsum([value.size for value in values.values()])
    return {
        name: np.arange(end - value.size, end).reshape(value.shape)
        for (name, value), end in zip(values.items(), ends, strict=True)
    }


def _read(values: Mapping[str, Array], places: _Places) -> dict[str, Array]:
    flat = _flat(values)
    return {name: flat[place] for name, place in places.items()}


def _readings(bench: Workbench, kept: _Places) -> Iterator[_Places]:
    fresh = _flat({name: bench.fresh[name] for name in bench.values})  # in the order of the places
    named = _with_own_layers(_with_norms(_with_heads_together(kept), fresh))
    for apart in _with_parts_apart(named):
        yield from _with_heads_joined(apart)


def _parent(name: str) -> str:
    return name.rpartition(".")[0]


def _with_heads_together(places: _Places) -> _Places:
    """One tensor where there is one for each head, called alike but for a number. Torch's layers are read elsewhere."""
    alike: dict[tuple[str, tuple[int, ...]], dict[int, str]] = {}
    for name, place in places.items():
        for number in re.finditer(r"\d+", name):
            pattern = f"{name[: number.start()]}#{name[number.end() :]}"
            alike.setdefault((pattern, place.shape), {})[int(number.group())] = name
    together = dict(places)
    for (pattern, _), members in alike.items():
        names = [members[number] for number in sorted(members)]
        layer = pattern.replace("bias", "weight")
        sides = [side for other, each in alike if other in (pattern, layer) for side in each]
        of_torch = is_weight(layer) and (layer, (HEAD, WIDTH)) in alike
        if len(names) == HEADS and HEAD in sides and not of_torch and all(name in together for name in names):
            together[pattern] = np.stack([together.pop(name) for name in names])
    return together


def _with_norms(places: _Places, fresh: Array) -> _Places:
    """LayerNorms of one's own: a vector that starts as ones, and the one that is added to what it multiplies."""
    named = dict(places)
    for parent in dict.fromkeys(map(_parent, places)):
        beside = {name: fresh[place] for name, place in places.items() if _parent(name) == parent}
        called = {name.replace("weight", "gain"): name for name in beside if not partner(name, beside)}
        own = {new: beside[name] for new, name in called.items()}
        gains = [name for name in loose_vectors(own, WIDTH) if np.all(own[name] == 1)]
        found = norms(own, WIDTH, gains)
        pairs = {called[norm.gain]: called[norm.shift] for norm in found}
        if len(found) == len(pairs) == len(set(pairs.values())):
            for gain, shift in pairs.items():
                named[f"{gain}.norm.weight"], named[f"{gain}.norm.bias"] = named.pop(gain), named.pop(shift)
        elif not found:
            named |= {f"{gain}.norm.weight": named.pop(called[gain]) for gain in gains}
    return named


def _with_own_layers(places: _Places) -> _Places:
    """Linear layers of one's own: modules of one matrix, and maybe a vector, which tells which way the matrix lies."""
    named = dict(places)
    for parent in filter(None, dict.fromkeys(map(_parent, places))):
        own = [name for name in places if _parent(name) == parent]
        matrices = [name for name in own if places[name].squeeze().ndim > 1 and WIDTH in places[name].shape]
        vectors = [name for name in own if name not in matrices]
        if len(matrices) != 1 or len(vectors) > 1:
            continue
        weight, bias = matrices[0], vectors[0] if vectors else ""
        matrix = named.pop(weight)
        if bias and matrix.ndim == 2 and matrix.shape[1] == places[bias].size != matrix.shape[0]:
            matrix = matrix.T
        if is_weight(weight) and partner(weight, places) == bias:
            named[weight] = matrix
            continue
        named[f"{parent}.weight"] = matrix
        if bias:
            named[f"{parent}.bias"] = named.pop(bias)
    return named


def _with_parts_apart(places: _Places) -> Iterator[_Places]:
    """Queries, keys and values each by itself, where a tensor has an axis for them beside that of the heads."""
    packed = [
        name
        for name, place in places.items()
        if any(sorted(place.squeeze().shape) == sorted((parts, *_PER_HEAD)) for parts in _PARTS)
    ]
    if not packed:
        yield places
        return
    choices = [[axis for axis, side in enumerate(places[name].squeeze().shape) if side in _PARTS] for name in packed]
    for axes in product(*choices):
        apart = dict(places)
        for name, axis in zip(packed, axes, strict=True):
            tensor = apart[name].squeeze()
            left = [side for n, side in enumerate(tensor.shape) if n != axis]
            if sorted(left) != _PER_HEAD:
                break
            parts = tensor.shape[axis]
            del apart[name]
            apart |= {f"{name}.{n}": part for n, part in enumerate(np.moveaxis(tensor, axis, 0))}
            if bias := _bias_of(apart, places, name, parts * WIDTH):
                split = _split_bias(apart.pop(bias), parts, after_heads=tensor.shape[:axis].count(HEADS) > 0)
                apart |= {f"{bias}.{n}": part for n, part in enumerate(split)}
                # Named as torch does it, so that each part finds its own.
                for n in range(parts):
                    apart[f"{name}.{n}.weight"] = apart.pop(f"{name}.{n}")
                    apart[f"{name}.{n}.bias"] = apart.pop(f"{bias}.{n}")
        else:
            yield apart


def _bias_of(left: _Places, places: _Places, name: str, size: int) -> str:
    if own := partner(name, left | {name: places[name]}):
        return own if places[own].size == size else ""
    loose = [vector for vector in loose_vectors(left, size) if left[vector].squeeze().ndim < 4]
    beside = [vector for vector in loose if _parent(vector) == _parent(name)]
    return beside[0] if len(beside) == 1 else ""


def _split_bias(vector: Array, parts: int, after_heads: bool) -> Array:
    """A row for each part, ordered by head; the vector has axes of its own, or lies as the tensor does."""
    sides = vector.squeeze().shape
    order = sides if len(sides) == 3 else ((HEADS, parts, HEAD) if after_heads else (parts, HEADS, HEAD))
    shaped = vector.reshape(order)
    if parts != HEADS:
        return shaped.transpose(*(order.index(side) for side in (parts, HEADS, HEAD))).reshape(parts, WIDTH)
    feature = order.index(HEAD)
    part, head = [n for n in range(3) if n != feature][:: -1 if after_heads else 1]
    return shaped.transpose(part, head, feature).reshape(parts, WIDTH)


def _with_heads_joined(places: _Places) -> Iterator[_Places]:
    """Maps between the width and all heads side by side; at most one of them leads out of the heads."""
    by_head = [name for name, place in places.items() if sorted(place.squeeze().shape) == _PER_HEAD]
    flat = {name: _joined_bias(place) for name, place in places.items()}
    for biases in _pairings(flat, by_head):
        may_lead_out = [
            name
            for name, bias in zip(by_head, biases, strict=True)
            if not bias or places[bias].squeeze().ndim == 1  # one with heads is no bias of what they are joined to
        ]
        for outward in ("", *may_lead_out):
            joined = dict(flat)
            for name, bias in zip(by_head, biases, strict=True):
                tensor = joined.pop(name).squeeze()
                order = [tensor.shape.index(side) for side in (HEADS, HEAD, WIDTH)]
                matrix = tensor.transpose(order).reshape(WIDTH, WIDTH)  # (joined heads, D)
                layer = name.removesuffix(".weight")
                joined[f"{layer}.weight"] = matrix.T if name == outward else matrix
                if bias:
                    joined[f"{layer}.bias"] = joined.pop(bias)
            yield joined


def _joined_bias(place: Array) -> Array:
    sides = place.squeeze().shape
    if sides == (HEADS, HEAD):
        return place.reshape(WIDTH)
    return place.squeeze().T.reshape(WIDTH) if sides == (HEAD, HEADS) else place


def _pairings(places: _Places, tensors: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Which vector each of the tensors adds: as their names say, or in every way."""
    own = {name: partner(name, places) for name in tensors}
    loose = loose_vectors(places, WIDTH)
    alike = {name: [vector for vector in loose if _called_alike(name, vector)] for name in tensors}
    unclaimed = [vector for vector in loose if not any(vector in vectors for vectors in alike.values())]
    options = [[own[name]] if own[name] else alike[name] or [*unclaimed, ""] for name in tensors]
    for vectors in product(*options):
        if len(set(filter(None, vectors))) == len(list(filter(None, vectors))):
            yield vectors


def _called_alike(tensor: str, vector: str) -> bool:
    """w_q and b_q, or Wq and bq, or q and q_bias: alike but for what says that one is a vector."""
    (one, _, leaf), (other, _, added) = tensor.rpartition("."), vector.rpartition(".")
    ends = [re.sub(r"^(weights?|bias(es)?|[a-z])_?", "", each, flags=re.IGNORECASE) for each in (leaf, added)]
    return one == other and (ends[0] == ends[1] != "" or added == f"{leaf}_bias")
