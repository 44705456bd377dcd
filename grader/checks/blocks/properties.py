"""Blocks whose parameters the equations cannot be run on, judged by what must hold whatever they are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.checks.blocks.tokens import Sizes
from grader.checks.variants import properties
from grader.checks.variants.workbench import Workbench
from grader.compare import difference
from grader.errors import Crashed, TimedOut
from grader.model import Outcome, failed


def of_an_encoder(bench: Workbench, rng: np.random.Generator, width: int, needed: int) -> Outcome | None:
    """None if tokens are a set, see each other with weights that sum to one, and end up normalised."""
    x = rng.normal(size=(2, 6, width))
    if few := properties.too_few_parameters(bench, bench.influential(rng, (x,)), needed):
        return few
    order = np.roll(np.arange(6), 2)
    other = x.copy()
    other[:, 3] += rng.normal(size=(2, width))
    equal = np.ones((1, 6, 1)) * x[:, :1]
    plain, turned, changed, same, alone = bench.run((x,), (x[:, order],), (other,), (equal,), (x[:, :1],)).outputs
    if plain.shape != x.shape:
        return failed(f"{bench.name} should give one output of the same width for each token")
    if found := difference(turned, plain[:, order]):
        return failed(f"reordering the tokens does more than reorder the output of {bench.name}: {found.summary}")
    if difference(changed[:, :3], plain[:, :3]) is None:
        return failed(f"in {bench.name} no token has any influence on the output of another")
    if difference(same[:, :1], alone):
        return failed(f"equal tokens should give {bench.name} the same answer as one of them: weights sum to one")
    return None


def left_to_a_person() -> Outcome:
    return properties.by_properties(["tokens are a set", "tokens see each other", "weights sum to one"])


def of_a_vit(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> Outcome | None:
    """None if it has learned numbers enough, and its heads are really split."""
    x = sizes.images(rng, 2)
    # Patches, positions, attention, a feed-forward network no wider than the block, the head.
    needed = sizes.dim * (sizes.channels * sizes.patch**2 + sizes.patches + 6 * sizes.dim + sizes.classes)
    if few := properties.too_few_parameters(bench, bench.influential(rng, (x,)), needed):
        return few
    one_head = replace(bench, settings=replace(sizes, heads=1).arguments())
    try:
        (single,) = one_head.run((x,)).outputs
    except TimedOut:
        raise
    except Crashed:  # a layer for each head: then there are as many as there should be
        return None
    if difference(single, bench.run((x,)).outputs[0]) is None:
        return failed(f"{bench.name} computes the same with one head as with {sizes.heads}: heads are not split")
    return None
