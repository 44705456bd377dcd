"""What no formula can be run on earns what its behaviour shows: never all, and nothing where that refutes it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.model import Status
from grader.sandbox import BoxRunner
from rubrics.module_recovery.behaviour import SPLIT, WEIGHED
from rubrics.module_recovery.tests import unreadable_modules as written
from rubrics.module_recovery.tests.variant_grading import outcomes
from tests.conftest import MakeSubmission, sampled

# The variant, its file, the check that compares values, and the modules.
KINDS = {
    "encoder": ("encoder.py", "encoder_matches_its_equations", written.ENCODERS),
    "vit": ("vit.py", "vit_matches_its_equations", written.VITS),
    "patches": ("patches.py", "maps_every_patch_alike_row_by_row", written.PATCHES),
    "synthesizer": ("attention.py", "synthesizer_matches_its_formula", written.SYNTHESIZERS),
    "perceiver": ("model.py", "basis_asks_the_tokens", written.PERCEIVERS),
    "rope": ("attention.py", "attention_rotates_queries_and_keys", written.ROTARY),
}
REFUTED = [
    ("encoder", "a dozen matrices", "tokens_not_mixed"),
    ("encoder", "an unused attention", "tokens_not_mixed"),
    ("encoder", "an attention times zero", "tokens_not_mixed"),
    ("encoder", "a mean", "uniform_weights"),
    ("encoder", "a mean of something else", "heads_not_split"),
    ("encoder", "a convolution", "token_order_counts"),
    ("encoder", "positions", "token_order_counts"),
    pytest.param("vit", "an attention times zero", "input_ignored", marks=pytest.mark.slow),
    ("vit", "no image", "wrong_output_shape"),
    ("patches", "a fixed map", "not_learned"),
    ("synthesizer", "a mean beside a ReLU", "weights_ignore_token"),
    ("synthesizer", "a mean behind a gate", "weights_ignore_position"),
    ("perceiver", "a mean", "uniform_weights"),
    ("rope", "weights by position", "heads_not_split"),
]
LITTLE = [
    ("encoder", "a mean, the heads a number", Fraction(1, 6), [WEIGHED]),
    pytest.param("vit", "a mean, the heads a number", Fraction(1, 4), [WEIGHED], marks=pytest.mark.slow),
    ("patches", "a fixed map times a number", Fraction(1, 4), ["every number of that map is learned"]),
    ("perceiver", "a mean, the heads a number", Fraction(1, 4), [WEIGHED]),
    ("rope", "weights by position, the heads a number", Fraction(1, 4), [WEIGHED]),
]
HONEST = [
    ("encoder", "a matrix of scores for each head", Fraction(4, 6), [SPLIT]),
    ("vit", "flat", Fraction(3, 4), []),
    ("vit", "a matrix of scores for each head", Fraction(2, 4), [SPLIT]),
    ("patches", "weight norm", Fraction(3, 4), []),
    ("patches", "two layers", Fraction(3, 4), []),
    ("synthesizer", "equalised rates", Fraction(3, 4), []),
    ("perceiver", "equalised rates", Fraction(3, 4), []),
    ("rope", "equalised rates", Fraction(3, 4), []),
]
EXPLAINED = [
    ("encoder", "flat"),
    ("encoder", "two output layers"),
    ("encoder", "an output layer for each head"),
    ("vit", "one tensor"),
    ("vit", "two output layers"),
    ("vit", "an output layer for each head"),
]


@pytest.mark.parametrize(("kind", "module"), sampled(EXPLAINED, 3))
def test_what_relations_explain_passes(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str, module: str
) -> None:
    file, check, modules = KINDS[kind]
    outcome = outcomes(kind, {file: modules[module]}, torch_boxes, submission, only=check)[check]
    assert outcome.status is Status.PASSED, outcome.message


@pytest.mark.parametrize(("kind", "module", "code"), sampled(REFUTED, 12))
def test_what_behaviour_refutes_fails(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str, module: str, code: str
) -> None:
    file, check, modules = KINDS[kind]
    outcome = outcomes(kind, {file: modules[module]}, torch_boxes, submission, only=check)[check]
    assert (outcome.status, outcome.code) == (Status.FAILED, code), outcome.message


@pytest.mark.parametrize(("kind", "module", "share", "not_shown"), sampled([*LITTLE, *HONEST], 12))
def test_a_person_gets_what_was_shown_and_what_was_not(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str, module: str, share: Fraction, not_shown: list[str]
) -> None:
    file, check, modules = KINDS[kind]
    outcome = outcomes(kind, {file: modules[module]}, torch_boxes, submission, only=check)[check]
    assert (outcome.status, outcome.score) == (Status.REVIEW, share), outcome.message
    assert outcome.code == "unknown_arrangement"
    assert outcome.evidence["not_shown"] == not_shown


@pytest.mark.parametrize("seed", sampled(range(3), 3))
@pytest.mark.parametrize("module", ["flat", "one tensor", "positions"])
@pytest.mark.parametrize("last", ["softmax", "log_softmax"])
def test_probabilities_are_named_whatever_the_seed(
    torch_boxes: BoxRunner, submission: MakeSubmission, module: str, seed: int, last: str
) -> None:
    file, check, modules = KINDS["vit"]
    code = modules[module].replace("return self.head(t[:, 0])", f"return self.head(t[:, 0]).{last}(-1)")
    assert last in code
    outcome = outcomes("vit", {file: code}, torch_boxes, submission, seed, only=check)[check]
    assert (outcome.status, outcome.code) == (Status.FAILED, "softmax_behind_head")
