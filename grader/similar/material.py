"""What one submission has of one kind (code, prose, predictions), as numbers that can be held against another's."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]
WALL = 0  # matches nothing: the end of a function or a part, and what was left out


@dataclass(frozen=True)
class Place:
    """A file, or the answer to a part."""

    name: str
    start: int  # where its tokens begin
    text: bytes = b""  # compressed: of a class only some pairs are shown
    first_line: int = 1  # of `text`, in the file it comes from

    @property
    def lines(self) -> list[str]:
        return zlib.decompress(self.text).decode("utf-8", "surrogatepass").split("\n") if self.text else []


@dataclass(frozen=True)
class Material:
    tokens: npt.NDArray[np.uint32]
    lines: npt.NDArray[np.uint32]  # of its place, from 1
    places: tuple[Place, ...] = ()

    def place_of(self, token: int) -> Place:
        return self.places[bisect_right([place.start for place in self.places], token) - 1]

    def without(self, given: Iterable[tuple[int, npt.NDArray[np.bool_]]]) -> Material:
        """Itself with a wall wherever a run of so many tokens was given by the course."""
        kept = self.tokens.copy()
        for length, starts in given:
            for offset in range(length):
                kept[offset : offset + len(starts)][starts] = WALL
        return Material(kept, self.lines, self.places)


@dataclass
class Collected:
    """Tokens on their way into a Material."""

    tokens: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def begin(self, name: str, text: str, first_line: int = 1) -> None:
        self.wall()
        kept = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        self.places.append(Place(name, len(self.tokens), kept, first_line))

    def wall(self) -> None:
        self.tokens.append(WALL)
        self.lines.append(0)

    def add(self, tokens: Sequence[str], lines: Sequence[int]) -> None:
        self.tokens += map(number_of, tokens)
        self.lines += lines

    def done(self) -> Material:
        return Material(
            np.array(self.tokens, dtype=np.uint32), np.array(self.lines, dtype=np.uint32), tuple(self.places)
        )


@lru_cache(maxsize=1 << 16)
def number_of(token: str) -> int:
    """The same in every process, and never a wall."""
    return zlib.crc32(token.encode("utf-8", "surrogatepass")) or 1
