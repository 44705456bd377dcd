"""Multi-head attention as a function of its matrices: its inputs, and what each token does to the outputs of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader import (
    ATOL,
    Array,
    Case,
    Cases,
    Outcome,
    Student,
    StudentFile,
    WrongKind,
    check,
    difference,
    failed,
    inputs,
    passed,
    returned_for_each,
    shape,
)

PROJECTIONS = ("C", "W_Q", "W_K", "W_V", "W_O", "heads")
_SIDE = 6
# That tokens have no influence where they should have none is asked of every input; that they have some where they
# may, of one in four: it is enough that any one has.
_SHOWN_IN_ONE_OF = 4


def heads_case(rng: np.random.Generator, e: int, d: int, n: int, heads: int, precision: Any = np.float64) -> Case:
    # Weights of standard deviation 1/√(their width) keep scores near one. Larger ones saturate the softargmax, and then
    # no token has any influence that could be measured.
    C = rng.normal(size=(e, n))
    weights = [rng.normal(size=size) / np.sqrt(size[1]) for size in ((d, e), (d, e), (d, e), (e, d))]
    arrays = [array.astype(precision) for array in (C, *weights)]
    label = f"C {e}×{n}, W_Q {d}×{e}, {heads} head{'s' if heads > 1 else ''}, {precision.__name__}"
    return Case(label, (*arrays, heads), names=PROJECTIONS)


def _simpler(rng: np.random.Generator) -> Iterator[tuple[str, str, Case]]:
    square, sides = "where all matrices are square", "which side is which"
    yield square, sides, heads_case(rng, _SIDE, _SIDE, _SIDE, 2)
    yield "with one head", "how several are split and joined", heads_case(rng, 5, 8, 4, 1)
    yield f"{square} and there is one head,", sides, heads_case(rng, _SIDE, _SIDE, _SIDE, 1)


@inputs(simpler=_simpler)
def multi_head(rng: np.random.Generator) -> Iterator[Case]:
    """C, W_Q, W_K, W_V, W_O, heads for `multi_head_attention`, without a mask."""
    for e, d, n, heads in [
        (6, 8, 5, 2),
        (5, 8, 7, 4),
        (7, 4, 3, 1),
        (3, 6, 4, 6),
        (4, 12, 1, 3),
        (10, 6, 9, 3),
        (4, 10, 6, 2),
        (9, 24, 5, 3),
    ]:
        for precision in (np.float64, np.float32):
            yield heads_case(rng, e, d, n, heads, precision)


@inputs(simpler=_simpler)
def masked_multi_head(rng: np.random.Generator) -> Iterator[Case]:
    """The same with a mask, causal or irregular. Every query may attend to at least one key."""
    for e, d, n, heads in [(6, 8, 5, 2), (5, 8, 7, 4), (3, 6, 4, 3), (7, 4, 6, 1)]:
        for kind in ("causal", "irregular"):
            for precision in (np.float64, np.float32):
                case = heads_case(rng, e, d, n, heads, precision)
                yield replace(case, label=f"{case.label}, {kind} mask", kwargs={"mask": mask(rng, n, kind)})


def mask(rng: np.random.Generator, n: int, kind: str) -> Array:
    """True where query j (column) may attend to key i (row)."""
    if kind == "causal":
        return np.triu(np.ones((n, n), dtype=bool))
    allowed = rng.random((n, n)) < 0.5
    allowed[rng.integers(n, size=n), np.arange(n)] = True
    return allowed


@check(group="values")
def reordering_tokens_reorders_outputs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Self-attention without positions treats its tokens as a set, and lets each see the others."""
    trials, cases = _reordered_tokens(rng)
    answers = returned_for_each(student, file, function, cases)
    influences = []
    for trial in trials:
        before, after = (_one_output_per_token(next(answers), trial.case) for _ in range(2))
        if found := difference(after, before[:, trial.order]):
            message = (
                f"with the tokens reordered the output is not just reordered: {found.summary} ({trial.case.label})"
            )
            return failed(message, found.detail, code="not_equivariant")
        if trial.changed is not None:
            influences.append(_influence(before, _one_output_per_token(next(answers), trial.case), target=1))
    if max(influences) == 0:
        return failed("no token has any influence on the output of another", code="no_influence")
    return passed("reordered tokens give reordered outputs")


