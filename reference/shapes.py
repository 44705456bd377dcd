"""How shapes are written in error messages, for numpy arrays and torch tensors alike."""

from __future__ import annotations

from typing import Protocol


class HasShape(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...


def shape_text(array: HasShape) -> str:
    """(3, 4) is written 3×4, a single number "scalar"."""
    return "×".join(str(size) for size in array.shape) or "scalar"
