"""What a machine can do to keep student code in a box, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One layer of the box, and whether this machine gives it."""

    layer: str
    what: str
    required: bool
    on: bool


@dataclass(frozen=True)
class Diagnosis:
    """What isolation this machine gives student code."""

    findings: tuple[Finding, ...]
    refused: tuple[tuple[str, bool], ...]  # what was tried in a box, and whether it was refused
    verdict: str
    fit: bool
    libraries: tuple[tuple[str, str], ...] = ()  # those that rubrics may name, with their versions; empty where missing
