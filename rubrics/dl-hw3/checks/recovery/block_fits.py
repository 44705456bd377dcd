"""What a block computes, found in two steps that need no guess at all of it at once.

A single token attends to itself alone: its output shows values, output projection, LayerNorms, residuals and the
feed-forward network. Several tokens then show queries, keys and how the weights are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from math import sqrt

import numpy as np

from grader import Array
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import (
    FEATURES,
    NO_ATTENTION,
    NO_MLP,
    OVER_TOKENS,
    SHARED_NORM,
    WITHOUT_GAIN_OR_SHIFT,
    Variant,
    block,
    variants,
)
from reference.mistakes.mixing import NO_OUTPUT, RIGHT, SELF_ATTENTION, UNLIKE_ALONE, Mix
from reference.numpy_attention import Mixing
from reference.numpy_layers import Function, identity
from rubrics.module_recovery.fits import agree, explanation
from rubrics.module_recovery.layers import PLAIN_NORM, Linear, Mlp, Norm

from .block_anatomy import Anatomy
from .head_maps import ADDED, AVERAGED

Tails = Callable[[tuple[Norm, ...]], Iterator[tuple[object, Function]]]


@dataclass(frozen=True)
class Wanted:
    """What the assignment leaves open in a block."""

    orders: tuple[Diagnosis, ...]
    activations: tuple[str, ...]
    output: bool = True  # behind a single head, W_O and W_V are one map, and W_O may be left out
    hidden: int | None = None  # the width of the hidden layer, if it is not left open


@dataclass(frozen=True)
class OneToken:
    """A block as a single token shows it."""

    value: Linear | None
    output: Linear | None
    mlp: Mlp
    norms: tuple[Norm, Norm]
    variant: Variant
    tail: object  # what follows the block
    finish: Function

    def run(self, x: Array, attend: Function | None = None) -> Array:
        """The block, with tokens that attend to themselves only unless it is said how else."""
        return block(x, attend or self._attend_to_itself, self.mlp, self.norms, self.variant)

    def _attend_to_itself(self, x: Array) -> Array:
        if self.value is None:
            return np.zeros_like(x)
        return self.output(self.value(x)) if self.output else self.value(x)

    def mistakes(self, wanted: Wanted) -> list[Diagnosis]:
        """What is not as asked, in words."""
        found = self.variant.mistakes(wanted.orders, wanted.activations)
        if wanted.output and self.output is None and self.variant.order.code != NO_ATTENTION:
            found.append(NO_OUTPUT)
        if self.output and self.output.layout in ((ADDED,), (AVERAGED,)):
            words = f"the heads are {self.output.layout[0]}; they should be joined side by side"
            found.append(Diagnosis(words, "heads_not_joined"))
        if self.variant.order.code != NO_MLP:
            found += self.mistakes_of_the_network(wanted)
        if "LayerNorm" in self.variant.order or self.variant.norm != FEATURES:
            return found
        if self.norms[0] == self.norms[1] != PLAIN_NORM:
            return [*found, SHARED_NORM]
        if any(not norm.gain or not norm.shift for norm in self.norms):
            found.append(WITHOUT_GAIN_OR_SHIFT)
        return found

    def mistakes_of_the_network(self, wanted: Wanted) -> list[Diagnosis]:
        found = []
        if not self.mlp.narrow.weight:
            return [Diagnosis("the feed-forward network has one layer instead of two", "wrong_mlp_depth")]
        if self.mlp.between:
            words = f"the feed-forward network has {len(self.mlp.between) + 2} layers instead of two"
            found.append(Diagnosis(words, "wrong_mlp_depth"))
        if wanted.hidden not in (None, self.mlp.hidden):
            words = f"its hidden layer has {self.mlp.hidden} units, not `hidden` = {wanted.hidden}"
            found.append(Diagnosis(words, "wrong_hidden_width"))
        return found


def _nothing_follows(left: tuple[Norm, ...]) -> Iterator[tuple[object, Function]]:
    yield None, identity


_Choice = tuple[Linear | None, Linear | None, tuple[Norm, Norm], object, Function]


def _choices(anatomy: Anatomy, tails: Tails) -> list[_Choice]:
    return [
        (value, output, norms, tail, finish)
        for (value, output), norms in product(anatomy.single(), anatomy.norm_pairs())
        for tail, finish in tails(tuple(norm for norm in anatomy.norms if norm not in norms))
    ]


def _of_variant(anatomy: Anatomy, variant: Variant, choices: Sequence[_Choice]) -> Iterator[OneToken]:
    for mlp, (value, output, norms, tail, finish) in product(anatomy.mlps, choices):
        if (value is None) == (variant.order.code == NO_ATTENTION):
            yield OneToken(value, output, mlp, norms, variant, tail, finish)


def one_token_fits(
    anatomy: Anatomy, wanted: Wanted, x: Array, output: Array, tails: Tails = _nothing_follows, naming: bool = True
) -> list[OneToken]:
    """All fits of the first variant that gives these outputs; several, if tensors can be read in several orders.

    Without `naming`, right variants alone are tried.
    """
    if anatomy.is_too_much:
        return []
    every = _choices(anatomy, tails)
    whole = [choice for choice in every if choice[1]]
    plain = [choice for choice in every if _is_plain(choice) and (choice[1] or choice[0] is None)]
    without = [choice for choice in every if choice[0] and not choice[1]]
    right, wrong = variants(wanted.orders, wanted.activations)
    passes = [(right, whole)] if wanted.output else [(right, whole + without)]
    if naming:
        usual = [choice for choice in without if _is_plain(choice)]
        passes += [(wrong, plain), (right, without), (wrong, usual)]
    for tried, choices in passes:
        for variant in tried:
            fits = _of_variant(anatomy, variant, choices)
            if found := [fit for fit in fits if agree(fit.finish(fit.run(x)), output)]:
                return found
    return []


def _is_plain(choice: _Choice) -> bool:
    """Heads in blocks of features, parts wherever: who makes a mistake has not also chosen an unusual layout."""
    return all(found is None or "feature" not in found.layout[:-1] for found in choice[:2])


@dataclass(frozen=True)
class ManyTokens:
    """A block as several tokens show it."""

    single: OneToken
    query: Linear
    key: Linear
    heads: int
    mistake: Diagnosis
    mix: Mix

    def run(self, x: Array) -> Array:
        return self.single.run(x, self._attend)

    def _attend(self, x: Array) -> Array:
        assert self.single.value is not None
        mixed = self.mix(self.query(x), self.key(x), self.single.value(x), self.heads)
        return self.single.output(mixed) if self.single.output else mixed


def many_token_fits(
    anatomy: Anatomy, single: OneToken, mistakes: Sequence[Diagnosis] = (RIGHT,)
) -> Iterator[ManyTokens]:
    """Every choice of queries and keys for each of these ways to attend, without what follows the block."""
    if single.value is None:
        return
    asking = list(anatomy.asking(single.value, single.output))
    for mistake in mistakes:
        for q, k in asking:
            for said, mix in _ways_to_mix(mistake, anatomy.width, q.matrix.shape[1]):
                if isinstance(mix, Mixing) or q.matrix.shape == single.value.matrix.shape:
                    yield ManyTokens(single, q, k, anatomy.heads, said, mix)


def _ways_to_mix(mistake: Diagnosis, width: int, joined: int) -> Iterator[tuple[Diagnosis, Mix]]:
    """In words and numbers. Heads wider than width/heads may be scaled by their own width or by that."""
    wide = joined != width
    said = mistake.replace("√(dim/heads)", "√(width of a head)").replace("√dim", "√(width of all heads)")
    diagnosis = Diagnosis(said, mistake.code) if wide else mistake
    yield from ((diagnosis, mix) for mix in SELF_ATTENTION[mistake])
    if wide and mistake == RIGHT:
        yield RIGHT, Mixing(scale=lambda joined, heads: 1 / sqrt(width / heads))


def shared_fits(anatomy: Anatomy, single: OneToken) -> Iterator[ManyTokens]:
    """One layer in two roles."""
    if single.value is None:
        return
    (right,) = SELF_ATTENTION[RIGHT]
    for who, q, k in anatomy.shared(single.value):
        mistake = Diagnosis(f"{who} come from one layer; each should have its own", "shared_projection")
        yield ManyTokens(single, q, k, anatomy.heads, mistake, right)


_MOST_CHOICES = 4000
# Fits of four layers with every mistake. A usual block has some thousands, a usual ViT 30,000; where each head has
# layers as wide as the block there are millions, which would take minutes.
_MOST_MISTAKES = 50_000


def unlike_alone(anatomy: Anatomy, usual: Sequence[Variant], tails: Tails = _nothing_follows) -> Iterator[ManyTokens]:
    """Blocks that are right but for an attention in which one token, or equal ones, do not attend to themselves.

    Nothing can be told of these from a single token.
    """
    anatomy = replace(anatomy, alone=anatomy.used)
    # What a single token needs is not all there is; queries and keys have to be the rest.
    choices = _choices(replace(anatomy, is_all=False), tails)
    if len(choices) * len(anatomy.mlps) > _MOST_CHOICES:
        return
    choices = [choice for choice in choices if choice[1] and _is_plain(choice)]
    every = (
        many_token_fits(anatomy, single, mistakes)
        for right in usual
        for variant, mistakes in ((right, UNLIKE_ALONE), (replace(right, norm=OVER_TOKENS), (RIGHT,)))
        for single in _of_variant(anatomy, variant, choices)
    )
    yield from islice(chain.from_iterable(every), _MOST_MISTAKES)


def first(fits: Iterable[ManyTokens], inputs: Sequence[Array], outputs: Sequence[Array]) -> ManyTokens | None:
    return explanation(((fit, fit.run) for fit in fits), [(x,) for x in inputs], outputs)
