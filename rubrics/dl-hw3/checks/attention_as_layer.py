"""Constructions: matrices that make attention into another layer, judged by running attention on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader import Array, Outcome, Partial, Student, StudentFile, check, failed, needs_review, passed, scored, shape

from .claimed_layers import LAYERS, LayerName, Trial
from .construction_parts import Construction, one_query, self_attention, several_heads

_READERS: Mapping[LayerName, Callable[[Any, str, Trial], Construction]] = {
    "copied_value": one_query,
    "mean": one_query,
    "convolution": several_heads,
}
_SHARPER = (1.0, 10.0, 100.0, 1000.0)
_FLATTER = (1.0, 0.1, 0.01, 0.0001)
_CONTENTS = 3  # drawn for each input once the matrices are there
# Who is right by a hair for one content shall not be wrong by a hair for another. Matrices that were fitted to their
# tokens are off by a tenth and more.
_LEEWAY = 5


@dataclass(frozen=True)
class _Run:
    """A construction at work on one input, and on contents that were drawn after it was returned."""

    trial: Trial
    built: Construction
    others: tuple[Trial, ...]
    factors: tuple[float, ...]  # put on β

    def error(self, scale: float = 1.0, border: str = "") -> float:
        return _apart(self.built.output(scale), self._wanted(self.trial, border))

    def error_elsewhere(self, scale: float = 1.0, border: str = "") -> float:
        """With the same weights A and other contents: the scores may hang on the tokens, the values may not."""
        pairs = ((self.built.carrying(other.tokens), self._wanted(other, border)) for other in self.others)
        return max((_apart(built.output(scale), want) for built, want in pairs), default=0.0)

    def error_in_other_company(self) -> float:
        """With other contents, and the weights A that these give."""
        pairs = ((self.built.looking_at(other.tokens), self._wanted(other, "")) for other in self.others)
        return max((_apart(built.output(), want) for built, want in pairs), default=0.0)

    def is_right(self, atol: float, scale: float = 1.0, border: str = "") -> bool:
        return self.error(scale, border) <= atol and self.error_elsewhere(scale, border) <= _LEEWAY * atol

    def is_right_inside(self, atol: float) -> bool:
        """But for the first and the last token."""
        pairs = [(self.built.carrying(each.tokens), each.want) for each in (self.trial, *self.others)]
        handed, *others = (_apart(built.output()[:, 1:-1], want[:, 1:-1]) for built, want in pairs)
        return handed <= atol and all(error <= _LEEWAY * atol for error in others)

    def _wanted(self, trial: Trial, border: str) -> Array:
        return trial.by_border.get(border or self.built.border, trial.want)


@check(group="values", compares=True)
def attention_becomes(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    layer: LayerName,
    atol: float = 1e-2,
    partial: Partial = Partial(wrong_border="2/3", weights_follow_features="1/2", only_in_the_limit="1/2"),
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
    identity, and the border is 'zero', 'wrap' or 'clamp'. W_Q and W_K may be made for the very C that is given. W_V and
    W_O are run, with the weights A kept, on contents drawn afterwards as well: mixtures of C's columns, other features.

    Of a convolution the neighbours are the construction, and the border is the rest (`wrong_border`); where the values
    are right and the weights A change with the features, a TA looks (`weights_follow_features`).
    """
    reader = _READERS.get(layer, self_attention)
    factors = _FLATTER if layer == "mean" else _SHARPER
    runs = []
    for trial in LAYERS[layer](rng):
        built = reader(student.call(file, function, *trial.args), f"{function}()", trial)
        got, want = built.output(), trial.want
        if got.shape != want.shape:
            hint = "; it looks transposed" if got.shape == want.shape[::-1] else ""
            asked = f"{function}() makes an output that is not {shape(want.shape)} as asked ({trial.label}){hint}"
            return failed(asked, f"it is {shape(got.shape)}", code="wrong_shape")
        draw = trial.other_contents
        others = tuple(draw(rng) for _ in range(_CONTENTS)) if draw else ()
        runs.append(_Run(trial, built, others, factors))
    return _verdict(runs, layer, atol, partial)


