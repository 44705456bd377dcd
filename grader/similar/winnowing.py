"""Fingerprints of a row of tokens: of every few neighbouring k-grams the one with the least hash, wherever they stand.

Whatever two rows share over `length + window - 1` tokens gives them at least one fingerprint in common (Schleimer,
Wilkerson and Aiken, "Winnowing", 2003). No fingerprint reaches across a wall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grader.similar.material import WALL, Numbers

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)
_NONE = np.uint64(2**64 - 1)  # of a gram that touches a wall


@dataclass(frozen=True)
class Grain:
    """How fine a kind of material is cut."""

    length: int  # tokens of a gram
    window: int  # grams, of which one is kept
    least: int  # tokens of a run that is worth showing

    def fingerprints(self, tokens: npt.NDArray[np.uint32]) -> tuple[Numbers, npt.NDArray[np.intp]]:
        """Hashes, and where each gram begins."""
        hashes = grams(tokens, self.length)
        if not len(hashes):
            return hashes, np.zeros(0, dtype=np.intp)
        padded = np.concatenate([hashes, np.full(self.window - 1, _NONE)])  # the last grams have fewer neighbours
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.window)
        chosen = np.unique(np.arange(len(windows)) + windows.argmin(axis=1))
        chosen = chosen[padded[chosen] != _NONE]
        return padded[chosen], chosen


def grams(tokens: npt.NDArray[np.uint32], length: int) -> Numbers:
    """A hash of every run of so many tokens; `_NONE` where it touches a wall."""
    count = len(tokens) - length + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64)
    hashes = np.zeros(count, dtype=np.uint64)
    touched = np.zeros(count, dtype=bool)
    with np.errstate(over="ignore"):
        for offset in range(length):
            part = tokens[offset : offset + count]
            hashes = hashes * _BASE + part
            touched |= part == WALL
        hashes ^= hashes >> _SHIFT
        hashes *= _MIX
    hashes[touched] = _NONE
    return hashes


def given_in(tokens: npt.NDArray[np.uint32], length: int, course: Numbers) -> npt.NDArray[np.bool_]:
    """For every gram, whether the course's own material has it. `course` is sorted and has no walls."""
    hashes = grams(tokens, length)
    if not len(course) or not len(hashes):
        return np.zeros(len(hashes), dtype=bool)
    at = np.minimum(np.searchsorted(course, hashes), len(course) - 1)
    return np.asarray(course[at] == hashes)


def course_grams(tokens: npt.NDArray[np.uint32], length: int) -> Numbers:
    found = np.unique(grams(tokens, length))
    return np.asarray(found[found != _NONE])
