"""Rotary positions done otherwise: angles that students take instead, and what they rotate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from reference.numpy_attention import Angles, Mixing, RotaryMixing
from reference.numpy_layers import Array, angles

_Slip = dict[str, float]


def _angles(
    base: float = 10000.0, sign: float = -1.0, factor: float = 2.0, first: int = 0, first_position: int = 0
) -> Angles:
    def made(dim: int, positions: int) -> Array:
        rates = base ** (sign * factor * (np.arange(dim // 2) + first) / dim)
        return np.outer(np.arange(positions) + first_position, rates)

    return made


_SLIPS: dict[str, _Slip] = {
    "the exponent of θ has the wrong sign: it is 10000^(−2(i−1)/d), as in the paper, whatever a docstring says": (
        {"sign": 1}
    ),
    "positions count from 1 instead of 0": {"first_position": 1},
    "the exponent of θ lacks its factor 2: it is −2(i−1)/d": {"factor": 1},
    "the exponent of θ has a factor 4 instead of 2: it is −2(i−1)/d": {"factor": 4},
    "i counts from 1 in −2i/d: θ should begin at 1": {"first": 1},
    "i counts from 0 in −2(i−1)/d: θ should begin at 1": {"first": -1},
    "the base of θ is 1000 instead of 10000": {"base": 1000},
    "the base of θ is 100000 instead of 10000": {"base": 100000},
    "the base of θ is 500000 instead of 10000": {"base": 500000},
}


def _one_after_the_other() -> Iterator[tuple[str, _Slip]]:
    """Each slip alone, then any two that can be made at once."""
    yield from _SLIPS.items()
    for (name, slip), (other_name, other) in combinations(_SLIPS.items(), 2):
        if slip.keys() != other.keys():
            yield f"{name}; and {other_name}", slip | other


def _without_brackets(dim: int, positions: int) -> Array:
    return np.outer(np.arange(positions), 10000.0**-2 * np.arange(dim // 2) / dim)


def _with_negative_sines(dim: int, positions: int) -> Array:
    return -angles(dim, positions)


NEGATIVE_SINES = "the sines have the wrong sign, so that pairs are turned backwards"
ANGLES: dict[str, Angles] = {
    **{name: _angles(**slip) for name, slip in _one_after_the_other()},  # type: ignore[arg-type]  # each has values of its own kind
    "the exponent of θ has no brackets: 10000 ** -2 * i / d is (10000⁻²) · i / d": _without_brackets,
    NEGATIVE_SINES: _with_negative_sines,
}
UNROTATED = "queries and keys are not rotated at all"
ROTATED: dict[str, RotaryMixing] = {
    UNROTATED: RotaryMixing(rotated=""),
    "the values are rotated too; only queries and keys should be": RotaryMixing(rotated="qkv"),
    "only the queries are rotated": RotaryMixing(rotated="q"),
    "only the keys are rotated": RotaryMixing(rotated="k"),
    "keys and values are rotated instead of queries and keys": RotaryMixing(rotated="kv"),
    "queries and values are rotated instead of queries and keys": RotaryMixing(rotated="qv"),
    "queries and keys are rotated in opposite directions": RotaryMixing(backwards="k"),
    "the rotation is applied before the heads are split, over all n_embd features": RotaryMixing(whole=True),
    "nothing is masked": RotaryMixing(mix=Mixing()),
    "the scores are not divided by √(n_embd/n_head)": RotaryMixing(
        mix=Mixing(masked=True, scale=lambda width, heads: 1.0)
    ),
    "the scores are divided by √(n_embd/n_head) twice": RotaryMixing(
        mix=Mixing(masked=True, scale=lambda width, heads: heads / width)
    ),
    "queries and keys are rotated twice": RotaryMixing(of=lambda dim, positions: 2 * angles(dim, positions)),
}
