"""The ViT of 2.5: patches, class token, learned positions, encoder, head; judged by what it computes on the way.

Left open: pre-norm or post-norm, GELU or ReLU, where the class token stands and whether it has a position, how
positions are kept, LayerNorms round the patches, behind the positions and at the end, one layer or two in the head.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader import Outcome, Partial, Student, StudentFile, check, difference, failed, needs_review, passed, shape
from grader.modules import Parameters, trained
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.encoder_blocks import ORDERS, UNBIASED
from rubrics.module_recovery.blocks import Wanted

from ..public.image_bench import Sizes, is_batch_normed
from ..public.patches import why_so_many
from ..public.vit_form import NAME, ONE, made_probable, vit_bench
from .encoder import Allowed
from .recovery import block_properties
from .vit_parts import CLASS_TOKEN, POOLS, Model, Recording

# More pixels in a patch than features in a token, so that tokens determine every map; no two sides alike.
_ONE = Sizes(image=12, patch=4, channels=2, dim=20, depth=1, heads=5, classes=7)
_DEEP = replace(_ONE, depth=3)
_OTHER_IMAGES = 6
_BLOCK = 6 * _ONE.dim**2  # numbers that a block has at least
_ALLOWED = Allowed(order=["pre", "post"], activation=["GELU", "ReLU", "GELU by tanh", "SiLU"])


def _recording(student: Student, file: str, name: str, sizes: Sizes) -> Recording:
    """One for all checks."""

    def make(rng: np.random.Generator) -> Recording:
        return Recording.of(student, rng, file, name, sizes)

    made: Recording = student.in_common(f"{name} of {file} with {sizes}", make)
    return made


@check(group="values")
def vit_learns_class_token_and_positions(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = NAME,
    partial: Partial = Partial(positions_unclear="1/2"),
) -> Outcome:
    """Class token and positions are parameters: drawn once, saved and moved with the module, used, and trained."""
    recording = _recording(student, file, name, _ONE)
    tokens = next(iter(recording.tokens), None)
    if tokens is None or (tokens.embed is None and not tokens.has_positions):
        return _other_tokens(recording) or _not_used(recording, "class token", {_ONE.dim}) or _unclear(name, partial)
    rows = recording.summands(tokens.constant)
    patches = [row for place, row in enumerate(rows) if place != tokens.place]
    if recording.multiplies_by_positions:  # which another check minds
        return passed("class token and positions are parameters")
    if not tokens.has_positions or not all(patches):
        return _not_learned(recording, "table of positions", {_ONE.patches * _ONE.dim, (_ONE.patches + 1) * _ONE.dim})
    if not tokens.class_is_constant or not rows[tokens.place]:
        return _not_learned(recording, "class token", {_ONE.dim})
    owners = recording.encoder.parameters.owners(_ONE.dim)
    if not {recording.names[owners[vector, 0]] for row in rows for vector in row} <= set(recording.bench.trainable):
        message = f"the class token or the positions of {name} have requires_grad off, so they are never trained"
        return failed(message, code="requires_grad_off")
    ran = recording.bench.run((recording.images,), cotangents=[rng.normal(size=recording.logits.shape)])
    slopes = [ran.gradients.get(key, np.zeros_like(recording.bench.values[key])) for key in recording.names]
    reached = Parameters(slopes, 0).vectors(_ONE.dim).any(axis=1)
    for place, row in enumerate(rows):
        if not reached[row].all():
            what = "the class token" if place == tokens.place else "some of the positions"
            return failed(f"no gradient reaches {what} of {name}", code="no_gradient")
    return passed("class token and positions are trained, saved and moved with the module")


def _other_tokens(recording: Recording) -> Outcome | None:
    """If it makes another number of tokens."""
    count = recording.count_of_tokens
    if count in (0, _ONE.patches + 1):
        return None
    why, code = why_so_many(count - 1, _ONE)
    many = f"{count - 1} token{'s' * (count != 2)}"
    reason = f": {why}" if why else ""
    message = f"{recording.bench.name}({_ONE}) makes {many} of an image with {_ONE.patches} patches{reason}"
    return failed(message, code=code)


def _unclear(name: str, partial: Partial) -> Outcome:
    message = (
        f"how positions get into the tokens of {name} was not understood. A TA decides about class token and positions"
    )
    return needs_review(message, partial["positions_unclear"], code="positions_unclear")


def _not_used(recording: Recording, what: str, sizes: set[int]) -> Outcome | None:
    """If a parameter that could be it has no influence."""
    bench = recording.bench
    of_layers = ("weight", "bias") if _ONE.dim in sizes else ()  # a LayerNorm's are vectors, too
    candidates = [key for key, value in bench.values.items() if value.size in sizes and not key.endswith(of_layers)]
    if set(candidates) <= bench.influential(np.random.default_rng(0), (recording.images[:2],)):
        return None
    return failed(f"{bench.name} has a {what}, but its output does not depend on it", code="parameter_unused")


def _not_learned(recording: Recording, what: str, sizes: set[int]) -> Outcome:
    if unused := _not_used(recording, what, sizes):
        return unused
    bench = recording.bench
    lengths = [int(np.prod(shape)) for shape in bench.buffers.values() if _ONE.dim in shape]
    if any(length in sizes or length > max(sizes) > _ONE.dim for length in lengths):
        message = f"the {what} of {bench.name} is a buffer: saved, but never trained; make it an nn.Parameter"
        return failed(message, code="buffer_not_parameter")
    size = "dim numbers" if what == "class token" else "a row of dim numbers for each patch"
    return failed(
        f"no parameter of {bench.name} is its {what} ({size}): sampled in forward(), fixed or a plain tensor, it is "
        "neither trained nor saved; make it an nn.Parameter in __init__()",
        code="not_a_parameter",
    )


@check(group="values", compares=True)
def vit_matches_its_equations(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = NAME,
    allow: Allowed = _ALLOWED,
    partial: Partial = Partial(unbiased_variance="9/10"),
) -> Outcome:
    """[class; patches] + positions through `depth` encoder blocks, the class token through the head: by values."""
    recording = _recording(student, file, name, _ONE)
    want = (len(recording.images), _ONE.classes)
    if recording.logits.shape != want:
        message = f"{name} should turn {shape(recording.images.shape)} into {shape(want)}"
        return failed(message, f"it gives {shape(recording.logits.shape)}", code="wrong_output_shape")
    if wrong := made_probable(name, recording.logits):
        return wrong
    deep = _recording(student, file, name, _DEEP)
    if wrong := _of_wrong_size(recording, deep):
        return wrong
    wanted = allow.wanted
    found = _read(recording, wanted)
    if isinstance(found, Diagnosis):
        return failed(f"{name} is not the model asked for: {found}", code=found.code)
    mistakes = found.mistakes(wanted) if found else []
    if found and mistakes not in ([], [UNBIASED]):
        return _named(name, "is not the model asked for; it looks as if", mistakes, found.line(wanted))
    if found is None or not all(recording.summands(found.tokens.constant)):
        return _unread(recording, deep, rng)
    how = _stacked(recording, deep, found, wanted)
    if isinstance(how, Diagnosis):
        message = f"{name} is right with one block, but with depth 3 it is not three blocks one after the other: {how}"
        return failed(message, code=how.code)
    if how is None or not all(_agrees(each, recording, rng) for each, recording in ((found, recording), (how, deep))):
        return _unread(recording, deep, rng)
    if mistakes:
        return partial.applied(_named(name, "is right but for a small slip:", mistakes, found.line(wanted)))
    ((order, activation),) = found.kinds
    evidence = {"judged_by": "values", "order": order, "activation": activation}
    return passed("right with one block and with three", evidence=evidence)


def _named(name: str, says: str, mistakes: list[Diagnosis], line: int) -> Outcome:
    together, where = all_of(mistakes), f" (line {line})" if line else ""
    evidence = {"looks_like": mistakes} | ({"line": line} if line else {})
    return failed(f"{name} {says} {together}{where}", evidence=evidence, code=together.code)


def _agrees(model: Model, recording: Recording, rng: np.random.Generator) -> bool:
    images = _ONE.images(rng, _OTHER_IMAGES)
    return model.agrees_with(images, recording.bench.run((images,)).outputs[0])


def _of_wrong_size(recording: Recording, deep: Recording) -> Outcome | None:
    """With too few parameters for a block, or as many whatever its depth."""
    name, bench = recording.bench.name, recording.bench
    sides = [{key: value.shape for key, value in each.bench.values.items()} for each in (recording, deep)]
    too_few = recording.size < _BLOCK
    if too_few and sides[0] != sides[1]:
        return failed(f"{name} has no block where depth is 1", code="wrong_block_count")
    if too_few:
        message = f"{name} has no parameters of its blocks: a plain list hides them; keep them in an nn.ModuleList"
        return failed(message, code="blocks_in_plain_list")
    if sides[0] != sides[1]:
        return None
    once, more = (each.bench.run((recording.images,), values=bench.values).outputs[0] for each in (recording, deep))
    if difference(once, more) is None:
        message = f"depth has no influence on {name}: it has as many blocks with depth 3 as with depth 1"
        return failed(message, code="depth_ignored")
    message = f"the blocks of {name} share one set of weights, whatever its depth; each needs its own"
    return failed(message, code="blocks_share_weights")


def _read(recording: Recording, wanted: Wanted) -> Model | Diagnosis | None:
    """The model with one block that has the fewest mistakes; None if nothing explains its values."""
    best, count = None, None
    for naming, orders, pools in (
        (False, wanted.orders, [CLASS_TOKEN]),
        (False, wanted.orders, list(POOLS)),
        (True, tuple(ORDERS), [CLASS_TOKEN]),
    ):
        for model in recording.models(orders, 1 if naming else 2, pools, naming):
            mistakes = model.mistakes(wanted)
            if len(model.blocks) != 1:
                count = None if recording.ignores_images else len(model.blocks)
            elif not mistakes:
                return model
            elif best is None or len(mistakes) < len(best.mistakes(wanted)):
                best = model
        if best:
            return best
        if count is not None:
            return Diagnosis(f"it has {count or 'no'} block{'s' * (count != 1)} where depth is 1", "wrong_block_count")
    return None


def _stacked(recording: Recording, deep: Recording, found: Model, wanted: Wanted) -> Model | Diagnosis | None:
    """The model with three blocks like the one that was found, or how they are put together instead."""
    (block,), slips = found.blocks, found.mistakes(wanted)
    first = recording.norms_of(block)  # as the first of several blocks has them, too
    said: Diagnosis | None = None
    for model in deep.models([block.order], _DEEP.depth, [CLASS_TOKEN], naming=bool(slips)):
        if model.mistakes(wanted) != slips or model.kinds != found.kinds:
            continue
        names = [deep.norms_of(each) for each in model.blocks]
        if model.uses_a_layer_twice:
            how = Diagnosis("one layer serves in several of them", "blocks_share_weights")
        elif len(names) == 1 and names == [first]:
            how = Diagnosis("only the first one is used", "first_block_alone")
        elif len(names) == 1:
            how = Diagnosis("only the last one counts, or each is given the first tokens", "last_block_alone")
        elif len(names) < _DEEP.depth:
            how = Diagnosis("one is left out", "block_left_out")
        elif names[-1] == first != names[0]:
            how = Diagnosis("they come in the opposite order", "blocks_reversed")
        else:
            return model
        said = said or how
    return said


def _unread(recording: Recording, deep: Recording, rng: np.random.Generator) -> Outcome:
    """A mistake that shows even so, or what relations and its behaviour show."""
    name = recording.bench.name
    if is_batch_normed(recording.bench):
        message = f"BatchNorm stands in {name} where LayerNorm is asked for, over the features of each token"
        return failed(message, code="batch_norm")
    if recording.multiplies_by_positions:
        message = f"the positions of {name} are multiplied with the tokens; they are to be added"
        return failed(message, code="positions_multiplied")
    adds_blocks = deep.size - recording.size >= (_DEEP.depth - 1) * _BLOCK
    return block_properties.of_a_vit(
        recording.bench, rng, _ONE, adds_blocks, recording.weighs_tokens, recording.progress()
    )


@check(group="values")
def vit_is_trained(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME) -> Outcome:
    """Gradients flow back to the image and to every parameter it uses, in every block."""
    two = replace(ONE, depth=2)
    bench = vit_bench(student, rng, file, name, two)
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved", code="no_parameters")
    return trained(bench, rng, (ONE.images(rng, 2),))
