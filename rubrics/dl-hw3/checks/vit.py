"""The ViT of 2.5: patches, class token, learned positions, encoder, head; judged on the student's own parameters.

Left open: pre-norm or post-norm, GELU or ReLU, where the class token stands and whether it has a position, how long the
table of positions is, LayerNorms round the patches, behind the positions and at the end, one layer or two in the head.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader import Outcome, Partial, Student, StudentFile, TimedOut, check, difference, failed, needs_review, passed
from grader.modules import Workbench, judged_by_behaviour, trained
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.mixing import RIGHT
from rubrics.module_recovery.layers import is_weight, mlps, partner

from ..public.image_bench import ImageBench, is_batch_normed
from ..public.other_images import swapped
from ..public.patches import why_so_many
from ..public.position_pieces import learned_places, position_tensors, table
from ..public.vit_form import DEEP, NAME, ONE, made_probable, vit_bench
from .recovery import block_properties
from .recovery.paired_tensors import in_pairs
from .recovery.vit_depth import read_several_blocks
from .recovery.vit_fits import UNEXPLAINED, Found, read_one_block
from .recovery.vit_slips import positions_are_factors, tokens_made
from .recovery.vit_stack import UNKNOWN, blocks_with_depth_one
from .recovery.vit_tokens import class_tokens


@check(group="values")
def vit_learns_class_token_and_positions(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = NAME,
    partial: Partial = Partial(class_token_unclear="1/2", positions_unclear="1/2"),
) -> Outcome:
    """Class token and positions are parameters: drawn once, saved and moved with the module, used, and trained."""
    bench = vit_bench(student, rng, file, name, ONE)
    x = ONE.images(rng, 2)
    used = bench.influential(rng, (x,))
    rows_of: set[tuple[int, ...]] = {(ONE.patches + 1, ONE.dim), (ONE.patches, ONE.dim)}
    vector: set[tuple[int, ...]] = {(ONE.dim,)}
    for what, candidates, shapes in (
        ("class token", class_tokens(bench.values, ONE), vector),
        ("table of positions", position_tensors(bench.values, ONE), rows_of),
    ):
        if what == "class token" and not candidates and _is_a_row_of_the_positions(bench, rng):
            continue
        if not any(found in used for found in candidates):
            if what != "class token" and (other := _other_tokens(bench, rng)):
                return other
            if not candidates and (unclear := _unclear(student, rng, file, bench, what, partial)):
                return unclear
            return _not_learned(bench, what, bool(candidates), shapes)
    logits = bench.run((x,)).outputs[0]
    gradients = bench.run((x,), cotangents=[rng.normal(size=logits.shape)]).gradients
    places = next(found for found in position_tensors(bench.values, ONE) if found in used)
    tokens = [found for found in class_tokens(bench.values, ONE) if found in used]
    if places not in bench.trainable or (tokens and not set(tokens) & set(bench.trainable)):
        message = f"the class token or the positions of {name} have requires_grad off, so they are never trained"
        return failed(message, code="requires_grad_off")
    rows = gradients.get(places)
    if rows is None or not all(np.abs(table(rows, ONE.dim)).max(axis=-1) > 0):
        return failed(f"no gradient reaches some of the positions of {name}", code="no_gradient")
    if tokens and all(gradients.get(token) is None for token in tokens):
        return failed(f"no gradient reaches the class token of {name}", code="no_gradient")
    return passed("class token and positions are trained, saved and moved with the module")


def _is_a_row_of_the_positions(bench: Workbench, rng: np.random.Generator) -> bool:
    """Whether its values are those of a model whose class token is a row of the table, and nothing else."""
    found = read_one_block(bench, rng, ONE)
    return isinstance(found, Found) and not found.way_in.class_token


def _unclear(
    student: Student, rng: np.random.Generator, file: str, bench: ImageBench, what: str, partial: Partial
) -> Outcome | None:
    """Left to a person where some tensor may be what no tensor looks like; None if certainly none is."""
    if what == "class token":
        if _all_else_is_layers(bench, position_tensors(bench.values, ONE)):
            return None
        said = "which of its parameters is the class token could not be told from their shapes"
        code = "class_token_unclear"
    else:
        # With several blocks, a token's place matters even where one of them takes the mean of all.
        deep, x = vit_bench(student, rng, file, bench.name, DEEP), ONE.images(rng, 1)
        if not (places := learned_places(deep, x, swapped(x, ONE))):
            return None
        said = (
            f"without {', '.join(places)} patches may change places, so positions are learned; how was not understood"
        )
        code = "positions_unclear"
    message = f"{said}. A person decides about class token and positions"
    return needs_review(message, partial[code], code=code)


def _all_else_is_layers(bench: Workbench, known: list[str]) -> bool:
    """Whether every tensor but these is a weight or a bias as torch's layers keep them."""
    owned = {partner(name, bench.values) for name in bench.values}
    return all(name in known or name in owned or is_weight(name) for name in bench.values)


