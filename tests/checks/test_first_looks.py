"""First looks at modules: right work passes by them alone, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from grader.checks.modules.recovery.at_once import trained_at_once
from grader.checks.modules.recovery.first_look import FirstLook, direction, looked, parameters, question
from grader.engine import grade
from grader.kept_question import KeptQuestions
from grader.model import Box, CheckFunction, Limits, Outcome, Status
from grader.sandbox import BoxRunner
from tests.checks.variant_grading import problem_of
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, the_rubric

ADA = {
    path.name: path.read_text()
    for path in (REPOSITORY / "submissions" / "ada").glob("*.py")
    if "attention" not in path.name
}
FILES = {"2.3": "encoder.py", "2.4": "patches.py", "2.5": "vit.py"}
CHECKS = {
    f"{problem.id} {check.id}": (check.function, dict(check.parameters))
    for problem in the_rubric("rubrics/dl-hw3.yaml").problems
    if problem.id in FILES
    for check in problem.checks
    if check.id != "is_built_from_parts"
}


class Listening:
    """A box as a check sees it; keeps which probes were asked."""

    beside = ()
    answer: Any = None

    def __init__(self, box: Box, together: bool = True) -> None:
        self._box = box
        self.asks_together = together
        self.asked: list[str] = []
        self.printed, self.lacked_a_gpu = "", False

    def read(self, file: str) -> bytes:
        raise NotImplementedError

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        self.asked.append(probe)
        return self._box.probe(probe, file, **request)

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        self.asked += [probe] * len(requests)
        return self._box.probe_each(probe, file, requests)


@pytest.fixture
def judge(torch_boxes: BoxRunner, submission: MakeSubmission) -> Any:
    def judged(check: str, together: bool = True, seed: int = 0, **changed: str) -> tuple[Outcome, list[str]]:
        function, given = CHECKS[check]
        with torch_boxes.open(submission(**{**ADA, **changed}), Limits(), 0) as box:
            student = Listening(box, together)
            return _outcome(function, student, given, seed), student.asked

    return judged


def _outcome(function: CheckFunction, student: Listening, given: dict[str, Any], seed: int) -> Outcome:
    return function(student, np.random.default_rng(seed), **given)


@pytest.mark.parametrize("check", CHECKS)
def test_right_work_passes_at_first_sight_and_says_what_the_careful_way_says(judge: Any, check: str) -> None:
    quick, asked = judge(check)
    careful, one_by_one = judge(check, together=False)
    assert set(asked) == {"run_drawn"}
    assert set(one_by_one) == {"run_configured"}
    assert quick.status is careful.status is Status.PASSED
    assert (quick.message, quick.evidence) == (careful.message, careful.evidence)


def _ada(file: str, *changes: tuple[str, str]) -> dict[str, str]:
    text = ADA[file]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return {file: text}


WRONG = {
    "a gradient without influence": (
        "2.5 vit_learns_class_token_and_positions",
        _ada("vit.py", (" + self.positions", " + self.positions - self.positions.detach()")),
        "its output does not depend on it",
    ),
    "no gradient": (
        "2.5 vit_learns_class_token_and_positions",
        _ada("vit.py", ("self.positions\n", "self.positions.detach()\n")),
        "no gradient reaches some of the positions",
    ),
    "influence without a gradient": (
        "2.3 encoder_is_trained",
        _ada("encoder.py", ("self.out(mixed)", "self.out(mixed.detach())")),
        "is something detached",
    ),
    "a parameter that is not trained": (
        "2.3 encoder_is_trained",
        _ada("encoder.py", ("hidden, dim))\n", "hidden, dim))\n        self.out.weight.requires_grad_(False)\n")),
        "requires_grad off",
    ),
    "a map of a batch that is not that of one image": (
        "2.4 maps_every_patch_alike_row_by_row",
        _ada("patches.py", ("C * p * p))", "C * p * p)) * (2 if B == 1 else 1)")),
        "BatchNorm|is not learned|not linear|could not be|are to be|A person",
    ),
    "other values in float32": (
        "2.3 encodes_any_batch_of_tokens",
        _ada("encoder.py", ("        B, N, D", "        x = x + (x.dtype == torch.float32)\n        B, N, D")),
        "other values in float32",
    ),
    "items that see each other": (
        "2.5 vit_gives_one_logit_per_class",
        _ada("vit.py", ("x = self.embed(images)", "x = self.embed(images)\n        x = x + x.mean(0, keepdim=True)")),
        "depends on the others in its batch",
    ),
    "an image that others show through": (
        "2.5 vit_sees_every_patch_in_its_place",
        _ada("vit.py", ("x[:, 0])", "x[:, 0] * 0 + images.flatten(1)[:, :1] + images.mean())")),
        "swapping two patches leaves",
    ),
    "an activation that is not asked for": (
        "2.3 encoder_matches_its_equations",
        _ada("encoder.py", ("nn.ReLU()", "nn.Tanh()")),
        "tanh stands",
    ),
    "blocks that come in the opposite order": (
        "2.5 vit_matches_its_equations",
        _ada("vit.py", ("in self.blocks:", "in reversed(self.blocks):")),
        "opposite order",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_work_is_judged_by_the_careful_way(judge: Any, name: str) -> None:
    check, files, said = WRONG[name]
    found, asked = judge(check, **files)
    careful, _ = judge(check, together=False, **files)
    assert "run_configured" in asked
    assert found.status is not Status.PASSED
    assert (found.status, found.score, found.message) == (careful.status, careful.score, careful.message)
    assert any(words in found.message for words in said.split("|")), found.message


# With seeds for which the inputs that the careful way asks about do not show it.
RARELY_WRONG = {
    "a ReLU that ends at six": ("2.3 encoder_matches_its_equations", 1, _ada("encoder.py", ("ReLU()", "ReLU6()"))),
    "pixels that end at three": (
        "2.4 maps_every_patch_alike_row_by_row",
        2,
        _ada("patches.py", ("images.reshape", "images.clamp(-3, 3).reshape")),
    ),
    "images that end at three": (
        "2.5 vit_matches_its_equations",
        2,
        _ada("vit.py", ("embed(images)", "embed(images.clamp(-3, 3))")),
    ),
}


@pytest.mark.parametrize("name", RARELY_WRONG)
def test_a_mistake_that_shows_rarely_has_no_second_chance_to_pass(judge: Any, name: str) -> None:
    check, seed, files = RARELY_WRONG[name]
    _, asked = judge(check, seed=seed, **files)
    assert "run_configured" in asked


OTHER_SHAPES = {
    "fewer images": ("2.4 maps_every_patch_alike_row_by_row", _ada("patches.py", ("p * p))", "p * p))[:9]"))),
    "a number": (
        "2.5 vit_sees_every_patch_in_its_place",
        _ada("vit.py", ("self.head(x[:, 0])", "self.head(x[:, 0]) if len(x) < 9 else x.sum()")),
    ),
    "fewer logits": ("2.5 vit_matches_its_equations", _ada("vit.py", ("x[:, 0])", "x[:, 0])[:9]"))),
}


@pytest.mark.parametrize("name", OTHER_SHAPES)
def test_another_shape_for_large_batches_is_left_to_the_careful_way(judge: Any, name: str) -> None:
    check, files = OTHER_SHAPES[name]
    found, asked = judge(check, **files)
    careful, _ = judge(check, together=False, **files)
    assert "run_configured" in asked
    assert (found.status, found.message) == (careful.status, careful.message)


def test_code_that_calls_leave_a_trace_in_is_asked_one_thing_at_a_time(judge: Any) -> None:
    counting = _ada(
        "encoder.py",
        ("        self.heads = heads", "        self.heads, self.calls = heads, 0"),
        ("        B, N, D", "        self.calls += 1\n        B, N, D"),
    )
    found, asked = judge("2.3 encoder_matches_its_equations", **counting)
    assert found.status is Status.PASSED
    assert "run_configured" in asked


def test_a_key_bias_without_influence_is_counted_as_the_careful_way_counts_it(judge: Any) -> None:
    apart = _ada(
        "encoder.py",
        (
            "        self.qkv = nn.Linear(dim, 3 * dim)",
            "        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in 'qkv')",
        ),
        ("self.qkv(x).chunk(3, dim=-1)", "(self.q(x), self.k(x), self.v(x))"),
    )
    found, asked = judge("2.3 encoder_is_trained", **apart)
    assert set(asked) == {"run_drawn"}
    assert found.evidence == {"parameters": 15, "without_influence": 1}


LOOKED_AT = """
    import torch
    from torch import nn

    class Shown(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))
            self.b = nn.Linear(size, 2)
            self.a = nn.Parameter(torch.zeros(size, 3))
            self.register_buffer("seen", torch.ones(2))

        def forward(self, x):
            every = [self.a, self.b.bias, self.b.weight, self.scale]
            return torch.cat([one.reshape(-1) for one in every]).to(x.dtype) * x.sum() * self.seen[0]
