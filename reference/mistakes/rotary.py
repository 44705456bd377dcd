"""Rotary positions done otherwise: angles that students take instead, and what they rotate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from reference.equations import Array
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.mixing import UNMASKED, UNSCALED
from reference.rope import angles
from reference.variations import Angles, Mixing, RotaryMixing

_Slip = dict[str, float]


def _angles(
    base: float = 10000.0, sign: float = -1.0, factor: float = 2.0, first: int = 0, first_position: int = 0
) -> Angles:
    def made(dim: int, positions: int) -> Array:
        rates = base ** (sign * factor * (np.arange(dim // 2) + first) / dim)
        return np.outer(np.arange(positions) + first_position, rates)

    return made


_SLIPS: dict[Diagnosis, _Slip] = {
    Diagnosis(
        "the exponent of θ has the wrong sign: it is 10000^(−2(i−1)/d), as in the paper, whatever a docstring says",
        "wrong_exponent_sign",
    ): {"sign": 1},
    Diagnosis("positions count from 1 instead of 0", "positions_from_one"): {"first_position": 1},
    Diagnosis("the exponent of θ lacks its factor 2: it is −2(i−1)/d", "wrong_exponent_factor"): {"factor": 1},
    Diagnosis("the exponent of θ has a factor 4 instead of 2: it is −2(i−1)/d", "wrong_exponent_factor"): {"factor": 4},
    Diagnosis("i counts from 1 in −2i/d: θ should begin at 1", "index_from_one"): {"first": 1},
    Diagnosis("i counts from 0 in −2(i−1)/d: θ should begin at 1", "index_from_zero"): {"first": -1},
    Diagnosis("the base of θ is 1000 instead of 10000", "wrong_base"): {"base": 1000},
    Diagnosis("the base of θ is 100000 instead of 10000", "wrong_base"): {"base": 100000},
    Diagnosis("the base of θ is 500000 instead of 10000", "wrong_base"): {"base": 500000},
}


def _one_after_the_other() -> Iterator[tuple[Diagnosis, _Slip]]:
    """Each slip alone, then any two that can be made at once."""
    yield from _SLIPS.items()
    for (name, slip), (other_name, other) in combinations(_SLIPS.items(), 2):
        if slip.keys() != other.keys():
            yield all_of((name, other_name), "; and "), slip | other


def _without_brackets(dim: int, positions: int) -> Array:
    return np.outer(np.arange(positions), 10000.0**-2 * np.arange(dim // 2) / dim)


def _with_negative_sines(dim: int, positions: int) -> Array:
    return -angles(dim, positions)


NEGATIVE_SINES = Diagnosis("the sines have the wrong sign, so that pairs are turned backwards", "rotated_backwards")
ANGLES: dict[Diagnosis, Angles] = {
    **{name: _angles(**slip) for name, slip in _one_after_the_other()},  # type: ignore[arg-type]  # each has values of its own kind
    Diagnosis(
        "the exponent of θ has no brackets: 10000 ** -2 * i / d is (10000⁻²) · i / d", "exponent_without_brackets"
    ): _without_brackets,
    NEGATIVE_SINES: _with_negative_sines,
}
UNROTATED = Diagnosis("queries and keys are not rotated at all", "not_rotated")
ROTATED: dict[Diagnosis, RotaryMixing] = {
    UNROTATED: RotaryMixing(rotated=""),
    Diagnosis("the values are rotated too; only queries and keys should be", "values_rotated"): RotaryMixing(
        rotated="qkv"
    ),
    Diagnosis("only the queries are rotated", "keys_not_rotated"): RotaryMixing(rotated="q"),
    Diagnosis("only the keys are rotated", "queries_not_rotated"): RotaryMixing(rotated="k"),
    Diagnosis("keys and values are rotated instead of queries and keys", "values_rotated__queries_not_rotated"): (
        RotaryMixing(rotated="kv")
    ),
    Diagnosis("queries and values are rotated instead of queries and keys", "values_rotated__keys_not_rotated"): (
        RotaryMixing(rotated="qv")
    ),
    Diagnosis("queries and keys are rotated in opposite directions", "opposite_rotations"): RotaryMixing(backwards="k"),
    Diagnosis(
        "the rotation is applied before the heads are split, over all n_embd features", "rotated_before_heads_split"
    ): RotaryMixing(whole=True),
    UNMASKED: RotaryMixing(mix=Mixing()),
    UNSCALED: RotaryMixing(mix=Mixing(masked=True, scale=lambda width, heads: 1.0)),
    Diagnosis("the scores are divided by √(n_embd/n_head) twice", "scaled_too_much"): RotaryMixing(
        mix=Mixing(masked=True, scale=lambda width, heads: heads / width)
    ),
    Diagnosis("queries and keys are rotated twice", "rotated_twice"): RotaryMixing(
        of=lambda dim, positions: 2 * angles(dim, positions)
    ),
}
