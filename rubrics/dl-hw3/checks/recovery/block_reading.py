"""An encoder block read from its tensors: first its matrices, with loose vectors at zero, then what each vector is.

A vector that belongs to no layer of torch's may be a bias of any matrix or a LayerNorm's shift. With all at zero the
matrices show by themselves; then one vector after the other shows its place, and nothing is tried with all else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice

import numpy as np

from grader import Array
from grader.modules import Workbench
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import FEATURES, OVER_BOTH, WITHOUT_GAIN_OR_SHIFT, WITHOUT_SHIFT, Variant
from reference.mistakes.mixing import NO_MAPS_OF_ITS_OWN, NO_OUTPUT, SELF_ATTENTION
from rubrics.module_recovery.fits import agree
from rubrics.module_recovery.layers import Linear, Mlp, Norm, Values, is_weight, linears, mlps, norms, partner

from .block_anatomy import Anatomy
from .block_fits import (
    ManyTokens,
    OneToken,
    Wanted,
    first,
    many_token_fits,
    one_token_fits,
    right_fits,
    shared_fits,
    unlike_alone,
)
from .vector_places import NO_SHIFT, has_both_shifts, with_vector

_MOST_UNLIKE = 6000  # fits tried in one view, at 0.2 ms each; layers as torch keeps them have some hundreds
_CONSTANT = 1e-6  # how far outputs of all tokens may differ where a gain of zero makes them all alike


@dataclass(frozen=True)
class BlockSizes:
    width: int
    heads: int
    hidden: int


@dataclass(frozen=True)
class Given:
    """What a block is run on, and how its outputs are turned to lie as its inputs do."""

    several: tuple[Array, ...]
    single: tuple[Array, ...]
    turned: Callable[[Array], Array]

    def outputs(self, bench: Workbench) -> tuple[list[Array], list[Array]]:
        ran = [self.turned(output) for output in bench.run(*((x,) for x in (*self.several, *self.single))).outputs]
        return ran[: len(self.several)], ran[len(self.several) :]


@dataclass(frozen=True)
class Answered(Given):
    """What it has been run on already."""

    known: tuple[list[Array], list[Array]]

    def outputs(self, bench: Workbench) -> tuple[list[Array], list[Array]]:
        return self.known


class Reading:
    """A block read in up to two ways, the second only if the first does not show that it is right."""

    def __init__(
        self, bench: Workbench, rng: np.random.Generator, sizes: BlockSizes, wanted: Wanted, given: Given
    ) -> None:
        self._view = partial(View.of, bench, rng, sizes, wanted, given)
        self.usual = self._view(bare=False)

    @cached_property
    def bare(self) -> View:
        return self._view(bare=True)

    @cached_property
    def is_right(self) -> bool:
        return self.usual.is_right() or self.bare.is_right()

    def told(self) -> list[Diagnosis] | None:
        """What is not as wanted, in words; an empty list if all is, None if nothing tried explains its values."""
        if self.is_right:
            return []
        told = self.usual.told()
        return self.bare.told() if told is None else told


@dataclass(frozen=True)
class View:
    """One way to look at a block's tensors: as torch's layers keep them, or each by itself, whatever it is called."""

    bench: Workbench  # with the loose vectors at zero
    full: Workbench
    sizes: BlockSizes
    wanted: Wanted
    given: Given
    names: dict[str, str]  # of the tensors that are not at zero, as they are read here
    vectors: tuple[str, ...]
    gains: dict[str, Array]  # as they work
    alone: frozenset[str]
    used: frozenset[str]

    @classmethod
    def of(
        cls, bench: Workbench, rng: np.random.Generator, sizes: BlockSizes, wanted: Wanted, given: Given, bare: bool
    ) -> View:
        loose = _loose(bench, sizes, bare)
        gains = _gains(bench, loose, given.several[0])
        vectors = tuple(name for name in loose if name not in gains)
        muted = replace(bench, values={**bench.values, **{name: 0 * bench.values[name] for name in vectors}})
        names = {
            name: name.replace("weight", "tensor").replace("bias", "vector") if bare else name
            for name in bench.values
            if name not in vectors
        }
        used, alone = (muted.influential(rng, (x,)) for x in (given.several[0], given.single[0]))
        return cls(
            muted,
            bench,
            sizes,
            wanted,
            given,
            names,
            vectors,
            {names[name]: gain for name, gain in gains.items()},
            frozenset(names[name] for name in alone if name in names),
            frozenset(names[name] for name in used if name in names),
        )

    @cached_property
    def values(self) -> Values:
        return {new: self.bench.values[old] for old, new in self.names.items()}

    @cached_property
    def outputs(self) -> tuple[list[Array], list[Array]]:
        return self.given.outputs(self.bench)

    @cached_property
    def anatomies(self) -> list[Anatomy]:
        """One for each choice of layers that may be the feed-forward network."""
        width, heads = self.sizes.width, self.sizes.heads
        own = {name: value for name, value in self.values.items() if name not in self.gains}
        kept = norms(own, width)
        kept += [Norm(name, NO_SHIFT, gain.reshape(-1), np.zeros(1)) for name, gain in self.gains.items()]
        used = {name: value for name, value in own.items() if name in self.alone or value.squeeze().ndim < 2}
        networks = list(_networks(used, width, self.sizes.hidden))
        if all(mlp.hidden != self.sizes.hidden for mlp in networks):
            networks += mlps(own, width, self.sizes.hidden)  # which is there, but never run
        return [
            Anatomy(self.values, width, heads, self.alone, self.used, (mlp,), tuple(kept), is_all=True)
            for mlp in networks
        ]

    @property
    def is_complete(self) -> bool:
        """Whether every matrix in use may be a part of the block, so that a right one would be explained."""
        return any(
            query.matrix.shape == value.matrix.shape  # parts of other widths are read into what is something else
            and self._have_places(query.matrix.shape[1])
            for anatomy in self.anatomies
            if not anatomy.is_too_much
            for value, output in anatomy.single()
            if value and output
            for query, _ in anatomy.asking(value, output)
        )

    def _have_places(self, joined: int) -> bool:
        """Whether each vector is as long as one that may be added somewhere; a number may be anything."""
        heads = {parts * size for parts in (1, 2, 3) for size in (joined, joined // self.sizes.heads)}
        known = {1, self.sizes.width, self.sizes.hidden} | heads
        return all(self.full.values[name].size in known for name in self.vectors)

    def is_right(self) -> bool:
        """Whether a block that is as wanted gives all its values."""
        x, output = np.concatenate(self.given.single), np.concatenate(self.outputs[1])
        for anatomy in self.anatomies:
            for single in right_fits(anatomy, self.wanted, x, output):
                if single.mistakes(self.wanted):
                    continue
                if fit := first(many_token_fits(anatomy, single), *self._several()):
                    return self._with_vectors(fit, []) == []
        return False

    def told(self) -> list[Diagnosis] | None:
        """What is not as wanted in this view, in words, or None."""
        if not self._is_sound:
            return None
        x, output = np.concatenate(self.given.single), np.concatenate(self.outputs[1])
        found: list[tuple[list[Diagnosis], Anatomy, OneToken]] = []
        for named in (False, True):
            found = found or [
                (single.mistakes(self.wanted), anatomy, single)
                for anatomy in self.anatomies
                for single in one_token_fits(anatomy, self.wanted, x, output, naming=named)
            ]
        if not found:
            return self._unlike_alone()
        fewest = min(len(mistakes) for mistakes, _, _ in found)
        best = [each for each in found if len(each[0]) == fewest]
        for mistakes, anatomy, single in best:
            if fit := first(many_token_fits(anatomy, single), *self._several()):
                return self._with_vectors(fit, mistakes)
        said = next(filter(None, (self._of_attention(anatomy, single) for _, anatomy, single in best)), None)
        mistakes, anatomy, single = best[0]
        if not said and single.value and not any(anatomy.asking(single.value, single.output)):
            mistakes = [NO_MAPS_OF_ITS_OWN if mistake == NO_OUTPUT else mistake for mistake in mistakes]
        return [*mistakes, said] if said else mistakes or None

    @cached_property
    def _is_sound(self) -> bool:
        """Whether what is at zero are vectors that are added: parts of maps would take the attention with them."""
        return _see_each_other(self.bench, self.given) or not _see_each_other(self.full, self.given)

    def _several(self) -> tuple[Sequence[Array], list[Array]]:
        return self.given.several, self.outputs[0]

    def _of_attention(self, anatomy: Anatomy, single: OneToken) -> Diagnosis | None:
        for mistake in SELF_ATTENTION:
            if fit := first(many_token_fits(anatomy, single, [mistake]), *self._several()):
                return fit.mistake
        if fit := first(shared_fits(anatomy, single), *self._several()):
            return fit.mistake
        if single.variant.norm == FEATURES:
            over_both = replace(single, variant=replace(single.variant, norm=OVER_BOTH))
            if first(many_token_fits(anatomy, over_both), *self._several()):
                return OVER_BOTH
        return None

    def _unlike_alone(self) -> list[Diagnosis] | None:
        right = [Variant(order, self.wanted.activations[0]) for order in self.wanted.orders]
        inputs, outputs = self._several()
        every = chain.from_iterable(unlike_alone(anatomy, right) for anatomy in self.anatomies)
        if fit := first(islice(every, _MOST_UNLIKE), inputs[:1], outputs[:1]):
            return [fit.mistake or fit.single.variant.norm, *fit.single.mistakes_of_the_network(self.wanted)]
        return None

    def _with_vectors(self, fit: ManyTokens, mistakes: list[Diagnosis]) -> list[Diagnosis] | None:
        """The mistakes, if every vector has a place: each is put to work in turn, beside those before it."""
        count = len(self.vectors)
        changes = [{name: self.full.values[name] for name in self.vectors[: n + 1]} for n in range(count)]
        runs = self.bench.run_changed(*((x,) for x in self.given.several), changes=changes) if changes else []
        is_idle = False
        for name, outputs in zip(self.vectors, runs, strict=True):
            value = self.full.values[name].reshape(-1)
            turned = [self.given.turned(output) for output in outputs]
            placed = first(with_vector(fit, name, value), self.given.several, turned)
            if placed is None:
                return mistakes or None
            is_idle |= placed is fit and value.size == self.sizes.width
            fit = placed
        if has_both_shifts(fit):
            return mistakes
        return [*mistakes, WITHOUT_SHIFT if is_idle else WITHOUT_GAIN_OR_SHIFT]


def _see_each_other(bench: Workbench, given: Given) -> bool:
    x = given.several[0]
    together, apart = (given.turned(output) for output in bench.run((x,), (x[:, :1],)).outputs)
    return not agree(together[:, :1], apart)


def _loose(bench: Workbench, sizes: BlockSizes, bare: bool) -> list[str]:
    """Vectors that belong to no layer of torch's; with `bare`, all there are."""
    owned = set() if bare else {partner(name, bench.values) for name in bench.values}
    return [
        name
        for name, value in bench.values.items()
        if _is_vector(value, sizes) and name not in owned and (bare or not is_weight(name))
    ]


