"""Pairs of submissions, ranked by how much rare material they share, of all that is rare in both."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from grader.similar.hand_ins import CODE, GRAINS, PREDICTIONS, PROSE
from grader.similar.material import WALL, Material
from grader.similar.runs import Passage, Printed, passages, runs
from grader.similar.shared_by_class import ClassIndex, Pair, class_limit, index_of

SHARE = 0.10  # of the class: what more have is anybody's
_TRIED = 6  # pairs that are aligned for each one asked for, beside a floor
_TRIED_AT_LEAST = 300
# What a finding is worth that has half its full strength: a function, two sentences, a page of places.
_HALF = {CODE: 100.0, PROSE: 60.0, PREDICTIONS: 100.0}
# Predictions come out alike for honest reasons, so that alone they put no pair before one that shares code or prose.
_VOICE = {CODE: 1.0, PROSE: 0.8, PREDICTIONS: 0.15}
_FAINTEST = 0.03  # what is weaker points at nobody
_SAME_FILE = 40  # tokens of a file that is the same in many submissions


@dataclass(frozen=True)
class Shared:
    """What a pair shares of one kind."""

    kind: str
    strength: float  # 0 to 1
    mine: float  # the share of what is rare in the first one's work
    theirs: float
    tokens: int
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Pointer:
    """Two submissions that a person may want to look at."""

    pair: Pair
    strength: float
    shared: tuple[Shared, ...]


@dataclass(frozen=True)
class HeldByMany:
    """A file or an answer that more submissions have, but for names and layout, than count as rare."""

    kind: str
    place: str
    holders: tuple[int, ...]


@dataclass(frozen=True)
class LeftOut:
    """What more submissions have than this."""

    submissions: int
    fingerprints: int


@dataclass(frozen=True)
class Findings:
    pointers: tuple[Pointer, ...]
    more: int  # that were found and are not listed
    left_out: Mapping[str, LeftOut]  # by kind
    many: tuple[HeldByMany, ...]


def find_pairs(works: Sequence[Mapping[str, Material]], most: int, share: float = SHARE) -> Findings:
    """`works` has each submission's material by kind."""
    found: dict[Pair, list[Shared]] = defaultdict(list)
    left_out = {}
    for kind, grain in GRAINS.items():
        materials = [work[kind] for work in works]
        prints = [Printed.of(material, grain) for material in materials]
        index = index_of([one.hashes for one in prints], share, max(_TRIED * most, _TRIED_AT_LEAST))
        left_out[kind] = LeftOut(index.limit, index.left_out)
        for pair in index.pairs:
            if one := _shared(kind, pair, materials, prints, index):
                found[pair].append(one)
    pointers = [Pointer(pair, _together(shared), tuple(shared)) for pair, shared in found.items()]
    pointers = [one for one in pointers if one.strength >= _FAINTEST]
    pointers.sort(key=lambda one: (-one.strength, one.pair))
    many = _held_by_many(works, class_limit(len(works), share))
    return Findings(tuple(pointers[:most]), len(pointers[most:]), left_out, tuple(many))


def _shared(
    kind: str, pair: Pair, materials: Sequence[Material], prints: Sequence[Printed], index: ClassIndex
) -> Shared | None:
    one, other = pair
    mine, theirs = materials[one], materials[other]
    found = runs(mine, theirs, (prints[one], prints[other]), index, GRAINS[kind])
    worth = sum(run.worth for run in found)
    if not worth:
        return None
    shares = min(1.0, worth / float(index.totals[one])), min(1.0, worth / float(index.totals[other]))
    strength = sqrt(shares[0] * shares[1]) * worth / (worth + _HALF[kind])
    tokens = sum(run.length for run in found)
    return Shared(kind, strength, *shares, tokens, tuple(passages(mine, theirs, found)))


def _together(shared: Sequence[Shared]) -> float:
    """As if each kind were a witness of its own."""
    doubt = 1.0
    for one in shared:
        doubt *= 1.0 - _VOICE[one.kind] * one.strength
    return 1.0 - doubt


def _held_by_many(works: Sequence[Mapping[str, Material]], limit: int) -> list[HeldByMany]:
    holders: dict[tuple[str, bytes], list[int]] = defaultdict(list)
    names: dict[tuple[str, bytes], str] = {}
    for number, work in enumerate(works):
        for kind, material in work.items():
            ends = [*(place.start for place in material.places), len(material.tokens)]
            for place, (start, end) in zip(material.places, pairwise(ends), strict=True):
                tokens = material.tokens[start:end]
                if (tokens != WALL).sum() >= _SAME_FILE:
                    key = (kind, hashlib.sha256(tokens.tobytes()).digest())
                    names.setdefault(key, place.name)
                    if holders[key][-1:] != [number]:
                        holders[key].append(number)
    found = [HeldByMany(key[0], names[key], tuple(those)) for key, those in holders.items() if len(those) > limit]
    return sorted(found, key=lambda one: (-len(one.holders), one.kind, one.place))
