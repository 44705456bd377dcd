"""What a ViT computes, found from the inside out: its parameters can make any tokens of any image.

With equal tokens attention changes nothing, which shows the block and the head; with other tokens, set through class
token and positions, queries and keys show; with images, the patch projection; with three blocks, the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain, permutations, product

import numpy as np

from grader import Array
from grader.modules import Workbench
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.encoder_blocks import POST, PRE, RELU, Variant
from reference.mistakes.mixing import RIGHT, SELF_ATTENTION
from reference.numpy_layers import layer_norm
from rubrics.module_recovery.fits import agree
from rubrics.module_recovery.layers import Values, loose_vectors, mlps, norms, partner

from ...public.image_bench import Sizes
from .block_anatomy import Anatomy
from .block_fits import ManyTokens, OneToken, Tails, Wanted, many_token_fits, one_token_fits, shared_fits, unlike_alone
from .vit_stack import Tail, finishes, tail_of, tails
from .vit_tokens import WayIn, believable_ways_in

_WANTED = Wanted((PRE, POST), ("GELU", RELU, "GELU by tanh", "SiLU"))
# Layers that may be the feed-forward network; usual models have one or two pairs. Where each head has an output layer
# of its own there are dozens, and trying them all would use up the time that the student's code is given.
_MOST_NETWORKS = 12
_MOST_FITS = 3000  # of one way to put a block together, with every network; usual models have a hundred
_MOST_NORMS = 6  # usual models have two or three; vectors nobody knows the place of make dozens
_NOTHING = Diagnosis("")
_OTHER_TOKENS = Diagnosis(
    "its tokens are not its patches mapped linearly, with a class token and positions", "tokens_not_patches"
)
UNEXPLAINED = Diagnosis("something in its encoder or its head is unlike every reading left open", "outputs_differ")
_SEES_ITSELF = Diagnosis(
    "the class token attends to itself alone (a mask, or nn.MultiheadAttention without batch_first=True?)",
    "class_token_sees_itself_alone",
)

# What the head reads of all tokens and of the patches; the class token is tried before all these.
_POOLS: dict[Diagnosis, Callable[[Array, Array], Array]] = {
    Diagnosis("the mean of all tokens", "head_reads_mean"): lambda tokens, patches: tokens.mean(axis=1),
    Diagnosis("the mean of the patches", "head_reads_mean"): lambda tokens, patches: patches.mean(axis=1),
    Diagnosis("the last token", "head_reads_last_token"): lambda tokens, patches: patches[:, -1],
    Diagnosis("the first patch", "head_reads_first_patch"): lambda tokens, patches: patches[:, 0],
    Diagnosis("the largest of the tokens", "head_reads_maximum"): lambda tokens, patches: tokens.max(axis=1),
    Diagnosis("the largest of the patches", "head_reads_maximum"): lambda tokens, patches: patches.max(axis=1),
    Diagnosis("the sum of the tokens", "head_reads_sum"): lambda tokens, patches: tokens.sum(axis=1),
}


@dataclass(frozen=True)
class Found:
    """A complete fit of a ViT with one block."""

    values: Values = field(compare=False, repr=False)  # in the order in which the student's code has made them
    way_in: WayIn
    layout: int  # which of the orders in which pixels may be laid out
    anatomy: Anatomy
    block: ManyTokens
    tail: Tail

    @property
    def order(self) -> str:
        return self.block.single.variant.order

    @property
    def activation(self) -> str:
        return self.block.single.variant.activation


def read_one_block(
    bench: Workbench, rng: np.random.Generator, sizes: Sizes, is_guess: bool = False
) -> Found | Diagnosis | None:
    """The fit that gives its values, the mistake that does, or None if neither was found.

    Where it is a guess which tensors belong together, only a mistake that gives its values counts.
    """
    said = _NOTHING
    believable = believable_ways_in(bench, rng, sizes)
    for naming, way_in in product((False, True), believable):  # mistakes are looked for once nothing is right
        if naming and not way_in.class_token:  # a class token that is not learned would look like this, too
            continue
        found = _read_from(bench, rng, sizes, way_in, naming)
        if isinstance(found, Found):
            return found
        if way_in.class_token and said in ("", UNEXPLAINED):
            said = found
    return (None if is_guess and said in (UNEXPLAINED, _OTHER_TOKENS) else said) or None


@dataclass(frozen=True)
class _Encoder:
    """What equal tokens show of the encoder and the head."""

    anatomies: list[Anatomy]  # one for each pair of layers that may be the feed-forward network
    ends: Tails
    draws: Array  # the tokens, and what it makes of them
    logits: Array
    is_usual: bool


def _with_one_block(bench: Workbench, way_in: WayIn, anatomy: Anatomy, found: ManyTokens) -> Found:
    made = {name: bench.values[name] for name in bench.fresh}
    return Found(made, way_in, 0, anatomy, found, tail_of(found.single))


def _encoder(bench: Workbench, rng: np.random.Generator, sizes: Sizes, way_in: WayIn, naming: bool) -> _Encoder | None:
    """None if no layers could be its feed-forward network, or so many that trying them would take too long."""
    x = sizes.images(rng, 1)
    draws = rng.normal(size=(4, sizes.dim))
    equal = [np.ones((sizes.patches + 1, 1)) * row for row in draws]
    muted = replace(bench, values={**bench.values, **way_in.with_tokens(bench.values, equal[0])})
    to_equal = frozenset(muted.influential(rng, (x,)))
    logits = _logits(bench, x, way_in, equal)
    anatomies = _anatomies(bench, rng, sizes, way_in, to_equal, x, naming)
    if not anatomies or len(anatomies) > _MOST_NETWORKS or len(anatomies[0].norms) > _MOST_NORMS:
        return None
    is_usual = len(anatomies) == 1 and _is_usual(anatomies[0])
    likely = _likely_tails(bench, sizes, way_in, anatomies[0], x, equal)
    anatomies = [_without_the_head(anatomy, likely) for anatomy in anatomies]
    if sum(len(list(anatomy.single())) * len(anatomy.norm_pairs()) for anatomy in anatomies) > _MOST_FITS:
        return None
    given = way_in.given(bench.values, draws[:, None])
    return _Encoder(anatomies, partial(finishes, likely), given, logits, is_usual)


def _read_from(
    bench: Workbench, rng: np.random.Generator, sizes: Sizes, way_in: WayIn, naming: bool
) -> Found | Diagnosis:
    encoder = _encoder(bench, rng, sizes, way_in, naming)
    if encoder is None:
        return _NOTHING
    anatomies, ends, given, logits = encoder.anatomies, encoder.ends, encoder.draws, encoder.logits
    said = UNEXPLAINED if encoder.is_usual else _NOTHING
    if naming and len(anatomies) > 1:  # a network that fits equal tokens is the one; mistakes take longer to try
        anatomies = [
            each for each in anatomies if one_token_fits(each, _WANTED, given, logits, ends, False)
        ] or anatomies
    for anatomy in anatomies:
        seen = one_token_fits(anatomy, _WANTED, given, logits, ends, naming)
        if not seen and naming:
            said = _unlike_equal(bench, rng, sizes, way_in, anatomy, ends) or said
        if not seen:
            continue
        if mistakes := min((single.mistakes(_WANTED) for single in seen), key=len):
            return all_of(mistakes)
        found = _attention(bench, rng, sizes, way_in, anatomy, seen, naming)
        if isinstance(found, ManyTokens):
            return _patches(bench, rng, sizes, _with_one_block(bench, way_in, anatomy, found))
        said = found or said
    return said


def _without_the_head(anatomy: Anatomy, likely: list[Tail]) -> Anatomy:
    """The block alone, if it is known which layers are the head: then every other matrix is the block's."""
    heads = {tuple(layer.weight for layer in tail.layers) for tail in likely}
    if len(heads) != 1:
        return anatomy
    (head,) = heads
    return replace(anatomy, alone=anatomy.alone - set(head), used=anatomy.used - set(head), is_all=True)


