"""rubrics/NAME/proof.yaml → what proves the rubric: the gold, what of it is mutated, which changes change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grader.errors import RubricError, UsageError
from grader.model import Rubric
from grader.proving.mutants import Mutant
from grader.rubric.hints import did_you_mean
from grader.rubric.model_file import read_model
from grader.rubric.yaml_source import Source, WrittenFloat

FILE = "proof.yaml"
SAMPLES = "samples"  # beside it: what was handed in, and in a file each what it gets


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Equivalent(_Strict):
    """A change that no check can notice, and why. Without `becomes`, whatever is done to the statement."""

    within: str = Field("", alias="in")
    statement: str = Field(alias="line")
    becomes: list[str] = []
    because: str

    def fits(self, mutant: Mutant) -> bool:
        """Told by text, not by line number, so that it does not move when the file is edited."""
        same = (self.within in ("", mutant.within)) and self.statement == mutant.statement
        return same and (not self.becomes or mutant.becomes in self.becomes)


class Part(_Strict):
    """What is mutated for one problem: definitions of a file, or formulas of the answer."""

    problem: Annotated[str, BeforeValidator(lambda value: value.text if isinstance(value, WrittenFloat) else value)]
    sample: str = ""  # the gold, if not said
    file: str = ""
    definitions: list[str] = []  # all, if none are named
    formulas: list[str] = []
    checks: list[str] = []  # which have to notice; any of the problem's, if none are named
    equivalent: list[Equivalent] = []

    @property
    def name(self) -> str:
        what = self.file or "formulas"
        return f"{self.problem} {what}" + (f" ({self.sample})" if self.sample else "")


class _Written(_Strict):
    gold: str
    submissions: str = SAMPLES
    samples: str = SAMPLES
    mutate: list[Part] = []


@dataclass(frozen=True)
class Proof:
    gold: str
    submissions: Path
    samples: Path  # what each submission is declared to get, one file each
    parts: tuple[Part, ...]
    path: Path
    source: Source

    def where(self, part: Part, *inside: str | int) -> str:
        return f"{self.path}:{self.source.line(('mutate', self.parts.index(part), *inside))}"

    def stale(self, part: Part, there: Sequence[Mutant]) -> list[str]:
        """Entries that fit no mutant there is: the gold was edited, or they were misspelt."""
        found = []
        for number, entry in enumerate(part.equivalent):
            where = self.where(part, "equivalent", number)
            if not any(entry.fits(mutant) for mutant in there):
                found.append(f"{where}: no mutant of {part.name} is this one: {entry.statement}")
            for text in entry.becomes:
                if not any(entry.fits(mutant) and mutant.becomes == text for mutant in there):
                    found.append(f"{where}: no mutant of {part.name} becomes: {text}")
        return found

    def idle(self, part: Part, killed: Sequence[Mutant], there: Sequence[Mutant]) -> list[str]:
        """Entries that explain nothing, because every mutant they fit loses points."""
        found = []
        for number, entry in enumerate(part.equivalent):
            fitting = [mutant for mutant in there if entry.fits(mutant)]
            if fitting and all(mutant in killed for mutant in fitting):
                where = self.where(part, "equivalent", number)
                found.append(f"{where}: every such mutant of {part.name} loses points: {entry.statement}")
        return found


def load_proof(rubric: Rubric) -> Proof:
    """Read it completely; RubricError lists what is wrong with it, each with its line."""
    path = rubric.folder / FILE
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; it says which sample is gold and what of it is mutated")
    written, source = read_model(path, _Written, _keys_at)
    submissions, samples = path.parent / written.submissions, path.parent / written.samples
    proof = Proof(written.gold, submissions, samples, tuple(written.mutate), path, source)
    _refuse_what_is_not_there(proof, rubric)
    return proof


def _beside(proof: Proof, sample: str) -> str:
    there = [path.name for path in proof.submissions.iterdir() if path.is_dir()] if proof.submissions.is_dir() else []
    return did_you_mean(sample, there)


def _keys_at(place: tuple[int | str, ...]) -> list[str]:
    """The keys that mean something where this unknown one stands."""
    model = Equivalent if "equivalent" in place[:-1] else Part if "mutate" in place[:-1] else _Written
    return [field.alias or name for name, field in model.model_fields.items()]


def _refuse_what_is_not_there(proof: Proof, rubric: Rubric) -> None:
    faults = []
    problems = {problem.id: problem for problem in rubric.problems}
    for sample in dict.fromkeys([proof.gold, *(part.sample for part in proof.parts if part.sample)]):
        if not (proof.submissions / sample).exists():
            faults.append(f"{proof.path}: there is no sample '{sample}' in {proof.submissions}{_beside(proof, sample)}")
    for part in proof.parts:
        where = proof.where(part)
        if part.problem not in problems:
            faults.append(f"{where}: {rubric.name} has no problem '{part.problem}'; it has {', '.join(problems)}")
        elif unknown := set(part.checks) - {check.id for check in problems[part.problem].every_check}:
            faults.append(f"{where}: {part.problem} has no check '{sorted(unknown)[0]}'")
        if bool(part.file) == bool(part.formulas):
            faults.append(f"{where}: give either 'file' or 'formulas'")
    if faults:
        raise RubricError(faults)
