"""Blocks whose parameters the equations cannot be run on, judged by what must hold whatever they are made of."""

from __future__ import annotations

import numpy as np

from grader.checks.variants import properties
from grader.checks.variants.workbench import Workbench
from grader.compare import difference
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
