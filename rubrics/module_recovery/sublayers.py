"""The parts of a Transformer block, found among the values that a module computed: LayerNorms, networks, attentions.

Each search starts from a value u and gives what the part made of it, with the mistakes that it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import sqrt

import numpy as np

from grader import Array
from grader.modules import AffineMap, Record, scores_of
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import (
    ACTIVATIONS,
    AGAIN,
    FEATURES,
    NORMS,
    RELU,
    UNCENTRED,
    WITHOUT_GAIN_OR_SHIFT,
    WITHOUT_SHIFT,
)
from reference.mistakes.mixing import NO_OUTPUT, SELF_ATTENTION, Mix
from reference.numpy_layers import Function, softmax

WITHOUT_GAIN = next(kind for kind in NORMS if kind.code == "norm_without_gain")
_NORMALISED = {kind: of for kind, of in NORMS.items() if kind not in (WITHOUT_GAIN, WITHOUT_SHIFT)}
_MOST_MAPS = 6
_EXTRA_GAIN = 1.0  # a gain may be kept as what is added to one
_ROLES = ("queries", "keys", "values", "the output")


@dataclass(frozen=True)
class Part:
    """What one part made of its input, how it does so with any (B, N, D), and what is wrong with it."""

    output: Array
    function: Function
    mistakes: tuple[Diagnosis, ...] = ()
    learned: tuple[object, ...] = ()  # of a LayerNorm: which parameters its gain and its shift are
    activation: str = ""

    def into(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Each of these on what this one made."""
        for part in parts:
            yield replace(part, function=_chain(self.function, part.function))


