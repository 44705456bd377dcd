"""What a theorem is here: a statement, its assumptions, a symbolic proof and a numerical confirmation.

A proof is a set of named *residuals*: sympy expressions that must come out as exactly 0 (an identity or a
limit, left side minus right side), a zero matrix, or `true` (an inequality). They are recomputed each time
they are asked for. A confirmation measures one number on the running code, by seeded sampling or by autograd,
and gives the error it may have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy

Residuals = dict[str, sympy.Basic]

# Sampling errors are normal: five standard errors are exceeded once in two million times.
STANDARD_ERRORS = 5


@dataclass(frozen=True)
class Confirmation:
    """A measured number, what the theorem says it is, and by how much the measurement may be off."""

    quantity: str
    measured: float
    expected: float
    error: float

    @property
    def holds(self) -> bool:
        return abs(self.measured - self.expected) <= self.error

    def __str__(self) -> str:
        return f"{self.quantity}: {self.measured:.5g} against {self.expected:.5g} (± {self.error:.2g})"


@dataclass(frozen=True)
class Theorem:
    """`part` is the homework's id of the question it answers."""

    name: str
    part: str
    statement: str
    assumptions: str
    proof: str
    prove: Callable[[], Residuals]
    confirm: Callable[[int], Confirmation]


def vanishes(residual: sympy.Basic) -> bool:
    """Whether a residual is exactly nothing: 0, a zero matrix, or a true inequality."""
    if isinstance(residual, sympy.MatrixBase):
        return bool(residual.is_zero_matrix)
    return residual in (sympy.S.Zero, sympy.true) or isinstance(residual, sympy.ZeroMatrix)
