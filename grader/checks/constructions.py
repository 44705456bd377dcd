"""Constructions: matrices that make attention into another layer, judged by running attention on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from grader import compare
from grader.checks.claimed_layers import LAYERS, LayerName, Trial
from grader.checks.construction_parts import Construction, one_query, self_attention, several_heads
from grader.compare import Array
from grader.model import Outcome, Status, Student, failed, passed
from grader.registry import StudentFile, check

_READERS: Mapping[LayerName, Callable[[Any, str, Trial], Construction]] = {
    "copied_value": one_query,
    "mean": one_query,
    "convolution": several_heads,
}
_SHARPER = (1.0, 10.0, 100.0, 1000.0)
_FLATTER = (1.0, 0.1, 0.01, 0.0001)
_BORDER_SHARE = Fraction(2, 3)  # the neighbours are the construction; the borders are the rest
_LIMIT_SHARE = Fraction(1, 2)


@dataclass(frozen=True)
class _Run:
    """A construction at work on one input."""

    trial: Trial
    built: Construction
    errors: Mapping[float, float]  # by the factor put on β

    @property
    def error(self) -> float:
        return self.errors[1.0]

    @property
    def in_the_limit(self) -> float:
        return list(self.errors.values())[-1]


@check
def attention_becomes(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    layer: LayerName,
    atol: float = 1e-2,
) -> Outcome:
    """Attention with the matrices it returns computes the layer that was asked for.

    What the function is given and returns, by layer (tokens are columns; β may be left out, and is then 1):

    copied_value           (K, V, j) → q, β               h = v_j; keys of unit length, no two closer than 60°
    mean                   (K, V) → q, β                  h = the mean of the values
    identity               (C) → W_Q, W_K, W_V, β         H = C; the columns of C are orthonormal
    permutation            (C, order) → W_Q, W_K, W_V, β  H[:, j] = C[:, order[j]]
    pointwise_convolution  (C, W) → W_Q, W_K, W_V, β      H = W C, as Conv1d with kernel 1
    convolution            (C, P, kernel) → heads, border H as Conv1d with kernel 3, summed over heads

    A fourth matrix is W_O. For a convolution the tokens are C over P: C has a column of zeros at either end, P is the
    identity, and the border is 'zero', 'wrap' or 'clamp'.
    """
    reader = _READERS.get(layer, self_attention)
    factors = _FLATTER if layer == "mean" else _SHARPER
    runs = []
    for trial in LAYERS[layer](rng):
        built = reader(student.call(file, function, *trial.args), f"{function}()", trial)
        want = trial.by_border.get(built.border, trial.want)
        got = built.output()
        if got.shape != want.shape:
            hint = "; it looks transposed" if got.shape == want.shape[::-1] else ""
            asked = (
                f"{function}() makes an output that is not {compare.shape(want.shape)} as asked ({trial.label}){hint}"
            )
            return failed(asked, f"it is {compare.shape(got.shape)}")
        errors = {factor: _apart(built.output(factor), want) for factor in factors}
        runs.append(_Run(trial, built, errors))
    return _verdict(runs, layer, atol)


def _verdict(runs: list[_Run], layer: LayerName, atol: float) -> Outcome:
    wrong = [run for run in runs if run.error > atol]
    worst = max(runs, key=lambda run: run.error)
    more: dict[str, Any] = {
        "evidence": {
            "inputs": len(runs),
            "wrong": len(wrong),
            "off_by": worst.error,
            "off_by_with_beta_times": {f"{factor:g}": error for factor, error in worst.errors.items()},
        },
        "revealing": {"beta": [max(head.beta for head in run.built.heads) for run in runs]},
    }
    name = layer.replace("_", " ")
    if layer == "convolution" and (complaint := _about_borders(runs, atol)):
        return Outcome(Status.PARTIAL, _BORDER_SHARE, f"the neighbours are right, but {complaint}", **more)
    if not wrong:
        return passed(f"it is the {name} on all {len(runs)} inputs, to within {worst.error:.1g}", **more)
    near = f"wrong on {len(wrong)} of {len(runs)} inputs"
    at = f"with {worst.trial.label} off by {worst.error:.2g}"
    beta = f"β is {max(head.beta for head in worst.built.heads):.4g} there"
    # Any query averages in the limit, so that a limit counts only where a small β says that it was meant.
    meant = layer != "mean" or all(head.beta < 1 for run in wrong for head in run.built.heads)
    if meant and all(run.in_the_limit <= atol for run in wrong):
        too, factor = "large" if layer == "mean" else "small", list(worst.errors)[-1]
        message = f"the {name} only in the limit, for β is too {too}: {at}; with {factor:g} times that β off by"
        return Outcome(Status.PARTIAL, _LIMIT_SHARE, f"{message} {worst.in_the_limit:.1g}", beta, **more)
    slip = _mistake(runs, atol)
    looks = f"; it looks as if {slip}" if slip else ""
    more["evidence"]["looks_like"] = slip
    return failed(f"{near}{looks}. {at[0].upper()}{at[1:]}", beta, **more)


def _about_borders(runs: list[_Run], atol: float) -> str:
    """What is wrong with the borders, where all else is right; empty where they are as stated, or more is wrong."""
    stated = {run.built.border for run in runs}
    for border in runs[0].trial.by_border:
        if all(_apart(run.built.output(), run.trial.by_border[border]) <= atol for run in runs):
            if stated == {border}:
                return ""
            said = "not as stated" if all(stated) else "which is not stated; return that word, too"
            return f"the border is '{border}', {said}"
    inner = slice(1, -1)
    if all(_apart(run.built.output()[:, inner], run.trial.want[:, inner]) <= atol for run in runs):
        return "the first and last token are neither padded with zeros, nor wrapped around, nor clamped"
    return ""


def _mistake(runs: list[_Run], atol: float) -> str:
    """What explains every output, at the β that was given or in the limit."""
    limit = list(runs[0].errors)[-1]
    for scale in (1.0, limit):
        for mistake in dict.fromkeys(name for run in runs for name in run.trial.mistakes):
            shown = [run for run in runs if mistake in run.trial.mistakes]
            if all(_apart(run.built.output(scale), run.trial.mistakes[mistake]) <= atol for run in shown):
                return mistake
    if all(_weights_right(run, limit, atol) for run in runs):
        return "the weights A are right in the limit, but W_V (or W_O W_V) is not what it should be"
    return ""


def _weights_right(run: _Run, scale: float, atol: float) -> bool:
    (head, *others), wanted = run.built.heads, run.trial.weights
    return wanted is not None and not others and _apart(head.weights(scale), wanted) <= atol


def _apart(got: Array, want: Array) -> float:
    return float(np.abs(got - want).max()) if got.shape == want.shape else float("inf")
