"""A Perceiver block explained by what it computes: cross-attention, then an MLP with LayerNorm and residual.

A block is right if one of the readings that the assignment leaves open gives its values; `reference.perceiver_blocks`
lists them. They are searched forwards among recorded values: what the attention gives, then what follows it up to the
output. What is found is run on other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np

from grader import Array, Outcome, failed, passed
from grader.modules import AffineMap, Inputs, Record, Workbench
from reference.equations import Function
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import WITHOUT_SHIFT
from reference.mistakes.mixing import CROSS_ATTENTION, NO_OUTPUT
from reference.perceiver_blocks import ACTIVATIONS, NO_ACTIVATION, CrossAttention, Following
from reference.variations import Mixing
from rubrics.module_recovery.sublayers import Part, Sublayers

from ..public.configuration import HEADS, WIDTH
from .recorded_layers import agree, is_learned, layers, orders_of_heads

_Mlp = Callable[[Array, Function], Array]
_Normalised = tuple[Array, tuple[Part, ...]]  # a recorded table, and the LayerNorms that made it

NO_MLP = Diagnosis("its MLP has no influence on its output", "no_mlp")
NO_RESIDUAL = Diagnosis("its MLP has no residual: its input does not reach the output past it", "no_mlp_residual")
FROM_INPUT = Diagnosis("the residual of its MLP adds what asks, not what the attention gave", "mlp_residual_from_input")
ON_INPUT = Diagnosis("its MLP is given what asks, not what the attention gave", "mlp_on_input")
MLP_DIFFERS = Diagnosis("its attention is right, but what follows is not x + MLP(LayerNorm(x))", "mlp_differs")
LINEAR = Diagnosis("its MLP has no nonlinearity between its two layers", "no_activation")
NO_MLP_NORM = Diagnosis("its MLP works on values without a LayerNorm", "no_mlp_norm")
ONE_LAYER = Diagnosis("its keys and values come from one layer", "layer_unused")
SHARED = Diagnosis("its queries come from the layer of its keys or values", "shared_projection")
ATTENTION_DIFFERS = Diagnosis("its attention is not cross-attention in any of the readings left open", "outputs_differ")


@dataclass(frozen=True)
class _Attended:
    """What cross-attention gives, its residual included."""

    table: Array
    attention: CrossAttention
    norms: tuple[Part, ...]  # of what is asked, and of what asks
    mistakes: tuple[Diagnosis, ...]


@dataclass(frozen=True)
class _Explanation:
    attended: _Attended
    mistakes: tuple[Diagnosis, ...]
    following: Following | None = None
    mlp: _Mlp | None = None
    norms: tuple[Part, ...] = ()  # the MLP's own first

    def __call__(self, asked: Array, asking: Array) -> Array:
        assert self.following is not None
        assert self.mlp is not None
        attention = self.attended.attention
        completed = attention.completed(attention.mixed(asked, asking, HEADS), asking)
        return self.following(completed, self.mlp)


@dataclass
class Block:
    """What a Perceiver block computes of rows that are asked, for rows that ask; both are (1, rows, D)."""

    bench: Workbench
    idle: set[str]  # parameters without influence
    asked: Array
    asking: Array
    output: Array
    of_asked: Record  # its values as tables with a row for each row that is asked
    of_asking: Record
    naming: bool = False  # whether what is wrong is looked for, too
    _known: dict[tuple[object, ...], list[Any]] = field(default_factory=dict)

    def judge(self, inputs: Sequence[Inputs], outputs: Sequence[Array]) -> Outcome | str:
        """Words for a person, if no relation shows its layers; `inputs` are others, as what is asked and what asks."""
        for self.naming in (False, True):
            fewest: _Explanation | None = None
            is_right_once = False
            for found in self._explanations():
                if mistakes := self._mistakes(found):
                    if fewest is None or len(mistakes) < len(fewest.mistakes):
                        fewest = replace(found, mistakes=mistakes)
                elif all(agree(found(*given), want) for given, want in zip(inputs, outputs, strict=True)):
                    return self._right(found, len(inputs))
                else:
                    is_right_once = True
            if is_right_once:
                return "its values are those of its layers for one input, and not for others"
            if fewest:
                return self._wrong(fewest.mistakes[0])
        self.naming = False
        if not any(not each.mistakes for each in self._attended()):
            return (
                self._wrong(ATTENTION_DIFFERS) if self._shows_three_maps() else "no queries, keys and values are found"
            )
        if self._shows_two_layers():
            return self._wrong(MLP_DIFFERS)
        return "its attention is found, and behind it no learned map to a hidden layer with one that leads back"

    def _mistakes(self, found: _Explanation) -> tuple[Diagnosis, ...]:
        attended = found.attended
        of_norms = (mistake for norm in (*attended.norms, *found.norms) for mistake in norm.mistakes)
        mistakes = [*attended.mistakes, *found.mistakes, *(each for each in of_norms if each != WITHOUT_SHIFT)]
        fresh = self.bench.fresh
        has_idle_norm = any(fresh[name].size == WIDTH and np.all(fresh[name] == 1) for name in self.idle)
        if found.norms and has_idle_norm and found.norms[0].learned in [norm.learned for norm in attended.norms]:
            said = "it normalises for its MLP with the attention's LayerNorm, and never uses its other one"
            mistakes.append(Diagnosis(said, "one_norm_for_both"))
        elif has_idle_norm and not attended.norms and len(found.norms) < 2:
            mistakes.append(
                Diagnosis("it defines a LayerNorm for its attention and never uses it", "no_attention_norm")
            )
        return tuple(mistakes)

    def _right(self, found: _Explanation, count: int) -> Outcome:
        attention = found.attended.attention
        evidence = {
            "judged_by": "values",
            "residual_round_attention": attention.residual != "none",
            "masked": attention.mix.masked,
            "activation": found.following.activation if found.following else "",
        }
        return passed(f"right on all {count} inputs", evidence=evidence)

    def _wrong(self, mistake: Diagnosis) -> Outcome:
        return failed(f"{self.bench.name}: {mistake}", evidence={"looks_like": mistake}, code=mistake.code)

    def _explanations(self) -> Iterator[_Explanation]:
        for attended in self._attended():
            yield from self._followed(attended)

    # Attention: queries from what asks, keys and values from what is asked, each normalised or not.

    def _attended(self) -> Iterator[_Attended]:
        both = product(self._normalised(self.of_asked, self.asked), self._normalised(self.of_asking, self.asking))
        for (asked, norm_asked), (asking, norm_asking) in both:
            attention = partial(CrossAttention, norm_asked=_first(norm_asked), norm_asking=_first(norm_asking))
            bases = {
                "none": 0.0,
                "plain": self.of_asking.table(self.asking),
                **({"normed": asking} if norm_asking else {}),
            }
            for fit, mixed, mistakes in self._mixed(attention, asked, asking):
                outs = [
                    each for each in self.of_asking.learned_maps(mixed, width=WIDTH) if is_learned(self.of_asking, each)
                ]
                for out in (*outs, *([None] if self.naming and self.of_asking.has(mixed) else [])):
                    given = mixed if out is None else out.table
                    wrong = mistakes if out else (*mistakes, NO_OUTPUT)
                    for residual, base in bases.items():
                        whole = replace(fit, output=out, residual=residual)
                        yield _Attended(base + given, whole, (*norm_asked, *norm_asking), wrong)

    def _mixed(
        self, attention: Callable[..., CrossAttention], asked: Array, asking: Array
    ) -> Iterator[tuple[CrossAttention, Array, tuple[Diagnosis, ...]]]:
        rows, columns = self.of_asking.sequences(asking), self.of_asked.sequences(asked)
        mixings: list[tuple[tuple[Diagnosis, ...], Mixing]] = [((), Mixing())]
        mixings += [((mistake,), mix) for mistake, mix in CROSS_ATTENTION.items() if self.naming]
        orders = zip(
            *(orders_of_heads(layers(*each)) for each in ((self.of_asking, rows), (self.of_asked, columns))),
            strict=True,
        )
        for queries, others in orders:
            pairs = [*permutations(others, 2), *((each, each) for each in others if self.naming)]
            for q, (k, v), (mistakes, mix), masked in product(queries, pairs, mixings, (True, False)):
                mixing = replace(mix, masked=masked)
                mixed = self.of_asking.table(mixing(q(rows), k(columns), v(columns), HEADS))
                alike = (ONE_LAYER,) if k is v else (SHARED,) if any(map(q.shares_numbers_with, (k, v))) else ()
                yield attention(q, k, v, None, mixing), mixed, mistakes + alike

    def _shows_three_maps(self) -> bool:
        queries = (
            layers(self.of_asking, self.of_asking.sequences(u))
            for u, _ in self._normalised(self.of_asking, self.asking)
        )
        others = (
            layers(self.of_asked, self.of_asked.sequences(u)) for u, _ in self._normalised(self.of_asked, self.asked)
        )
        return any(queries) and any(len(each) > 1 for each in others)

    # What follows it: x + MLP(LN(x)), with LayerNorms before it or behind.

    def _followed(self, attended: _Attended) -> Iterator[_Explanation]:
        """To the output, from h."""
        for z, before in self._normalised(self.of_asking, attended.table, twice=True):
            if self.naming and self._is_output(z):
                yield _Explanation(attended, (NO_MLP,))
            for u, inner, residuals in self._ways_into_the_mlp(z):
                for activation, mlp, f in self._networks(u):
                    for wrong, base in residuals:
                        for end, behind in self._normalised(self.of_asking, base + f, twice=True):
                            if self._is_output(end):
                                norms = (*inner, *behind, *before)
                                following = Following(activation, _first(inner), _functions(before), _functions(behind))
                                mistakes = [*wrong, *([LINEAR] if activation == NO_ACTIVATION else [])]
                                mistakes += [] if norms else [NO_MLP_NORM]
                                yield _Explanation(attended, tuple(mistakes), following, mlp, norms)

    def _ways_into_the_mlp(
        self, z: Array
    ) -> Iterator[tuple[Array, tuple[Part, ...], list[tuple[tuple[Diagnosis, ...], Array]]]]:
        """What the MLP is given, the LayerNorm before it, and what is added to what it gives."""
        asking, nothing = self.of_asking.table(self.asking), np.zeros_like(z)
        residuals: list[tuple[tuple[Diagnosis, ...], Array]] = [((), z)]
        if self.naming:
            residuals += [((NO_RESIDUAL,), nothing), ((FROM_INPUT,), asking)]
            residuals += [((MLP_DIFFERS,), table) for table, norms in self._normalised(self.of_asking, z) if norms]
        for table, norms in self._normalised(self.of_asking, z):
            yield table, norms, residuals
        for table, norms in self._normalised(self.of_asking, asking) if self.naming else ():
            yield table, norms, [((ON_INPUT,), z)]

    def _shows_two_layers(self) -> bool:
        """Whether a learned map leads from what the attention gives to a hidden layer, and another back."""
        record = self.of_asking
        starts = (z for each in self._attended() for z, _ in self._normalised(record, each.table, twice=True))
        widths = {layer.table.shape[1] for z in starts for layer in layers(record, record.sequences(z), None)}
        return any(record.learned_maps(h, width=WIDTH) for width in widths - {WIDTH} for h in record.of_width(width))

    def _networks(self, u: Array) -> list[tuple[str, _Mlp, Array]]:
        """Each activation φ and recorded W₂ φ(W₁ u + b₁) + b₂."""
        return self._once(("networks",), u, lambda: self._new_networks(u))

    def _new_networks(self, u: Array) -> Iterator[tuple[str, _Mlp, Array]]:
        for first in layers(self.of_asking, self.of_asking.sequences(u), None):
            for activation, of in ACTIVATIONS.items():
                hidden = of(first.table)
                if (self.naming or activation != NO_ACTIVATION) and self.of_asking.has(hidden):
                    for last in self.of_asking.learned_maps(hidden, width=WIDTH):
                        if is_learned(self.of_asking, last):
                            yield activation, partial(_two_layers, first, last), last.table

    def _once(self, kind: tuple[object, ...], table: Array, search: Callable[[], Iterable[Any]]) -> list[Any]:
        key = (*kind, self.naming, np.round(table, 9).tobytes())
        if key not in self._known:
            self._known[key] = list(search())
        return self._known[key]

    def _normalised(self, record: Record, x: Array, twice: bool = False) -> Iterator[_Normalised]:
        """x as it is, and each recorded LayerNorm of it; `twice`, also LayerNorms of those."""
        z = record.table(x)
        yield z, ()
        for norm in self._norms(record, z):
            yield norm.output, (norm,)
            for other in self._norms(record, norm.output) if twice else ():
                yield other.output, (norm, other)

    def _norms(self, record: Record, z: Array) -> list[Part]:
        return self._once(
            ("norms", id(record)), z, lambda: Sublayers(record, HEADS, WIDTH, naming=self.naming).norms(z)
        )

    def _is_output(self, table: Array) -> bool:
        return self.of_asking.close(table, self.of_asking.table(self.output))


def _two_layers(first: AffineMap, last: AffineMap, x: Array, activation: Function) -> Array:
    return last(activation(first(x)))


def _functions(norms: tuple[Part, ...]) -> tuple[Function, ...]:
    return tuple(norm.function for norm in norms)


def _first(norms: tuple[Part, ...]) -> Function | None:
    return norms[0].function if norms else None
