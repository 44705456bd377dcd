"""The encoder block of 2.3: y = LN(x + Attn(x)), z = LN(y + FFN(y)) with ReLU; judged on the student's own layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from functools import partial as bound
from itertools import permutations

import numpy as np

from grader import Array, Outcome, Partial, Student, StudentFile, check, failed, passed, shape
from grader.modules import Workbench, made_steady, trained
from reference.mistakes.diagnosis import all_of
from reference.mistakes.encoder_blocks import POST, RELU, UNBIASED

from ..public.encoder_form import BATCHES, NAME, SIZES, Sizes, encoder_bench
from ..public.token_bench import TokenBench
from .recovery import block_properties
from .recovery.block_fits import Wanted
from .recovery.block_reading import BlockSizes, Given, Reading


@check(group="values", compares=True)
def encoder_matches_its_equations(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = NAME,
    partial: Partial = Partial(unbiased_variance="9/10"),
) -> Outcome:
    """y = LN(x + Attn(x)), z = LN(y + FFN(y)), FFN with ReLU, scores over √(dim/heads): from its own parameters."""
    outcome = None
    for sizes in SIZES:
        bench = encoder_bench(student, rng, file, name, sizes)
        outcome = partial.applied(_judged(bench, rng, sizes))
        if outcome.score < 1 or outcome.evidence.get("judged_by") == "properties":
            return outcome
    assert outcome is not None
    return outcome


def _judged(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> Outcome:
    inputs = tuple(rng.normal(size=(batch, tokens, sizes.width)) for batch, tokens in BATCHES)
    single = tuple(rng.normal(size=(1, 1, sizes.width)) for _ in range(3))
    x = inputs[0]
    steady = made_steady(bench, (x,))
    if isinstance(steady, Outcome):
        return steady
    bench = steady
    (output,) = bench.run((x,)).outputs
    turn = _axes(output, x)
    if turn is None:
        return failed(
            f"{bench.name} should turn {shape(x.shape)} into the same shape",
            f"it gives {shape(output.shape)}",
            code="wrong_output_shape",
        )
    given = Given(inputs, single, lambda output: output.transpose(turn) if output.ndim == len(turn) else output)
    outcome = _explained2(bench, rng, sizes, given)
    if turn == (0, 1, 2) or outcome.score < 1:
        return outcome
    return failed(
        f"its values are right, but not their shape: {shape(x.shape)} should stay so",
        f"it gives {shape(output.shape)}",
        code="axes_swapped",
    )


def _axes(output: Array, x: Array) -> tuple[int, ...] | None:
    """How to turn the axes of an output so that it has the shape of x."""
    if output.ndim != 3:
        return None
    return next((order for order in permutations(range(3)) if output.transpose(order).shape == x.shape), None)


def _explained(bench: Workbench, rng: np.random.Generator, sizes: Sizes, given: Given) -> Outcome:
    read = bound(Reading, rng=rng, sizes=BlockSizes(*astuple(sizes)), wanted=_wanted(sizes), given=given)
    readings: list[Reading] = []
    for each in _arrangements(bench, sizes.width):
        readings.append(read(each))
        if readings[-1].is_right:
            readings = readings[-1:]
            break
    mistakes = next((told for reading in readings if (told := reading.told()) is not None), None)
    if mistakes is None:
        return _unexplained(bench, rng, sizes, any(reading.usual.is_complete for reading in readings))
    if not mistakes:
        return _right()
    if mistakes == [UNBIASED]:
        message = f"{bench.name} is right but for a small slip: {UNBIASED}"
        return failed(message, evidence={"looks_like": mistakes}, code=UNBIASED.code)
    together = all_of(mistakes)
    message = f"{bench.name} is not the block asked for; it looks as if {together}"
    return failed(message, evidence={"looks_like": mistakes}, code=together.code)


def _wanted(sizes: Sizes) -> Wanted:
    return Wanted((POST,), (RELU,), output=sizes.heads > 1, hidden=sizes.hidden)


def _right() -> Outcome:
    count = len(SIZES) * len(BATCHES)
    return passed(f"right on all {count} inputs", evidence={"inputs": count, "judged_by": "values"})


def _explained2(bench, rng, sizes, given):
    import os, sys, time
    from grader import difference, needs_review
    from grader.modules import Record
    from reference.mistakes.encoder_blocks import ORDERS
    from rubrics.module_recovery.blocks import Wanted as W2, best, explanations
    from rubrics.module_recovery.sublayers import Sublayers

    B, N = 3, 19
    x = rng.normal(size=(B, N, sizes.width))
    t0 = time.time()
    rec = bench.recorded((x,))
    t1 = time.time()
    record = Record(rec, list(bench.values.values()), B, N)
    (output,) = bench.run((x,)).outputs
    wanted = W2((POST,), (RELU,))
    X = record.table(x); Y = record.table(given.turned(output))
    t2 = time.time()
    e = None
    for orders, naming in (((POST,), False), (tuple(ORDERS), True)):
        sub = Sublayers(record, sizes.heads, sizes.width, sizes.hidden, needs_output=sizes.heads > 1, naming=naming)
        e = best(explanations(sub, X, Y, orders), wanted)
        if e and not e.mistakes(wanted):
            break
    t3 = time.time()
    if log := os.environ.get("ENC_LOG"):
        with open(log, "a") as f:
            print(f"record {t1-t0:.2f} tables {t2-t1:.2f} search {t3-t2:.2f} arrays {len(record.arrays)}", {w: len(t) for w, t in record._tables.items()}, bool(e), e and e.mistakes(wanted), file=f)
    if e is None:
        return _unexplained(bench, rng, sizes, False)
    mistakes = e.mistakes(wanted)
    if mistakes:
        together = all_of(mistakes)
        return failed(f"{bench.name} is not the block asked for; it looks as if {together}", code=together.code)
    for z in given.several + given.single:
        (want,) = bench.run((z,)).outputs
        if difference(given.turned(want), e.on(z)):
            return needs_review("does not compose", 0, code="no_compose")
    return _right()


def _arrangements(bench: Workbench, width: int) -> Iterator[Workbench]:
    yield bench
    if isinstance(bench, TokenBench):
        yield from bench.less_cut(width)


def _unexplained(bench: Workbench, rng: np.random.Generator, sizes: Sizes, is_read: bool) -> Outcome:
    needed = 4 * sizes.width**2 + 2 * sizes.width * sizes.hidden
    if wrong := block_properties.of_an_encoder(bench, rng, sizes.width, needed):
        return wrong
    if is_read:
        message = f"the values of {bench.name} are not those of LN(y + FFN(y)) with y = LN(x + Attn(x))"
        return failed(message, code="outputs_differ")
    return block_properties.shown_of_an_encoder(bench, rng, sizes.width, sizes.heads, sizes.hidden)


@check(group="values")
def encoder_is_trained(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME) -> Outcome:
    """Gradients flow back to its input and to every parameter it uses."""
    bench = encoder_bench(student, rng, file, name, SIZES[0])
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved", code="no_parameters")
    x = rng.normal(size=(2, 4, SIZES[0].width))
    steady = made_steady(bench, (x,))
    return trained(steady if isinstance(steady, Workbench) else bench, rng, (x,))
