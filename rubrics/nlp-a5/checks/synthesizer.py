"""The Synthesizer variant: each token proposes its own weights, judged on the student's own layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from grader import Array, Crashed, Killed, Outcome, Student, StudentFile, TimedOut, check, difference, failed, passed
from grader.modules import Workbench
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.mixing import NO_OUTPUT, OVER_QUERIES
from reference.mistakes.synthesis import MISTAKES
from reference.numpy_attention import Synthesis
from rubrics.module_recovery import behaviour
from rubrics.module_recovery.fits import assignments, assignments_in_any_layout, explanation
from rubrics.module_recovery.layers import Linear, Values, biases_of, count_apart, linears, maps

from ..public.configuration import BLOCK, HEAD, HEADS, WIDTH, build
from ..public.synthesizer_form import LONGEST, NAME, drawn_inputs
from .recovery import variant_properties
from .recovery.arrangements import is_as_torch_has_it, read_in_any

_RIGHT = Synthesis()
_NO_SCORE_BIAS = Diagnosis("b₂, the bias added to the scores, is missing", "no_score_bias")


@dataclass(frozen=True)
class _Fit:
    hidden: Linear  # W₁, b₁
    scoring: Linear  # w₂, b₂
    value: Linear
    output: Linear | None  # the formula ends before the output projection, so a module without one is accepted
    synthesis: Synthesis

    def __call__(self, x: Array) -> Array:
        mixed = self.synthesis(self.hidden(x), self.scoring, self.value(x), HEADS)
        return self.output(mixed) if self.output else mixed


def _layers(bench: Workbench, used: set[str]) -> tuple[list[Linear], list[Linear]]:
    """Maps that may be W₁, value or output, and those that may be w₂."""
    lengths = (LONGEST, BLOCK)
    scoring = [layer for length in lengths for layer in linears(bench.values, HEAD, length, used)]
    scoring += [layer for length in lengths for layer in _for_each_head(bench.values, length, used)]
    return maps(bench.values, WIDTH, HEADS, used), scoring


def _for_each_head(values: Values, length: int, used: set[str]) -> Iterator[Linear]:
    """A w₂ of its own for each head, in one tensor: (H, D/H, T) once its axes are in order."""
    for name in sorted(used):
        tensor = values[name].squeeze()
        if sorted(tensor.shape) != sorted((HEADS, HEAD, length)):
            continue
        axes = [tensor.shape.index(side) for side in (HEADS, HEAD, length)]
        for size in (length, HEADS * length):
            for bias in biases_of(values, name, size):
                offset = values[bias].squeeze() if bias else np.zeros(length)
                if offset.shape in ((length, HEADS), (HEADS, length)):
                    offset = (offset.T if len(offset) == length else offset)[:, None]  # (H, 1, T)
                if offset.shape[-1:] == (length,):
                    yield Linear(name, bias, ("head", "feature"), 0, axes[1], tensor.transpose(axes), offset)


def _fits(
    bench: Workbench, used: set[str], synthesis: Synthesis = _RIGHT, any_layout: bool = False
) -> Iterator[tuple[_Fit, Callable[..., Array]]]:
    square, scoring = _layers(bench, used)
    roles = ("hidden", "value", "output") if count_apart(square) > 2 else ("hidden", "value")
    assigned = list(assignments(dict.fromkeys(roles, square)))
    if any_layout:
        assigned += assignments_in_any_layout(bench.values, square, roles, HEADS)
    for scores, chosen in product(scoring, assigned):
        fit = _Fit(chosen["hidden"], scores, chosen["value"], chosen.get("output"), synthesis)
        yield fit, fit


def _mistake(bench: Workbench, used: set[str], inputs: list[tuple[Array]], outputs: list[Array]) -> Diagnosis | None:
    """The mistake that explains every output."""
    for name, synthesis in MISTAKES.items():
        if found := explanation(_fits(bench, used, synthesis), inputs, outputs):
            # Over another axis a softmax cancels b₂, so that it does nothing even where it is added.
            is_all = found.scoring.bias in used or OVER_QUERIES.code in name.code
            return name if is_all else all_of((name, _NO_SCORE_BIAS), "; and ")
    without = ((fit, replace(fit, output=None)) for fit, _ in _fits(bench, used))
    return NO_OUTPUT if explanation(without, inputs, outputs) else None


@check(group="values", compares=True)
def synthesizer_matches_its_formula(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """Its output is softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])) V, computed from its own parameters."""
    bench = build(student, rng, [file], name, drawn_inputs(rng)[0], synthesizer=True, additive=True)
    inputs = drawn_inputs(rng)
    try:
        outputs = bench.run(*inputs).outputs
    except (TimedOut, Killed):
        raise
    except Crashed:  # on which of them, another check says
        inputs = [given for given in inputs if _runs(bench, given)]
        outputs = bench.run(*inputs).outputs
    matrices = [value.shape for value in bench.values.values() if len(value.squeeze().shape) > 1]
    if not any(side in (LONGEST, BLOCK) for shape in matrices for side in shape):
        return failed(
            f"no parameter of {name} has a column for each of block_size − 1 positions, as w₂ should: a tensor that is "
            "no nn.Parameter is neither trained nor saved",
            code="not_a_parameter",
        )
    if outcome := read_in_any(bench, partial(_of_reading, rng, inputs, outputs)):
        return outcome
    needed = 2 * WIDTH**2 + HEAD * LONGEST + LONGEST  # W₁, the values, w₂ and b₂
    few = behaviour.too_few_parameters(bench, bench.influential(rng, inputs[0]), needed)
    return few or variant_properties.of_a_synthesizer(bench, rng)


def _of_reading(
    rng: np.random.Generator, inputs: list[tuple[Array]], outputs: list[Array], bench: Workbench, naming: bool
) -> Outcome | None:
    """None if nothing tried explains its values, be it that its layers are not those of the formula."""
    used = bench.influential(rng, inputs[0])
    square, scoring = _layers(bench, set(bench.values))
    if count_apart(square) < 2 or not scoring:
        return None
    found = explanation(_fits(bench, used, any_layout=True), inputs, outputs)
    if found is None:
        wrong = _wrong(bench, used, inputs, outputs) if naming else None
        return wrong if wrong and (wrong.evidence["looks_like"] or is_as_torch_has_it(bench)) else None
    if not found.hidden.bias:
        return failed("its values are those of the formula without b₁, the bias added to x W₁", code="no_hidden_bias")
    if not found.scoring.bias or found.scoring.bias not in used:
        return _without_b2(bench, used)
    if found.output is None and count_apart(square) > 2:
        message = "its values are right but for the output projection, which is defined and never used"
        return failed(message, code=NO_OUTPUT.code)
    return passed(f"right on all {len(inputs)} inputs", evidence={"inputs": len(inputs), "judged_by": "values"})


def _runs(bench: Workbench, given: tuple[Array]) -> bool:
    if len(given[0][0]) == LONGEST:
        return True
    try:
        bench.run(given)
    except (TimedOut, Killed):
        raise
    except Crashed:
        return False
    return True


def _without_b2(bench: Workbench, used: set[str]) -> Outcome:
    idle = [name for name, value in bench.values.items() if value.size in (LONGEST, BLOCK) and name not in used]
    hint = "; it is there and changes nothing: is it added to the rows instead of the columns?" if idle else ""
    message = f"its values are those of the formula without b₂, the bias added to the scores{hint}"
    return failed(message, code="score_bias_has_no_effect" if idle else _NO_SCORE_BIAS.code)


def _wrong(bench: Workbench, used: set[str], inputs: list[tuple[Array]], outputs: list[Array]) -> Outcome:
    mistake = _mistake(bench, used, inputs, outputs)
    looks = f"; it looks as if {mistake}" if mistake else ""
    likely = next((compute for _, compute in _fits(bench, used)), None)
    far = difference(outputs[0], likely(*inputs[0])) if likely else None
    summary = f" With x {inputs[0][0].shape[0]}×{LONGEST}×{WIDTH} {far.summary}" if far else ""
    unused, code = "", "outputs_differ"
    if likely is None:
        idle = "some of the layers it defines have" if _layers(bench, used)[1] else "w₂ has"
        unused, code = f"; {idle} no influence on its output", "layer_unused"
    return failed(
        f"its values are not those of the formula{looks or unused}.{summary}",
        far.detail if far else "",
        evidence={"looks_like": mistake or "", "off_by": far.size if far else None},
        code=mistake.code if mistake else code,
    )