def _verdict(runs: list[_Run], layer: LayerName, atol: float, partial: Partial) -> Outcome:
    wrong = [run for run in runs if not run.is_right(atol)]
    worst = max(runs, key=lambda run: run.error())
    elsewhere = max(run.error_elsewhere() for run in runs)
    *_, limit = worst.factors
    more: dict[str, Any] = {
        "evidence": {
            "inputs": len(runs),
            "wrong": len(wrong),
            "off_by": worst.error(),
            "off_by_with_beta_times": {f"{factor:g}": worst.error(factor) for factor in worst.factors},
            "off_by_with_other_contents": elsewhere,
        },
        "revealing": {"beta": [max(head.beta for head in run.built.heads) for run in runs]},
    }
    name = layer.replace("_", " ")
    if layer == "convolution" and (complaint := _about_borders(runs, atol)):
        message = f"the neighbours are right, but {complaint}"
        return scored(partial["wrong_border"], message, code="wrong_border", **more)
    if not wrong and layer == "convolution" and any(run.error_in_other_company() > _LEEWAY * atol for run in runs):
        message = (
            "it is the convolution for the features it was given, but the weights A change with the features; with "
            "positions the offset alone should fix them. A person should look"
        )
        return needs_review(message, partial["weights_follow_features"], code="weights_follow_features", **more)
    if not wrong:
        return passed(f"it is the {name} on all {len(runs)} inputs, to within {worst.error():.1g}", **more)
    at = f"with {worst.trial.label} off by {worst.error():.2g}"
    beta = f"β is {max(head.beta for head in worst.built.heads):.4g} there"
    # Any query averages in the limit, so that a limit counts only where a small β says that it was meant.
    meant = layer != "mean" or all(head.beta < 1 for run in wrong for head in run.built.heads)
    if meant and all(run.is_right(atol, limit) for run in wrong):
        too = "large" if layer == "mean" else "small"
        message = f"the {name} only in the limit, for β is too {too}: {at}; with {limit:g} times that β off by"
        message = f"{message} {worst.error(limit):.1g}"
        return scored(partial["only_in_the_limit"], message, beta, code="only_in_the_limit", **more)
    if all(run.error() <= atol for run in runs):
        fitted, code = _fitted(wrong, atol)
        message = f"right only for the very tokens it was given: {fitted}"
        message += f". With the same weights and other contents off by {elsewhere:.2g}"
        return failed(message, beta, code=code, **more)
    mistake = _mistake(runs, atol)
    looks = f"; it looks as if {mistake}" if mistake else ""
    more["evidence"]["looks_like"] = mistake
    near = f"wrong on {len(wrong)} of {len(runs)} inputs"
    return failed(f"{near}{looks}. {at[0].upper()}{at[1:]}", beta, code="values_differ", **more)


def _fitted(wrong: list[_Run], atol: float) -> tuple[str, str]:
    """What is wrong with matrices that are right for their own tokens and for no others, and its code."""
    if any(run.trial.weights is not None and not _weights_right(run, 1.0, _LEEWAY * atol) for run in wrong):
        return "the weights A are not those asked for, and W_V (or W_O W_V) makes up for it", "wrong_attention_weights"
    return "W_V (or W_O W_V) is fitted to the features it was given", "fitted_to_its_features"


def _about_borders(runs: list[_Run], atol: float) -> str:
    """What is wrong with the borders, where all else is right; empty where they are as stated, or more is wrong."""
    stated = {run.built.border for run in runs}
    for border in runs[0].trial.by_border:
        if all(run.is_right(atol, border=border) for run in runs):
            if stated == {border}:
                return ""
            said = "not as stated" if all(stated) else "which is not stated; return that word, too"
            return f"the border is '{border}', {said}"
    if all(run.is_right_inside(atol) for run in runs):
        return "the first and last token are neither padded with zeros, nor wrapped around, nor clamped"
    return ""


def _mistake(runs: list[_Run], atol: float) -> str:
    """What explains every output, at the β that was given or in the limit."""
    *_, limit = runs[0].factors
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
    """What is not a number is as far away as can be."""
    return float(np.nan_to_num(np.abs(got - want), nan=np.inf).max()) if got.shape == want.shape else float("inf")
