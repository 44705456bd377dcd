"""Constructions are judged by what attention computes with them: many ways are right, and each slip is named."""

from __future__ import annotations

import re
import textwrap
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from rubric_dl_hw3.checks.attention_as_layer import attention_becomes
from rubric_dl_hw3.checks.claimed_layers import BORDERS, LAYERS, LayerName, convolved

from grader.errors import StudentFault
from grader.model import Limits, Outcome, Status
from grader.sandbox import BoxRunner
from tests.conftest import REPOSITORY, MakeSubmission, sampled, the_rubric

SHIFTS = """
def heads(C, P, kernel, scale, wrap=False, swap=1):
    e, n = C.shape
    for t in range(3):
        S = np.eye(n)[np.clip(np.arange(n) + swap * (t - 1), 0, n - 1)].T
        if wrap:
            S = np.eye(n)[[0, *(1 + (np.arange(n - 2) + t - 1) % (n - 2)), n - 1]].T
        yield (np.hstack([np.zeros((n, e)), scale * S]), np.hstack([np.zeros((n, e)), np.eye(n)]),
               np.hstack([kernel[:, :, t], np.zeros((len(kernel), n))]))
"""

EDGES = """
def f(C, P, kernel):  # beyond either end stands the token two further in
    made = list(heads(C, P, kernel, 100))
    n = C.shape[1]
    for (W_Q, _, _), column, row in ((made[0], 1, 3), (made[2], n - 2, n - 4)):
        W_Q[:, len(C) + column] = 0
        W_Q[row, len(C) + column] = 100
    return made, 'zero'
"""
FAR = """
def f(C, P, kernel):  # clamped twice: to the padding, which is zero
    made = list(heads(C, P, kernel, 100))
    n = C.shape[1]
    return [(np.hstack([W_Q[:, :len(C)], np.roll(W_Q[:, len(C):], -1, axis=1)]), W_K, W_V) for W_Q, W_K, W_V in made]
"""

