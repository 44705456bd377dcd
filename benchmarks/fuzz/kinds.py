"""The kinds of input: how one is made, how it is read, and how many of a million are of this kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.fuzz import answer_sheets, archive_files, declarations, frames, notebook_files, pdf_files, predicted


@dataclass(frozen=True)
class Kind:
    name: str
    share: int  # of a million: those that are quick to read are many
    make: Callable[[Random], Any]
    read: Callable[[Any, Path], bool]  # in a folder of its own; False if it was refused, in one line


KINDS = {
    kind.name: kind
    for kind in (
        Kind("wire", 520_000, frames.make, frames.read),
        Kind("answers", 130_000, answer_sheets.make, answer_sheets.read),
        Kind("notebooks", 40_000, notebook_files.make, notebook_files.read),
        Kind("pdfs", 20_000, pdf_files.make, pdf_files.read),
        Kind("archives", 30_000, archive_files.make, archive_files.read),
        Kind("predictions", 80_000, predicted.make, predicted.read),
        Kind("submission", 180_000, declarations.make, declarations.read),
    )
}


def shared_out(count: int) -> dict[str, int]:
    """So many inputs of each kind; what rounding leaves over goes to the first."""
    counts = {name: count * kind.share // 1_000_000 for name, kind in KINDS.items()}
    first = next(iter(counts))
    counts[first] += count - sum(counts.values())
    return counts
