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
from reference.equations import Function, identity, layer_norm, softmax
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import (
    ACTIVATIONS,
    AGAIN,
    FEATURES,
    NORMS,
    UNCENTRED,
    WITHOUT_GAIN_OR_SHIFT,
    WITHOUT_SHIFT,
)
from reference.mistakes.mixing import NO_MAPS_OF_ITS_OWN, NO_OUTPUT, SELF_ATTENTION, Mix

WITHOUT_GAIN = next(kind for kind in NORMS if kind.code == "norm_without_gain")
_NORMALISED = {kind: of for kind, of in NORMS.items() if kind not in (WITHOUT_GAIN, WITHOUT_SHIFT)}
_MOST_MAPS = 6
_HUGE = 1e100  # squares stay finite
_EPSILON_SHOWS = 1e-4  # a LayerNorm's, which is left open
_SAME_DIRECTION = 1 - 1e-6
_EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)  # that authors take; a wrong one shows in the sixth digit
_EXTRA_GAIN = 1.0  # a gain may be kept as what is added to one
_ACTIVE = Diagnosis(
    "queries, keys and values go through ReLU; they should be linear in the tokens", "active_projections"
)
_ONE_FOR_ALL = Diagnosis("the heads share queries, keys or values; each head should have its own", "heads_share_layers")
_TIED = Diagnosis("both layers of the feed-forward network use one matrix", "layers_share_weights")
_ANOTHER = "another activation"
_STEEPEST = 3.0  # how steep an activation may be
_ROLES = ("queries", "keys", "values", "the output")


