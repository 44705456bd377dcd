"""The homework's closed forms as theorems: stated, proved by sympy, confirmed on running code.

`THEOREMS` holds them all; `python -m reference.closed_forms` proves and confirms each anew and prints the
table that stands in docs/ground_truth.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.closed_forms import averaging, counting, random_keys, sensitivity
from reference.closed_forms.theorem import Confirmation, Residuals, Theorem, vanishes

THEOREMS: list[Theorem] = [
    *averaging.THEOREMS,
    *random_keys.THEOREMS,
    *sensitivity.THEOREMS,
    *counting.THEOREMS,
]

__all__ = ["THEOREMS", "Confirmation", "Residuals", "Theorem", "described", "markdown_table", "vanishes"]


def described(theorem: Theorem) -> str:
    """The part of a theorem's row that is the same on every machine."""
    cells = (theorem.name, theorem.part, theorem.statement, theorem.assumptions, theorem.proof)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells)


def markdown_table(theorems: Sequence[Theorem] = THEOREMS, seed: int = 0) -> str:
    """One row per theorem, proved while it is written: a claim that does not hold raises."""
    rows = [
        "| theorem | part | statement | assumptions | proved by | confirmed by |",
        "|---|---|---|---|---|---|",
    ]
    for theorem in theorems:
        residuals = theorem.prove()
        failed = [claim for claim, residual in residuals.items() if not vanishes(residual)]
        confirmation = theorem.confirm(seed)
        if failed or not confirmation.holds:
            raise ValueError(f"{theorem.name} does not hold: {failed or confirmation}")
        confirmed = str(confirmation).replace("|", "\\|")
        rows.append(f"{described(theorem)} ({len(residuals)} residuals) | {confirmed} |")
    return "\n".join(rows)
