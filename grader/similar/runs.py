"""What a pair shares, aligned: runs of equal tokens that hang together, with their lines in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grader.similar.material import WALL, Material, Numbers
from grader.similar.shared_by_class import ClassIndex
from grader.similar.winnowing import Grain

_MOST_SEEDS = 5_000  # of one pair: a file of one line a thousand times would give a million
_SAME_PLACES = 3  # occurrences of one fingerprint in one submission that are tried
_LINES_BETWEEN = 2  # runs that are no further apart, on both sides, are one passage

Seeds = dict[int, list[int]]


@dataclass(frozen=True)
class Run:
    mine: int  # where it begins
    theirs: int
    length: int
    worth: float


@dataclass(frozen=True)
class Passage:
    """The same in both, by place and lines."""

    my_place: str
    my_lines: tuple[int, int]
    their_place: str
    their_lines: tuple[int, int]
    tokens: int


@dataclass(frozen=True)
class Printed:
    """A submission's fingerprints, and where they are."""

    hashes: Numbers
    positions: npt.NDArray[np.intp]

    @classmethod
    def of(cls, material: Material, grain: Grain) -> Printed:
        return cls(*grain.fingerprints(material.tokens))


def runs(
    mine: Material, theirs: Material, prints: tuple[Printed, Printed], index: ClassIndex, grain: Grain
) -> list[Run]:
    """Those worth most first; no token is in two of them."""
    seeds = _seeds(prints, index)
    grown = sorted(_grown(mine, theirs, seeds, grain), key=lambda run: (-run.worth, -run.length, run.mine, run.theirs))
    taken = np.zeros(len(mine.tokens), dtype=bool), np.zeros(len(theirs.tokens), dtype=bool)
    found = []
    for whole in grown:
        run = _still_free(whole, taken)
        if run.length >= grain.least:
            for tokens, start in zip(taken, (run.mine, run.theirs), strict=True):
                tokens[start : start + run.length] = True
            found.append(run)
    return found


def _still_free(run: Run, taken: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]) -> Run:
    """The longest stretch of a run that is in no other one, with its part of the worth."""
    here, there = taken[0][run.mine : run.mine + run.length], taken[1][run.theirs : run.theirs + run.length]
    edges = np.flatnonzero(np.concatenate([[True], here | there, [True]]))
    widest = int(np.argmax(np.diff(edges)))
    start, length = int(edges[widest]), int(edges[widest + 1] - edges[widest]) - 1
    return Run(run.mine + start, run.theirs + start, length, run.worth * length / run.length)


def _seeds(prints: tuple[Printed, Printed], index: ClassIndex) -> list[tuple[int, int, float]]:
    """Where both have the same rare fingerprint, and its worth."""
    one, other = prints
    shared = np.intersect1d(one.hashes, other.hashes)
    worth = index.weights_of(shared)
    shared, worth = shared[worth > 0], worth[worth > 0]
    here, there = _places(one, shared), _places(other, shared)
    return [
        (i, j, float(value))
        for number, value in enumerate(worth)
        for i in here[number][:_SAME_PLACES]
        for j in there[number][:_SAME_PLACES]
    ][:_MOST_SEEDS]


def _places(prints: Printed, shared: Numbers) -> Seeds:
    found: Seeds = {number: [] for number in range(len(shared))}
    if len(shared):
        at = np.minimum(np.searchsorted(shared, prints.hashes), len(shared) - 1)
        for where in np.flatnonzero(shared[at] == prints.hashes):
            found[int(at[where])].append(int(prints.positions[where]))
    return found


def _grown(mine: Material, theirs: Material, seeds: list[tuple[int, int, float]], grain: Grain) -> Iterator[Run]:
    """Seeds of one alignment with equal tokens between them are one run, with what little is equal around it: the
    window may have passed over a gram there. What lies further out is not rare."""
    by_alignment: dict[int, list[tuple[int, float]]] = {}
    for i, j, value in sorted(seeds):
        by_alignment.setdefault(j - i, []).append((i, value))
    for shift, those in by_alignment.items():
        start, end, worth = those[0][0], those[0][0] + grain.length, 0.0
        for i, value in those:
            if i > end and not _equal(mine, theirs, end, i, shift):
                yield _edged(mine, theirs, Run(start, start + shift, end - start, worth), grain)
                start, worth = i, 0.0
            end, worth = i + grain.length, worth + value
        yield _edged(mine, theirs, Run(start, start + shift, end - start, worth), grain)


def _equal(mine: Material, theirs: Material, start: int, end: int, shift: int) -> bool:
    here, there = mine.tokens[start:end], theirs.tokens[start + shift : end + shift]
    return bool((here == there).all() and (here != WALL).all())


def _edged(mine: Material, theirs: Material, run: Run, grain: Grain) -> Run:
    start, length, shift = run.mine, run.length, run.theirs - run.mine
    for _ in range(grain.window - 1):
        if start and start + shift and _equal(mine, theirs, start - 1, start, shift):
            start, length = start - 1, length + 1
        end = start + length
        if end < len(mine.tokens) and end + shift < len(theirs.tokens) and _equal(mine, theirs, end, end + 1, shift):
            length += 1
    return Run(start, start + shift, length, run.worth)


def passages(mine: Material, theirs: Material, found: Iterable[Run]) -> list[Passage]:
    """Runs by lines, in the order of the first submission; neighbours are one."""
    merged: list[Passage] = []
    for run in sorted(found, key=lambda run: run.mine):
        one = _passage(mine, theirs, run)
        if merged and (joined := _joined(merged[-1], one)):
            merged[-1] = joined
        else:
            merged.append(one)
    return merged


def _passage(mine: Material, theirs: Material, run: Run) -> Passage:
    here, there = mine.place_of(run.mine), theirs.place_of(run.theirs)
    my_lines, their_lines = _lines(mine, run.mine, run.length), _lines(theirs, run.theirs, run.length)
    return Passage(here.name, my_lines, there.name, their_lines, run.length)


def _lines(material: Material, start: int, length: int) -> tuple[int, int]:
    """In the file that the place comes from."""
    before = material.place_of(start).first_line - 1
    return int(material.lines[start]) + before, int(material.lines[start + length - 1]) + before


def _joined(before: Passage, after: Passage) -> Passage | None:
    if (before.my_place, before.their_place) != (after.my_place, after.their_place):
        return None
    gaps = (after.my_lines[0] - before.my_lines[1], after.their_lines[0] - before.their_lines[1])
    if not all(0 <= gap <= _LINES_BETWEEN for gap in gaps):
        return None
    mine, theirs = (before.my_lines[0], after.my_lines[1]), (before.their_lines[0], after.their_lines[1])
    return Passage(before.my_place, mine, before.their_place, theirs, before.tokens + after.tokens)
