"""Bytes damaged without regard to what they mean."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

MAX_BYTES = 2**18  # of one input; larger ones are refused by their size, and cost the time of a hundred small ones

# Byte order marks, characters cut short, surrogates, beyond Unicode, line ends of all kinds, what terminals obey.
_JUNK = (
    *(b"\0", b"\0\0\0\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xe2\x82", b"\xed\xa0\x80"),
    *(b"\xf4\x90\x80\x80", b"\x80", b"\xff", b"\r", b"\r\n", b"\n", b"\x0b", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(b"\xe2\x80\xae", b"\x1b[31m", b"\x7f", b"\t"),
)


def damaged(data: bytes, rng: Random, other: bytes) -> bytes:
    """The data with some of its bytes changed, lost, repeated, or taken from another input."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        rng.choice(_DAMAGES)(changed, rng, other)
    return bytes(changed[:MAX_BYTES])


def _range(data: bytearray, rng: Random) -> slice:
    start = rng.randint(0, len(data))
    return slice(start, start + rng.choice((1, 2, 4, 16, 64, 512)))


def _flip_bit(data: bytearray, rng: Random, other: bytes) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(data: bytearray, rng: Random, other: bytes) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x20, 0x22, 0x5C, 0x7B, 0x7F, 0x80, 0xFF))


def _delete(data: bytearray, rng: Random, other: bytes) -> None:
    del data[_range(data, rng)]


def _truncate(data: bytearray, rng: Random, other: bytes) -> None:
    del data[rng.randint(0, len(data)) :]


def _repeat(data: bytearray, rng: Random, other: bytes) -> None:
    chosen = _range(data, rng)
    data[chosen.start : chosen.start] = data[chosen] * rng.choice((1, 1, 2, 10, 100))


def _swap(data: bytearray, rng: Random, other: bytes) -> None:
    chosen, place = _range(data, rng), rng.randint(0, len(data))
    taken = data[chosen]
    del data[chosen]
    data[place:place] = taken


def _splice(data: bytearray, rng: Random, other: bytes) -> None:
    start = rng.randint(0, len(other))
    data[_range(data, rng)] = other[start : start + rng.choice((1, 8, 64, 512, 4096))]


def _insert_junk(data: bytearray, rng: Random, other: bytes) -> None:
    place = rng.choice((0, len(data), rng.randint(0, len(data))))
    data[place:place] = rng.choice(_JUNK) if rng.random() < 0.8 else rng.randbytes(rng.choice((1, 8, 64, 1024)))


def _long_line(data: bytearray, rng: Random, other: bytes) -> None:
    place = rng.randint(0, len(data))
    data[place:place] = bytes(data[place : place + 1] or b"x") * rng.choice((100, 100, 1_000, 1_000, 20_000, 120_000))


_DAMAGES: tuple[Callable[[bytearray, Random, bytes], None], ...] = (
    *(_flip_bit, _set_byte, _delete, _truncate, _repeat, _swap, _splice, _insert_junk, _insert_junk, _long_line),
)