def _other_tokens(bench: Workbench, rng: np.random.Generator) -> Outcome | None:
    """None if it makes one token of each patch, or nothing can be told."""
    if (tokens := tokens_made(bench, rng, ONE)) is None:
        return None
    why, code = why_so_many(tokens, ONE)
    many = f"{tokens} token{'s' * (tokens != 1)}"
    message = f"{bench.name}({ONE}) makes {many} of an image with {ONE.patches} patches{': ' * bool(why)}{why}"
    return failed(message, code=code)


def _not_learned(bench: Workbench, what: str, is_there: bool, shapes: set[tuple[int, ...]]) -> Outcome:
    name = bench.name
    if is_there:
        return failed(f"{name} has a {what}, but its output does not depend on it", code="parameter_unused")
    kept = [tuple(side for side in shape if side > 1) for shape in bench.buffers.values()]
    longer = len(next(iter(shapes))) == 2 and any(
        len(shape) == 2 and shape[0] > ONE.patches and shape[1] == ONE.dim for shape in kept
    )
    if longer or shapes & set(kept):
        message = f"the {what} of {name} is a buffer: saved, but never trained; make it an nn.Parameter"
        return failed(message, code="buffer_not_parameter")
    size = "dim numbers" if what == "class token" else "a row of dim numbers for each patch"
    return failed(
        f"no parameter of {name} is its {what} ({size}): drawn in forward(), fixed or a plain tensor, it is neither "
        "trained nor saved; make it an nn.Parameter in __init__()",
        code="not_a_parameter",
    )