@dataclass
class Sublayers:
    record: Record
    heads: int
    width: int
    hidden: int | None = None  # the width of the hidden layer, if it is not left open
    needs_output: bool = True  # a single head needs no W_O
    naming: bool = False  # whether mistakes are looked for that leave no trace of what is right
    _known: dict[tuple[str, bytes], list[Part]] = field(default_factory=dict)

    def norms(self, z: Array) -> list[Part]:
        """o = g ⊙ (z − mean)/√(var + ε) + b, or what is wrong with it."""
        return self._once("norm", z, self._norms)

    def networks(self, u: Array) -> list[Part]:
        """f = W₂ φ(W₁ u + b₁) + b₂."""
        return self._once("network", u, self._networks)

    def attentions(self, u: Array) -> list[Part]:
        """a = W_O [A₁ V₁ … A_h V_h], A = softmax(QKᵀ/√d)."""
        return self._once("attention", u, self._attentions)

    def _once(self, kind: str, u: Array, search: Callable[[Array], Iterator[Part]]) -> list[Part]:
        key = kind, np.round(u, 9).tobytes()
        if key not in self._known:
            found = [*search(u), *(part for late in self._with_late_bias(u) for part in late.into(search(late.output)))]
            self._known[key] = sorted(found, key=lambda part: len(part.mistakes))
        return self._known[key]

    def _with_late_bias(self, u: Array) -> Iterator[Part]:
        """u + b where that is recorded: some add the bias of a layer behind the residual."""
        for table in self.record.of_width(u.shape[1]):
            added = table - u
            b = added.mean(axis=0)
            if self.record.close(added, np.broadcast_to(b, added.shape)) and not self.record.close(table, u):
                yield Part(table, partial(np.add, b))

    def _norms(self, z: Array) -> Iterator[Part]:
        others = [o for o in self.record.of_width(self.width) if not self.record.close(o, z)]
        if not others:
            return
        outputs = np.stack(others)
        for kind, normalise in _NORMALISED.items():
            n = self.record.table(normalise(self.record.sequences(z), np.ones(self.width), np.zeros(self.width)))
            centred = n - n.mean(axis=0)
            spread = (centred**2).sum(axis=0)
            if (spread < 1e-9).any():
                continue
            gains = (centred * (outputs - outputs.mean(axis=1, keepdims=True))).sum(axis=1) / spread
            shifts = outputs.mean(axis=1) - gains * n.mean(axis=0)
            off = np.abs(gains[:, None] * n + shifts[:, None] - outputs).max(axis=(1, 2))
            for number in np.flatnonzero(off <= 1e-4 * np.abs(outputs).max(axis=(1, 2))):  # ε is left open
                if part := self._norm(kind, outputs[number], gains[number], shifts[number]):
                    yield part

    def _norm(self, kind: Diagnosis, output: Array, gain: Array, shift: Array) -> Part | None:
        parameters = self.record.parameters
        has_gain = not np.allclose(gain, 1, rtol=0, atol=1e-3)
        has_shift = not np.allclose(shift, 0, rtol=0, atol=1e-3)
        learned = (
            parameters.vector(gain, also=_EXTRA_GAIN) if has_gain else None,
            parameters.vector(shift) if has_shift else None,
        )
        if (has_gain and not learned[0]) or (has_shift and not learned[1]):
            return None  # its numbers are something else's
        mistakes = [kind] if kind != FEATURES else []
        if kind != UNCENTRED and not (has_gain and has_shift):
            mistakes.append(WITHOUT_SHIFT if has_gain else WITHOUT_GAIN if has_shift else WITHOUT_GAIN_OR_SHIFT)
        return Part(output, partial(NORMS[kind], gain=gain, shift=shift), tuple(mistakes), learned)

    def _networks(self, u: Array) -> Iterator[Part]:
        for first in self.record.learned_maps(u):
            hidden = first.table.shape[1]
            wide = () if self.hidden in (None, hidden) else (_hidden_width(hidden, self.hidden),)
            for activation, of in ACTIVATIONS.items():
                after = of(first.table)
                for last in self.record.learned_maps(after, width=self.width):
                    if not self.record.close(last.table, u):
                        yield Part(last.table, _chain(first, of, last), wide, activation=activation)
                        again = np.maximum(last.table, 0)
                        if self.naming and self.record.has(again):
                            whole = _chain(first, of, last, ACTIVATIONS[RELU])
                            yield Part(again, whole, wide, activation=AGAIN)
                if self.naming and self.record.has(after):
                    yield from self._of_other_depth(first, after, activation, of)

    def _of_other_depth(self, first: AffineMap, after: Array, activation: str, of: Function) -> Iterator[Part]:
        if first.table.shape[1] == self.width:
            yield Part(after, _chain(first, of), (_depth(1),), activation=activation)
        for between in self.record.learned_maps(after):
            for last in self.record.learned_maps(of(between.table), width=self.width):
                whole = _chain(first, of, between, of, last)
                yield Part(last.table, whole, (_depth(3),), activation=activation)

    def _attentions(self, u: Array) -> Iterator[Part]:
        every = self.record.learned_maps(u)
        yield from self._by_weights(every)
        if self.naming:
            yield from self._by_mistake(every)

    # The weights are recorded, and so is all that made them.

    def _by_weights(self, every: Sequence[AffineMap]) -> Iterator[Part]:
        heads = [found for found in (self._asking(weights, every) for weights in self.record.weights) if found]
        for group in _groups(heads, self.heads):
            for values in self._values(group, every):
                yield from self._joined(group, values)

    def _asking(self, weights: Array, every: Sequence[AffineMap]) -> _Head | None:
        """The queries and keys that these weights are made of."""
        for query, key in product(every, every):
            width = query.table.shape[1]
            if width != key.table.shape[1]:
                continue
            q, k = self.record.sequences(query.table), self.record.sequences(key.table)
            for part in self._shares(width):
                if c := scores_of(weights, q[..., part], k[..., part], self.record.tolerance):
                    return _Head(weights, query, key, part, c)
        return None

    def _shares(self, width: int) -> Iterator[slice]:
        """All columns, or one head's share of them: a block of neighbours, or every so-manieth."""
        yield slice(None)
        if width % self.heads == 0 and self.heads > 1:
            size = width // self.heads
            yield from (slice(head * size, (head + 1) * size) for head in range(self.heads))
            yield from (slice(head, None, self.heads) for head in range(self.heads))

    def _values(self, heads: Sequence[_Head], every: Sequence[AffineMap]) -> Iterator[list[_Values]]:
        """For each head the values that its weights mix: a map of its own, or its share of one."""
        for layer in every:
            shares = list(self._shares(layer.table.shape[1]))
            if self.heads > 1 and len(shares) > 1:
                yield [_Values(layer, part) for part in shares[1 : self.heads + 1]]
                yield [_Values(layer, part) for part in shares[self.heads + 1 :]]
        own = [next((each for each in every if self._has_mixed(head, each)), None) for head in heads]
        if all(own):
            yield [_Values(each, slice(None)) for each in own if each]

    def _has_mixed(self, head: _Head, layer: AffineMap) -> bool:
        return self.record.has(self.record.table(head.weights @ self.record.sequences(layer.table)))

    def _joined(self, heads: Sequence[_Head], values: Sequence[_Values]) -> Iterator[Part]:
        sequences = self.record.sequences
        mixed = [
            self.record.table(head.weights @ sequences(value.layer.table[:, value.part]))
            for head, value in zip(heads, values, strict=True)
        ]
        mistakes = self._scale(heads)
        roles = [_distinct(each) for each in zip(*((h.query, h.key, v.layer) for h, v in zip(heads, values, strict=True)))]
        mix = partial(_mix, heads, values)
        for out in self.record.learned_maps(*mixed, width=self.width):
            used = np.abs(out.matrix).reshape(len(heads), -1).max(axis=1)
            if (used > self.record.tolerance).all():
                yield Part(out.table, _chain(mix, out), (*mistakes, *_shared(*roles, [out])))
        joined = np.hstack(mixed)
        if joined.shape[1] == self.width and self.record.has(joined):
            missing = (NO_OUTPUT,) if self.needs_output else ()
            yield Part(joined, mix, (*missing, *mistakes, *_shared(*roles)))
        if self.naming and self.heads > 1:
            for words, total in (("added", sum(mixed)), ("averaged", sum(mixed) / len(mixed))):
                for out in self.record.learned_maps(np.asarray(total), width=self.width):
                    said = Diagnosis(f"the heads are {words}; they should be joined side by side", "heads_not_joined")
                    yield Part(out.table, _unknown, (said,))

    def _scale(self, heads: Sequence[_Head]) -> tuple[Diagnosis, ...]:
        own = [head.c * sqrt(head.width) for head in heads]
        usual = [head.c * sqrt(self.width / self.heads) for head in heads]
        if any(np.allclose(found, 1, atol=self.record.tolerance) for found in (own, usual)):
            return ()
        c, width = heads[0].c, heads[0].width * self.heads
        for mistake, (mix, *_) in SELF_ATTENTION.items():
            scale = getattr(mix, "scale", None)
            if scale is not None and mistake and abs(scale(width, self.heads) - c) <= self.record.tolerance:
                return (mistake,)
        return (Diagnosis(f"the scores are multiplied by {c:.4g} instead of 1/√(dim/heads)", "wrong_scale"),)

    # Queries, keys and values are recorded, and what a mistake makes of them.

    def _by_mistake(self, every: Sequence[AffineMap]) -> Iterator[Part]:
        by_width: dict[int, list[AffineMap]] = {}
        for each in every:
            by_width.setdefault(each.table.shape[1], []).append(each)
        for width, maps in by_width.items():
            if len(maps) <= _MOST_MAPS and width % self.heads == 0:
                for mistake, mixes in SELF_ATTENTION.items():
                    for mix, chosen in product(mixes, _roles(maps)):
                        yield from self._mixed(mistake, mix, *chosen)

    def _mixed(self, mistake: Diagnosis, mix: Mix, *maps: AffineMap) -> Iterator[Part]:
        q, k, v = (self.record.sequences(each.table) for each in maps)
        mixed = mix(q, k, v, self.heads)
        if mixed.shape != v.shape:
            return
        table, named = self.record.table(mixed), ((mistake,) if mistake else ())
        roles = tuple([each] for each in maps)
        for out in self.record.learned_maps(table, width=self.width):
            yield Part(out.table, _unknown, (*named, *_shared(*roles, [out])))
        if table.shape[1] == self.width and self.record.has(table):
            yield Part(table, _unknown, (*((NO_OUTPUT,) if self.needs_output else ()), *named, *_shared(*roles)))