def _is_usual(anatomy: Anatomy) -> bool:
    """Whether every tensor has a part to play, so that an unusual model does not explain what fits do not."""
    known = {name for norm in anatomy.norms for name in (norm.gain, norm.shift)}
    known |= {partner(name, anatomy.values) for name in anatomy.values}
    vectors = {name for name, value in anatomy.values.items() if value.squeeze().ndim < 2}
    return not anatomy.unread(apart_from_the_head=True) and len(anatomy.norms) in (2, 3) and vectors <= known


def _likely_tails(
    bench: Workbench, sizes: Sizes, way_in: WayIn, anatomy: Anatomy, x: Array, equal: list[Array]
) -> list[Tail]:
    """What may follow the blocks: with every matrix of theirs at zero, residuals alone are left of them."""
    every = list(tails(anatomy.values, sizes.dim, sizes.classes, anatomy.norms))
    pairs = [(), *permutations(anatomy.norms, 2)]  # LayerNorms of a post-norm block remain
    found: list[Tail] = []
    for layers in dict.fromkeys(tail.layers for tail in every):
        kept = {layer.weight for layer in layers}
        silent = {
            name: np.zeros_like(anatomy.values[name])
            for matrix, value in anatomy.values.items()
            if value.squeeze().ndim > 1 and matrix not in kept
            for name in (matrix, partner(matrix, anatomy.values))
            if name
        }
        changes = [{**way_in.with_tokens(bench.values, tokens), **silent} for tokens in equal]
        logits = np.concatenate([row for (row,) in bench.run_changed((x,), changes=changes)])
        tokens = way_in.given(bench.values, np.stack([each[0] for each in equal]))
        for tail, pair in product((tail for tail in every if tail.layers == layers), pairs):
            given = reduce(lambda t, norm: norm(t, layer_norm), pair, tokens)
            if tail.norm not in pair and tail not in found and agree(tail(given), logits):
                found.append(tail)
    return found or [tail for tail in every if len(tail.layers) == 1] or every