"""
X = np.array([1.0])
SHAPES = {"a": (4, 3), "b.bias": (2,), "b.weight": (2, 4), "scale": ()}


def _row(tensors: Mapping[str, Any]) -> Any:
    return np.concatenate([np.reshape(tensors[name], -1) for name in sorted(SHAPES)])


def _looked(
    boxes: BoxRunner, submission: MakeSubmission, code: str, *asked: Mapping[str, Any]
) -> list[FirstLook] | None:
    questions = KeptQuestions(question("Shown", [4], 5, [X], **more) for more in asked)
    with boxes.open(submission(code), Limits(), 0) as box:
        return looked(Listening(box), "work.py", questions)


def test_grader_and_box_draw_the_same(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    change, cotangent = np.full((2,), 7.0), np.arange(23.0)
    seen = _looked(
        torch_boxes,
        submission,
        LOOKED_AT,
        {"in_float32": 0, "cotangent": cotangent, "moves": [(9, 0.5)], "changes": [{"b.bias": change}]},
        {"parameters": {"b.bias": change}},
    )
    assert seen is not None
    first, other = seen
    drawn = parameters(5, SHAPES)
    assert first.values.keys() == SHAPES.keys()
    np.testing.assert_array_equal(first.outputs[0], _row(drawn))
    np.testing.assert_array_equal(
        first.moved[0], _row({k: v + 0.5 * direction(9, SHAPES)[k] for k, v in drawn.items()})
    )
    np.testing.assert_array_equal(first.changed[0], _row(drawn | {"b.bias": change}))
    np.testing.assert_array_equal(other.outputs[0], _row(other.values))
    np.testing.assert_array_equal(other.values["b.bias"], change)
    np.testing.assert_array_equal(_row(first.gradients), cotangent)
    assert first.single is not None
    np.testing.assert_allclose(first.single, _row(drawn), rtol=1e-6)
    assert list(first.made.shapes) == ["scale", "a", "b.weight", "b.bias"]
    assert (first.made.trainable, first.made.buffers) == (frozenset(SHAPES), ("seen",))


LIES: list[dict[str, Any]] = [
    {"made": "["},
    {"made": "[" * 9999},
    {"made": '[{"a": [99999999]}, [], []]'},
    {"made": '[{"a": [-1]}, [], []]'},
    {"made": '[{"a": 1}, [], []]'},
    {"made": '[{"a": [1]}, [[]], []]', "reached": [], "gradients": None},
    {"reached": [[]]},
    {"reached": ["nobody"]},
    {"gradients": np.ones(1)},
    {"gradients": None},
    {"outputs": []},
    {"outputs": ["text"]},
    {"moved": [np.ones(1)]},
    {"changed": 3},
    {"given": [np.ones(1)]},
    {"single": {}},
    {"steady": 1},
    {"steady": False},
]


class Lying(Listening):
    lie: Mapping[str, Any] = {}

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        replies = super().probe_each(probe, file, requests)
        return ({**reply, **self.lie} for reply in replies) if probe == "run_drawn" else replies


def test_what_a_box_makes_up_is_not_believed(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    asked = [question("Shown", [4], 5, [X], cotangent=np.ones(23))]
    with torch_boxes.open(submission(LOOKED_AT), Limits(), 0) as box:
        liar = Lying(box)
        assert looked(liar, "work.py", asked) is not None
        for lie in LIES:
            liar.lie = lie
            assert looked(liar, "work.py", asked) is None, lie


def test_an_input_gradient_of_another_shape_is_not_believed(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    shape = (2, 4, 20)
    with torch_boxes.open(submission(**ADA), Limits(), 0) as box:
        liar, rng = Lying(box), np.random.default_rng(0)
        asked = "encoder.py", "EncoderBlock", (20, 5, 14), (shape, shape)
        assert trained_at_once(liar, rng, *asked) is not None
        liar.lie = {"input_gradient": np.ones(3)}
        assert trained_at_once(liar, rng, *asked) is None


def test_code_that_ends_its_box_is_tried_again_the_careful_way(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    rubric, problem = problem_of("encoder")
    ends = _ada("encoder.py", ("        B, N, D", "        import os; os._exit(3)\n        B, N, D"))
    report = grade(rubric, submission(**ends), torch_boxes, DRAW)
    (found,) = (one for one in report.problems if one.problem.id == problem.id)
    said = {one.check.id: one.outcome.message for one in found.checks}
    assert (
        "EncoderBlock(dim=20, heads=5, hidden=14) in encoder.py ended its own process"
        in said["encodes_any_batch_of_tokens"]
    )
