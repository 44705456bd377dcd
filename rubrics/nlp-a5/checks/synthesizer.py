"""The Synthesizer variant: each token proposes its own weights, judged by what is computed on the way.

A = softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])) in each head; the output is [A₁V₁ … A_H V_H], with W_O or without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from grader import Array, Crashed, Killed, Outcome, Student, StudentFile, TimedOut, check, failed, passed
from grader.modules import AffineMap, Record, Workbench
from reference.equations import ACTIVATIONS, identity
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.mixing import NO_OUTPUT, OVER_QUERIES
from reference.mistakes.synthesis import MISTAKES
from reference.variations import Synthesis
from rubrics.module_recovery import behaviour

from ..public.configuration import BLOCK, HEAD, HEADS, WIDTH, build
from ..public.synthesizer_form import LONGEST, NAME, drawn_inputs
from . import variant_properties
from .recorded_layers import (
    explanation,
    first_wrong_line,
    layer_between,
    layers,
    orders_of_heads,
    records_of,
    values_before_mixing,
)

_RIGHT = Synthesis()
_NO_SCORE_BIAS = Diagnosis("b₂, the bias added to the scores, is missing", "no_score_bias")
_BATCH = 7  # rows enough to tell a map of all heads' tokens, and no other size


@dataclass(frozen=True)
class _Scoring:
    """h w₂ + b₂ for the h of each head."""

    w2: Array  # (H, D/H, S)
    b2: Array  # (H, 1, S)
    is_recorded: bool = True

    def __call__(self, rows: Array) -> Array:
        return np.asarray(rows @ self.w2 + self.b2)

    @property
    def has_bias(self) -> bool:
        return bool(np.abs(self.b2).max() > 1e-6)


@dataclass(frozen=True)
class _Proposal:
    """What a token's weights are made of."""

    hidden: AffineMap  # W₁, b₁
    scoring: _Scoring
    values: tuple[AffineMap, ...]  # recorded maps of x that may be V


@dataclass(frozen=True)
class _Fit:
    synthesis: Synthesis
    proposal: _Proposal
    value: AffineMap
    output: AffineMap | None = None  # the formula ends before the output projection, so a module without is accepted

    def __call__(self, x: Array) -> Array:
        mixed = self.synthesis(self.proposal.hidden(x), self.proposal.scoring, self.value(x), HEADS)
        return self.output(mixed) if self.output else mixed


