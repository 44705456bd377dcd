"""What no formula can be run on earns what its behaviour shows: never all, and nothing where that refutes it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.checks.modules.recovery.behaviour import SPLIT, WEIGHED
from grader.model import Status
from grader.sandbox import BoxRunner
from tests.checks import unreadable_modules as written
from tests.checks.variant_grading import outcomes
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
_UNSPLIT = "computes the same with one head as with"
REFUTED = [
    ("encoder", "a dozen matrices", "no token has any influence on the output of another"),
    ("encoder", "an unused attention", "no token has any influence on the output of another"),
    ("encoder", "an attention times zero", "no token has any influence on the output of another"),
    ("encoder", "a mean", "has no attention: it takes the mean of the tokens"),
    ("encoder", "a mean of something else", _UNSPLIT),
    ("encoder", "a convolution", "reordering the tokens does more than reorder the output"),
    ("encoder", "positions", "reordering the tokens does more than reorder the output"),
    pytest.param("vit", "an attention times zero", "no patch reaches what the head reads", marks=pytest.mark.slow),
    ("vit", "no image", "do not depend on the image"),
    ("patches", "a fixed map", "is not learned: no parameter has any influence on it"),
    ("synthesizer", "a mean beside a ReLU", "does not depend on itself: it proposes no weights"),
    ("synthesizer", "a mean behind a gate", "the weights are not proposed for each position"),
    ("perceiver", "a mean", "has no attention: it takes the mean of the tokens"),
    ("rope", "weights by position", _UNSPLIT),
]
LITTLE = [
    ("encoder", "a mean, the heads a number", Fraction(1, 6), [WEIGHED]),
    pytest.param("vit", "a mean, the heads a number", Fraction(1, 4), [WEIGHED], marks=pytest.mark.slow),
    ("patches", "a fixed map times a number", Fraction(1, 4), ["every number of that map is learned"]),
    ("perceiver", "a mean, the heads a number", Fraction(1, 4), [WEIGHED]),
    ("rope", "weights by position, the heads a number", Fraction(1, 4), [WEIGHED]),
]
HONEST = [
    ("encoder", "flat", Fraction(4, 6), ["its input reaches the output past its layers"]),
    ("encoder", "two output layers", Fraction(5, 6), []),
    ("encoder", "a matrix of scores for each head", Fraction(4, 6), [SPLIT]),
    ("vit", "flat", Fraction(3, 4), []),
    ("vit", "an output layer for each head", Fraction(2, 4), [SPLIT]),
    ("vit", "one tensor", Fraction(2, 4), ["more depth adds as many blocks"]),
    ("patches", "weight norm", Fraction(3, 4), []),
    ("patches", "two layers", Fraction(3, 4), []),
    ("synthesizer", "one tensor", Fraction(3, 4), []),
    ("perceiver", "one tensor", Fraction(3, 4), []),
    ("rope", "one tensor", Fraction(3, 4), []),
]


@pytest.mark.parametrize(("kind", "module", "said"), sampled(REFUTED, 12))
def test_what_behaviour_refutes_fails(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str, module: str, said: str
) -> None:
    file, check, modules = KINDS[kind]
    outcome = outcomes(kind, {file: modules[module]}, torch_boxes, submission, only=check)[check]
    assert (outcome.status, said in outcome.message) == (Status.FAILED, True), outcome.message


@pytest.mark.parametrize(("kind", "module", "share", "not_shown"), sampled([*LITTLE, *HONEST], 12))
def test_a_person_gets_what_was_shown_and_what_was_not(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str, module: str, share: Fraction, not_shown: list[str]
) -> None:
    file, check, modules = KINDS[kind]
    outcome = outcomes(kind, {file: modules[module]}, torch_boxes, submission, only=check)[check]
    assert (outcome.status, outcome.score) == (Status.REVIEW, share), outcome.message
    assert outcome.evidence["not_shown"] == not_shown
    assert "Its behaviour shows: " in outcome.message
    assert ("It does not show: " in outcome.message) == bool(not_shown)


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
    assert outcome.status is Status.FAILED
    assert "without a softmax behind the head" in outcome.message
