"""What a prover says: a score, one line, the student's own expression, and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)
RESTATED = "only_restates"  # evidence that a formula is true and no answer


@dataclass(frozen=True)
class Verdict:
    """`message` gives nothing away; `detail` speaks of the student's expression and may quote numbers.

    A score of None is no verdict: a person decides. `code` is that of the outcome.
    """

    score: Fraction | None
    message: str
    detail: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    provisional: Fraction = Fraction(0)  # the score until a person has decided
    code: str = ""
    but_for_letters: bool = False  # right but for its letters: what it is joined to by ≈ may be right all the same


def right(message: str, detail: str = "", evidence: Mapping[str, Any] | None = None) -> Verdict:
    return Verdict(Fraction(1), message, detail, evidence or {})


def partly(message: str, detail: str = "", evidence: Mapping[str, Any] | None = None, *, code: str = "") -> Verdict:
    return Verdict(HALF, message, detail, evidence or {}, code=code)


def wrong(message: str, detail: str = "", evidence: Mapping[str, Any] | None = None, *, code: str = "") -> Verdict:
    return Verdict(Fraction(0), message, detail, evidence or {}, code=code)


def undecided(
    message: str,
    detail: str = "",
    evidence: Mapping[str, Any] | None = None,
    provisional: Fraction = Fraction(0),
    *,
    code: str = "",
) -> Verdict:
    return Verdict(None, message, detail, evidence or {}, provisional, code)
