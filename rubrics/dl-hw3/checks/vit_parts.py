"""What a ViT computes, found among its recorded values: tokens, blocks, head.

z₀ = [class; E₁ … E_N] + P with Eₙ = W·patchₙ + b, then one block after the other, then logits = head(z at the class
token). E may come from a LayerNorm and go through one, and so may z₀ and what the head is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, product

import numpy as np

from grader import RTOL, Array, Student
from grader.modules import Record, Recorded
from reference.equations import Function, identity
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import ACTIVATIONS, WITHOUT_SHIFT
from rubrics.module_recovery.blocks import Explanation, Wanted, explanations
from rubrics.module_recovery.sublayers import Part, Sublayers, chained

from ..public.image_bench import ImageBench, Sizes, on_images

_IMAGES = 11  # no other side is as long; 110 rows of tokens are more than the unknowns of a layer of 4·dim units
_HEAD_ACTIVATIONS = ("tanh", "GELU", "ReLU", "GELU by tanh", "SiLU")
_BEHIND_HEAD = "activation_behind_head"
_NOT_PATCHES = Diagnosis(
    "its tokens are not its patches mapped linearly, with a class token and positions", "tokens_not_patches"
)

# What the head reads of tokens (B, N + 1, D), given the place of the class token.
CLASS_TOKEN = Diagnosis("the class token")
POOLS: dict[Diagnosis, Callable[[Array, int], Array]] = {
    CLASS_TOKEN: lambda z, place: z[:, place],
    Diagnosis("the mean of all tokens", "head_reads_mean"): lambda z, place: z.mean(axis=1),
    Diagnosis("the mean of the patches", "head_reads_mean"): lambda z, place: _patches(z, place).mean(axis=1),
    Diagnosis("the last token", "head_reads_last_token"): lambda z, place: z[:, -1],
    Diagnosis("the first patch", "head_reads_first_patch"): lambda z, place: _patches(z, place)[:, 0],
    Diagnosis("the largest of the tokens", "head_reads_maximum"): lambda z, place: z.max(axis=1),
    Diagnosis("the largest of the patches", "head_reads_maximum"): lambda z, place: _patches(z, place).max(axis=1),
    Diagnosis("the sum of the tokens", "head_reads_sum"): lambda z, place: z.sum(axis=1),
}


def _patches(z: Array, place: int) -> Array:
    return np.delete(z, place, axis=1)


@dataclass(frozen=True)
class Tokens:
    """z₀ = [class; E] + P; without `embed`, it is not known how its patches are made."""

    table: Array  # z₀: (B·(N + 1), D)
    place: int  # of the class token
    constant: Array  # P, with the class token where that stands: (N + 1, D)
    embed: Function | None = None  # images → E (B, N, D)
    class_is_constant: bool = True

    @property
    def positions(self) -> Array:
        return np.delete(self.constant, self.place, axis=0)

    @property
    def has_positions(self) -> bool:
        return bool(np.ptp(self.positions, axis=0).max() > 1e-3)

    def of(self, images: Array) -> Array:
        assert self.embed
        return np.insert(self.embed(images), self.place, 0.0, axis=1) + self.constant


@dataclass(frozen=True)
class Model:
    """A whole ViT as it was found."""

    tokens: Tokens
    first: Part  # a LayerNorm before the blocks, or nothing
    blocks: tuple[Explanation, ...]
    last: Part  # a LayerNorm behind them, or nothing
    read: Diagnosis  # what the head reads: one of POOLS
    head: Part

    @property
    def kinds(self) -> set[tuple[str, str]]:
        return {(block.order, block.parts["feed"].activation) for block in self.blocks if "feed" in block.parts}

    @property
    def uses_a_layer_twice(self) -> bool:
        """Whether two blocks have an attention, a network or a LayerNorm that gives the same."""
        x = np.random.default_rng(0).normal(size=(1, *self.tokens.constant.shape))
        given = [{name: part.function(x) for name, part in block.parts.items()} for block in self.blocks]
        pairs = combinations(given, 2)
        return any(np.allclose(one[name], other[name]) for one, other in pairs for name in one.keys() & other.keys())

    def mistakes(self, wanted: Wanted) -> list[Diagnosis]:
        found = [mistake for block in self.blocks for mistake in block.mistakes(wanted)]
        found += [*self.first.mistakes, *self.last.mistakes, *self.head.mistakes]
        if self.read != CLASS_TOKEN:
            found.append(Diagnosis(f"the head reads {self.read} instead of the class token", self.read.code))
        if not self.tokens.embed:
            found.append(_NOT_PATCHES)
        return [mistake for mistake in dict.fromkeys(found) if mistake != WITHOUT_SHIFT]  # which is left open

    def line(self, wanted: Wanted) -> int:
        """Of the student's code, where the first wrong value of a block was made; 0 if that is not known."""
        return next((line for block in self.blocks if (line := block.line(wanted))), 0)

    def agrees_with(self, images: Array, logits: Array) -> bool:
        """Whether its parts make these logits of images."""
        z = self.first.function(self.tokens.of(images))
        for block in self.blocks:
            z = block.on(z)
        made = self.head.function(POOLS[self.read](self.last.function(z), self.tokens.place))
        # The ε of a LayerNorm is left open. Through three blocks it moves all logits by some 10⁻⁵ of the largest.
        return bool(np.abs(made - logits).max() <= RTOL * np.abs(logits).max())


