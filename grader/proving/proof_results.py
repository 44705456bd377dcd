"""What came of a proof: part by part, which mutants lost points, and why others may keep them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grader.proving.bench import Fate
from grader.proving.mutants import Mutant

SURVIVORS_ALLOWED = Fraction(5, 100)


@dataclass(frozen=True)
class Tried:
    mutant: Mutant
    fate: Fate
    because: str = ""  # why it may survive

    @property
    def killed(self) -> bool:
        return bool(self.fate.noticed_by)


@dataclass(frozen=True)
class PartProven:
    name: str
    tried: tuple[Tried, ...]
    there: int  # mutants there are, tried or not

    @property
    def killed(self) -> int:
        return sum(one.killed for one in self.tried)

    @property
    def explained(self) -> list[Tried]:
        return [one for one in self.tried if not one.killed and one.because]

    @property
    def survivors(self) -> list[Tried]:
        return [one for one in self.tried if not one.killed and not one.because]


@dataclass(frozen=True)
class Proven:
    """`faults` are the lines that leave a rubric unproved whatever its mutants do; `stale` is what explains nothing."""

    gold: str
    samples: int
    faults: tuple[str, ...]
    parts: tuple[PartProven, ...]
    stale: tuple[str, ...]

    @property
    def holds(self) -> bool:
        tried = sum(len(part.tried) for part in self.parts)
        alive = sum(len(part.survivors) for part in self.parts)
        return not self.faults and alive <= SURVIVORS_ALLOWED * tried
