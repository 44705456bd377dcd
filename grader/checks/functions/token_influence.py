"""Self-attention judged by what each token does to the outputs of others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grader import compare
from grader.checks.functions.inputs import INPUTS, Case, Cases
from grader.checks.functions.preparation import drawn
from grader.checks.functions.returned import returned_for_each
from grader.compare import Array, difference
from grader.errors import WrongKind
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check

# That tokens have no influence where they should have none is asked of every input; that they have some where they
# may, of one in four: it is enough that any one has.
_SHOWN_IN_ONE_OF = 4


@check(group="values")
def reordering_tokens_reorders_outputs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Self-attention without positions treats its tokens as a set, and lets each see the others."""
    trials, cases = drawn(rng, _reordered_tokens)
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
    for case in INPUTS["multi_head"](rng):
        C, *rest = case.args
        order = rng.permutation(C.shape[1])
        changed = _changed(rng, case, 0) if C.shape[1] > 1 and len(trials) % _SHOWN_IN_ONE_OF == 0 else None
        trials.append(_Reordered(case, order, replace(case, args=(C[:, order], *rest)), changed))
    return trials, Cases(case for trial in trials for case in trial.cases)


@check(group="values")
def ignores_masked_keys(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """Changing a token changes the output of those queries that may attend to it, and of no others."""
    trials, cases = drawn(rng, _masked_pairs)
    answers = returned_for_each(student, file, function, cases)
    influences = []
    for trial in trials:
        before, after = (_one_output_per_token(next(answers), trial.cases[0]) for _ in range(2))
        influence = _influence(before, after, trial.target)
        if trial.sees:
            influences.append(influence)
        elif influence > compare.ATOL:
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
    for place, case in enumerate(INPUTS["masked_multi_head"](rng)):
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
        detail = f"its shape is {compare.shape(output.shape)}"
        message = f"it should return one column for each of the {tokens} tokens ({case.label})"
        raise WrongKind(message, detail, code="wrong_shape")
    if not np.isfinite(output).all():  # NaN compares as neither changed nor unchanged
        raise WrongKind(f"it returns NaN or infinity ({case.label})", code="not_finite")
    return output