def _anatomies(
    bench: Workbench,
    rng: np.random.Generator,
    sizes: Sizes,
    way_in: WayIn,
    to_equal: frozenset[str],
    x: Array,
    naming: bool,
) -> list[Anatomy]:
    """One for each pair of layers that may be the feed-forward network."""
    outside = way_in.names
    values = {name: value for name, value in bench.values.items() if name not in outside}
    used = frozenset(bench.influential(rng, (x,))) - outside
    loose = [name for name in loose_vectors(values, sizes.dim) if np.all(bench.fresh[name] == 1)]
    found = tuple(norms(values, sizes.dim, loose))
    wide = mlps(values, sizes.dim)
    # A hidden layer as wide as a token could be any pair of layers that matter to equal tokens.
    narrow = [mlp for mlp in mlps(values, sizes.dim, sizes.dim) if mlp.weights <= to_equal]
    return [
        Anatomy(values, sizes.dim, sizes.heads, to_equal - outside, used, (mlp,), found)
        for mlp in ([*wide, *narrow] if not naming else wide or narrow)
    ]


def _logits(bench: Workbench, x: Array, way_in: WayIn, tokens: list[Array]) -> Array:
    """(draws, classes): what the model makes of tokens that its parameters, not its image, hold."""
    rows = bench.run_changed((x,), changes=[way_in.with_tokens(bench.values, each) for each in tokens])
    return np.concatenate([logits for (logits,) in rows])


def _attention(
    bench: Workbench,
    rng: np.random.Generator,
    sizes: Sizes,
    way_in: WayIn,
    anatomy: Anatomy,
    seen: Iterable[OneToken],
    naming: bool,
) -> ManyTokens | Diagnosis:
    draws = rng.normal(size=(3, sizes.patches + 1, sizes.dim))
    logits = _logits(bench, sizes.images(rng, 1), way_in, list(draws))
    draws = way_in.given(bench.values, draws)

    def first(fits: Callable[[OneToken], Iterator[ManyTokens]], pool: Callable[[Array], Array]) -> ManyTokens | None:
        for fit in chain.from_iterable(map(fits, seen)):
            # One at a time, as the model saw them: some mistakes mix a batch.
            encoded = (fit.run(draws[n : n + 1]) for n in range(len(draws)))
            if all(_leads_to(tail_of(fit.single), pool, x, row) for x, row in zip(encoded, logits, strict=True)):
                return fit
        return None

    def class_token(x: Array) -> Array:
        return np.asarray(x[:, way_in.place])

    right = partial(many_token_fits, anatomy)
    if (found := first(right, class_token)) or not naming:
        return found or _NOTHING
    for read, pool in _POOLS.items():
        # mypy cannot infer the type of a lambda with a default.
        if first(right, lambda x, pool=pool: pool(x, np.delete(x, way_in.place, axis=1))):  # type: ignore[misc]
            return Diagnosis(f"the head reads {read} instead of the class token", read.code)
    if any(agree(tail_of(single)(class_token(single.run(draws))), logits) for single in seen):
        return _SEES_ITSELF
    wrong = (partial(many_token_fits, anatomy, mistakes=(mistake,)) for mistake in SELF_ATTENTION if mistake != RIGHT)
    for fits in (*wrong, partial(shared_fits, anatomy)):
        if found := first(fits, class_token):
            return found.mistake
    return _NOTHING


def _leads_to(tail: Tail, pool: Callable[[Array], Array], x: Array, logits: Array) -> bool:
    """Whether the tail gives these logits, be its LayerNorm before or behind what makes one token of all."""
    return agree(tail(pool(x))[0], logits) or agree(tail.head(pool(tail.normed(x)))[0], logits)


def _unlike_equal(
    bench: Workbench, rng: np.random.Generator, sizes: Sizes, way_in: WayIn, anatomy: Anatomy, ends: Tails
) -> Diagnosis:
    """The mistake that explains its values, of those in whose attention equal tokens do not stay equal."""
    tokens = rng.normal(size=(1, sizes.patches + 1, sizes.dim))
    logits = _logits(bench, sizes.images(rng, 1), way_in, list(tokens))
    tokens = way_in.given(bench.values, tokens)
    usual = [Variant(PRE, "GELU"), Variant(POST, RELU), Variant(PRE, RELU), Variant(POST, "GELU")]
    for fit in unlike_alone(anatomy, usual, ends):
        if agree(tail_of(fit.single)(fit.run(tokens)[:, way_in.place]), logits):
            return fit.mistake or fit.single.variant.norm
    return _NOTHING


def _patches(bench: Workbench, rng: np.random.Generator, sizes: Sizes, found: Found) -> Found | Diagnosis:
    images = sizes.images(rng, 2)
    (logits,) = bench.run((images,)).outputs
    for layout, embedded in enumerate(found.way_in.embeddings(bench.values, sizes, images)):
        encoded = found.block.run(found.way_in.tokens(bench.values, embedded))
        if agree(found.tail(encoded[:, found.way_in.place]), logits):
            return replace(found, layout=layout)
    return _OTHER_TOKENS
