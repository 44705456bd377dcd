"""How the blocks of a ViT follow each other, once one block is read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader import RTOL, Array
from grader.modules import Workbench
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.mixing import RIGHT
from rubrics.module_recovery.layers import Values

from ...public.image_bench import Sizes
from .vit_fits import Found
from .vit_stack import STACKS, UNKNOWN, layer_names, layers_in_order, stacked


def read_several_blocks(bench: Workbench, rng: np.random.Generator, sizes: Sizes, found: Found) -> Diagnosis | None:
    """How the blocks follow each other: one of STACKS, UNKNOWN; None if it cannot be told which layer is whose."""
    images = sizes.images(rng, 2)
    (logits,) = bench.run((images,)).outputs
    return how_blocks_follow(bench, images, logits, sizes, found)


def how_blocks_follow(bench: Workbench, images: Array, logits: Array, sizes: Sizes, found: Found) -> Diagnosis | None:
    """Likewise, by what it makes of these images."""
    by_number = layer_names(found.values, bench.values, sizes.depth)
    how = _how_they_follow(bench.values, images, logits, sizes, found, by_number) if by_number else None
    if how == RIGHT:
        return RIGHT
    made = {name: bench.values[name] for name in bench.fresh}
    for names in layers_in_order(found.values, made, sizes.depth):
        if _how_they_follow(bench.values, images, logits, sizes, found, names) == RIGHT:
            return RIGHT
    return how


def _how_they_follow(
    values: Values, images: Array, logits: Array, sizes: Sizes, found: Found, names: Mapping[str, list[str]]
) -> Diagnosis | None:
    inner = {name: names[name] for name in found.anatomy.values}  # in the order in which layers were numbered
    stack = stacked(found.anatomy, found.block, found.tail, inner, values, sizes.depth)
    if stack is None:
        return None
    own: Values = {name: values[layers[0]] for name, layers in names.items()}
    embedded = list(found.way_in.embeddings(own, sizes, images))[found.layout]
    tokens = found.way_in.tokens(own, embedded)
    for how, encode in STACKS.items():
        want = stack.tail(encode(stack.blocks, tokens)[:, found.way_in.place])
        # The ε of a LayerNorm is left open. Through three blocks it moves all logits by some 10⁻⁵ of the largest, and
        # one near zero by more than its own share; what blocks do otherwise moves them by half of it and more.
        if np.abs(want - logits).max() <= RTOL * np.abs(logits).max():
            return how
    return UNKNOWN
