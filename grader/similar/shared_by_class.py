"""The inverted index over a class: which fingerprints are rare, how much each is worth, and who shares them.

What more than a share of the class has is left out. Pairs are counted from the rarest fingerprints on, up to a fixed
number, so that a class of ten thousand costs twenty times what one of five hundred does, and not four hundred times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grader.similar.material import Numbers

AT_LEAST = 5  # submissions: what fewer have is rare in any class
_MOST_COUNTED = 5_000_000  # pairs of submissions that share one fingerprint: a second or two, and 250 MB
_HALF_KEY, _OTHER = np.uint64(32), np.uint64(2**32 - 1)  # two numbers of submissions in one

Pair = tuple[int, int]


@dataclass(frozen=True)
class ClassIndex:
    limit: int  # submissions: what more of them have is left out
    left_out: int  # fingerprints that more have
    rare: Numbers  # sorted: those that two or more have, and no more than the limit
    weights: npt.NDArray[np.float64]  # what each is worth: how surprising it is that two have it, as a logarithm
    totals: npt.NDArray[np.float64]  # for each submission, what all in it is worth that is rare or nobody else's
    pairs: dict[Pair, float]  # what is shared, before it is aligned

    def weights_of(self, fingerprints: Numbers) -> npt.NDArray[np.float64]:
        """Nothing for what is not rare."""
        if not len(self.rare):
            return np.zeros(len(fingerprints))
        at = np.minimum(np.searchsorted(self.rare, fingerprints), len(self.rare) - 1)
        return np.where(self.rare[at] == fingerprints, self.weights[at], 0.0)


def class_limit(students: int, share: float) -> int:
    return max(AT_LEAST, int(students * share))


def index_of(class_fingerprints: Sequence[Numbers], share: float, most: int) -> ClassIndex:
    """`class_fingerprints` has each submission's own; of the pairs, the `most` that share most are kept."""
    students = len(class_fingerprints)
    limit = class_limit(students, share)
    own = [np.unique(one) for one in class_fingerprints]
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *own])
    owners = np.repeat(np.arange(students, dtype=np.uint32), [len(one) for one in own])
    order = np.argsort(hashes, kind="stable")  # owners of one fingerprint stay in their order
    hashes, owners = hashes[order], owners[order]
    starts = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])) if len(hashes) else np.zeros(0, int)
    often = np.diff(np.append(starts, len(hashes)))
    limit = min(limit, _affordable(often))
    worth = np.where(often > limit, 0.0, np.log1p(students / np.maximum(often, 2)))
    totals = _summed(owners, np.repeat(worth, often), students)
    rare = (often > 1) & (often <= limit)
    pairs = _pairs(owners, starts[rare], often[rare], worth[rare], most)
    return ClassIndex(limit, int((often > limit).sum()), hashes[starts[rare]], worth[rare], totals, pairs)


def _summed(
    where: npt.NDArray[np.unsignedinteger] | npt.NDArray[np.intp], values: npt.NDArray[np.float64], length: int
) -> npt.NDArray[np.float64]:
    return np.bincount(where, weights=values, minlength=length).astype(np.float64, copy=False)


def _affordable(often: npt.NDArray[np.intp]) -> int:
    """The greatest number of holders up to which all pairs can be counted."""
    by_size = np.bincount(np.maximum(often, 0), minlength=3).astype(np.float64)
    sizes = np.arange(len(by_size), dtype=np.float64)
    counted = np.cumsum(by_size * sizes * (sizes - 1) / 2)
    return max(2, int(np.searchsorted(counted, _MOST_COUNTED, side="right")) - 1)


def _pairs(
    owners: npt.NDArray[np.uint32],
    starts: npt.NDArray[np.intp],
    often: npt.NDArray[np.intp],
    worth: npt.NDArray[np.float64],
    most: int,
) -> dict[Pair, float]:
    """Those that share most, best first; of equal ones the first by number."""
    keys, values = [np.zeros(0, dtype=np.uint64)], [np.zeros(0)]
    for size in np.unique(often):
        chosen = often == size
        holders = owners[starts[chosen][:, None] + np.arange(size)].astype(np.uint64)  # a row for each fingerprint
        one, other = np.triu_indices(int(size), 1)
        keys.append((holders[:, one] << _HALF_KEY | holders[:, other]).ravel())
        values.append(np.repeat(worth[chosen], len(one)))
    pairs, back = np.unique(np.concatenate(keys), return_inverse=True)
    shared = _summed(back, np.concatenate(values), len(pairs))
    best = np.argsort(-shared, kind="stable")[:most]
    return {(int(pairs[at] >> _HALF_KEY), int(pairs[at] & _OTHER)): float(shared[at]) for at in best}
