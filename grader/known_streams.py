"""Generators of random numbers that a class needs again and again: the questions of a check are the same for everybody.

Making one anew hashes its seed for as long as a check takes to compare its answers. What comes of that is kept, and a
new generator begins from it: nobody gets one that another has drawn from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.random.bit_generator import ISpawnableSeedSequence
from numpy.typing import NDArray

_KEPT = 1024  # seeds: several rubrics' worth of checks, at 32 bytes each
_WORDS = 4  # that PCG64 begins from


class _KnownSeed(ISpawnableSeedSequence):
    """A seed whose hash is known. All but the beginning of PCG64 is asked of the real one."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._real: SeedSequence | None = None

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        if n_words == _WORDS and dtype is np.uint64:
            return _beginning(self._seed)
        return self._asked().generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> list[Any]:
        return self._asked().spawn(n_children)

    def _asked(self) -> SeedSequence:
        """One for each generator: it counts its children."""
        self._real = self._real or SeedSequence(self._seed)
        return self._real


@lru_cache(maxsize=_KEPT)
def _beginning(seed: int) -> NDArray[Any]:
    words = SeedSequence(seed).generate_state(_WORDS, np.uint64)
    words.flags.writeable = False
    return words


def generator(seed: int) -> Generator:
    """`np.random.default_rng(seed)`, in a tenth of the time where the seed was asked for before."""
    return Generator(PCG64(_KnownSeed(seed)))  # type: ignore[arg-type]  # numpy's stubs know but one kind of seed
