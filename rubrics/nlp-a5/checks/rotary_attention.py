"""The RoPE variant in attention: queries and keys are rotated, in every head, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from grader import (
    Array,
    Killed,
    Outcome,
    Partial,
    Status,
    Student,
    StudentFault,
    StudentFile,
    TimedOut,
    check,
    failed,
    passed,
    scored,
)
from grader.modules import AffineMap, Inputs, Record, Workbench, not_a_function_of_its_input, started, wrong_shape
from reference.mistakes.mixing import NO_OUTPUT
from reference.mistakes.rotary import ANGLES, ROTATED, UNROTATED
from reference.variations import RotaryMixing
from rubrics.module_recovery import behaviour

from ..public.configuration import BLOCK, HEAD, HEADS, WIDTH, configured
from ..public.rotary_training import ATTENTION
from . import variant_properties
from .recorded_layers import explanation, first_wrong_line, layer_between, layers, orders_of_heads, records_of
from .rotary_wiring import APPLY, PRECOMPUTE, SHOWN_TOKENS, shapes_rotated, with_right_rotations

_RIGHT = RotaryMixing()
_BATCH = 7
_SAME_WEIGHTS = 1e-3  # wider than `agree`, which has the last word: this only leaves candidates out
_NOT_ROTARY = "its values are not those of causal attention with rotated queries and keys"
_NEIGHBOURS, _HALVES = np.arange(HEAD).reshape(-1, 2), np.arange(HEAD).reshape(2, -1).T
_USUAL = (_NEIGHBOURS, _HALVES, _NEIGHBOURS[:, ::-1], _HALVES[:, ::-1])
_LAYOUTS = (*_USUAL, *(np.array(order).reshape(-1, 2) for order in permutations(range(HEAD))))


@dataclass(frozen=True)
class _Fit:
    mix: RotaryMixing
    maps: tuple[AffineMap, ...]  # queries, keys and values
    pairs: Array  # of features that are turned together
    output: AffineMap | None = None

    def __call__(self, x: Array) -> Array:
        mixed = self.mix(*self._made(x), HEADS, self.pairs)
        return self.output(mixed) if self.output else mixed

    def _made(self, x: Array) -> tuple[Array, Array, Array]:
        query, key, value = self.maps
        return query(x), key(x), value(x)

    def steps(self, x: Array) -> tuple[Array, ...]:
        """Queries, keys and values, rotated, and the weights."""
        q, k, v = self.mix.turned(*self._made(x), HEADS, self.pairs)
        return q, k, v, self.mix.mix.weights(q, k, HEADS)


@check(group="values", compares=True)
def attention_rotates_queries_and_keys(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = ATTENTION,
    precompute: str = PRECOMPUTE,
    apply: str = APPLY,
    partial: Partial = Partial(wrong_angles="1/2"),
) -> Outcome:
    """With config.rope, queries and keys are rotated by their positions in every head, and values are left alone."""
    inputs: list[Inputs] = [
        (rng.normal(size=(batch, length, WIDTH)),) for batch, length in ((2, BLOCK), (3, 5), (1, 2), (1, 1))
    ]
    bench = configured(student, file, name, rope=True)
    own = _tried(bench, rng, inputs, partial)
    if isinstance(own, Outcome) and own.status in (Status.PASSED, Status.REVIEW):
        return own
    # What is wrong in the two functions themselves, other checks say.
    given = _tried(with_right_rotations(bench, precompute, apply), rng, inputs, partial)
    if isinstance(given, Outcome) and given.status is Status.PASSED:
        return passed("right, when the functions it calls are", evidence={"given": "right rotations"})
    shapes = shapes_rotated(student, file, name, apply)
    if shapes and all(shape[1:3] == (SHOWN_TOKENS, HEADS) for shape in shapes):
        message = "queries and keys are rotated along the heads instead of the tokens; transpose them first"
        return failed(message, code="rotated_along_heads")
    if isinstance(given, Outcome) and given.evidence.get("looks_like"):
        if given.evidence["looks_like"] == UNROTATED and not shapes:
            message = f"its values are wrong: with config.rope on, {apply}() is never called"
            return failed(message, code=UNROTATED.code)
        return given
    if isinstance(own, StudentFault):
        raise own
    return own


def _tried(
    bench: Workbench, rng: np.random.Generator, inputs: list[Inputs], partial: Partial
) -> Outcome | StudentFault:
    try:
        return _judged(started(bench, rng, inputs[0]), rng, inputs, partial)
    except (TimedOut, Killed):
        raise
    except StudentFault as fault:
        return fault


def _judged(bench: Workbench, rng: np.random.Generator, inputs: list[Inputs], partial: Partial) -> Outcome:
    if found := wrong_shape(bench, [(given, given[0].shape) for given in inputs]):
        return found[1]
    if wrong := not_a_function_of_its_input(bench, inputs[1]):
        return wrong
    outcome = _by_relations(bench, rng, inputs, partial)
    if isinstance(outcome, Outcome):
        return outcome
    few = behaviour.too_few_parameters(bench, bench.influential(rng, inputs[0]), 4 * WIDTH**2)
    return few or variant_properties.of_rotary_attention(bench, rng, outcome)


def _by_relations(bench: Workbench, rng: np.random.Generator, inputs: list[Inputs], partial: Partial) -> Outcome | str:
    """Words for a person, if it does not compute queries, keys and values."""
    x = rng.normal(size=(_BATCH, BLOCK, WIDTH))
    (record,) = records_of(bench, (x,), x)
    (output,), outputs = bench.run((x,)).outputs, bench.run(*inputs).outputs
    maps = layers(record, x)
    known = np.array(record.weights).reshape(-1, *(len(x), BLOCK, BLOCK))

    def explains(mix: RotaryMixing, maps: list[AffineMap] = maps, layouts: Sequence[Array] = _USUAL) -> _Fit | None:
        """The first queries, keys and values, and pairs of their features, with which this gives every output."""
        asking = [
            (order, q, k, pairs)
            for order in orders_of_heads(maps)
            for q, k in permutations(order, 2)
            for pairs in layouts
        ]
        # Weights that are recorded rule most out. Right work may divide by their sum at last, and never have them.
        likely = [each for each in asking if _gives_weights(_Fit(mix, (*each[1:3], each[1]), each[3]), x, known)]
        asking = likely or (asking if mix is _RIGHT and len(known) < HEADS else [])
        chosen = (
            _Fit(mix, (q, k, v), pairs) for order, q, k, pairs in asking for v in order if v is not q and v is not k
        )
        return explanation(
            ((fit, fit) for each in chosen for fit in _completed(each, record, x, output)), inputs, outputs
        )

    if right := explains(_RIGHT, maps, _LAYOUTS) or explains(_RIGHT, layers(record, x, every=True)):
        if right.output is None:
            return failed(f"its values are right, but {NO_OUTPUT}", code=NO_OUTPUT.code)
        return passed(f"right on all {len(inputs)} inputs", evidence={"inputs": len(inputs), "judged_by": "values"})
    for mistake, mix in ROTATED.items():
        if wrong := explains(mix):
            line = first_wrong_line(record, wrong.steps(x), replace(wrong, mix=_RIGHT).steps(x))
            where = f" (line {line['line']})" if line else ""
            message = f"its values are wrong; it looks as if {mistake}{where}"
            return failed(message, evidence={"looks_like": mistake, **line}, code=mistake.code)
    for mistake, of in ANGLES.items() if not bench.sent_along else ():  # whose angles are right
        if explains(RotaryMixing(of=of)):
            message = f"queries and keys are rotated, and nothing else; but it looks as if {mistake}"
            return scored(partial["wrong_angles"], message, evidence={"looks_like": mistake}, code=mistake.code)
    if len(maps) > 2:
        return failed(_NOT_ROTARY, code="outputs_differ")
    return f"of queries, keys and values, it computes {len(maps)} as learned maps of x"


def _gives_weights(fit: _Fit, x: Array, known: Array) -> bool:
    """Whether the weights of its first head are recorded: (weights, B, T, T)."""
    *_, weights = fit.steps(x)
    return bool((np.abs(known - weights[:, 0]).max(axis=(1, 2, 3), initial=0) <= _SAME_WEIGHTS).any())


def _completed(fit: _Fit, record: Record, x: Array, output: Array) -> Iterator[_Fit]:
    """With the output projection, if one leads to the output."""
    if record.close(mixed := fit(x), output):
        yield fit
    elif found := layer_between(record, mixed, output):
        yield replace(fit, output=found)
