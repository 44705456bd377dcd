"""Small changes to right code: whatever changes what is computed, some check notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.proving.bench import Bench, Trial
from grader.proving.mutants import Mutant, code_mutants
from tests.checks.variant_grading import RUBRIC, right

# Changes to these leave all that the assignment fixes as it was: first weights and dropout, which evaluation does not
# see, how far below all scores a masked one is, columns nobody needs, the order in which a rotation returns features.
_HARMLESS = ("pdrop", "_drop(", "nn.init", "10000000000.0", "self.block_size =")


def _is_harmless(mutant: Mutant) -> bool:
    return any(harmless in mutant.statement for harmless in _HARMLESS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "file"), [("synthesizer", "attention.py"), ("perceiver", "model.py"), ("rope", "attention.py")]
)
def test_at_least_95_of_100_small_changes_are_noticed(tmp_path: Path, variant: str, file: str) -> None:
    files = right(variant)["starter"]
    (tmp_path / variant).mkdir()
    for name, text in files.items():
        (tmp_path / variant / name).write_text(text)
    # Every third: `grader rubric test nlp-a5` tries them all on the samples' own code.
    mutants = [mutant for mutant in code_mutants(files[file], file) if not _is_harmless(mutant)][::3]
    (problem,) = (problem for problem in RUBRIC.problems if problem.id == variant)
    checks = tuple(check.id for check in problem.checks)
    bench = Bench(RUBRIC, tmp_path)
    try:
        fates = [bench.fate(Trial(variant, variant, checks, 10, file, mutant.text)) for mutant in mutants]
    finally:
        bench.close()
    assert not [fate.fault for fate in fates if fate.fault]
    alive = [
        f"{mutant.line}: {mutant.statement}\n    {mutant.becomes}"
        for mutant, fate in zip(mutants, fates, strict=True)
        if not fate.noticed_by
    ]
    print(f"{variant}: {len(mutants)} changes, {len(alive)} unnoticed", *alive, sep="\n  ")
    assert len(alive) <= 0.05 * len(mutants), alive