SOFT = """
def f(C, P, kernel):  # every head sees all three neighbours a little; together they undo it
    made, n, e = list(heads(C, P, kernel, 2)), C.shape[1], len(C)
    S = np.stack([W_Q[:, e:] / 2 for W_Q, _, _ in made])
    A = np.array([[.8, .1, .1], [.1, .8, .1], [.1, .1, .8]])
    ask = [np.log(1e-9 + np.tensordot(row, S, 1)) for row in A]
    W = np.tensordot(np.linalg.inv(A).T, kernel, ((1,), (2,)))
    return [(np.hstack([np.zeros((n, e)), one]), made[0][1], np.hstack([W[t], np.zeros((len(kernel), n))]))
            for t, one in enumerate(ask)], "zero"
"""
RIGHT: list[tuple[LayerName, str]] = [
    ("copied_value", "def f(K, V, j): return K[:, j], 200"),
    ("copied_value", "def f(K, V, j): return 1e4 * K[:, [j]]"),
    ("copied_value", "def f(K, V, j): return {'q': K[:, j], 'beta': float('inf')}"),
    ("copied_value", "def f(K, V, j): return -np.linalg.pinv(K.T)[:, j], -50.0"),
    ("copied_value", "def f(K, V, j): return list(1000 * K[:, j])"),
    ("copied_value", "def f(K, V, j): return [K[:, j], 500.0]"),
    ("copied_value", "def f(K, V, j): return K[:, [j]].T, np.array([500.0])"),
    ("copied_value", "def f(K, V, j): return {'query': K[:, j], 'β': 500}"),
    ("mean", "def f(K, V): return [np.zeros(len(K)), 1.0]"),
    ("mean", "def f(K, V): return np.zeros(len(K)), 1.0"),
    ("mean", "def f(K, V): return np.zeros((1, len(K)))"),
    ("mean", "def f(K, V): return K[:, 0], 0"),
    ("mean", "def f(K, V): return K.sum(1), 1e-6"),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I, I, 100"),
    ("identity", "def f(C): I = np.eye(len(C)); return 1e3 * I, I, I"),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I, 2 * I, I / 2, np.float64(100)"),
    ("identity", "def f(C): return {'W_Q': 99 * C.T, 'W_K': C.T, 'W_V': C @ C.T}"),
    ("identity", "def f(C): R = np.linalg.qr(np.random.randn(len(C), len(C)))[0]; return R, R, R, R.T, float('inf')"),
    ("identity", "def f(C): I = np.eye(len(C)); return {'WQ': I, 'WK': I, 'WV': I, 'beta': np.array([100])}"),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I, I, np.array([100])"),
    ("identity", "def f(C): I = np.eye(len(C)); return (I, I, I), 100"),
    ("identity", "def f(C): return 99 * C.T, C.T, C.T, C"),
    ("identity", "def f(C): return 99 * np.linalg.pinv(C), np.linalg.pinv(C), np.eye(len(C))"),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I, C @ np.linalg.pinv(C), 100"),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I, I, 9"),
    ("permutation", "def f(C, order): P = np.eye(C.shape[1])[:, order]; return 50 * P @ C.T, C.T, np.eye(len(C))"),
    ("permutation", "def f(C, order): return C.T, 99 * np.eye(C.shape[1])[order] @ C.T, C.T, C"),
    ("permutation", "def f(C, order): return C[:, order] @ C.T, np.eye(len(C)), np.eye(len(C)), 1000"),
    ("pointwise_convolution", "def f(C, W): I = np.eye(len(C)); return I, I, W, 100"),
    ("pointwise_convolution", "def f(C, W): I = np.eye(len(C)); return 50 * I, I, I, W"),
    ("pointwise_convolution", "def f(C, W): return C.T, 99 * C.T, C.T, W @ C"),
    (
        "pointwise_convolution",
        "def f(C, W): U, s, V = np.linalg.svd(W); k = len(s); return 99 * C.T, C.T, s[:, None] * V[:k], U[:, :k]",
    ),
    ("convolution", SHIFTS + "def f(C, P, kernel): return list(heads(C, P, kernel, 100)), 'zero'"),
    ("convolution", SHIFTS + "def f(C, P, kernel): return [list(heads(C, P, kernel, 100)), 'zero padding']"),
    ("convolution", SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 1)), 'zero-padding', np.array([100.0])"),
    ("convolution", SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 40, wrap=True)), 'circular padding'"),
    ("convolution", SHIFTS + "def f(C, P, kernel): return 'zeros', 100, list(heads(C, P, kernel, 1))"),
    ("convolution", SHIFTS + "def f(C, P, k): return {'heads': list(heads(C, P, k, 40, wrap=True)), 'border': 'Wrap'}"),
    ("convolution", SHIFTS + SOFT),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return tuple((*h, np.eye(len(k)), 9) for h in heads(C, P, k, 9)), 'zero'",
    ),
]

