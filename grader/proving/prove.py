"""The whole proof: gold, stub, samples and mutants."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path
from typing import Any

from grader.answers import read_answers
from grader.errors import RubricError, StudentFault, shortest
from grader.formulas.lexing.lexer import Unreadable
from grader.model import Rubric
from grader.proving.bench import Fate, Trial, trial_seconds
from grader.proving.declarations import Declaration, declarations, failed_by, undeclared_samples
from grader.proving.formula_mutants import formula_mutants
from grader.proving.mutants import Mutant, code_mutants
from grader.proving.pool import Judged, benches, fate, lost_by_gold, undeclared, won_by_stub
from grader.proving.proof import Part, Proof
from grader.proving.proof_results import PartProven, Proven, Tried
from grader.proving.samples import write_stub
from grader.submission.opening import open_submission

_SEED = 0  # which mutants a sample of them holds: the same ones every time
_BY_THE_PROVER = "the prover proves that it is right all the same"

Progress = Callable[[int, int], None]


def prove(
    rubric: Rubric,
    proof: Proof,
    *,
    data: Path | None = None,
    only: Sequence[str] = (),
    sample: int | None = None,
    unsafe: bool = False,
    progress: Progress = lambda done, total: None,
) -> Proven:
    """Grade everything that proves the rubric. `only` and `sample` try fewer mutants."""
    parts = [part for part in proof.parts if not only or part.problem in only]
    mutants = [mutants_of(rubric, proof, part) for part in parts]
    chosen = [(number, mutant) for number, those in enumerate(mutants) for mutant in those]
    if sample is not None and sample < len(chosen):
        chosen = random.Random(_SEED).sample(chosen, sample)
    declared = declared_samples(rubric, proof)
    faults: list[str] = []
    tried: list[list[Tried]] = [[] for _ in parts]
    with (
        tempfile.TemporaryDirectory(prefix="grader-stub-") as stub,
        benches(rubric, data, proof.submissions, unsafe) as pool,
    ):
        with open_submission(proof.submissions / proof.gold) as gold:
            write_stub(gold, Path(stub))
        judged = _right_samples(pool, proof, parts, faults)
        whole: dict[Future[list[str]], str] = {pool.submit(won_by_stub, Path(stub)): "the stub should get nothing"}
        for name, outcome in declared.items():
            whole[pool.submit(undeclared, proof.submissions / name, outcome.data)] = f"{name} is not as declared"
        trials: dict[Future[Fate], tuple[int, Mutant]] = {
            pool.submit(fate, _trial(rubric, proof, parts[number], mutant, judged)): (number, mutant)
            for number, mutant in chosen
        }
        waiting: list[Future[Any]] = [*whole, *trials]
        for done, future in enumerate(as_completed(waiting), start=1):
            progress(done, len(waiting))
            if future in trials:
                number, mutant = trials[future]
                tried[number].append(_tried(parts[number], mutant, future.result()))
            else:
                faults += [f"{whole[future]}: {line}" for line in future.result()]
    proven = []
    stale: list[str] = []
    for part, there, those in zip(parts, mutants, tried, strict=True):
        faults += [f"{part.name}, line {one.mutant.line}: {one.fate.fault}" for one in those if one.fate.fault]
        if len(those) == len(there) and not any(one.killed for one in those):
            faults.append(f"{part.name}: no mutant lost a point, so what is mutated is not what is graded")
        stale += proof.stale(part, there) + proof.idle(part, [one.mutant for one in those if one.killed], there)
        proven.append(PartProven(part.name, tuple(sorted(those, key=_order)), len(there)))
    stale += _failed_by_none(rubric, declared.values())
    return Proven(proof.gold, len(declared), tuple(faults), tuple(proven), tuple(stale))


def declared_samples(rubric: Rubric, proof: Proof) -> dict[str, Declaration]:
    """By name. RubricError where there is none, or a sample has only one half: what was handed in, or what it gets. The
    gold gets everything, declared or not."""
    declared = declarations(proof.samples, rubric)
    right = {proof.gold, *(part.sample for part in proof.parts)}
    write = f"`grader rubric test {shortest(rubric.path)} --write` writes what it gets"
    faults = [
        f"{one.path}: there is no submission '{one.sample}' in {proof.submissions}"
        for one in declared.values()
        if not (proof.submissions / one.sample).exists()
    ]
    for name in undeclared_samples(proof.submissions, proof.samples, rubric):
        if name not in right:
            faults.append(f"{proof.submissions / name}: nothing says what this sample should get; {write}")
    if not declared and not faults:
        faults.append(f"{proof.samples}: no sample of {rubric.name} is declared, so nothing is proved; {write}")
    if faults:
        raise RubricError(faults)
    return declared


def _failed_by_none(rubric: Rubric, declared: Iterable[Declaration]) -> list[str]:
    failed = {found for one in declared for found in failed_by(one.data)}
    checks = ((problem.id, check.id) for problem in rubric.problems for check in problem.every_check)
    return [
        f"{part} {check}: no sample fails it" for part, check in dict.fromkeys(checks) if (part, check) not in failed
    ]


def mutants_of(rubric: Rubric, proof: Proof, part: Part) -> list[Mutant]:
    where = proof.where(part)
    with open_submission(proof.submissions / (part.sample or proof.gold)) as right:
        try:
            if part.file:
                source = right.read(part.file).decode("utf-8")
                return code_mutants(source, right.find(part.file), part.definitions)
            answers = read_answers(right, [problem.id for problem in rubric.problems])
            if part.problem not in answers.parts:
                raise LookupError(f"there is no answer to {part.problem}")
            answer = answers.parts[part.problem]
            sheet = right.read(answer.file).decode("utf-8")
            return [mutant for formula in part.formulas for mutant in formula_mutants(sheet, answer, formula)]
        except StudentFault as fault:
            raise RubricError([f"{where}: {right.name}: {fault.message}"]) from None
        except LookupError as missing:
            raise RubricError([f"{where}: {right.name}: {missing}"]) from None
        except Unreadable as fault:
            raise RubricError([f"{where}: {fault.cause}"]) from None


def _right_samples(
    pool: Executor, proof: Proof, parts: Sequence[Part], faults: list[str]
) -> dict[str, dict[str, Judged]]:
    """The gold and other samples that are mutated, graded as they are; they should get everything."""
    names = dict.fromkeys([proof.gold, *(part.sample for part in parts if part.sample)])
    graded = {name: pool.submit(lost_by_gold, proof.submissions / name) for name in names}
    judged = {}
    for name, future in graded.items():
        lost, judged[name] = future.result()
        faults += [f"{name} should get everything: {line}" for line in lost]
    return judged


def _trial(rubric: Rubric, proof: Proof, part: Part, mutant: Mutant, judged: dict[str, dict[str, Judged]]) -> Trial:
    sample = part.sample or proof.gold
    how = judged[sample][part.problem]
    (problem,) = (one for one in rubric.problems if one.id == part.problem)
    checks = tuple(check for check in how.checks if check in (part.checks or how.checks))
    return Trial(sample, part.problem, checks, trial_seconds(how.seconds, problem.limits), mutant.file, mutant.text)


def _tried(part: Part, mutant: Mutant, fate: Fate) -> Tried:
    listed = next((entry.because for entry in part.equivalent if entry.fits(mutant)), "")
    return Tried(mutant, fate, "" if fate.fault else listed or (_BY_THE_PROVER if fate.proved else ""))


def _order(one: Tried) -> tuple[str, int, str]:
    return one.mutant.file, one.mutant.line, one.mutant.becomes
