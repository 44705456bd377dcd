"""Mistakes of modules of images that show without a fit: how many tokens there are, positions as factors."""

from __future__ import annotations

from itertools import product

import numpy as np

from grader.modules import Workbench

from ...public.image_bench import Sizes
from ...public.position_pieces import near, position_tensors
from .vit_tokens import class_tokens, ways_in


def tokens_made(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> int | None:
    """How many tokens a ViT makes of an image, if not one of each patch: its table of positions has a row for each.

    A table of positions is known by one of its rows doing what the class token does.
    """
    x, step = sizes.images(rng, 1), rng.normal(size=sizes.dim)
    tables = [
        name
        for name, value in bench.values.items()
        if value.squeeze().ndim == 2
        and value.shape[-1] == sizes.dim
        and name not in position_tensors(bench.values, sizes)
    ]
    for table, token, place in product(tables, class_tokens(bench.values, sizes), (0, -1)):
        rows, own = bench.values[table], bench.values[token]
        moved = rows.reshape(-1, sizes.dim).copy()
        moved[place] += step
        changes = [{}, {table: moved.reshape(rows.shape)}, {token: own + step.reshape(own.shape)}]
        (plain,), (one,), (other,) = bench.run_changed((x,), changes=changes)
        if near(one, other) and not near(one, plain):
            return len(moved) - 1
    return None


def positions_are_factors(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> bool:
    """Whether twice the positions do what twice the patches and twice the class token do."""
    x = sizes.images(rng, 1)
    for way_in in ways_in(bench.values, sizes):
        doubled = [name for name in (way_in.class_token, way_in.weight, way_in.bias, *way_in.norm_behind) if name]
        if len(bench.values[way_in.positions].reshape(-1, sizes.dim)) == sizes.patches:
            doubled.remove(way_in.class_token)
        changes = [{name: 2 * bench.values[name] for name in names} for names in ([], doubled, [way_in.positions])]
        (plain,), (one,), (other,) = bench.run_changed((x,), changes=changes)
        if near(one, other) and not near(one, plain):
            return True
    return False
