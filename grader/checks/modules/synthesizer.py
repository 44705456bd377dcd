"""The Synthesizer variant: each token proposes its own weights, judged on the student's own layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from grader.checks.modules.recovery import arithmetic, variant_properties
from grader.checks.modules.recovery.judgements import (
    explanation,
    not_a_function_of_its_input,
    trained,
    wrong_shape,
)
from grader.checks.modules.recovery.layers import Map, assignments, count_apart, linears, maps
from grader.checks.modules.recovery.workbench import BLOCK, HEAD, HEADS, WIDTH, Workbench, build
from grader.compare import Array, difference
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check

_NAME = "SynthesizerAttention"
_LONGEST = BLOCK - 1


@dataclass(frozen=True)
class _Layers:
    hidden: Map  # W₁, b₁
    scoring: Map  # w₂, b₂
    value: Map
    output: Map | None  # the formula ends before the output projection, so a module without one is accepted


def _mask(scores: Array) -> Array:
    return np.asarray(np.where(arithmetic.future(*scores.shape[-2:]), -np.inf, scores))


def _identity(x: Array) -> Array:
    return x


def _synthesize(
    x: Array,
    layers: _Layers,
    bench: Workbench,
    *,
    activation: Callable[[Array], Array] = arithmetic.ACTIVATIONS["ReLU"],
    on_scores: Callable[[Array], Array] = _identity,
    scale: float = 1.0,
    weigh: Callable[[Array], Array] = lambda scores: arithmetic.softmax(_mask(scores)),
    columns: Callable[[int], slice] = lambda length: slice(length),
    split: Callable[[Array, int], Array] = arithmetic.split_heads,
    join: Callable[[Array], Array] = arithmetic.join_heads,
    without: str = "",
) -> Array:
    """softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])) V, or that with one thing done differently."""
    values = bench.values
    hidden = split(activation(layers.hidden(x, values)), HEADS)  # (B, H, T, D/H)
    scores = on_scores(layers.scoring(hidden, values)[..., columns(x.shape[1])] * scale)  # (B, H, T, T)
    mixed = join(weigh(scores) @ split(layers.value(x, values), HEADS))  # (B, T, D)
    if layers.output is None or without == "output":
        return mixed
    return layers.output(mixed, values)


def _softmax_then_mask(scores: Array) -> Array:
    return np.asarray(arithmetic.softmax(scores) * ~arithmetic.future(*scores.shape[-2:]))


def _hide(scores: Array, hidden: Array, axis: int = -1) -> Array:
    return np.nan_to_num(arithmetic.softmax(np.where(hidden, -1e10, scores), axis=axis))


def _view_as_heads(x: Array, heads: int) -> Array:
    return x.reshape(len(x), heads, x.shape[1], -1)


def _view_as_rows(x: Array) -> Array:
    return x.reshape(len(x), x.shape[2], -1)


_SLIPS: dict[str, dict[str, Any]] = {
    "the ReLU is left out": {"activation": _identity},
    "GELU stands where ReLU is asked for": {"activation": arithmetic.ACTIVATIONS["GELU"]},
    "the ReLU is applied to the scores instead of x W₁ + b₁": {
        "activation": _identity,
        "on_scores": arithmetic.ACTIVATIONS["ReLU"],
    },
    "the scores are scaled by 1/√(n_embd/n_head)": {"scale": 1 / sqrt(HEAD)},
    "the scores are scaled by 1/√n_embd": {"scale": 1 / sqrt(WIDTH)},
    "nothing is masked": {"weigh": arithmetic.softmax},
    "the mask comes after the softmax, so the weights do not sum to one": {"weigh": _softmax_then_mask},
    "the softmax is left out": {"weigh": lambda scores: np.where(arithmetic.future(*scores.shape[-2:]), 0.0, scores)},
    "the softmax runs over the queries instead of the keys": {
        "weigh": lambda scores: _hide(scores, arithmetic.future(*scores.shape[-2:]), axis=-2)
    },
    "the mask hides the past instead of the future": {
        "weigh": lambda scores: _hide(scores, arithmetic.future(*scores.shape[-2:]).T)
    },
    "the mask hides a token from itself": {
        "weigh": lambda scores: _hide(scores, arithmetic.future(scores.shape[-2], scores.shape[-1], first=0))
    },
    "w₂ and b₂ are cut to their last T columns instead of their first": {
        "columns": lambda length: slice(-length, None)
    },
    "the heads are made by view() without a transpose, which mixes tokens": {"split": _view_as_heads},
    "the heads are joined without the transpose back, which mixes tokens": {"join": _view_as_rows},
    "the output projection is left out": {"without": "output"},
}


def _inputs(rng: np.random.Generator) -> list[tuple[Array]]:
    return [(rng.normal(size=(batch, length, WIDTH)),) for batch, length in ((2, _LONGEST), (3, 5), (1, 1), (1, 2))]


def _layers(bench: Workbench, used: set[str]) -> tuple[list[Map], list[Map]]:
    """Maps that may be W₁, value or output, and those that may be w₂."""
    square = [layer for layer in maps(bench.values, WIDTH, HEADS) if layer.weight in used]
    scoring: list[Map] = [layer for length in (_LONGEST, BLOCK) for layer in linears(bench.values, HEAD, length)]
    return square, [layer for layer in scoring if layer.weight in used]


def _readings(bench: Workbench, used: set[str]) -> Iterator[tuple[_Layers, Callable[..., Array]]]:
    square, scoring = _layers(bench, used)
    roles = ("hidden", "value", "output") if count_apart(square) > 2 else ("hidden", "value")
    for scores in scoring:
        for chosen in assignments(square, roles):
            layers = _Layers(chosen["hidden"], scores, chosen["value"], chosen.get("output"))
            yield layers, partial(_synthesize, layers=layers, bench=bench)


def _slip(bench: Workbench, used: set[str], inputs: list[tuple[Array]], outputs: list[Array]) -> str:
    """The mistake that explains every output, or an empty string."""
    for name, different in _SLIPS.items():
        tried = ((name, partial(compute, **different)) for _, compute in _readings(bench, used))
        if found := explanation(tried, inputs, outputs):
            return found
    return ""


@check
def synthesizes_at_every_length(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """It takes any batch and every length up to block_size − 1, and keeps the items of a batch apart."""
    bench = build(student, rng, [file], name, (rng.normal(size=(1, _LONGEST, WIDTH)),), synthesizer=True, additive=True)
    for batch, length in [(1, _LONGEST), (2, _LONGEST), *((2, length) for length in range(1, _LONGEST))]:
        size = (batch, length, WIDTH)
        if wrong := wrong_shape(bench, (rng.normal(size=size),), size):
            return wrong
    return not_a_function_of_its_input(bench, (rng.normal(size=(3, 5, WIDTH)),)) or passed(
        f"it runs at all {_LONGEST} lengths", evidence={"lengths": _LONGEST}
    )


@check
def synthesizer_matches_its_formula(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """Its output is softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])) V, computed from its own parameters."""
    inputs = _inputs(rng)
    bench = build(student, rng, [file], name, *inputs, synthesizer=True, additive=True)
    outputs = bench.run(*inputs).outputs
    used = bench.influential(rng, inputs[0])
    square, scoring = _layers(bench, set(bench.values))
    matrices = [value.shape for value in bench.values.values() if len(value.squeeze().shape) > 1]
    if not any(side in (_LONGEST, BLOCK) for shape in matrices for side in shape):
        return failed(
            f"no parameter of {name} has a column for each of block_size − 1 positions, as w₂ should: a tensor that is "
            "no nn.Parameter is neither trained nor saved"
        )
    if count_apart(square) < 2 or not scoring:
        needed = 2 * WIDTH**2 + HEAD * _LONGEST + _LONGEST  # W₁, the values, w₂ and b₂
        return variant_properties.too_few_parameters(bench, used, needed) or variant_properties.of_a_synthesizer(
            bench, rng
        )
    found = explanation(_readings(bench, used), inputs, outputs)
    if found is None:
        return _wrong(bench, used, inputs, outputs)
    if not found.hidden.bias:
        return failed("its values are those of the formula without b₁, the bias added to x W₁")
    if not found.scoring.bias or found.scoring.bias not in used:
        return failed("its values are those of the formula without b₂, the bias added to the scores")
    if found.output is None and count_apart(square) > 2:
        return failed("its values are right but for the output projection, which is defined and never used")
    return passed(f"right on all {len(inputs)} inputs", evidence={"inputs": len(inputs), "judged_by": "values"})


def _wrong(bench: Workbench, used: set[str], inputs: list[tuple[Array]], outputs: list[Array]) -> Outcome:
    slip = _slip(bench, used, inputs, outputs)
    looks = f"; it looks as if {slip}" if slip else ""
    likely = next((compute for _, compute in _readings(bench, used)), None)
    far = difference(outputs[0], likely(*inputs[0])) if likely else None
    summary = f" With x {inputs[0][0].shape[0]}×{_LONGEST}×{WIDTH} {far.summary}" if far else ""
    unused = "; some of the layers it defines have no influence on its output" if likely is None else ""
    return failed(
        f"its values are not those of the formula{looks or unused}.{summary}",
        far.detail if far else "",
        evidence={"looks_like": slip, "off_by": far.size if far else None},
    )


@check
def synthesizer_ignores_the_future(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """A token's output depends on itself and on earlier tokens, and on no later one."""
    (x,) = _inputs(rng)[0]
    bench = build(student, rng, [file], name, (x,), synthesizer=True, additive=True)
    return variant_properties.looks_ahead(bench, rng, x) or passed("no token sees a later one")


@check
def synthesizer_is_trained(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """Gradients flow back to its input and to every parameter it uses, w₂ and b₂ among them."""
    (x,) = _inputs(rng)[0]  # the longest: that other lengths fail is another check's matter
    bench = build(student, rng, [file], name, (x,), synthesizer=True, additive=True)
    if len(bench.values) == 0:
        return failed(f"{name} has no parameters: nothing of it is trained or saved")
    return trained(bench, rng, (x,))
