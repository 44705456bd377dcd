"""Span corruption over characters, as `nlp-a5` part 2.e defines it: no torch, only text and a random source.

Equation    document → truncate to n characters → prefix + masked + suffix
            → prefix ⁇ suffix ⁇ masked □ □ … □   (block characters) → x = s[:-1], y = s[1:]
Convention  id 0 is □ (U+25A1, padding), id 1 is ⁇ (U+2047, mask), then the characters of the data, sorted.
            n is uniform on 4 … ⌊7/8·block⌋, cut down to the document's length where that is shorter.
            The masked length is uniform on 1 … h − 1, where h is n/2 rounded up or down by a fair coin, so
            its mean is exactly n/4; the prefix is uniform on 0 … n − masked.
Readings    * Truncation keeps the document's beginning; a window from a random start is a fair reading too.
            * Below n = 4 no such draw has mean n/4: one character is masked with probability n/4, else none.
              An empty document thus becomes ⁇⁇□□….
            * A third ⁇ behind the masked text, and an x of length block instead of block − 1, are accepted
              elsewhere; here there are two ⁇ and x has block − 1 characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reference.handout_constants import MASK_CHARACTER, PAD_CHARACTER, SHORTEST

SMALLEST_BLOCK = 16  # from here on ⌊7/8·block⌋ characters and two ⁇ fit into the block


class Vocabulary:
    """Characters to ids and back; □ is 0, ⁇ is 1, the rest in sorted order."""

    def __init__(self, text: Iterable[str]) -> None:
        characters = {character for piece in text for character in piece}
        special = [PAD_CHARACTER, MASK_CHARACTER]
        if found := characters.intersection(special):
            raise ValueError(f"the text already holds {' and '.join(sorted(found))}, which mark padding and masks")
        self.itos = dict(enumerate([*special, *sorted(characters)]))
        self.stoi = {character: index for index, character in self.itos.items()}

    def __len__(self) -> int:
        return len(self.itos)

    def encode(self, text: str) -> list[int]:
        unknown = sorted(set(text) - self.stoi.keys())
        if unknown:
            raise ValueError(f"characters {unknown} are not among the {len(self)} of the vocabulary")
        return [self.stoi[character] for character in text]

    def decode(self, ids: Iterable[int]) -> str:
        return "".join(self.itos[int(index)] for index in ids)


@dataclass(frozen=True)
class Corruption:
    """The three pieces of a truncated document; the pieces in order are the document's beginning."""

    prefix: str
    masked: str
    suffix: str

    @property
    def document(self) -> str:
        return self.prefix + self.masked + self.suffix

    @property
    def text(self) -> str:
        return self.prefix + MASK_CHARACTER + self.suffix + MASK_CHARACTER + self.masked


def corrupt(document: str, block: int, rng: np.random.Generator) -> Corruption:
    """Truncate a document at random and choose the span to mask."""
    longest = block * 7 // 8
    if block < SMALLEST_BLOCK:
        raise ValueError(f"a block of {block} cannot hold {longest} characters and two {MASK_CHARACTER}")
    kept = document[: rng.integers(SHORTEST, longest + 1)]
    n = len(kept)
    if n < SHORTEST:
        masked_length = int(rng.random() < n / 4)
    else:
        half = (n + int(rng.integers(2))) // 2  # an odd n is rounded up or down with equal chance
        masked_length = int(rng.integers(1, half))
    start = int(rng.integers(n - masked_length + 1))
    stop = start + masked_length
    return Corruption(kept[:start], kept[start:stop], kept[stop:])


def padded(text: str, block: int) -> str:
    """The text with □ behind it up to `block` characters."""
    if len(text) > block:
        raise ValueError(f"a text of {len(text)} characters does not fit a block of {block}")
    return text + PAD_CHARACTER * (block - len(text))


def reassemble(text: str) -> Corruption:
    """Undo `Corruption.text`, padded or not: the inverse that shows nothing was lost."""
    pieces = text.rstrip(PAD_CHARACTER).split(MASK_CHARACTER)
    if len(pieces) != 3:
        raise ValueError(f"expected two {MASK_CHARACTER} in the text, found {len(pieces) - 1}")
    prefix, suffix, masked = pieces
    return Corruption(prefix, masked, suffix)
