"""Self-attention judged by what each token does to the outputs of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader import compare
from grader.checks.functions.agreement import places_of
from grader.checks.functions.inputs import INPUTS, Case, Cases
from grader.checks.functions.preparation import drawn
from grader.checks.functions.returned import returned_for_each
from grader.compare import Array, difference
from grader.errors import WrongKind
from grader.kept_question import Together
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check

_REORDERED = "reordered tokens give reordered outputs"
_MASKED = "masked tokens have no influence, others have"
# That tokens have no influence where they should have none is asked of every input; that they have some where they
# may, of one in four: it is enough that any one has.
_SHOWN_IN_ONE_OF = 4


@check
def reordering_tokens_reorders_outputs(
    student: Student, rng: np.random.Generator, *, file: StudentFile, function: str
) -> Outcome:
    """Self-attention without positions treats its tokens as a set, and lets each see the others."""
    trials, cases = drawn(rng, _reordered_tokens)
    answers = returned_for_each(student, file, function, cases)
    if _are_reordered(answers.together(), trials, cases):
        return passed(_REORDERED)
    influences = []
    for trial in trials:
        before, after = (_one_output_per_token(next(answers), trial.case) for _ in range(2))
        if found := difference(after, before[:, trial.order]):
            message = (
                f"with the tokens reordered the output is not just reordered: {found.summary} ({trial.case.label})"
            )
            return failed(message, found.detail)
        if trial.changed is not None:
            influences.append(_influence(before, _one_output_per_token(next(answers), trial.case), target=1))
    if max(influences) == 0:
        return failed("no token has any influence on the output of another")
    return passed(_REORDERED)


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


@check
def ignores_masked_keys(student: Student, rng: np.random.Generator, *, file: StudentFile, function: str) -> Outcome:
    """Changing a token changes the output of those queries that may attend to it, and of no others."""
    trials, cases = drawn(rng, _masked_pairs)
    answers = returned_for_each(student, file, function, cases)
    if _are_masked(answers.together(), trials, cases):
        return passed(_MASKED)
    influences = []
    for trial in trials:
        before, after = (_one_output_per_token(next(answers), trial.cases[0]) for _ in range(2))
        influence = _influence(before, after, trial.target)
        if trial.sees:
            influences.append(influence)
        elif influence > compare.ATOL:
            return failed(f"a query sees a token that is masked for it ({trial.cases[0].label})")
    if max(influences) == 0:
        return failed("no query sees the tokens it may attend to")
    return passed(_MASKED)


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


# Both checks look at all outputs at once first. What does not pass so is looked at trial by trial, for what is wrong.


@dataclass(frozen=True)
class _Columns:
    """Of each trial the output of one token, before and after another was changed: where its numbers stand."""

    before: Array
    after: Array
    starts: Array  # of each trial's

    def influences(self, numbers: Array) -> Array:
        before = numbers[self.before]
        change = np.maximum.reduceat(np.abs(numbers[self.after] - before), self.starts)
        influences: Array = change / (1 + np.maximum.reduceat(np.abs(before), self.starts))
        return influences


def _columns(pairs: Sequence[tuple[Array, Array, int]]) -> _Columns:
    before = [one[:, target] for one, _, target in pairs]
    after = [other[:, target] for _, other, target in pairs]
    starts = np.cumsum([0, *(len(one) for one in before[:-1])])
    return _Columns(np.concatenate(before), np.concatenate(after), starts)


def _finite_numbers(got: Together | None, cases: Cases) -> Array | None:
    """If all outputs have a column for each token, and no number is missing."""
    if got is None:
        return None

    def fits() -> bool:
        shapes = zip(cases, got.layout.shapes, strict=True)
        return all(len(shape) == 2 and shape[1] == case.args[0].shape[1] for case, shape in shapes)

    numbers = got.numbers() if cases.once(("fits", got.layout), fits) else None
    return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _are_masked(got: Together | None, trials: Sequence[_Masked], cases: Cases) -> bool:
    numbers = _finite_numbers(got, cases)
    if got is None or numbers is None or got.layout.shapes[::2] != got.layout.shapes[1::2]:
        return False

    def find() -> tuple[_Columns, Array]:
        outputs = iter(places_of(got.layout))
        pairs = [(next(outputs), next(outputs), trial.target) for trial in trials]
        return _columns(pairs), np.array([trial.sees for trial in trials])

    columns, sees = cases.once(("masked", got.layout), find)
    influences = columns.influences(numbers)
    return bool((influences[~sees] <= compare.ATOL).all() and influences[sees].max() > 0)


def _are_reordered(got: Together | None, trials: Sequence[_Reordered], cases: Cases) -> bool:
    numbers = _finite_numbers(got, cases)
    if got is None or numbers is None:
        return False

    def find() -> tuple[Array, Array, _Columns] | None:
        outputs = iter(places_of(got.layout))
        befores, afters, changed = [], [], []
        for trial in trials:
            before, after = next(outputs), next(outputs)
            others = [next(outputs)] if trial.changed is not None else []
            if any(one.shape != before.shape for one in (after, *others)):
                return None
            befores.append(before[:, trial.order].ravel())
            afters.append(after.ravel())
            changed += [(before, other, 1) for other in others]
        return np.concatenate(befores), np.concatenate(afters), _columns(changed)

    found = cases.once(("reordered", got.layout), find)
    if found is None:
        return False
    want, after = numbers[found[0]], numbers[found[1]]
    agree = np.abs(after - want) <= compare.ATOL + compare.RTOL * np.abs(want)
    return bool(agree.all() and found[2].influences(numbers).max() > 0)


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
        raise WrongKind(f"it should return one column for each of the {tokens} tokens ({case.label})", detail)
    if not np.isfinite(output).all():  # NaN compares as neither changed nor unchanged
        raise WrongKind(f"it returns NaN or infinity ({case.label})")
    return output