@dataclass(frozen=True)
class _Reordered:
    case: Case
    order: Array
    reordered: Case
    changed: Case | None  # the same with another first token, where there are several, for some

    @property
    def cases(self) -> list[Case]:
        return [one for one in (self.case, self.reordered, self.changed) if one is not None]


def _reordered_tokens(rng: np.random.Generator) -> tuple[list[_Reordered], Cases]:
    trials: list[_Reordered] = []
    for case in multi_head(rng):
        C, *rest = case.args
        order = rng.permutation(C.shape[1])
        changed = _changed(rng, case, 0) if C.shape[1] > 1 and len(trials) % _SHOWN_IN_ONE_OF == 0 else None
        trials.append(_Reordered(case, order, replace(case, args=(C[:, order], *rest)), changed))
    return trials, Cases(case for trial in trials for case in trial.cases)


@check(group="values")
def ignores_masked_keys(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """Changing a token changes the output of those queries that may attend to it, and of no others."""
    trials, cases = _masked_pairs(rng)
    answers = returned_for_each(student, file, function, cases)
    influences = []
    for trial in trials:
        before, after = (_one_output_per_token(next(answers), trial.cases[0]) for _ in range(2))
        influence = _influence(before, after, trial.target)
        if trial.sees:
            influences.append(influence)
        elif influence > ATOL:
            message = f"a query sees a token that is masked for it ({trial.cases[0].label})"
            return failed(message, code="sees_masked_keys")
    if max(influences) == 0:
        return failed("no query sees the tokens it may attend to", code="no_influence")
    return passed("masked tokens have no influence, others have")


@dataclass(frozen=True)
class _Masked:
    cases: tuple[Case, Case]  # the same mask, and one token changed
    target: int
    sees: bool


def _masked_pairs(rng: np.random.Generator) -> tuple[list[_Masked], Cases]:
    trials = []
    for place, case in enumerate(masked_multi_head(rng)):
        allowed = case.kwargs["mask"]
        source, target = (int(place) for place in rng.choice(len(allowed), size=2, replace=False))
        for sees in (False, True) if place % _SHOWN_IN_ONE_OF == 0 else (False,):
            mask = allowed.copy()
            mask[[source, target], target] = sees, True
            masked = replace(case, kwargs={"mask": mask})
            trials.append(_Masked((masked, _changed(rng, masked, source)), target, sees))
    return trials, Cases(case for trial in trials for case in trial.cases)


def _changed(rng: np.random.Generator, case: Case, source: int) -> Case:
    """The same with another token in one place."""
    C, *rest = case.args
    changed = C.copy()
    changed[:, source] += rng.normal(size=len(C))
    return replace(case, args=(changed, *rest))


def _influence(before: Array, after: Array, target: int) -> float:
    """How much the output at token `target` changes, at most; relative to its size."""
    change = np.abs(after[:, target] - before[:, target]).max()
    return float(change / (1 + np.abs(before[:, target]).max()))


def _one_output_per_token(output: Array, case: Case) -> Array:
    tokens = case.args[0].shape[1]
    if output.ndim != 2 or output.shape[1] != tokens:
        detail = f"its shape is {shape(output.shape)}"
        message = f"it should return one column for each of the {tokens} tokens ({case.label})"
        raise WrongKind(message, detail, code="wrong_shape")
    if not np.isfinite(output).all():  # NaN compares as neither changed nor unchanged
        raise WrongKind(f"it returns NaN or infinity ({case.label})", code="not_finite")
    return output
