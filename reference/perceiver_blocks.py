"""A Perceiver block in numpy, with all that the assignment leaves open; tests hold it against `reference.gpt`.

Equation    a = Attn(queries, sources), h = queries + a;  block = h + MLP(LN(h))
Readings    * Either input of the attention may be normalised, or both, or none.
            * The residual round the attention may be missing, or add what is normalised.
            * LayerNorms may stand behind the attention, before the MLP and its residual or behind both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from reference.equations import ACTIVATIONS as COMMON
from reference.equations import Array, Function, identity
from reference.variations import Mixing

NO_ACTIVATION = "none"
ACTIVATIONS: dict[str, Function] = {**COMMON, NO_ACTIVATION: identity}


def _in_turn(x: Array, functions: tuple[Function | None, ...]) -> Array:
    return reduce(lambda y, function: function(y) if function else y, functions, x)


@dataclass(frozen=True)
class CrossAttention:
    query: Function
    key: Function
    value: Function
    output: Function | None
    mix: Mixing
    norm_asked: Function | None  # on keys and values
    norm_asking: Function | None  # on queries
    residual: str = "plain"  # or "none", or "normed"
    ends: tuple[Function, ...] = ()  # LayerNorms behind the attention

    def mixed(self, asked: Array, asking: Array, heads: int) -> Array:
        sources, queries = _in_turn(asked, (self.norm_asked,)), _in_turn(asking, (self.norm_asking,))
        joined = self.mix(self.query(queries), self.key(sources), self.value(sources), heads)  # (B, T, D)
        return _in_turn(joined, (self.output,))

    def completed(self, mixed: Array, asking: Array) -> Array:
        if self.residual != "none":
            mixed = mixed + _in_turn(asking, (self.norm_asking,) if self.residual == "normed" else ())
        return _in_turn(mixed, self.ends)


@dataclass(frozen=True)
class Following:
    """What follows the attention: x + MLP(LN(x))."""

    activation: str
    inner: Function | None
    before: tuple[Function, ...] = ()
    behind: tuple[Function, ...] = ()

    @property
    def norm(self) -> Function | None:
        """The LayerNorm that is the MLP's."""
        return self.inner or next(iter((*self.behind, *self.before)), None)

    def __call__(self, x: Array, mlp: Callable[[Array, Function], Array]) -> Array:
        x = _in_turn(x, self.before)
        return _in_turn(x + mlp(_in_turn(x, (self.inner,)), ACTIVATIONS[self.activation]), self.behind)
