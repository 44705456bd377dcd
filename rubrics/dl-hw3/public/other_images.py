"""Images with something of one patch or two changed, which a model is to notice."""

from __future__ import annotations

import numpy as np

from grader import Array

from .image_bench import PatchSizes


def with_another_patch(x: Array, rng: np.random.Generator, sizes: PatchSizes, row: int, column: int) -> Array:
    changed, p = x.copy(), sizes.patch
    place = changed[:, :, row * p : (row + 1) * p, column * p : (column + 1) * p]
    place += rng.normal(size=place.shape)
    return changed


def swapped(x: Array, sizes: PatchSizes) -> Array:
    """The second and the last patch of the first row change places."""
    p, turned = sizes.patch, x.copy()
    turned[:, :, :p, p : 2 * p], turned[:, :, :p, -p:] = x[:, :, :p, -p:], x[:, :, :p, p : 2 * p]
    return turned
