"""Rotary positions done otherwise: angles that students take instead, and what they rotate."""

from __future__ import annotations

import numpy as np

from reference.numpy_attention import Angles, Mixing, RotaryMixing
from reference.numpy_layers import Array


def _angles(base: float = 10000.0, numerator: float = -2.0, first: int = 0, first_position: int = 0) -> Angles:
    def made(dim: int, positions: int) -> Array:
        rates = base ** (numerator * (np.arange(dim // 2) + first) / dim)
        return np.outer(np.arange(positions) + first_position, rates)

    return made


ANGLES: dict[str, Angles] = {
    "the exponent of θ has the wrong sign: it is 10000^(−2(i−1)/d), as in the paper, whatever a docstring says": (
        _angles(numerator=2.0)
    ),
    "positions count from 1 instead of 0": _angles(first_position=1),
    "the exponent of θ lacks its factor 2: it is −2(i−1)/d": _angles(numerator=-1.0),
    "the exponent of θ has a factor 4 instead of 2: it is −2(i−1)/d": _angles(numerator=-4.0),
    "i counts from 0 in −2(i−1)/d, or from 1 in −2i/d: θ should begin at 1": _angles(first=1),
    "the base of θ is 1000 instead of 10000": _angles(base=1000.0),
    "the base of θ is 100000 instead of 10000": _angles(base=100000.0),
    "the base of θ is 500000 instead of 10000": _angles(base=500000.0),
}
ROTATED: dict[str, RotaryMixing] = {
    "queries and keys are not rotated at all, or along the heads instead of the tokens": RotaryMixing(rotated=""),
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
}
