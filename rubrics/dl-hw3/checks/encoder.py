"""The encoder block of 2.3: y = LN(x + Attn(x)), z = LN(y + FFN(y)) with ReLU; judged on the student's own layers.

One run is recorded, and explained as that formula of recorded values, with matrices that are parameters as the grader
has set them. What was found then has to give the outputs for other inputs, in runs that nobody records.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from functools import partial as bound
from itertools import permutations
from typing import Literal

import numpy as np
from pydantic import BaseModel

from grader import Array, Outcome, Partial, Student, StudentFile, check, difference, failed, passed, shape
from grader.modules import Record, Workbench, made_steady, trained
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.encoder_blocks import ORDERS, POST, PRE, UNBIASED
from rubrics.module_recovery.blocks import Explanation, Wanted, best, explanations, furthest
from rubrics.module_recovery.sublayers import Sublayers

from ..public.encoder_form import BATCHES, NAME, SIZES, Sizes, encoder_bench
from .recovery import block_properties

_RECORDED = (13, 6)  # batch and tokens: unlike every size, and more rows than a map has inputs
_ORDERS = {"post": POST, "pre": PRE}


class Allowed(BaseModel, extra="forbid", frozen=True):
    """What is right where the assignment leaves something open."""

    order: list[Literal["post", "pre"]] = ["post"]
    activation: list[Literal["ReLU", "GELU", "GELU by tanh", "SiLU"]] = ["ReLU"]

    @property
    def wanted(self) -> Wanted:
        return Wanted(tuple(_ORDERS[order] for order in self.order), tuple(self.activation))


_AS_ASKED = Allowed()


@check(group="values", compares=True)
def encoder_matches_its_equations(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str = NAME,
    allow: Allowed = _AS_ASKED,
    partial: Partial = Partial(unbiased_variance="9/10"),
) -> Outcome:
    """y = LN(x + Attn(x)), z = LN(y + FFN(y)), FFN with ReLU, scores over √(dim/heads): from its own parameters."""
    for sizes in SIZES:
        bench = encoder_bench(student, rng, file, name, sizes)
        x = rng.normal(size=(*_RECORDED, sizes.width))
        steady = made_steady(bench, (x,))
        judged = steady if isinstance(steady, Outcome) else _Block(steady, rng, sizes, allow.wanted, partial).judged(x)
        outcome = partial.applied(judged)
        if outcome.score < 1:
            return outcome
    inputs = len(SIZES) * len(BATCHES)
    return passed(f"right on all {inputs} inputs", evidence={"inputs": inputs, "judged_by": "values"})


@dataclass(frozen=True)
class _Block:
    bench: Workbench
    rng: np.random.Generator
    sizes: Sizes
    wanted: Wanted
    shares: Partial

    def judged(self, x: Array) -> Outcome:
        (output,) = self.bench.run((x,)).outputs
        axes = _axes(output, x)
        if axes is None:
            message = f"{self.bench.name} should turn {shape(x.shape)} into the same shape"
            return failed(message, f"it gives {shape(output.shape)}", code="wrong_output_shape")
        record = Record(self.bench.recorded((x,)), list(self.bench.values.values()), *_RECORDED)
        outcome = self._explained(record, record.table(x), record.table(output.transpose(axes)))
        if axes == (0, 1, 2) or outcome.score < 1:
            return outcome
        message = f"its values are right, but not their shape: {shape(x.shape)} should stay so"
        return failed(message, f"it gives {shape(output.shape)}", code="axes_swapped")

    def _explained(self, record: Record, x: Array, output: Array) -> Outcome:
        """The right formula of what was recorded, or what is wrong with it, or how far it is found."""
        bench, rng, (width, heads, hidden), wanted = self.bench, self.rng, astuple(self.sizes), self.wanted
        search = bound(Sublayers, record, heads, width, hidden, needs_output=heads > 1)
        right = search()
        found = best(explanations(right, x, output, wanted.orders), wanted)
        if found is None or found.mistakes(wanted):
            found = best(explanations(search(naming=True), x, output, tuple(ORDERS)), wanted)
        if found:
            mistakes = found.mistakes(wanted)
            outcome = _named(bench, mistakes, found.line(wanted)) if mistakes else passed("right")
            if not self.shares.applied(outcome).score or self._gives_outputs(found):
                return outcome
        if wrong := block_properties.of_an_encoder(bench, rng, width, 4 * width**2 + 2 * width * hidden):
            return wrong
        reached = furthest(right, x, wanted.orders)
        if not found and "attend" in reached.parts and _is_refuted(search(any_gain=True), x, output, wanted):
            message = f"the values of {bench.name} are not those of LN(y + FFN(y)) with y = LN(x + Attn(x)): {reached}"
            return failed(message, code="outputs_differ")
        why = f"what it computes is explained in part: {reached}"
        return block_properties.shown_of_an_encoder(bench, rng, width, heads, hidden, why)

    def _gives_outputs(self, found: Explanation) -> bool:
        """Whether what was found gives the outputs of runs that nobody records, with other inputs."""
        inputs = [self.rng.normal(size=(*batch, self.sizes.width)) for batch in BATCHES]
        for x, output in zip(inputs, self.bench.run(*((x,) for x in inputs)).outputs, strict=True):
            axes = _axes(output, x)
            if axes is None or difference(found.on(x), output.transpose(axes)):
                return False
        return True


def _axes(output: Array, x: Array) -> tuple[int, ...] | None:
    """How to turn the axes of an output so that it has the shape of x."""
    if output.ndim != 3:
        return None
    return next((order for order in permutations(range(3)) if output.transpose(order).shape == x.shape), None)


def _is_refuted(loose: Sublayers, x: Array, output: Array, wanted: Wanted) -> bool:
    """Whether a feed-forward network is recorded that does not explain the output, whatever the LayerNorms learn."""
    has_network = any(loose.networks(u) for u in loose.record.of_width(loose.width))
    return has_network and not any(explanations(loose, x, output, wanted.orders))


def _named(bench: Workbench, mistakes: list[Diagnosis], line: int) -> Outcome:
    together = all_of(mistakes)
    message = f"{bench.name} is not the block asked for; it looks as if {together}"
    if mistakes == [UNBIASED]:
        message = f"{bench.name} is right but for a small slip: {UNBIASED}"
    outcome = failed(message, evidence={"looks_like": mistakes}, code=together.code)
    # Code chooses its lines, so that hidden checks tell none.
    return replace(outcome, detail=f"see line {line}", revealing={"line": line}) if line else outcome


@check(group="values")
def encoder_is_trained(student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME) -> Outcome:
    """Gradients flow back to its input and to every parameter it uses."""
    bench = encoder_bench(student, rng, file, name, SIZES[0])
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved", code="no_parameters")
    x = rng.normal(size=(2, 4, SIZES[0].width))
    steady = made_steady(bench, (x,))
    return trained(steady if isinstance(steady, Workbench) else bench, rng, (x,))
