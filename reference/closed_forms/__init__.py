"""The homework's closed forms as theorems: stated, proved by sympy, confirmed on running code.

`THEOREMS` holds them all; `python -m reference.closed_forms` proves and confirms each anew and prints the
table that stands in docs/ground_truth.md.
"""

from __future__ import annotations

from reference.closed_forms import averaging, counting, random_keys, sensitivity
from reference.closed_forms.theorem import Confirmation, Residuals, Theorem, vanishes

THEOREMS: list[Theorem] = [
    *averaging.THEOREMS,
    *random_keys.THEOREMS,
    *sensitivity.THEOREMS,
    *counting.THEOREMS,
]

__all__ = ["THEOREMS", "Confirmation", "Residuals", "Theorem", "markdown_table", "vanishes"]


def markdown_table(seed: int = 0) -> str:
    """One row per theorem, proved while it is written: a claim that does not hold raises."""
    rows = [
        "| theorem | part | statement | assumptions | proved by | confirmed by |",
        "|---|---|---|---|---|---|",
    ]
    for theorem in THEOREMS:
        residuals = theorem.prove()
        failed = [claim for claim, residual in residuals.items() if not vanishes(residual)]
        confirmation = theorem.confirm(seed)
        if failed or not confirmation.holds:
            raise ValueError(f"{theorem.name} does not hold: {failed or confirmation}")
        proof = f"{theorem.proof} ({len(residuals)} residuals)"
        cells = (theorem.name, theorem.part, theorem.statement, theorem.assumptions, proof, str(confirmation))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)
