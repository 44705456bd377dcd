"""The rotation that a function really does, and which angles explain it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grader import Array
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.rotary import ANGLES
from reference.variations import Angles

_OTHER_ANGLES = Diagnosis("", "wrong_angles")


def folded(angle: Array) -> Array:
    """As turns of at most half a circle, in rising order: all that can be told of a pair whose direction is open."""
    return np.sort(np.abs(np.arctan2(np.sin(angle), np.cos(angle))))


def named(explains: Callable[[Angles], bool]) -> Diagnosis:
    """The mistake whose angles explain what was seen, or no words."""
    return next((name for name, wrong in ANGLES.items() if explains(wrong)), _OTHER_ANGLES)


def holds(cache: Sequence[Array], positions: int, angle: Array, atol: float = 1e-4) -> bool:
    """Whether the arrays of a cache hold, at each position, the cosines and sines of these angles: in any order and
    layout, each equally often, as complex numbers or real ones, or else the angles themselves."""
    rows = []
    for part in cache:
        axis = next((n for n, side in enumerate(part.shape) if side == positions), None)
        if axis is None:
            return False
        flat = np.moveaxis(part, axis, 0).reshape(positions, -1)
        rows += [flat.real, flat.imag] if np.iscomplexobj(flat) else [flat]
    if not rows:
        return False
    got = np.sort(np.concatenate(rows, axis=1).astype(np.float64), axis=1)
    for pattern in (np.concatenate([np.cos(angle), np.sin(angle)], axis=1), angle):
        times, rest = divmod(got.shape[1], pattern.shape[1])
        if not rest and np.allclose(got, np.sort(np.repeat(pattern, times, axis=1), axis=1), rtol=1e-4, atol=atol):
            return True
    return False


def unlike_the_asked(cache: Sequence[Array], angle: Array) -> str:
    """In what a cache that holds other values differs from (positions, d/2, 2) with [cos, sin] of these angles."""
    want = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    if not cache:
        return "it holds no tensors"
    shapes = " and ".join("×".join(map(str, part.shape)) for part in cache)
    (first, *others) = cache
    if others or np.iscomplexobj(first) or first.shape not in (want.shape, want.swapaxes(0, 1).shape):
        asked = "×".join(map(str, want.shape))
        return f"its shape is {shapes}" + ("" if others or np.iscomplexobj(first) else f", where {asked} is asked for")
    got = first if first.shape == want.shape else first.swapaxes(0, 1)
    constant = np.ptp(got, axis=0).max(axis=-1) == 0
    if constant.any():
        return f"{int(constant.sum())} of its {len(constant)} planes are the same at every position, as if never filled"
    t, i = np.argwhere(~(np.abs(got - want).max(axis=-1) <= 1e-3))[0]  # NaN is wrong too
    values = ", ".join(f"{value:.4g}" for value in got[t, i])
    return f"at position {t} its plane {i + 1} holds [{values}], and tθ is {angle[t, i]:.4g} there"


@dataclass(frozen=True)
class Turning:
    """What a function does to each feature at each position: matrices (T, d, d), and the planes it turns."""

    matrices: Array

    @property
    def keeps_lengths(self) -> bool:
        grams = self.matrices.transpose(0, 2, 1) @ self.matrices
        return bool(np.allclose(grams, np.eye(grams.shape[1]), atol=1e-4))

    @property
    def offsets(self) -> Array:
        """How a key at position δ is turned as seen by a query at 0: scores know nothing else of a layout."""
        return np.asarray(self.matrices[0].T @ self.matrices)

    @property
    def pairs(self) -> Array | None:
        """The features turned together, each pair ordered so that it turns forwards; None if they are no pairs."""
        off_diagonal = np.abs(self.offsets).sum(axis=0) * (1 - np.eye(self.offsets.shape[1]))
        partner = off_diagonal.argmax(axis=0)
        if not np.array_equal(partner[partner], np.arange(len(partner))):
            return None
        firsts = np.array([a for a, b in enumerate(partner) if self.offsets[1][b, a] > 0])
        return np.stack([firsts, partner[firsts]], axis=1) if 2 * len(firsts) == len(partner) else None

    def rates(self, pairs: Array) -> Array:
        """By what angle each pair turns from one position to the next."""
        first, second = pairs.T
        return np.asarray(np.arctan2(self.offsets[1][second, first], self.offsets[1][first, first]))
