"""Vision transformers judged by what goes in and comes out, whatever is between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from grader import Array, Outcome, Student, StudentFile, check, difference, failed, passed, shape
from grader.modules import Workbench, irregular, wrong_shape

from .image_bench import ImageBench, Sizes, on_images
from .other_images import swapped, with_another_patch

NAME = "ViT"
# image, patch, channels, dim, depth, heads, classes: 9 patches, 12 numbers in each, and no two sizes alike.
ONE = Sizes(6, 2, 3, 20, 1, 5, 7)
DEEP = replace(ONE, depth=3)
_SIZES = (ONE, Sizes(4, 2, 1, 6, 2, 2, 3), Sizes(3, 3, 2, 8, 2, 1, 4))


def vit_bench(student: Student, rng: np.random.Generator, file: str, name: str, sizes: Sizes) -> ImageBench:
    return on_images(student, rng, file, name, sizes)


@check(group="values")
def vit_gives_one_logit_per_class(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """Images → logits (B, classes) for any batch, each image by itself, repeatable, in float32 too, input untouched."""
    found = _logits(student, rng, file, name)
    if isinstance(found, Outcome):
        return found
    if wrong := _never_negative(name, found):
        return wrong
    return passed(f"one logit for each class, for {len(_SIZES)} sizes")


def _logits(student: Student, rng: np.random.Generator, file: str, name: str) -> list[Array] | Outcome:
    """For each of the sizes, or what is wrong with one."""
    every: list[Array] = []
    for sizes in _SIZES:
        bench = vit_bench(student, rng, file, name, sizes)
        cases = [((sizes.images(rng, batch),), (batch, sizes.classes)) for batch in (2, 1, 3)]
        x = sizes.images(rng, 3)
        if found := wrong_shape(bench, cases):
            return found[1]
        if wrong := irregular(bench, (x,)):
            return wrong
        (logits,) = bench.run((x,)).outputs
        if wrong := made_probable(name, logits):
            return wrong
        every.append(logits)
    return every


def made_probable(name: str, logits: Array) -> Outcome | None:
    """What a softmax behind the head gives; None if there is none."""
    for values, what in ((logits, "probabilities"), (np.exp(logits), "logarithms of probabilities")):
        if np.allclose(values.sum(axis=-1), 1, atol=1e-4) and (values >= 0).all():
            message = f"{name} returns {what}; logits are asked for, without a softmax behind the head"
            return failed(message, code="softmax_behind_head")
    return None


def _never_negative(name: str, every: list[Array]) -> Outcome | None:
    # Of three dozen logits of random models, half are negative.
    together = np.concatenate([logits.reshape(-1) for logits in every])
    if not (together >= 0).all():
        return None
    behind = "a sigmoid" if (together <= 1).all() else "a ReLU"
    message = f"no logit of {name} is ever negative: {behind} seems to stand behind the head; take it away"
    return failed(message, code="activation_behind_head")


@check(group="values")
def vit_sees_every_patch_in_its_place(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """Each patch has influence on the logits; swapping two changes them, and through the positions alone."""
    return _seen_in_place(vit_bench(student, rng, file, name, DEEP), rng)


def _seen_in_place(bench: ImageBench, rng: np.random.Generator) -> Outcome:
    name, x = bench.name, ONE.images(rng, 1)
    changed = [with_another_patch(x, rng, ONE, *place) for place in product(range(ONE.side), repeat=2)]
    turned_image = swapped(x, ONE)
    plain, turned, *others = bench.run((x,), (turned_image,), *((image,) for image in changed)).outputs
    if not all(np.isfinite(output).all() for output in (plain, turned, *others)):
        return failed(f"{name} gives NaN or infinity", code="not_finite")
    blind = [n for n, output in enumerate(others) if difference(output, plain) is None]
    if blind:
        message = f"{len(blind)} of {ONE.patches} patches have no influence on the logits of {name}"
        return failed(message, code="patches_ignored")
    if difference(turned, plain) is None:
        message = f"swapping two patches leaves the logits of {name} as they were: positions are not added"
        return failed(message, code="positions_not_added")
    if alike := _equal_positions(bench.values):
        ((before, after),) = bench.run_changed((x,), (turned_image,), changes=[alike])
        if difference(after, before):
            why, code = _why(bench)
            message = f"with all positions equal, swapping two patches still changes the logits of {name}: {why}"
            return failed(message, code=code)
    return passed("every patch is seen, and where it is")


def _equal_positions(values: Mapping[str, Array]) -> dict[str, Array]:
    """The table of positions with all its rows alike; nothing if none has a row for each patch."""
    rows = ((ONE.patches + 1,), (ONE.patches,), (ONE.side, ONE.side))
    for name, value in values.items():
        for axis in (axis for axis, side in enumerate(value.shape) if side == ONE.dim):
            vectors = np.moveaxis(value, axis, -1)
            if tuple(side for side in vectors.shape[:-1] if side > 1) in rows:
                row = vectors.reshape(-1, ONE.dim)[1]
                return {name: np.array(np.moveaxis(np.broadcast_to(row, vectors.shape), -1, axis))}
    return {}


def _why(bench: Workbench) -> tuple[str, str]:
    """What kernel a convolution has that is no patch, or what else it may be; and the code of that."""
    for value in bench.values.values():
        if value.shape[:2] == (ONE.dim, ONE.channels) and value.ndim == 4 and value.shape[2:] != (ONE.patch, ONE.patch):
            kernel = shape(value.shape[2:])
            return f"its kernels have {kernel} pixels where patch is {ONE.patch}, so patches overlap", "patches_overlap"
    return "a token is not made of one patch, or tokens are mixed by a reshape() or a mask", "token_order_counts"
