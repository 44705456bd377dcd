"""Why faults stay unnoticed: what nobody could notice (mutants.yaml), and what tests let pass (survivors.yaml)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from benchmarks.areas import REPOSITORY
from grader.proving.mutants import Mutant

EXPLAINED = REPOSITORY / "benchmarks" / "mutants.yaml"
LEFT = REPOSITORY / "benchmarks" / "survivors.yaml"


def reason(mutant: Mutant) -> str:
    """Why nobody could notice it, by what is changed into what: editing the file elsewhere does not lose it."""
    return _because(EXPLAINED, mutant)


def left_because(mutant: Mutant) -> str:
    """Why no test notices it, though somebody might: it counts as a survivor."""
    return _because(LEFT, mutant)


def _because(written: Path, mutant: Mutant) -> str:
    for entry in _entries(written).get(mutant.file, []):
        if (entry["statement"], entry["becomes"]) == (mutant.statement, mutant.becomes):
            return entry["because"]
    return ""


@cache
def _entries(written: Path) -> dict[str, list[dict[str, str]]]:
    return dict(yaml.safe_load(written.read_text(encoding="utf-8")) or {})