@dataclass
class Recording:
    """One run of a ViT on random images, with all that it computed on the way."""

    bench: ImageBench
    sizes: Sizes
    images: Array
    _sublayers: dict[bool, Sublayers] = field(default_factory=dict)

    @classmethod
    def of(cls, student: Student, rng: np.random.Generator, file: str, name: str, sizes: Sizes) -> Recording:
        return cls(on_images(student, rng, file, name, sizes), sizes, sizes.images(rng, _IMAGES))

    @cached_property
    def logits(self) -> Array:
        return self.bench.run((self.images,)).outputs[0]

    @cached_property
    def names(self) -> list[str]:
        """Of its parameters, in the order in which the student's code makes them."""
        return list(self.bench.fresh)

    @property
    def size(self) -> int:
        return sum(value.size for value in self.bench.values.values())

    @cached_property
    def _recorded(self) -> Recorded:
        return self.bench.recorded((self.images,))

    def _record(self, tokens: int, shown: Callable[[Array], Array | None] = identity) -> Record:
        """What was recorded, as far as it is shown, with so many rows for each image."""
        pairs = zip(map(shown, self._recorded.values), self._recorded.lines, strict=True)
        values, lines = zip(*((turns, line) for turns, line in pairs if turns is not None), strict=True)
        recorded = replace(self._recorded, values=list(values), lines=list(lines))
        return Record(recorded, [self.bench.values[name] for name in self.names], len(self.images), tokens)

    @cached_property
    def encoder(self) -> Record:
        """Tables with a row for each token."""
        return self._record(self.sizes.patches + 1)

    @cached_property
    def _patches_record(self) -> Record:
        """Tables with a row for each patch."""
        return self._record(self.sizes.patches, partial(_with_grids_as_rows, side=self.sizes.side))

    @cached_property
    def _head_record(self) -> Record:
        """Tables with a row for each image."""
        return self._record(1, lambda turns: turns if np.squeeze(turns[0]).ndim == 2 else None)

    def sublayers(self, naming: bool) -> Sublayers:
        if naming not in self._sublayers:
            self._sublayers[naming] = Sublayers(self.encoder, self.sizes.heads, self.sizes.dim, naming=naming)
        return self._sublayers[naming]

    def summands(self, rows: Array) -> list[list[int]]:
        """For each row the vectors among the parameters whose sum it is; none where something else is added."""
        return [self.encoder.parameters.summands(row) for row in rows]

    def norms_of(self, block: Explanation) -> list[object]:
        """Where the parameters of its LayerNorms are."""
        learned = [place for name in ("one", "two") if name in block.parts for place in block.parts[name].learned]
        return [(self.names[place[0]], place[1]) for place in learned if isinstance(place, tuple)]

    @cached_property
    def count_of_tokens(self) -> int:
        """How many there are in most of what it computes; 0 if there are none."""
        shapes = [turns.shape[1:] for turns in self._recorded.values]
        counts = Counter(s[1] for s in shapes if len(s) == 3 and s[::2] == (len(self.images), self.sizes.dim))
        return max(counts, key=lambda count: counts[count], default=0)

    @cached_property
    def ignores_images(self) -> bool:
        return self._stays(self.logits)

    @property
    def weighs_tokens(self) -> bool:
        """Whether some weights that sum to one are not the same for all images."""
        return any(not self._stays(weights) for weights in self.encoder.weights)

    @property
    def multiplies_by_positions(self) -> bool:
        """z₀ = [class; E] ⊙ P, with rows of P that are parameters'."""
        for tokens in self.tokens:
            for table in self.encoder.of_width(self.sizes.dim) if tokens.embed else ():
                factors = self.encoder.sequences(table / tokens.table)
                if self._stays(factors) and all(self.summands(factors[0])):
                    return True
        return False

    def progress(self) -> str:
        """Which relations were found among its values, up to the first that was not."""
        sublayers = self.sublayers(naming=True)
        if not self.tokens or not self.tokens[0].embed:
            return "no tokens were found that are patches, mapped linearly, with something added"
        z = self.tokens[0].table
        if not (attentions := [part for u in _with_norm(sublayers, z) for part in sublayers.attentions(u.output)]):
            return "patches and what is added to them were found; the attention of block 1 was not"
        for y in (y for part in attentions for y in (z + part.output, part.output)):
            for u in (v for n in _with_norm(sublayers, y) for v in _with_norm(sublayers, n.output)):
                if sublayers.networks(u.output):
                    return (
                        "patches, attention and feed-forward network were found; how block and head join them was not"
                    )
        return "patches and attention were found; no feed-forward network of two layers with a known activation was"

    @cached_property
    def tokens(self) -> list[Tokens]:
        """What may stand at the start of the encoder: first what has positions, and is made of parameters."""

        def likely(tokens: Tokens) -> tuple[bool, bool, int]:
            return tokens.has_positions, tokens.class_is_constant, sum(map(bool, self.summands(tokens.constant)))

        every = list(self._tokens(self._embedded())) or list(self._tokens(self._other_patches()))
        return sorted(every, key=likely, reverse=True) or list(self._other_tokens())

    def _tokens(self, patches: Iterable[tuple[Array, Function | None]]) -> Iterator[Tokens]:
        places = range(self.sizes.patches + 1)
        tables = [self.encoder.sequences(table) for table in self.encoder.of_width(self.sizes.dim)]
        for embedded, embed in patches:
            for z in tables:
                constant = [place for place in places if self._stays(z[:, place])]
                for place in constant or (0, places[-1]):
                    added = _patches(z, place) - embedded
                    if self._stays(added):
                        rows = np.insert(added.mean(axis=0), place, z[:, place].mean(axis=0), axis=0)
                        yield Tokens(self.encoder.table(z), place, rows, embed, bool(constant))

    def _other_tokens(self) -> Iterator[Tokens]:
        for table in self.encoder.of_width(self.sizes.dim):
            z = self.encoder.sequences(table)
            constant = [place for place in range(z.shape[1]) if self._stays(z[:, place])]
            if len(constant) == 1:
                rows = np.zeros(z.shape[1:])
                rows[constant[0]] = z[0, constant[0]]
                yield Tokens(table, constant[0], rows)

    def _stays(self, values: Array) -> bool:
        """Whether it is the same for all images."""
        return bool(np.ptp(values, axis=0).max() <= self.encoder.tolerance * max(1.0, np.abs(values).max()))

    def _other_patches(self) -> Iterator[tuple[Array, None]]:
        record = self._patches_record
        yield from ((record.sequences(table), None) for table in record.of_width(self.sizes.dim))

    def _embedded(self) -> Iterator[tuple[Array, Function]]:
        """(B, N, D) made of patches, by an affine map of their pixels with parameters' numbers, perhaps normalised."""
        record = self._patches_record
        narrow, wide = (Sublayers(record, 1, width) for width in (self.sizes.pixels, self.sizes.dim))
        for by_column, order in product((False, True), range(6)):  # a LayerNorm of pixels knows their order
            cut = partial(self._cut, by_column=by_column, order=order)
            pixels = record.table(cut(self.images))
            for before in [*([Part(pixels, identity)] if order == 0 else []), *narrow.norms(pixels)]:
                for layer in record.learned_maps(before.output, width=self.sizes.dim):
                    for after in _with_norm(wide, layer.table):
                        yield record.sequences(after.output), chained(cut, before.function, layer, after.function)

    def _cut(self, images: Array, by_column: bool, order: int) -> Array:
        return list(self.sizes.cut(images, by_column))[order]

    def models(
        self, orders: Sequence[Diagnosis], most: int, pools: Sequence[Diagnosis], naming: bool = False
    ) -> Iterator[Model]:
        """Every way to get from the tokens to the logits, by up to so many blocks; more of them first."""
        sublayers = self.sublayers(naming)
        for tokens in self.tokens:
            for first in _with_norm(sublayers, tokens.table):
                for blocks, z in self._stacks(sublayers, first.output, orders, most):
                    # The mean of normalised tokens is another than the mean, normalised.
                    for last, read in product(_with_norm(sublayers, z), pools):
                        for head in self._heads(POOLS[read](self.encoder.sequences(last.output), tokens.place)):
                            yield Model(tokens, first, blocks, last, read, head)

    def _stacks(
        self, sublayers: Sublayers, z: Array, orders: Sequence[Diagnosis], most: int
    ) -> Iterator[tuple[tuple[Explanation, ...], Array]]:
        for block in explanations(sublayers, z, None, orders) if most else ():
            for more, last in self._stacks(sublayers, block.output, [block.order], most - 1):
                yield (block, *more), last
        yield (), z

    def _heads(self, t: Array) -> Iterator[Part]:
        """logits = W u + b or W₂ φ(W₁ u + b₁) + b₂, with u = t or LN(t); t has a row for each image."""
        if self.ignores_images:  # then blocks can be named, but no head is known
            yield Part(self.logits, lambda x: np.full_like(x, np.nan))
            return
        record = self._head_record
        inner, outer = (Sublayers(record, 1, width) for width in (self.sizes.dim, self.sizes.classes))
        for norm in _with_norm(inner, t):
            plain = [Part(layer.table, layer) for layer in record.learned_maps(norm.output, width=self.sizes.classes)]
            deep = [part for part in outer.networks(norm.output) if part.activation in _HEAD_ACTIVATIONS]
            for part in (*plain, *deep):
                head = chained(norm.function, part.function)
                if record.close(part.output, self.logits):
                    yield Part(self.logits, head, norm.mistakes)
                for name, activation in ACTIVATIONS.items():
                    if activation is not identity and record.close(activation(part.output), self.logits):
                        said = Diagnosis(f"{name} stands behind the head", _BEHIND_HEAD)
                        yield Part(self.logits, chained(head, activation), (*norm.mistakes, said))


def _with_norm(sublayers: Sublayers, u: Array) -> list[Part]:
    """As it is, and through each LayerNorm that it was given to."""
    return [Part(u, identity), *sublayers.norms(u)]


def _with_grids_as_rows(turns: Array, side: int) -> Array:
    """(…, N, …) of (…, √N, √N, …)."""
    for axis in range(2, turns.ndim - 1):
        if turns.shape[axis : axis + 2] == (side, side):
            return turns.reshape(*turns.shape[:axis], side * side, *turns.shape[axis + 2 :])
    return turns