@check(group="values", compares=True)
def vit_matches_its_equations(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """[class; patches] + positions through `depth` encoder blocks, the class token through the head: by values."""
    bench = vit_bench(student, rng, file, name, ONE)
    (other,) = rng.spawn(1)  # what is drawn here moves no other numbers
    (logits,) = bench.run((ONE.images(other, 3),)).outputs
    if logits.ndim and (wrong := made_probable(name, logits)):  # no formula is fitted to it
        return wrong
    deep = vit_bench(student, rng, file, name, DEEP)
    blocks = blocks_with_depth_one(bench.values, deep.values, DEEP.depth)
    if blocks not in (None, 1):
        message = f"{name} has {blocks or 'no'} block{'s' * (blocks != 1)} where depth is 1"
        return failed(message, code="wrong_block_count")
    try:
        seen, found = _read(bench, deep, rng)
    except TimedOut:
        return _took_too_long(adds_blocks=blocks == 1)
    if found == UNEXPLAINED and is_batch_normed(bench):
        return _batch_normed(bench)
    if isinstance(found, Diagnosis):
        message = f"{name} is not the model asked for; it looks as if {found}"
        return failed(message, evidence={"looks_like": found}, code=found.code)
    as_many = _shapes(deep) == _shapes(bench)
    if as_many and not mlps(bench.values, ONE.dim):
        message = f"{name} has no parameters of its blocks: a plain list hides them; keep them in an nn.ModuleList"
        return failed(message, code="blocks_in_plain_list")
    if as_many:
        return _of_one_size(bench, deep, rng)
    if found is None:
        return _unread(bench, rng, adds_blocks=blocks == 1)
    return _judged_deep(seen, rng, found)


def _took_too_long(adds_blocks: bool) -> Outcome:
    """It has run in time before: what takes long is to try what its tensors may be."""
    shown = {"it runs": True, "more depth adds as many blocks": adds_blocks}
    return judged_by_behaviour(shown, "all its values", code="took_too_long")


def _read(bench: ImageBench, deep: ImageBench, rng: np.random.Generator) -> tuple[ImageBench, Found | Diagnosis | None]:
    """What it is found to be, and the deep model as it is read then: first with its layers named as torch would."""
    said: Found | Diagnosis | None = None
    for turned in (False, True):
        pairs = in_pairs(bench, ONE, turned)
        if pairs is bench:
            break
        found = read_one_block(pairs, rng, ONE, is_guess=True)
        if isinstance(found, Found):
            return in_pairs(deep, DEEP, turned), found
        said = said or found
    found = read_one_block(bench, rng, ONE)
    return deep, found if isinstance(found, Found) or not said else said


def _shapes(bench: Workbench) -> dict[str, tuple[int, ...]]:
    return {name: value.shape for name, value in bench.values.items()}


def _of_one_size(bench: Workbench, deep: Workbench, rng: np.random.Generator) -> Outcome:
    """With as many parameters whatever its depth: it runs the same blocks more often, or depth does nothing."""
    x = ONE.images(rng, 2)
    once, more = (each.run((x,), values=bench.values).outputs[0] for each in (bench, deep))
    if difference(once, more) is None:
        message = f"depth has no influence on {bench.name}: it has as many blocks with depth 3 as with depth 1"
        return failed(message, code="depth_ignored")
    message = f"the blocks of {bench.name} share one set of weights, whatever its depth; each needs its own"
    return failed(message, code="blocks_share_weights")


def _batch_normed(bench: Workbench) -> Outcome:
    message = f"BatchNorm stands in {bench.name} where LayerNorm is asked for, over the features of each token"
    return failed(message, code="batch_norm")


def _unread(bench: Workbench, rng: np.random.Generator, adds_blocks: bool) -> Outcome:
    """A mistake that shows without a fit, or what else its behaviour shows."""
    if is_batch_normed(bench):
        return _batch_normed(bench)
    if positions_are_factors(bench, rng, ONE):
        message = f"the positions of {bench.name} are multiplied with the tokens; they are to be added"
        return failed(message, code="positions_multiplied")
    return block_properties.of_a_vit(bench, rng, ONE, adds_blocks)


def _judged_deep(deep: Workbench, rng: np.random.Generator, found: Found) -> Outcome:
    how = read_several_blocks(deep, rng, DEEP, found)
    if how is None:
        shown = {"with one block all its values are right": True, "more depth adds parameters": True}
        return judged_by_behaviour(shown, "how three blocks follow each other")
    if how == RIGHT:
        return _right(found)
    said = f"{deep.name} is right with one block, but with depth 3 it is not three blocks one after the other"
    return failed(said if how == UNKNOWN else f"{said}: {how}", code=how.code)


def _right(found: Found) -> Outcome:
    evidence = {"judged_by": "values", "order": found.order, "activation": found.activation}
    return passed("right with one block and with three", evidence=evidence)


@check(group="values")
def vit_is_trained(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME) -> Outcome:
    """Gradients flow back to the image and to every parameter it uses, in every block."""
    two = replace(ONE, depth=2)
    bench = vit_bench(student, rng, file, name, two)
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved", code="no_parameters")
    return trained(bench, rng, (ONE.images(rng, 2),))