@dataclass(frozen=True)
class _Head:
    weights: Array
    query: AffineMap
    key: AffineMap
    part: slice  # which columns of queries and keys are this head's
    c: float

    @property
    def width(self) -> int:
        return len(range(*self.part.indices(self.query.table.shape[1])))


@dataclass(frozen=True)
class _Values:
    layer: AffineMap
    part: slice


def _mix(heads: Sequence[_Head], values: Sequence[_Values], x: Array) -> Array:
    """[A₁ V₁ … A_h V_h] with A = softmax(c Q Kᵀ)."""
    mixed = []
    for head, value in zip(heads, values, strict=True):
        q, k = head.query(x)[..., head.part], head.key(x)[..., head.part]
        mixed.append(softmax(head.c * q @ k.swapaxes(-1, -2)) @ value.layer(x)[..., value.part])
    return np.concatenate(mixed, axis=-1)


def _chain(*functions: Function) -> Function:
    def chained(x: Array) -> Array:
        for function in functions:
            x = function(x)
        return x

    return chained


def _unknown(x: Array) -> Array:
    """What is wrong is named by what was recorded; it is not run on anything else."""
    return np.full_like(x, np.nan)


def _groups(heads: Sequence[_Head], count: int) -> Iterator[list[_Head]]:
    """Those that can be the heads of one attention: shares of the same queries and keys, or each with its own."""
    by_map: dict[tuple[int, int], list[_Head]] = {}
    for head in heads:
        whole = head.part == slice(None) and count > 1
        by_map.setdefault((0, 0) if whole else (id(head.query), id(head.key)), []).append(head)
    for group in by_map.values():
        if len(group) == count:
            yield sorted(group, key=lambda head: head.part.start or 0)


def _distinct(maps: Iterable[AffineMap]) -> list[AffineMap]:
    return [*{id(each): each for each in maps}.values()]


def _roles(maps: Sequence[AffineMap]) -> Iterator[tuple[AffineMap, ...]]:
    """Queries, keys and values, each a map of its own as long as there are enough."""
    for chosen in product(maps, repeat=3):
        if len({id(each) for each in chosen}) >= min(3, len(maps)):
            yield chosen


def _depth(layers: int) -> Diagnosis:
    count = "one layer" if layers == 1 else f"{layers} layers"
    return Diagnosis(f"the feed-forward network has {count} instead of two", "wrong_mlp_depth")


def _hidden_width(got: int, want: int | None) -> Diagnosis:
    return Diagnosis(f"its hidden layer has {got} units, not `hidden` = {want}", "wrong_hidden_width")


def _shared(*roles: Sequence[AffineMap]) -> tuple[Diagnosis, ...]:
    for later in range(len(roles)):
        for earlier in range(later):
            if any(one.shares_numbers_with(other) for one, other in product(roles[earlier], roles[later])):
                said = f"{_ROLES[earlier]} and {_ROLES[later]} come from one layer; each should have its own"
                return (Diagnosis(said, "shared_projection"),)
    return ()
