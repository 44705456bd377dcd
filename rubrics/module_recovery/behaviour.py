"""What its behaviour shows of a module whose parameters no formula can be run on, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader import Array, Crashed, Outcome, TimedOut, difference, failed
from grader.modules import Workbench

Gradients = Mapping[str, Array]
WEIGHED = "learned numbers decide whom a token looks at"
SPLIT = "the number of heads matters"
# Of the largest in the same tensor. Where tokens are equal, the gradients of queries and keys are rounding; where they
# are nearly so, a hundredth of those of the values.
_NO_GRADIENT = 1e-5
_NO_EFFECT = 1e-8  # of the largest of all: an attention that is computed and then multiplied by next to nothing
_APART = 0.1
_BOUND = 1e-3  # a LayerNorm's ε shows in the fifth decimal


def too_few_parameters(bench: Workbench, used: set[str], needed: int) -> Outcome | None:
    """None if the parameters in use can hold what the formula needs, however they are arranged."""
    count = sum(bench.values[name].size for name in used)
    if count >= needed:
        return None
    return failed(
        f"{bench.name} uses fewer learned numbers than its formula, {count} where {needed} are needed: a layer is left "
        "out or serves twice, or a tensor is no nn.Parameter and so neither trained nor saved",
        evidence={"learned_numbers": count, "needed": needed},
        code="too_few_parameters",
    )


def nearly_equal(rng: np.random.Generator, batch: int, tokens: int, width: int) -> Array:
    """Tokens so much alike that no softmax saturates, however large its scores are: its gradients do not vanish."""
    return np.asarray(rng.normal(size=(batch, 1, width)) + _APART * rng.normal(size=(batch, tokens, width)))


def gradients(bench: Workbench, rng: np.random.Generator, inputs: Sequence[Array], **changed: Any) -> Gradients:
    """How much each learned number moves some mixture of the outputs."""
    (output,) = bench.run(inputs, **changed).outputs
    found = bench.run(inputs, cotangents=[rng.normal(size=output.shape)], **changed).gradients
    return {name: np.abs(gradient) for name, gradient in found.items()}


def are_weighed(alike: Sequence[Gradients], apart: Gradients, width: int) -> bool:
    """Whether enough learned numbers matter where tokens differ, and to equal tokens not at all.

    Equal tokens give the same whatever weights they get, so that such numbers can do nothing but weigh. Queries and
    keys have 2 · width² of them, and width² if they are one matrix; an averaging has none.
    """
    largest = max((float(found.max()) for found in apart.values()), default=0.0)
    count = 0
    for name, found in apart.items():
        tiny = max(_NO_GRADIENT * found.max(), _NO_EFFECT * largest)
        idle = [each.get(name, np.zeros_like(found)) <= tiny for each in alike]
        count += int(np.sum((found > tiny) & np.all(idle, axis=0)))
    return count >= width**2


def heads_have_no_influence(bench: Workbench, inputs: Sequence[Array], one_head: Mapping[str, Any]) -> bool | None:
    """Whether one head gives the same; None if the parameters are not those of one head, so that it cannot be told."""
    try:
        (single,) = replace(bench, settings=one_head).run(inputs).outputs
    except TimedOut:
        raise
    except Crashed:
        return None
    return difference(single, bench.run(inputs).outputs[0]) is None


def unsplit(bench: Workbench, heads: int) -> Outcome:
    message = f"{bench.name} computes the same with one head as with {heads}: heads are not split"
    return failed(message, code="heads_not_split")


def weighs_all_alike(
    bench: Workbench, rng: np.random.Generator, inputs: Sequence[Array], pair: tuple[int, int], rows: slice
) -> bool:
    """Whether these rows of the output stay when two tokens of the first input move against each other.

    Their mean stays then, and nothing but a mean does not notice.
    """
    tokens, *rest = inputs
    step = rng.normal(size=tokens[:, 0].shape)
    moved = tokens.copy()
    moved[:, pair[0]] += step
    moved[:, pair[1]] -= step
    before, after = bench.run((tokens, *rest), (moved, *rest)).outputs
    return difference(after[:, rows], before[:, rows]) is None


def averages(bench: Workbench) -> Outcome:
    return failed(
        f"{bench.name} has no attention: it takes the mean of the tokens, each with the same weight whatever is in it",
        code="uniform_weights",
    )


def is_normalised(outputs: Array) -> bool:
    """Whether the rows are those of a LayerNorm, whatever its gain and shift.

    Then Σ (z − shift)/gain is 0, and Σ ((z − shift)/gain)² the number of features: one equation in z and 1, and another
    in z², z and 1, that hold for every row.
    """
    rows = outputs.reshape(-1, outputs.shape[-1])
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    bound = np.linalg.svd(np.hstack([rows**2, rows, np.ones((len(rows), 1))]), compute_uv=False)
    linear = np.linalg.svd(np.hstack([rows, np.ones((len(rows), 1))]), compute_uv=False)
    return bool(linear[-1] < _BOUND * linear[0] and bound[-2] < _BOUND * bound[0])
