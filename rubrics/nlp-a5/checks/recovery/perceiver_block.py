"""A Perceiver block taken apart: cross-attention first, with the MLP silenced, then the MLP on what that gave.

A block is right if one of the readings that the assignment leaves open gives its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product

import numpy as np

from grader import Array, Outcome, Status, failed, passed
from grader.modules import Inputs, Workbench
from reference.mistakes.mixing import CROSS_ATTENTION, NO_OUTPUT
from reference.numpy_attention import Mixing
from reference.numpy_layers import layer_norm
from reference.perceiver_blocks import ACTIVATIONS, NO_ACTIVATION, CrossAttention, Following
from rubrics.module_recovery import behaviour
from rubrics.module_recovery.fits import agree, assignments, assignments_in_any_layout, explanation
from rubrics.module_recovery.layers import Linear, Mlp, Norm, Values, count_apart, maps, mlps, norms

from ...public.configuration import HEADS, WIDTH
from . import variant_properties
from .arrangements import is_as_torch_has_it, read_in_any

_ROLES = ("query", "key", "value", "output")
# Layers that may be the MLP: two where it is as wide as queries, keys and values that are packed in one.
_MOST_MLPS = 4


class RunnableNorm(Norm):
    """A LayerNorm that can be run. The finder of layers goes to students, so it knows no equation."""

    def __call__(self, x: Array, how: Callable[[Array, Array, Array], Array] = layer_norm) -> Array:
        return super().__call__(x, how)


def runnable_norms(values: Values) -> list[RunnableNorm]:
    return [RunnableNorm.of(values, one.gain, one.shift) for one in norms(values, WIDTH)]


_Endings = list[tuple[RunnableNorm, ...]]
_RIGHT = Mixing()


@dataclass(frozen=True)
class Block:
    """A Perceiver block and what was learnt of it."""

    bench: Workbench
    rng: np.random.Generator
    used: set[str]
    inputs: list[Inputs]
    asked: Callable[..., Array]  # of its inputs: what keys and values are made of
    asking: Callable[..., Array]  # likewise, queries
    idle: set[str]  # parameters that belong to no layer

    def judge(self, properties_fail: Callable[[], Outcome | None]) -> Outcome:
        if outcome := read_in_any(self.bench, self._judge_reading):
            return outcome
        needed = 6 * WIDTH**2  # attention, and an MLP at least as wide
        few = behaviour.too_few_parameters(self.bench, self.used, needed)
        return few or properties_fail() or variant_properties.of_cross_attention(self.bench, self.rng, self.inputs[0])

    def _judge_reading(self, bench: Workbench, naming: bool) -> Outcome | None:
        if bench is self.bench:
            return self._judge_layers(naming)
        used = bench.influential(self.rng, self.inputs[2]) - self.idle
        return replace(self, bench=bench, used=used)._judge_layers(naming)

    def _judge_layers(self, naming: bool) -> Outcome | None:
        """None if nothing tried explains its values, be it that its layers are not those that a block has."""
        name = self.bench.name
        everything = {key: value for key, value in self.bench.values.items() if key not in self.idle}
        values = {key: value for key, value in everything.items() if self._alive(key)}
        found = mlps(values, WIDTH)
        if not found and mlps(everything, WIDTH):
            return failed(f"the MLP of {name} has no influence on its output", code="no_mlp")
        judged = [self._judge_values(values, mlp, everything, naming) for mlp in found[:_MOST_MLPS]]
        read = [outcome for outcome in judged if outcome is not None]
        if right := [outcome for outcome in read if outcome.status is Status.PASSED]:
            return right[0]
        return read[0] if len(found) == 1 and read else None

    def _alive(self, key: str) -> bool:
        """In use, or the bias of something that is: a bias on the keys moves no score against another."""
        return key in self.used or any(key == other.replace("weight", "bias") for other in self.used)

    def _judge_values(self, values: Values, mlp: Mlp, everything: Values, naming: bool) -> Outcome | None:
        """With this MLP; None if the other layers are not four as the attention has them, or may be read otherwise."""
        layers = _square(values, [mlp])
        defined = _square(everything, mlps(everything, WIDTH))  # be they in use or not
        if count_apart(layers) != 4 and not count_apart(layers) < 4 <= count_apart(defined):
            return None
        bench, name = self.bench, self.bench.name
        mute = {key: np.zeros_like(values[key]) for key in (mlp.narrow.weight, mlp.narrow.bias) if key}
        silenced = bench.run(*self.inputs, values=mute).outputs
        if all(np.ptp(output, axis=(0, 1)).max() < 1e-6 for output in silenced):
            message = f"the MLP of {name} has no residual: its input does not reach the output past it"
            return failed(message, code="no_mlp_residual")
        found = runnable_norms(values)
        if self._passes_by_the_attention(found, silenced):
            message = f"the residual of its MLP adds what came into {name}, not what the attention gave"
            return failed(message, code="mlp_residual_from_input")
        fits = partial(self._attention_fits, found, _possible_endings(found, silenced[0]))
        usual = list(assignments(dict.fromkeys(_ROLES, layers)))
        attention = None
        if count_apart(layers) == 4:
            unusual = assignments_in_any_layout(values, layers, _ROLES, HEADS)
            attention = explanation(chain(fits(usual), fits(unusual)), self.inputs, silenced)
        if attention is None and not naming:
            return None
        if attention is None:
            wrong = ((mistake, fits(usual, mix)) for mistake, mix in CROSS_ATTENTION.items())
            without = assignments(dict.fromkeys(_ROLES[:3], layers))
            for mistake, tried in chain(wrong, [(NO_OUTPUT, fits(without))]):
                if explanation(tried, self.inputs, silenced):
                    message = f"the attention of {name} is not that asked for; it looks as if {mistake}"
                    return failed(message, code=mistake.code)
            if count_apart(layers) < 4:
                message = f"a layer of the attention of {name} is defined but has no influence on its output"
                return failed(message, code="layer_unused")
            if not is_as_torch_has_it(bench):
                return None
            message = f"the attention of {name} is not cross-attention in any of the readings left open"
            return failed(message, code="outputs_differ")
        full = bench.run(*self.inputs).outputs
        before = replace(attention, ends=())
        streams = [(self._completed(before, partial(self._mixed, before), *given),) for given in self.inputs]
        places = [(attention.ends[:at], attention.ends[at:]) for at in range(len(attention.ends) + 1)]
        following = (
            Following(activation, inner, *place)
            for activation, inner, place in product(ACTIVATIONS, [*found, None], places)
        )
        tried_mlps = ((fit, partial(fit, mlp=mlp)) for fit in following)
        judged = explanation(tried_mlps, streams, full)
        if judged is None and self._works_on_what_came_in(mlp, found, silenced, full):
            message = f"the MLP is given what came into {name}, not what the attention gave"
            return failed(message, code="mlp_on_input")
        if judged is None and not is_as_torch_has_it(bench):
            return None
        return self._judge_mlp(attention, judged)

    def _passes_by_the_attention(self, found: list[RunnableNorm], silenced: list[Array]) -> bool:
        """Whether all that is left without the MLP is what asked, normalised or not."""
        return any(
            all(
                agree(norm(self.asking(*given)) if norm else self.asking(*given), left)
                for given, left in zip(self.inputs, silenced, strict=True)
            )
            for norm in (None, *found)
        )

    def _works_on_what_came_in(
        self, mlp: Mlp, found: list[RunnableNorm], silenced: list[Array], full: list[Array]
    ) -> bool:
        return any(
            all(
                agree(left + mlp(norm(self.asking(*given)) if norm else self.asking(*given), activation), whole)
                for given, left, whole in zip(self.inputs, silenced, full, strict=True)
            )
            for norm, activation in product((None, *found), ACTIVATIONS.values())
        )

    def _attention_fits(
        self, found: list[RunnableNorm], endings: _Endings, roles: Iterable[dict[str, Linear]], mix: Mixing = _RIGHT
    ) -> Iterator[tuple[CrossAttention, Callable[..., Array]]]:
        """Every reading of the attention with one of these endings, and what function of the block's inputs it is."""
        choices: list[RunnableNorm | None] = [None, *found]
        for chosen, masked in product(roles, (True, False)):
            q, k, v = (chosen[role] for role in _ROLES[:3])
            mixing = replace(mix, masked=masked)
            for asked, asking in product(choices, choices):
                bare = CrossAttention(q, k, v, chosen.get("output"), mixing, asked, asking)
                mixed = _remembered(partial(self._mixed, bare))
                for residual, ends in product(("none", "plain", "normed") if asking else ("none", "plain"), endings):
                    fit = replace(bare, residual=residual, ends=ends)
                    yield fit, partial(self._completed, fit, mixed)

    def _mixed(self, fit: CrossAttention, *inputs: Array) -> Array:
        return fit.mixed(self.asked(*inputs), self.asking(*inputs), HEADS)

    def _completed(self, fit: CrossAttention, mixed: Callable[..., Array], *inputs: Array) -> Array:
        return fit.completed(mixed(*inputs), self.asking(*inputs))

    def _judge_mlp(self, attention: CrossAttention, mlp: Following | None) -> Outcome:
        name = self.bench.name
        if mlp is None:
            message = f"the attention of {name} is right, but what follows is not x + MLP(LayerNorm(x))"
            return failed(message, code="mlp_differs")
        if mlp.activation == NO_ACTIVATION:
            return failed(f"the MLP of {name} has no nonlinearity between its two layers", code="no_activation")
        if mlp.norm is None:
            return failed(f"the MLP of {name} works on values without a LayerNorm", code="no_mlp_norm")
        bare = not (attention.norm_asked or attention.norm_asking or attention.ends)
        idle = [norm for norm in norms(self.bench.values, WIDTH) if norm.gain not in self.used]
        if idle and mlp.norm in (attention.norm_asked, attention.norm_asking):
            message = f"{name} normalises for its MLP with the attention's LayerNorm, and never uses its other one"
            return failed(message, code="one_norm_for_both")
        if idle and bare:
            message = f"{name} defines a LayerNorm for its attention and never uses it"
            return failed(message, code="no_attention_norm")
        return passed(
            f"right on all {len(self.inputs)} inputs",
            evidence={
                "judged_by": "values",
                "residual_round_attention": attention.residual != "none",
                "masked": attention.mix.masked,
                "activation": mlp.activation,
            },
        )


def _square(values: Values, found: list[Mlp]) -> list[Linear]:
    taken = {mlp.widen.weight for mlp in found}
    return [layer for layer in maps(values, WIDTH, HEADS) if layer.weight not in taken]


def _possible_endings(found: list[RunnableNorm], output: Array) -> _Endings:
    """Which LayerNorms may stand last: what they gave has mean 0 and variance 1 once gain and shift are undone."""
    endings: _Endings = [()]
    for last in found:
        undone = (output - last.shifts) / last.gains
        if np.allclose(undone.mean(axis=-1), 0, atol=0.01) and np.allclose(undone.var(axis=-1), 1, atol=0.01):
            endings += [(last,), *((first, last) for first in found)]
    return endings


def _remembered(compute: Callable[..., Array]) -> Callable[..., Array]:
    """What was computed once for these very arrays is not computed again."""
    kept: dict[tuple[int, ...], Array] = {}

    def look(*inputs: Array) -> Array:
        key = tuple(map(id, inputs))
        if key not in kept:
            kept[key] = compute(*inputs)
        return kept[key]

    return look