@dataclass(frozen=True)
class _Judge:
    bench: Workbench
    record: Record
    x: Array
    output: Array
    used: set[str]

    def proposals(self, naming: bool) -> Iterator[_Proposal]:
        """Every x W₁ + b₁ with a recorded h w₂ + b₂; only with h = ReLU(x W₁ + b₁), if not `naming`."""
        activations = [ACTIVATIONS["ReLU"], *([ACTIVATIONS["GELU"], identity] if naming else [])]
        for maps in orders_of_heads(layers(self.record, self.x)):
            for hidden, activation, scale in product(maps, activations, (1, HEAD**-0.5) if naming else (1,)):
                values = tuple(each for each in maps if not each.shares_numbers_with(hidden))
                for scoring in self._scorings(activation(hidden.table) * scale, naming):
                    yield _Proposal(hidden, scoring, values)

    def _scorings(self, h: Array, naming: bool) -> Iterator[_Scoring]:
        """Recorded h w₂ + b₂; with `naming`, also h w₂ and each b₂ that could be added later.

        Where scores are masked as they are made, none is recorded; then w₂ and b₂ are whole parameters.
        """
        found = list(self._recorded_scorings(h, naming))
        yield from found or self._whole_scorings()

    def _whole_scorings(self) -> Iterator[_Scoring]:
        for length in (LONGEST, BLOCK):
            for w2, b2 in product(self.record.parameters.as_matrices(HEAD, length), self._biases(length)):
                yield _Scoring(np.stack([w2] * HEADS), b2, is_recorded=False)

    def _recorded_scorings(self, h: Array, naming: bool) -> Iterator[_Scoring]:
        for found in self.record.learned_maps(h, sparse=True):
            length = found.matrix.shape[1] // HEADS
            if length not in (LONGEST, BLOCK) or found.idle.any():
                continue
            for order in ((HEADS, length), (length, HEADS)):  # of the columns
                by_head = found.matrix.reshape(HEADS, HEAD, *order)
                if order[0] == length:
                    by_head = by_head.swapaxes(-1, -2)
                w2 = np.stack([by_head[head, :, head] for head in range(HEADS)])
                if np.isclose(np.abs(w2).sum(), np.abs(found.matrix).sum()):  # each head has its own rows
                    offset = found.offset.reshape(order)
                    b2 = offset if order[0] == HEADS else offset.T
                    scoring = _Scoring(w2, b2[:, None])
                    yield scoring
                    if naming and not scoring.has_bias:
                        yield from (replace(scoring, b2=each) for each in self._biases(length))

    def _biases(self, length: int) -> Iterator[Array]:
        for value in self.record.parameters.values:
            if value.size in (length, HEADS * length):
                yield value.reshape(-1, 1, length)

    def fits(self, synthesis: Synthesis, proposals: Iterable[_Proposal]) -> Iterator[tuple[_Fit, _Fit]]:
        for proposal in proposals:
            for value in proposal.values or self._values_mixed_later(synthesis, proposal):
                fit = _Fit(synthesis, proposal, value)
                if not self.record.close(mixed := fit(self.x), self.output):
                    output = layer_between(self.record, mixed, self.output)
                    if output is None:
                        continue
                    fit = replace(fit, output=output)
                yield fit, fit

    def _values_mixed_later(self, synthesis: Synthesis, proposal: _Proposal) -> Iterator[AffineMap]:
        _, weights = self._steps(synthesis, proposal)
        for value in values_before_mixing(self.record, weights, self.x):
            if not value.shares_numbers_with(proposal.hidden):
                yield value

    def judge(self, inputs: list[tuple[Array]], outputs: list[Array]) -> Outcome | str:
        """Words for a person, if it does not compute such layers."""
        if found := explanation(self.fits(_RIGHT, self.proposals(naming=False)), inputs, outputs):
            return self._of(found, len(inputs))
        proposals = list(self.proposals(naming=True))
        for name, synthesis in MISTAKES.items():
            if wrong := explanation(self.fits(synthesis, proposals), inputs, outputs):
                # Over another axis a softmax cancels b₂, so that it does nothing even where it is added.
                is_all = wrong.proposal.scoring.has_bias or OVER_QUERIES.code in name.code
                steps = (self._steps(each, wrong.proposal) for each in (synthesis, _RIGHT))
                line = first_wrong_line(self.record, *steps)
                return _differs(name if is_all else all_of((name, _NO_SCORE_BIAS), "; and "), line)
        if any(each.scoring.is_recorded for each in proposals):
            return _differs(None, {})
        count = len(layers(self.record, self.x))
        return f"it computes {count} learned maps of x, and ReLU(…) w₂ + b₂ of none of them"

    def _steps(self, synthesis: Synthesis, proposal: _Proposal) -> tuple[Array, Array]:
        return synthesis.steps(proposal.hidden(self.x), proposal.scoring, HEADS)

    def _of(self, found: _Fit, count: int) -> Outcome:
        if not np.abs(found.proposal.hidden.offset).max() > 1e-6:
            return failed(
                "its values are those of the formula without b₁, the bias added to x W₁", code="no_hidden_bias"
            )
        unused = [value.size for name, value in self.bench.values.items() if name not in self.used]
        if not found.proposal.scoring.has_bias:
            is_idle = any(size in (LONGEST, BLOCK) for size in unused)
            hint = (
                "; it is there and changes nothing: is it added to the rows instead of the columns?" if is_idle else ""
            )
            message = f"its values are those of the formula without b₂, the bias added to the scores{hint}"
            return failed(message, code="score_bias_has_no_effect" if is_idle else _NO_SCORE_BIAS.code)
        if found.output is None and WIDTH**2 in unused:
            message = "its values are right but for the output projection, which is defined and never used"
            return failed(message, code=NO_OUTPUT.code)
        return passed(f"right on all {count} inputs", evidence={"inputs": count, "judged_by": "values"})


def _differs(mistake: Diagnosis | None, line: dict[str, int]) -> Outcome:
    looks = f"; it looks as if {mistake}" if mistake else ""
    where = f" (line {line['line']})" if line else ""
    return failed(
        f"its values are not those of the formula{looks}{where}",
        evidence={"looks_like": mistake or "", **line},
        code=mistake.code if mistake else "outputs_differ",
    )


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
    matrices = {name: value.shape for name, value in bench.values.items() if len(value.squeeze().shape) > 1}
    scoring = {name for name, shape in matrices.items() if {LONGEST, BLOCK, LONGEST + 1} & set(shape)}
    if not scoring:
        return failed(
            f"no parameter of {name} has a column for each of block_size − 1 positions, as w₂ should: a tensor that is "
            "no nn.Parameter is neither trained nor saved",
            code="not_a_parameter",
        )
    used = bench.influential(rng, inputs[0])
    if not scoring & used:
        return failed("its values are not those of the formula; w₂ has no influence on its output", code="layer_unused")
    x = rng.normal(size=(_BATCH, LONGEST, WIDTH))
    (record,) = records_of(bench, (x,), x)
    judge = _Judge(bench, record, x, bench.run((x,)).outputs[0], used)
    outcome = judge.judge(inputs, outputs)
    if isinstance(outcome, Outcome):
        return outcome
    needed = 2 * WIDTH**2 + HEAD * LONGEST + LONGEST  # W₁, the values, w₂ and b₂
    return behaviour.too_few_parameters(bench, used, needed) or variant_properties.of_a_synthesizer(bench, rng, outcome)


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
