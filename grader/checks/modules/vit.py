"""The ViT of 2.5: patches, class token, learned positions, encoder, head; judged on the student's own parameters.

Left open: pre-norm or post-norm, GELU or ReLU, where the class token stands and whether it has a position, a LayerNorm
at the end, one layer or two in the head.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from grader.checks.modules.recovery import block_properties
from grader.checks.modules.recovery.behaviour import left_to_a_person
from grader.checks.modules.recovery.layers import mlps
from grader.checks.modules.recovery.obligations import (
    changes_its_input,
    differs_in_float32,
    not_a_function_of_its_input,
    trained,
    wrong_shape,
)
from grader.checks.modules.recovery.vit_fits import Found, read_one_block, read_several_blocks
from grader.checks.modules.recovery.vit_stack import blocks_with_depth_one
from grader.checks.modules.recovery.vit_tokens import Sizes, class_tokens, kept_as, position_tensors, table
from grader.checks.modules.recovery.workbench import Workbench, started
from grader.compare import Array, difference
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check

_NAME = "ViT"

# image, patch, channels, dim, depth, heads, classes: 9 patches, 12 numbers in each, and no two sizes alike.
_ONE = Sizes(6, 2, 3, 20, 1, 5, 7)
_DEEP = replace(_ONE, depth=3)
_SIZES = (_ONE, Sizes(4, 2, 1, 6, 2, 2, 3), Sizes(3, 3, 2, 8, 2, 1, 4))


def _bench(student: Student, rng: np.random.Generator, file: str, name: str, sizes: Sizes) -> Workbench:
    return started(Workbench(student, file, name, sizes.arguments()), rng, (sizes.images(rng, 2),))


@check
def vit_gives_one_logit_per_class(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """Images → logits (B, classes) for any batch, each image by itself, repeatable, in float32 too, input untouched."""
    for sizes in _SIZES:
        bench = _bench(student, rng, file, name, sizes)
        for batch in (2, 1, 3):
            if wrong := wrong_shape(bench, (sizes.images(rng, batch),), (batch, sizes.classes)):
                return wrong
        x = sizes.images(rng, 3)
        for look in (not_a_function_of_its_input, changes_its_input, differs_in_float32):
            if wrong := look(bench, (x,)):
                return wrong
        (logits,) = bench.run((x,)).outputs
        for values, what in ((logits, "probabilities"), (np.exp(logits), "logarithms of probabilities")):
            if np.allclose(values.sum(axis=-1), 1, atol=1e-4) and (values >= 0).all():
                return failed(f"{name} returns {what}; logits are asked for, without a softmax behind the head")
    return passed(f"one logit for each class, for {len(_SIZES)} sizes")


@check
def vit_learns_class_token_and_positions(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """Class token and positions are parameters: drawn once, saved and moved with the module, used, and trained."""
    bench = _bench(student, rng, file, name, _ONE)
    x = _ONE.images(rng, 2)
    used = bench.influential(rng, (x,))
    rows_of: set[tuple[int, ...]] = {(_ONE.patches + 1, _ONE.dim), (_ONE.patches, _ONE.dim)}
    vector: set[tuple[int, ...]] = {(_ONE.dim,)}
    for what, candidates, shapes in (
        ("class token", class_tokens(bench.values, _ONE), vector),
        ("table of positions", position_tensors(bench.values, _ONE), rows_of),
    ):
        if what == "class token" and not candidates and _is_a_row_of_the_positions(bench, rng):
            continue
        if not any(found in used for found in candidates):
            return _not_learned(bench, what, bool(candidates), shapes)
    logits = bench.run((x,)).outputs[0]
    gradients = bench.run((x,), cotangents=[rng.normal(size=logits.shape)]).gradients
    places = next(found for found in position_tensors(bench.values, _ONE) if found in used)
    tokens = [found for found in class_tokens(bench.values, _ONE) if found in used]
    if places not in bench.trainable or (tokens and not set(tokens) & set(bench.trainable)):
        return failed(f"the class token or the positions of {name} have requires_grad off, so they are never trained")
    rows = gradients.get(places)
    if rows is None or not all(np.abs(table(rows, _ONE.dim)).max(axis=-1) > 0):
        return failed(f"no gradient reaches some of the positions of {name}")
    if tokens and all(gradients.get(token) is None for token in tokens):
        return failed(f"no gradient reaches the class token of {name}")
    return passed("class token and positions are trained, saved and moved with the module")


def _is_a_row_of_the_positions(bench: Workbench, rng: np.random.Generator) -> bool:
    """Whether its values are those of a model whose class token is a row of the table, and nothing else."""
    found = read_one_block(bench, rng, _ONE)
    return isinstance(found, Found) and not found.way_in.class_token


def _not_learned(bench: Workbench, what: str, is_there: bool, shapes: set[tuple[int, ...]]) -> Outcome:
    name = bench.name
    if is_there:
        return failed(f"{name} has a {what}, but its output does not depend on it")
    if any(tuple(side for side in shape if side > 1) in shapes for shape in bench.buffers.values()):
        return failed(f"the {what} of {name} is a buffer: saved, but never trained; make it an nn.Parameter")
    size = "dim numbers" if what == "class token" else "a row of dim numbers for each patch"
    return failed(
        f"no parameter of {name} is its {what} ({size}): drawn in forward(), fixed or a plain tensor, it is neither "
        "trained nor saved; make it an nn.Parameter in __init__()"
    )


@check
def vit_matches_its_equations(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """[class; patches] + positions through `depth` encoder blocks, the class token through the head: by values."""
    bench = _bench(student, rng, file, name, _ONE)
    deep = _bench(student, rng, file, name, _DEEP)
    blocks = blocks_with_depth_one(bench.values, deep.values, _DEEP.depth)
    if blocks not in (None, 1):
        return failed(f"{name} has {blocks or 'no'} block{'s' * (blocks != 1)} where depth is 1")
    found = read_one_block(bench, rng, _ONE)
    if isinstance(found, str):
        return failed(f"{name} is not the model asked for; it looks as if {found}", evidence={"looks_like": found})
    as_many = _shapes(deep) == _shapes(bench)
    if as_many and not mlps(bench.values, _ONE.dim):
        return failed(f"{name} has no parameters of its blocks: a plain list hides them; keep them in an nn.ModuleList")
    if as_many:
        return failed(f"the blocks of {name} share one set of weights, whatever its depth; each needs its own")
    if found is None:
        return block_properties.of_a_vit(bench, rng, _ONE, adds_blocks=blocks == 1)
    return _judged_deep(deep, rng, found)


def _shapes(bench: Workbench) -> dict[str, tuple[int, ...]]:
    return {name: value.shape for name, value in bench.values.items()}


def _judged_deep(deep: Workbench, rng: np.random.Generator, found: Found) -> Outcome:
    right = read_several_blocks(deep, rng, _DEEP, found)
    if right is None:
        shown = {"with one block all its values are right": True, "more depth adds parameters": True}
        return left_to_a_person(shown, "how three blocks follow each other")
    if right:
        evidence = {"judged_by": "values", "order": found.order, "activation": found.activation}
        return passed("right with one block and with three", evidence=evidence)
    return failed(f"{deep.name} is right with one block, but with depth 3 it is not three blocks one after the other")


@check
def vit_sees_every_patch_in_its_place(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME
) -> Outcome:
    """Each patch has influence on the logits; swapping two changes them, and through the positions alone."""
    bench = _bench(student, rng, file, name, _DEEP)
    x = _ONE.images(rng, 1)
    changed = [_with_another_patch(x, rng, row, column) for row, column in product(range(_ONE.side), repeat=2)]
    swapped = _swapped(x)
    plain, turned, *others = bench.run((x,), (swapped,), *((image,) for image in changed)).outputs
    if not all(np.isfinite(output).all() for output in (plain, turned, *others)):
        return failed(f"{name} gives NaN or infinity")
    blind = [n for n, output in enumerate(others) if difference(output, plain) is None]
    if blind:
        return failed(f"{len(blind)} of {_ONE.patches} patches have no influence on the logits of {name}")
    if difference(turned, plain) is None:
        return failed(f"swapping two patches leaves the logits of {name} as they were: positions are not added")
    places = next(iter(position_tensors(bench.values, _ONE)), "")
    if places:
        rows = table(bench.values[places], _ONE.dim)
        alike = {places: kept_as(bench.values[places], np.broadcast_to(rows[1], rows.shape))}
        ((before, after),) = bench.run_changed((x,), (swapped,), changes=[alike])
        if difference(after, before):
            return failed(f"with all positions equal, swapping two patches still changes the logits of {name}")
    return passed("every patch is seen, and where it is")


def _with_another_patch(x: Array, rng: np.random.Generator, row: int, column: int) -> Array:
    changed, p = x.copy(), _ONE.patch
    place = changed[:, :, row * p : (row + 1) * p, column * p : (column + 1) * p]
    place += rng.normal(size=place.shape)
    return changed


def _swapped(x: Array) -> Array:
    """The second and the last patch of the first row change places."""
    p, turned = _ONE.patch, x.copy()
    turned[:, :, :p, p : 2 * p], turned[:, :, :p, -p:] = x[:, :, :p, -p:], x[:, :, :p, p : 2 * p]
    return turned


@check
def vit_is_trained(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = _NAME) -> Outcome:
    """Gradients flow back to the image and to every parameter it uses, in every block."""
    bench = _bench(student, rng, file, name, replace(_ONE, depth=2))
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved")
    return trained(bench, rng, (_ONE.images(rng, 2),))
