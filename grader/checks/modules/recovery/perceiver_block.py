"""A Perceiver block judged by values: which reading of attention and MLP gives its outputs, or which mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from grader.checks.modules.recovery import variant_properties
from grader.checks.modules.recovery.cross_attention import (
    SLIPS,
    AttentionReading,
    MlpReading,
    attention_readings,
    mlp_layers,
    mlp_readings,
    possible_endings,
    stream,
)
from grader.checks.modules.recovery.judgements import Inputs, explanation
from grader.checks.modules.recovery.layers import Linear, Map, count_apart, maps, norms
from grader.checks.modules.recovery.workbench import HEADS, WIDTH, Workbench
from grader.compare import Array
from grader.model import Outcome, Status, failed, passed

# Layers that may be the MLP: two where it is as wide as queries, keys and values that are packed in one.
_MOST_PAIRS = 4


@dataclass(frozen=True)
class Block:
    """A Perceiver block and what was learnt of it."""

    bench: Workbench
    rng: np.random.Generator
    used: set[str]
    inputs: list[Inputs]
    asked: Callable[..., Array]
    asking: Callable[..., Array]
    idle: set[str]  # parameters that belong to no layer

    def judge(self, properties_fail: Callable[[], Outcome | None]) -> Outcome:
        name = self.bench.name
        everything = {key: value for key, value in self.bench.values.items() if key not in self.idle}
        values = {key: value for key, value in everything.items() if self._alive(key)}
        pairs = mlp_layers(values)
        if not pairs and mlp_layers(everything):
            return failed(f"the MLP of {name} has no influence on its output")
        judged = [self._judge_values(values, pair, everything) for pair in pairs[:_MOST_PAIRS]]
        read = [outcome for outcome in judged if outcome is not None]
        if right := [outcome for outcome in read if outcome.status is Status.PASSED]:
            return right[0]
        if len(pairs) == 1 and read:
            return read[0]
        needed = 6 * WIDTH**2  # attention, and an MLP at least as wide
        few = variant_properties.too_few_parameters(self.bench, self.used, needed)
        return few or properties_fail() or variant_properties.of_cross_attention(self.bench, self.rng, self.inputs[0])

    def _defined(self, everything: dict[str, Array]) -> int:
        """How many layers of the attention there are, be they in use or not."""
        return count_apart(self._square(everything, mlp_layers(everything)))

    def _alive(self, key: str) -> bool:
        """In use, or the bias of something that is: a bias on the keys moves no score against another."""
        return key in self.used or any(key == other.replace("weight", "bias") for other in self.used)

    def _square(self, values: dict[str, Array], pairs: list[tuple[Linear, Linear]]) -> list[Map]:
        taken = {widen.weight for widen, _ in pairs}
        return [layer for layer in maps(values, WIDTH, HEADS) if layer.weight not in taken]

    def _judge_values(
        self, values: dict[str, Array], pair: tuple[Linear, Linear], everything: dict[str, Array]
    ) -> Outcome | None:
        """With this pair of layers as its MLP; None if the others are not four as the attention has them."""
        layers = self._square(values, [pair])
        if count_apart(layers) != 4 and not count_apart(layers) < 4 <= self._defined(everything):
            return None
        bench, name = self.bench, self.bench.name
        mute = {key: np.zeros_like(values[key]) for key in (pair[1].weight, pair[1].bias) if key}
        silenced = bench.run(*self.inputs, values=mute).outputs
        if all(np.ptp(output, axis=(0, 1)).max() < 1e-6 for output in silenced):
            return failed(f"the MLP of {name} has no residual: its input does not reach the output past it")
        endings = possible_endings(values, silenced[0])
        read = partial(attention_readings, values, layers, self.asked, self.asking, endings)
        attention = explanation(read(), self.inputs, silenced) if count_apart(layers) == 4 else None
        if attention is None:
            for slip, way in SLIPS.items():
                if explanation(read(way), self.inputs, silenced):
                    return failed(f"the attention of {name} is not that asked for; it looks as if {slip}")
            if count_apart(layers) < 4:
                return failed(f"a layer of the attention of {name} is defined but has no influence on its output")
            return failed(f"the attention of {name} is not cross-attention in any of the readings left open")
        full = bench.run(*self.inputs).outputs
        streams = [(stream(values, attention, self.asked, self.asking, *given),) for given in self.inputs]
        mlp = explanation(mlp_readings(values, pair, attention.ends), streams, full)
        return self._judge_mlp(attention, mlp)

    def _judge_mlp(self, attention: AttentionReading, mlp: MlpReading | None) -> Outcome:
        name = self.bench.name
        if mlp is None:
            return failed(f"the attention of {name} is right, but what follows is not x + MLP(LayerNorm(x))")
        if mlp.activation == "none":
            return failed(f"the MLP of {name} has no nonlinearity between its two layers")
        if mlp.norm is None:
            return failed(f"the MLP of {name} works on values without a LayerNorm")
        bare = not (attention.norm_asked or attention.norm_asking or attention.ends)
        idle = [norm for norm in norms(self.bench.values, WIDTH) if norm.gain not in self.used]
        if idle and mlp.norm in (attention.norm_asked, attention.norm_asking):
            return failed(f"{name} normalises for its MLP with the attention's LayerNorm, and never uses its other one")
        if idle and bare:
            return failed(f"{name} defines a LayerNorm for its attention and never uses it")
        return passed(
            f"right on all {len(self.inputs)} inputs",
            evidence={
                "judged_by": "values",
                "residual_round_attention": attention.residual != "none",
                "masked": attention.masked,
                "activation": mlp.activation,
            },
        )