WRONG: list[tuple[LayerName, str, Status, str, str]] = [
    ("copied_value", "def f(K, V, j): return K[:, j]", Status.PARTIAL, "only_in_the_limit", ""),
    (
        "copied_value",
        "def f(K, V, j): return K[:, j - 1], 500",
        Status.FAILED,
        "values_differ",
        "it counts keys from 1",
    ),
    (
        "copied_value",
        "def f(K, V, j): return K[:, j], -500",
        Status.FAILED,
        "values_differ",
        "the scores have the wrong sign",
    ),
    (
        "copied_value",
        "def f(K, V, j): return V[:, j], 500",
        Status.FAILED,
        "wrong_shape",
        "",
    ),
    ("copied_value", "def f(K, V, j): return K[:, 0], 500", Status.FAILED, "values_differ", ""),
    ("copied_value", "def f(K, V, j): return K[:, j], V[:, j]", Status.FAILED, "wrong_parts", ""),
    ("copied_value", "def f(K, V, j): return K[:, j], 1e307", Status.FAILED, "not_finite", ""),
    ("mean", "def f(K, V): return K[:, 0], 0.5", Status.PARTIAL, "only_in_the_limit", ""),
    ("mean", "def f(K, V): return K[:, 0], 1.0", Status.FAILED, "values_differ", ""),
    ("mean", "def f(K, V): return K[:, 0] * np.nan", Status.FAILED, "not_finite", ""),
    ("identity", "def f(C): I = np.eye(len(C)) * np.inf; return I, I, I", Status.FAILED, "not_finite", ""),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I, I", Status.PARTIAL, "only_in_the_limit", ""),
    (
        "identity",
        "def f(C): I = np.eye(len(C)); return I, I, 2 * I, 99",
        Status.FAILED,
        "values_differ",
        "weights A are right in the limit, but W_V",
    ),
    (
        "identity",
        "def f(C): I = np.eye(len(C)); return 0 * I, I, I",
        Status.FAILED,
        "values_differ",
        "every token gets the mean of all",
    ),
    (
        "identity",
        "def f(C): return C, C, C",
        Status.FAILED,
        "wrong_shape",
        "",
    ),
    ("identity", "def f(C): I = np.eye(len(C)); return I, I", Status.FAILED, "wrong_parts", ""),
    ("identity", "def f(C): return C", Status.FAILED, "wrong_parts", ""),
    ("identity", "def f(C): return None", Status.FAILED, "wrong_parts", ""),
    ("identity", "def f(C): return 'I', 'I', 'I'", Status.FAILED, "wrong_parts", ""),
    (
        "permutation",
        "def f(C, order): P = np.eye(C.shape[1])[order]; return 50 * P @ C.T, C.T, np.eye(len(C))",
        Status.FAILED,
        "values_differ",
        "rows and columns of the permutation are swapped",
    ),
    (
        "permutation",
        "def f(C, order): I = np.eye(len(C)); return I, I, I, 99",
        Status.FAILED,
        "values_differ",
        "leaves every token where it is",
    ),
    (
        "pointwise_convolution",
        "def f(C, W): I = np.eye(len(C)); return I, I, I, 100",
        Status.FAILED,
        "wrong_shape",
        "",
    ),
    (
        "pointwise_convolution",
        "def f(C, W): I = np.eye(len(C)); return I, I, -W, 100",
        Status.FAILED,
        "values_differ",
        "but W_V (or W_O W_V)",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 100))",
        Status.PARTIAL,
        "wrong_border",
        "",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 99)), 'wrap'",
        Status.PARTIAL,
        "wrong_border",
        "",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 99)), 'none'",
        Status.FAILED,
        "unknown_border",
        "",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 99, swap=-1)), 'zero'",
        Status.FAILED,
        "values_differ",
        "kernel is mirrored",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 99, swap=0)), 'zero'",
        Status.FAILED,
        "values_differ",
        "",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 99))[1:2], 'zero'",
        Status.FAILED,
        "values_differ",
        "only the token itself",
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, k): return list(heads(C, P, k, 3)), 'zero'",
        Status.PARTIAL,
        "only_in_the_limit",
        "",
    ),
    ("convolution", SHIFTS + "def f(C, P, k): return [], 'zero'", Status.FAILED, "wrong_parts", ""),
    ("convolution", SHIFTS + "def f(C, P, k): return k", Status.FAILED, "wrong_shape", ""),
    ("convolution", SHIFTS + EDGES, Status.PARTIAL, "wrong_border", ""),
    (
        "convolution",
        SHIFTS + FAR,
        Status.FAILED,
        "values_differ",
        "every head looks one token too far to the side after",
    ),
]


class Direct:
    """A student who is trusted: the function runs right here."""

    printed = ""

    def __init__(self, code: str) -> None:
        self._names: dict[str, Any] = {"np": np}
        exec(textwrap.dedent(code), self._names)

    def call(self, file: str, function: str, *args: Any) -> Any:
        return self._names[function](*args)


