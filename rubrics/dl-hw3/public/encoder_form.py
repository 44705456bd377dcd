"""Encoder blocks judged by what goes in and comes out, whatever is between."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from grader import Outcome, Student, StudentFile, check, passed
from grader.modules import Workbench, irregular, started, wrong_shape

from .token_bench import TokenBench

NAME = "EncoderBlock"


@dataclass(frozen=True)
class Sizes:
    width: int
    heads: int
    hidden: int


# No two sizes of the first agree, nor is one a multiple that packing would give. Then one head; at last a hidden layer
# narrower than the block, and no 8 or 16, which are usual widths of heads. Fewer features would now and then have a
# variance so small that a LayerNorm's ε shows.
SIZES = (Sizes(20, 5, 14), Sizes(12, 1, 17), Sizes(22, 11, 7))
BATCHES = ((2, 7), (1, 3), (3, 2), (1, 1))  # batch and tokens


def encoder_bench(student: Student, rng: np.random.Generator, file: str, name: str, sizes: Sizes) -> Workbench:
    called = f"dim={sizes.width}, heads={sizes.heads}, hidden={sizes.hidden}"
    bench = TokenBench(student, file, name, list(astuple(sizes)), called=called)
    return started(bench, rng, (rng.normal(size=(2, 3, sizes.width)),))


@check(group="values")
def encodes_any_batch_of_tokens(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """(B, N, dim) → (B, N, dim) for any B and N, each item by itself, repeatable, in float32 too, input untouched."""
    for sizes in SIZES:
        bench = encoder_bench(student, rng, file, name, sizes)
        shapes = [(batch, tokens, sizes.width) for batch, tokens in BATCHES]
        cases = [((rng.normal(size=shape),), shape) for shape in shapes]
        x = rng.normal(size=(3, 5, sizes.width))
        if found := wrong_shape(bench, cases):
            return found[1]
        if wrong := irregular(bench, (x,)):
            return wrong
    return passed(f"right shapes for {len(SIZES) * len(BATCHES)} sizes, in float32 and float64")