@dataclass(frozen=True)
class Part:
    """What one part made of its input, how it does so with any (B, N, D), and what is wrong with it."""

    output: Array
    function: Function
    mistakes: tuple[Diagnosis, ...] = ()
    learned: tuple[object, ...] = ()  # of a LayerNorm: which parameters its gain and its shift are
    activation: str = ""
    line: int = 0  # of the student's code, where the first wrong value was made

    def into(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Each of these on what this one made."""
        for part in parts:
            yield replace(part, function=chained(self.function, part.function))


@dataclass
class Sublayers:
    record: Record
    heads: int
    width: int
    hidden: int | None = None  # the width of the hidden layer, if it is not left open
    needs_output: bool = True  # a single head needs no W_O
    naming: bool = False  # whether what is wrong is looked for as well
    any_gain: bool = False  # whether gain and shift of a LayerNorm may be anything
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
        if not (np.abs(u) < _HUGE).all():  # as mistakes make of it
            return []
        key = kind, np.round(u, 9).tobytes()
        if key not in self._known:
            found = [*search(u), *(part for late in self._with_late_bias(u) for part in late.into(search(late.output)))]
            self._known[key] = sorted(found, key=lambda part: len(part.mistakes))
        return self._known[key]

    def _with_late_bias(self, u: Array) -> Iterator[Part]:
        """u + b where that is recorded: some add the bias of a layer behind the residual."""
        every = self.record.of_width(u.shape[1])
        added = every - u
        same = np.ptp(added, axis=1).max(axis=1, initial=0) <= self.record.tolerance * max(1, np.abs(u).max())
        for number in np.flatnonzero(same):
            if not self.record.close(every[number], u):
                yield Part(every[number], partial(np.add, added[number].mean(axis=0)))

    # LayerNorms

    def _norms(self, z: Array) -> Iterator[Part]:
        """Each feature of o is affine in that of the normalised z; the gains and shifts of that are parameters."""
        outputs = self.record.of_width(self.width)
        outputs = outputs[[not self.record.close(o, z) for o in outputs]]
        for kind, normalise in _NORMALISED.items() if self.naming else [(FEATURES, NORMS[FEATURES])]:
            n = self.record.table(normalise(self.record.sequences(z), np.ones(self.width), np.zeros(self.width)))
            centred = n - n.mean(axis=0)
            spread = (centred**2).sum(axis=0)
            if (spread < 1e-9).any() or not len(outputs):
                continue
            gains = (centred * (outputs - outputs.mean(axis=1, keepdims=True))).sum(axis=1) / spread
            shifts = outputs.mean(axis=1) - gains * n.mean(axis=0)
            off = np.abs(gains[:, None] * n + shifts[:, None] - outputs).max(axis=(1, 2))
            for number in np.flatnonzero(off <= _EPSILON_SHOWS * np.abs(outputs).max(axis=(1, 2))):
                if part := self._norm(kind, z, outputs[number], gains[number], shifts[number]):
                    yield part

    def _norm(self, kind: Diagnosis, z: Array, output: Array, gain: Array, shift: Array) -> Part | None:
        def function(x: Array) -> Array:
            return NORMS[kind](x, gain, shift)

        if self.any_gain:
            return Part(output, function)
        parameters = self.record.parameters
        has_gain = not np.allclose(gain, 1, rtol=0, atol=1e-3)
        has_shift = not np.allclose(shift, 0, rtol=0, atol=1e-3)
        learned = (
            parameters.vector(gain, also=_EXTRA_GAIN) if has_gain else None,
            parameters.vector(shift) if has_shift else None,
        )
        if (has_gain and not learned[0]) or (has_shift and not learned[1]):
            return None  # its numbers are something else's
        mistakes = []
        if kind != UNCENTRED and not (has_gain and has_shift):
            mistakes.append(WITHOUT_SHIFT if has_gain else WITHOUT_GAIN if has_shift else WITHOUT_GAIN_OR_SHIFT)
        mistakes += [kind] if kind != FEATURES else []
        # What is found by a fit is off by a norm's ε.
        gain, shift = (
            parameters.exact(gain, _EXTRA_GAIN) if has_gain else gain,
            parameters.exact(shift) if has_shift else shift,
        )
        if kind == FEATURES:
            ways = [partial(layer_norm, gain=gain, shift=shift, epsilon=epsilon) for epsilon in _EPSILONS]
            closest = min(ways, key=lambda way: float(np.abs(way(z) - output).max()))
            return Part(output, closest, tuple(mistakes), learned, line=self.record.line_of(output))
        return Part(output, function, tuple(mistakes), learned, line=self.record.line_of(output))

    # Feed-forward networks

    def _networks(self, u: Array) -> Iterator[Part]:
        for first in self.record.learned_maps(u):
            hidden = first.table.shape[1]
            wide = () if self.hidden in (None, hidden) else (_hidden_width(hidden, self.hidden),)
            for activation, of, after in self._activations(first.table):
                part = partial(Part, activation=activation, line=self.record.line_of(after))
                for last in self.record.learned_maps(after, width=self.width):
                    if not self.record.close(last.table, u):
                        tied = (_TIED,) if first.shares_numbers_with(last) else ()
                        yield part(last.table, chained(first, of, last), (*wide, *tied))
                        again = np.maximum(last.table, 0)
                        if self.naming and self.record.has(again):
                            yield Part(again, _unknown, wide, activation=AGAIN, line=self.record.line_of(again))
                if self.naming and hidden == self.width:
                    yield part(after, _unknown, (_depth(1),))
                for between in self.record.learned_maps(after) if self.naming else ():
                    for last in self.record.learned_maps(of(between.table), width=self.width):
                        yield part(last.table, _unknown, (_depth(3),))

    def _activations(self, h: Array) -> Iterator[tuple[str, Function, Array]]:
        """Recorded φ(h): those that have a name, or any in which close entries of h have close values."""
        known = {name: of(h) for name, of in ACTIVATIONS.items() if self.naming or of is not identity}
        yield from ((name, ACTIVATIONS[name], after) for name, after in known.items() if self.record.has(after))
        if self.naming:
            steps = np.diff(np.sort(h, axis=0), axis=0)
            for after in self.record.of_width(h.shape[1]):
                rises = np.abs(np.diff(np.take_along_axis(after, np.argsort(h, axis=0), axis=0), axis=0))
                if (rises <= _STEEPEST * steps).all() and not any(
                    self.record.close(after, each) for each in known.values()
                ):
                    yield _ANOTHER, _unknown, after

    # Attentions

    def _attentions(self, u: Array) -> Iterator[Part]:
        every = self.record.learned_maps(u)
        found = list(self._by_weights(every))
        yield from found
        if self.naming and all(NO_OUTPUT in part.mistakes for part in found):
            itself = AffineMap(u, np.eye(u.shape[1]), np.zeros(u.shape[1]), np.zeros(u.shape[1], bool))
            active = [replace(each, table=np.maximum(each.table, 0)) for each in every]
            yield from self._by_weights([itself], (NO_MAPS_OF_ITS_OWN,))
            yield from self._by_weights([each for each in active if self.record.has(each.table)], (_ACTIVE,))
            yield from self._by_mistake(every)

    def _by_weights(self, every: Sequence[AffineMap], named: tuple[Diagnosis, ...] = ()) -> Iterator[Part]:
        """The weights are recorded, and so are queries, keys, values and what is made of them."""
        for heads in _groups(self._heads(every), self.heads):
            for values in self._values(heads, every):
                yield from self._joined(heads, values, named)

    def _heads(self, every: Sequence[AffineMap]) -> list[_Head]:
        """For each recorded set of weights its queries and keys: log A = c q kᵀ but for a number in each row."""
        found: dict[int, _Head] = {}
        weights = self.record.weights
        if not weights:
            return []
        logs = _directions(np.log(np.maximum(weights, 1e-300)))
        saturated = np.array([weight.min() < 1e-290 for weight in weights])  # whose smallest logarithms are not known
        for maps in _by_width(every).values():
            tables = np.stack([self.record.sequences(each.table) for each in maps])  # (maps, B, N, width)
            for share, part in enumerate(self._shares(tables.shape[-1])):
                own = tables[..., part]
                for query, q in zip(maps, own, strict=True) if len(found) < len(weights) else ():
                    near = np.abs(_directions(q @ own.swapaxes(-1, -2)) @ logs.T) > _SAME_DIRECTION
                    near |= saturated
                    for key, number in np.argwhere(near):
                        if c := scores_of(weights[number], q, own[key], self.record.tolerance):
                            found.setdefault(number, _Head(weights[number], query, maps[key], part, share, c))
        return list(found.values())

    def _shares(self, width: int) -> list[slice]:
        """All columns, or one head's share of them: a block of neighbours, or every so-manieth."""
        size = width // self.heads
        if width % self.heads or self.heads == 1:
            return [slice(None)]
        blocks = [slice(head * size, (head + 1) * size) for head in range(self.heads)]
        return [slice(None), *blocks, *(slice(head, None, self.heads) for head in range(self.heads))]

    def _values(self, heads: Sequence[_Head], every: Sequence[AffineMap]) -> Iterator[list[_Values]]:
        """What the weights mix: the heads' shares of one map, or for each head a map of its own."""
        if heads[0].share or self.heads == 1:
            for layer in every:
                shares = self._shares(layer.table.shape[1])
                if len(shares) > heads[0].share:
                    values = [_Values(layer, shares[head.share]) for head in heads]
                    if self.record.has(np.hstack(self._mixed(heads, values))):
                        yield values
        else:
            whole = [_Values(layer, slice(None)) for layer in every]
            own = ([each for each in whole if self._is_in_a_table(*self._mixed([head], [each]))] for head in heads)
            yield from map(list, zip(*own, strict=False))

    def _is_in_a_table(self, part: Array) -> bool:
        """Whether this is recorded, by itself or as a head's share of a table."""
        rows, width = part.shape
        tables = self.record.of_width(self.heads * width).reshape(-1, rows, self.heads, width)
        first = np.abs(tables[:, 0] - part[0]).max(axis=-1) <= self.record.tolerance * max(1, np.abs(part).max())
        near = (tables[table, :, head] for table, head in np.argwhere(first))
        return self.record.has(part) or any(self.record.close(each, part) for each in near)

    def _mixed(self, heads: Sequence[_Head], values: Sequence[_Values]) -> list[Array]:
        """A V of each head."""
        sequences = self.record.sequences
        pairs = zip(heads, values, strict=True)
        return [self.record.table(head.weights @ sequences(v.layer.table[:, v.part])) for head, v in pairs]

    def _joined(
        self, heads: Sequence[_Head], values: Sequence[_Values], named: tuple[Diagnosis, ...]
    ) -> Iterator[Part]:
        mixed = self._mixed(heads, values)
        joined = np.hstack(mixed)
        roles = [*map(_distinct, ([h.query for h in heads], [h.key for h in heads], [v.layer for v in values]))]
        mix = partial(_mix, heads, values)
        line = self.record.line_of_weights(heads[0].weights)
        mistakes = self._scale(heads)
        if not heads[0].share and any(len(role) < self.heads for role in roles):
            mistakes = (*mistakes, _ONE_FOR_ALL)
        for out, *more in self._outputs(mixed):
            used = np.abs(out.matrix).reshape(len(heads), -1).max(axis=1)
            if (used > self.record.tolerance).all():
                wrong = named or (*mistakes, *_shared(*roles, [out]))
                yield Part([out, *more][-1].table, chained(mix, out, *more), wrong, line=line)
        if joined.shape[1] == self.width and self.record.has(joined):
            missing = (NO_OUTPUT,) if self.needs_output else ()
            yield Part(joined, mix, named or (*missing, *mistakes, *_shared(*roles)), line=line)
        if self.naming and self.heads > 1:
            for words, total in (("added", sum(mixed)), ("averaged", sum(mixed) / len(mixed))):
                for out in self.record.learned_maps(np.asarray(total), width=self.width):
                    said = Diagnosis(f"the heads are {words}; they should be joined side by side", "heads_not_joined")
                    yield Part(out.table, _unknown, (said,), line=self.record.line_of(np.asarray(total)))

    def _outputs(self, mixed: Sequence[Array]) -> Iterator[list[AffineMap]]:
        """W_O of all heads side by side; for each head its own, added up; or two such maps, one behind the other."""
        for out in self.record.learned_maps(*mixed):
            if out.table.shape[1] == self.width:
                yield [out]
            else:
                yield from ([out, more] for more in self.record.learned_maps(out.table, width=self.width))
        for own in zip(*(self.record.learned_maps(each, width=self.width) for each in mixed), strict=False):
            total = np.sum([each.table for each in own], axis=0)  # not recorded, if each is added to the residual
            if len(mixed) > 1:
                offset = np.sum([each.offset for each in own], axis=0)
                matrix, idle = np.vstack([each.matrix for each in own]), np.hstack([each.idle for each in own])
                yield [AffineMap(total, matrix, offset, idle)]

    def _scale(self, heads: Sequence[_Head]) -> tuple[Diagnosis, ...]:
        own = [head.c * sqrt(head.width) for head in heads]
        usual = [head.c * sqrt(self.width / self.heads) for head in heads]
        if any(np.allclose(found, 1, atol=self.record.tolerance) for found in (own, usual)):
            return ()
        c, width = heads[0].c, heads[0].width * self.heads
        for mistake, (mix, *_) in SELF_ATTENTION.items():
            scale = getattr(mix, "scale", None)
            if scale is not None and mistake and abs(scale(width, self.heads) - c) <= self.record.tolerance:
                of_a_head = "dim/heads" if width == self.width else "width of a head"
                return (Diagnosis(mistake.replace("dim/heads", of_a_head), mistake.code),)
        return (Diagnosis(f"the scores are multiplied by {c:.4g} instead of 1/√(dim/heads)", "wrong_scale"),)

    def _by_mistake(self, every: Sequence[AffineMap]) -> Iterator[Part]:
        """Queries, keys and values are recorded, and what a mistake makes of them."""
        for width, maps in _by_width(every).items():
            if len(maps) <= _MOST_MAPS and width % self.heads == 0:
                for mistake, mixes in SELF_ATTENTION.items():
                    for mix, chosen in product(mixes, _roles(maps)):
                        yield from self._mixed_by(mistake, mix, *chosen)

    def _mixed_by(self, mistake: Diagnosis, mix: Mix, *maps: AffineMap) -> Iterator[Part]:
        q, k, v = (self.record.sequences(each.table) for each in maps)
        with np.errstate(over="ignore", invalid="ignore"):  # as mistakes do
            mixed = mix(q, k, v, self.heads)
        if mixed.shape != v.shape or not self.record.has(table := self.record.table(mixed)):
            return
        named = (mistake,) if mistake else ()
        roles = tuple([each] for each in maps)
        line = self.record.line_of(table)
        for out in self.record.learned_maps(table, width=self.width):
            yield Part(out.table, _unknown, (*named, *_shared(*roles, [out])), line=line)
        if table.shape[1] == self.width:
            yield Part(
                table, _unknown, (*((NO_OUTPUT,) if self.needs_output else ()), *named, *_shared(*roles)), line=line
            )


@dataclass(frozen=True)
class _Head:
    weights: Array
    query: AffineMap
    key: AffineMap
    part: slice  # which columns of queries and keys are this head's
    share: int  # the number of that part among those that there may be
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


def _directions(scores: Array) -> Array:
    """Each (B, N, N) without the mean of its rows, as a vector of length one."""
    centred = (scores - scores.mean(axis=-1, keepdims=True)).reshape(*scores.shape[:-3], -1)
    size = np.linalg.norm(centred, axis=-1, keepdims=True)
    return np.asarray(centred / np.where(size > 0, size, 1))


def _by_width(maps: Iterable[AffineMap]) -> dict[int, list[AffineMap]]:
    found: dict[int, list[AffineMap]] = {}
    for each in maps:
        found.setdefault(each.table.shape[1], []).append(each)
    return found


def chained(*functions: Function) -> Function:
    """Each on what the one before made."""

    def chain(x: Array) -> Array:
        for function in functions:
            x = function(x)
        return x

    return chain


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


def _distinct(maps: Sequence[AffineMap]) -> list[AffineMap]:
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
