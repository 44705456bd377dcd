"""The encoder block of 2.3: y = LN(x + Attn(x)), z = LN(y + FFN(y)) with ReLU; judged on the student's own layers."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np

from grader import compare
from grader.checks.modules.encoder_form import BATCHES, NAME, SIZES, Sizes, encoder_bench
from grader.checks.modules.recovery import block_properties
from grader.checks.modules.recovery.block_anatomy import Anatomy
from grader.checks.modules.recovery.block_fits import (
    OneToken,
    Wanted,
    first,
    many_token_fits,
    one_token_fits,
    shared_fits,
    unlike_alone,
)
from grader.checks.modules.recovery.layers import loose_vectors, mlps, norms
from grader.checks.modules.recovery.obligations import (
    trained,
)
from grader.checks.modules.recovery.workbench import Workbench
from grader.compare import Array
from grader.model import Outcome, Student, failed, passed
from grader.registry import StudentFile, check
from reference.mistakes.encoder_blocks import POST, RELU, Variant
from reference.mistakes.mixing import SELF_ATTENTION


@check
def encoder_matches_its_equations(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """y = LN(x + Attn(x)), z = LN(y + FFN(y)), FFN with ReLU, scores over √(dim/heads): from its own parameters."""
    outcome = None
    for sizes in SIZES:
        bench = encoder_bench(student, rng, file, name, sizes)
        outcome = _judged(bench, rng, sizes)
        if outcome.score < 1 or outcome.evidence.get("judged_by") == "properties":
            return outcome
    assert outcome is not None
    return outcome


def _judged(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> Outcome:
    inputs = [rng.normal(size=(batch, tokens, sizes.width)) for batch, tokens in BATCHES]
    single = [rng.normal(size=(1, 1, sizes.width)) for _ in range(3)]
    ran = bench.run(*((x,) for x in (*inputs, *single))).outputs
    turn = _axes(ran[0], inputs[0])
    if turn is None:
        return failed(
            f"{bench.name} should turn {compare.shape(inputs[0].shape)} into the same shape",
            f"it gives {compare.shape(ran[0].shape)}",
        )
    if turn != (0, 1, 2) and all(output.ndim == 3 for output in ran):
        ran = [output.transpose(turn) for output in ran]
    outputs, alone = ran[: len(inputs)], ran[len(inputs) :]
    outcome = _explained(bench, rng, sizes, (inputs, outputs), (single, alone))
    if turn == (0, 1, 2) or outcome.score < 1:
        return outcome
    return failed(
        f"its values are right, but not their shape: {compare.shape(inputs[0].shape)} should stay so",
        f"it gives {compare.shape(tuple(inputs[0].shape[turn.index(n)] for n in range(3)))}",
    )


def _axes(output: Array, x: Array) -> tuple[int, ...] | None:
    """How to turn the axes of an output so that it has the shape of x."""
    if output.ndim != 3:
        return None
    return next((order for order in permutations(range(3)) if output.transpose(order).shape == x.shape), None)


_Seen = tuple[list[Array], list[Array]]


def _anatomy(bench: Workbench, rng: np.random.Generator, sizes: Sizes, x: Array, token: Array) -> Anatomy:
    used = bench.influential(rng, (x,))
    loose = loose_vectors(bench.values, sizes.width)
    without = bench.run_changed((x,), changes=[{name: np.zeros_like(bench.values[name])} for name in loose])
    gains = [name for name, (output,) in zip(loose, without, strict=True) if np.ptp(output, axis=(0, 1)).max() < 1e-6]
    return Anatomy(
        bench.values,
        sizes.width,
        sizes.heads,
        frozenset(bench.influential(rng, (token,))),
        frozenset(used),
        tuple(mlps(bench.values, sizes.width, sizes.hidden)),
        tuple(norms(bench.values, sizes.width, gains)),
    )


def _explained(bench: Workbench, rng: np.random.Generator, sizes: Sizes, several: _Seen, alone: _Seen) -> Outcome:
    anatomy = _anatomy(bench, rng, sizes, several[0][0], alone[0][0])
    wanted = Wanted((POST,), (RELU,), output=sizes.heads > 1)
    found = one_token_fits(anatomy, wanted, np.concatenate(alone[0]), np.concatenate(alone[1]))
    if not anatomy.mlps and (width := _other_width(anatomy, wanted, several, alone)):
        return failed(f"the hidden layer of {bench.name} has {width} units, not `hidden`; all else is right")
    if not found:
        fit = first(unlike_alone(anatomy, [Variant(POST, RELU)]), several[0][:1], several[1][:1])
        return _wrong(bench, rng, sizes, anatomy, [fit.mistake or fit.single.variant.norm] if fit else [])
    if mistakes := min((single.mistakes(wanted) for single in found), key=len):
        return _wrong(bench, rng, sizes, anatomy, mistakes)
    if any(first(many_token_fits(anatomy, single), *several) for single in found):
        count = len(SIZES) * len(BATCHES)
        return passed(f"right on all {count} inputs", evidence={"inputs": count, "judged_by": "values"})
    return _wrong(bench, rng, sizes, anatomy, _attention_mistakes(anatomy, found, several))


def _other_width(anatomy: Anatomy, wanted: Wanted, several: _Seen, alone: _Seen) -> int:
    """How wide the hidden layer is, if nothing but that is wrong; else 0."""
    for mlp in mlps(anatomy.values, anatomy.width):
        other = replace(anatomy, mlps=(mlp,))
        found = one_token_fits(other, wanted, np.concatenate(alone[0]), np.concatenate(alone[1]), naming=False)
        if any(first(many_token_fits(other, single), *several) for single in found):
            return mlp.hidden
    return 0


def _attention_mistakes(anatomy: Anatomy, singles: list[OneToken], several: _Seen) -> list[str]:
    for mistake, single in product(SELF_ATTENTION, singles):
        if first(many_token_fits(anatomy, single, [mistake]), *several):
            return [mistake]
    shared = (first(shared_fits(anatomy, single), *several) for single in singles)
    return next(([found.mistake] for found in shared if found), [])


def _wrong(bench: Workbench, rng: np.random.Generator, sizes: Sizes, anatomy: Anatomy, mistakes: list[str]) -> Outcome:
    if mistakes:
        message = f"{bench.name} is not the block asked for; it looks as if {', and '.join(mistakes)}"
        return failed(message, evidence={"looks_like": mistakes})
    needed = 4 * sizes.width**2 + 2 * sizes.width * sizes.hidden
    if wrong := block_properties.of_an_encoder(bench, rng, sizes.width, needed):
        return wrong
    if anatomy.unread():
        return block_properties.shown_of_an_encoder(bench, rng, sizes.width, sizes.heads, sizes.hidden)
    return failed(f"the values of {bench.name} are not those of LN(y + FFN(y)) with y = LN(x + Attn(x))")


@check
def encoder_is_trained(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME) -> Outcome:
    """Gradients flow back to its input and to every parameter it uses."""
    bench = encoder_bench(student, rng, file, name, SIZES[0])
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved")
    return trained(bench, rng, (rng.normal(size=(2, 4, SIZES[0].width)),))