def judged(student: Any, layer: LayerName, seed: int) -> Outcome:
    try:
        return attention_becomes(
            student, np.random.default_rng(seed), file="constructions.py", function="f", layer=layer
        )
    except StudentFault as fault:
        return Outcome(fault.status, Fraction(0), fault.message, fault.detail, code=fault.code)


@pytest.mark.parametrize(("layer", "code"), sampled(RIGHT, 10))
def test_every_right_way_passes_whatever_is_drawn(layer: LayerName, code: str) -> None:
    for seed in range(30):
        outcome = judged(Direct(code), layer, seed)
        assert outcome.status is Status.PASSED, f"seed {seed}: {outcome.message}: {outcome.detail}"
        assert outcome.evidence["off_by"] <= 1e-2
        assert next(iter(outcome.evidence["off_by_with_beta_times"])) == "1"


@pytest.mark.filterwarnings(r"error::RuntimeWarning:grader\..*")  # nobody wants numpy's on the terminal
@pytest.mark.parametrize(("layer", "code", "status", "reason", "mistake"), sampled(WRONG, 3))
def test_each_slip_is_named(layer: LayerName, code: str, status: Status, reason: str, mistake: str) -> None:
    for seed in range(10):
        outcome = judged(Direct(code), layer, seed)
        assert (outcome.status, outcome.code) == (status, reason), f"seed {seed}: {outcome.message}"
        looks_like = outcome.evidence.get("looks_like", "")
        assert mistake in looks_like
        assert bool(mistake) == bool(looks_like)
        assert "\n" not in outcome.message


@pytest.mark.parametrize("layer", LAYERS)
def test_what_is_claimed_is_what_torch_computes(layer: LayerName) -> None:
    modes = {"zero": "zeros", "wrap": "circular", "clamp": "replicate"}
    for trial in LAYERS[layer](np.random.default_rng(3)):
        if layer == "pointwise_convolution":
            C, W = (torch.tensor(array) for array in trial.args)
            found = torch.nn.functional.conv1d(C[None], W[:, :, None])[0]
            np.testing.assert_allclose(found.numpy(), trial.want)
        if layer == "convolution":
            padded, _, kernel = trial.args
            for border in BORDERS:
                conv = torch.nn.Conv1d(*kernel.shape[1::-1], 3, padding=1, bias=False, padding_mode=modes[border])
                conv.weight.data = torch.tensor(kernel)
                found = conv(torch.tensor(padded[None, :, 1:-1]))[0].detach()
                np.testing.assert_allclose(found.numpy(), convolved(padded[:, 1:-1], kernel, border))


def test_no_mistake_looks_like_right_work_or_like_another() -> None:
    for layer, draw in LAYERS.items():
        for trial in draw(np.random.default_rng(5)):
            for name, output in trial.mistakes.items():
                same = output.shape == trial.want.shape and np.abs(output - trial.want).max() < 0.05
                assert not same, f"{layer}: {name}"


def test_values_from_a_box_are_judged_alike(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "import numpy as np\n" + SHIFTS + "def f(C, P, kernel): return list(heads(C, P, kernel, 100)), 'zero'"
    with boxes.open(submission(**{"constructions.py": code}), Limits(), 0) as box:
        assert judged(box, "convolution", 0).status is Status.PASSED


def test_a_message_never_shows_the_students_beta() -> None:
    """β may depend on hidden inputs."""
    outcome = judged(Direct("def f(K, V, j): return K[:, j], 0.123456"), "copied_value", 0)
    assert "0.12" not in outcome.message + str(outcome.evidence)
    assert "0.1235" in outcome.detail


def test_the_page_for_students_names_the_functions_that_are_judged() -> None:
    page = (REPOSITORY / "rubrics" / "dl-hw3" / "constructions.md").read_text(encoding="utf-8")
    judged_in = {
        (problem.id, check.parameters["function"])
        for problem in the_rubric("rubrics/dl-hw3/rubric.yaml").problems
        for check in problem.every_check
        if check.function is attention_becomes
    }
    assert set(re.findall(r"^\| (\S+) \| `(\w+)\(", page, re.MULTILINE)) == judged_in