def _is_vector(value: Array, sizes: BlockSizes) -> bool:
    """Biases of heads may have two axes: one counts the heads, or neither is one that a map starts from or leads to."""
    sides = value.squeeze().shape
    if len(sides) == 2 and 1 < sizes.heads in sides:
        return True
    return len(sides) < 2 or (not {sizes.width, sizes.hidden} & set(sides) and len(set(sides)) == len(sides) == 2)


def _gains(bench: Workbench, loose: Sequence[str], x: Array) -> dict[str, Array]:
    """Those that start as ones, and those without which all tokens give the same; and those that one is added to."""
    loose = [name for name in loose if bench.values[name].size == x.shape[-1]]
    changes = [{name: np.full_like(bench.values[name], gain)} for gain in (0, -1) for name in loose]
    alike = [np.ptp(output, axis=(0, 1)).max() < _CONSTANT for (output,) in bench.run_changed((x,), changes=changes)]
    found = {}
    for name, at_zero, below in zip(loose, alike, alike[len(loose) :], strict=False):
        if at_zero or np.all(bench.fresh[name] == 1):
            found[name] = bench.values[name]
        elif below:
            found[name] = 1 + bench.values[name]
    return found


def _networks(values: Values, width: int, hidden: int) -> Iterator[Mlp]:
    """Of the width asked for, be they of two layers or three; if there are none, of any width or of one layer."""
    every = mlps(values, width, hidden)
    if not every:
        nothing = Linear("", "", ("feature",), 0, 0, np.eye(width), np.zeros(width))
        one_layer = [Mlp(layer, nothing) for layer in linears(values, width, width) if not layer.is_packed]
        every = [*mlps(values, width), *mlps(values, width, width), *one_layer]
    yield from every
    for mlp in every:
        for layer in linears(values, mlp.hidden, mlp.hidden):
            if not layer.is_packed and layer.weight not in mlp.weights:
                yield replace(mlp, between=(layer,))
