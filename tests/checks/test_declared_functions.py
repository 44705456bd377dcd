"""A rubric can declare functions that its question needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.checks.formulas.identities import formula_equals_the_key
from grader.errors import RubricError
from grader.formulas.compute.declared_functions import COMPUTED
from grader.model import Status
from grader.notation.function_names import DECLARABLE
from grader.registry import definition_of
from grader.rubric.loading import load_rubric
from tests.checks.answering import answering
from tests.formulas.conftest import in_this_process as in_this_process

SYMBOLS = {"X": "n×d", "w": "d", "u": "d", "θ": "scalar", "n": "size", "d": "size"}
P, F, R = Status.PASSED, Status.FAILED, Status.REVIEW
VECTOR = r"e^{Xu}/(1^\top e^{Xu})"
# The key, and answers with what each deserves.
QUESTIONS: list[tuple[str, dict[str, Status]]] = [
    (r"\sin(2\theta)", {r"$g = 2 \sin(\theta) \cos(\theta)$": P, "g = sin(2θ)": P, r"$g = \sin\theta$": F}),
    (r"\det(X^T X)", {"$g = \\det(X^\\top X)$": P, "g = det(X.T @ X)": P, r"$g = \det(X)$": F}),
    ("trace(X^T X)", {r"$g = \operatorname{tr}(X X^\top)$": P, r"$g = \|X\|_F^2$": P, "g = trace(X)": F}),
    (
        "diag(w) u",
        {r"$g = w \odot u$": P, r"$g = u \circ w$": P, r"$g = \operatorname{diag}(u) w$": P, r"$g = w^\top u$": F},
    ),
    (r"\|w\|_1", {r"$g = \lVert w \rVert_1$": P, r"$g = \|w\|$": F, r"$g = \|w\|_\infty$": F}),
    (r"\binom{n}{2}", {"$g = n(n-1)/2$": P, r"$g = \binom{n}{n-2}$": P, "g = comb(n, 2)": P, "$g = n^2/2$": F}),
    ("softplus(θ)", {r"$g = \log(1 + e^{\theta})$": P, r"$g = \operatorname{softplus}(\theta)$": P, "g = relu(θ)": F}),
    (
        "softmax(X u)",
        {
            r"$g = \operatorname{softmax}(X u)$": P,
            r"$g = \sigma(X u)$": P,
            r"$g = \sigma(X u)$, where $\sigma$ is the softmax": P,
            r"$g = \sigma(X u)$, where $\sigma$ is the sigmoid": F,
            "g = sigmoid(X u)": F,
            r"$g = \mathrm{sigmoid}(X u)$": F,
            f"$g = {VECTOR}$": P,
            r"$g = \frac{\exp(X u)}{\sum \exp(X u)}$": P,
            r"$g = \frac{e^{Xu}}{(e^{Xu})^\top \mathbf{1}}$": P,
            r"$g = \frac{e^{Xu}}{\|e^{Xu}\|_1}$": P,
            "`g = np.exp(X @ u) / np.sum(np.exp(X @ u))`": P,
            "`g = np.exp(X @ u) / np.exp(X @ u).sum()`": R,
            r"$g = \frac{e^{Xu}}{\sum_j e^{Xu}}$": R,
            r"$g = e^{Xu - \max(Xu)} / (1^\top e^{Xu - \max(Xu)})$": P,
            "$g = e^{Xu}$": F,
        },
    ),
    (VECTOR, {"g = softmax(X u)": P, r"$g = \sigma(X u)$": P, "g = sigmoid(X u)": F}),
    (
        "(sigmoid(X u) - X w) u^T",
        {
            r"$g = (\sigma(X u) - X w) u^\top$": P,
            "g = (sigmoid(X u) - X w) u^T": P,
            r"$g = \left(\frac{1}{1 + e^{-Xu}} - X w\right) u^\top$": P,
            "g = (softmax(X u) - X w) u^T": F,
            r"$g = ((1 + e^{-Xu})^{-1} - X w) u^\top$": R,
        },
    ),
    ("softmax(X tanh(σ(θ) u))", {"g = σ(X tanh(σ(θ) u))": P, "g = sigmoid(X tanh(σ(θ) u))": F}),
    ("relu(X u)", {r"$g = \max(0, X u)$": P, r"$g = \operatorname{ReLU}(X u)$": P, "g = tanh(X u)": F}),
]
pytestmark = pytest.mark.usefixtures("in_this_process")


def judged(text: str, key: str, **more: Any) -> Status:
    known = definition_of(formula_equals_the_key)
    assert known is not None
    readings = known.parameters["readings"].read([{"name": "g", "symbols": SYMBOLS, "equals": [key], **more}], {})
    return formula_equals_the_key(answering(text), np.random.default_rng(0), readings=readings).status


@pytest.mark.parametrize(("key", "answers"), QUESTIONS, ids=[key for key, _ in QUESTIONS])
def test_declared_functions_are_read_and_computed(key: str, answers: dict[str, Status]) -> None:
    declared = {"functions": sorted(set(DECLARABLE.values())), "defined": {"softplus": "log(1 + exp(x))"}}
    assert {text: judged(text, key, **declared) for text in answers} == answers


def test_what_is_not_declared_is_not_known() -> None:
    assert judged(r"$g = \sin(\theta)$", "θ") is R
    assert judged("g = 2 θ", "2 θ") is P


def test_every_function_that_can_be_declared_can_be_computed() -> None:
    assert set(DECLARABLE.values()) == set(COMPUTED)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("functions: [sine]", "names no function that can be declared: 'sine'; did you mean 'sin'"),
        ("defined: {soft: log(1 + }", "cannot read what is 'defined' or stands under 'where'"),
        ("where: {z: 2 w +}", "cannot read what is 'defined' or stands under 'where'"),
        ("where: {z: w^T w^T}", "cannot read what z is under 'where': wᵀ is a row"),
        ("where: {w: 2 w}", "'w' is no letter that is free to be defined"),
        ("where: {z: 2 w}, conventions: [columns, rows]", "'where' needs one of the 'conventions'"),
        ("at_also: [i]", "'at_also' names other letters for an index, and 'at' fixes none"),
        ("functions: [det]", "cannot read the key '2 det(w)'"),
        ("spelled: ['\\nabla J']", "cannot read the name '\\nabla J': '∇' is read in ∇_W L and ∂L/∂W only"),
    ],
)
def test_a_typo_stops_at_load(given: str, complaint: str, tmp_path: Path) -> None:
    reading = f'{{name: g, symbols: {{w: d, d: size}}, equals: ["2 det(w)"], {given}}}'
    with pytest.raises(RubricError) as raised:
        load_rubric(written(tmp_path, reading))
    assert "f.yaml:5: formula_equals_the_key: " in str(raised.value)
    assert complaint in str(raised.value)


TOKENS_IN_ROWS = {"symbols": {"Q": "n×d", "K": "m×d", "V": "m×t", "n": "size", "d": "size", "m": "size", "t": "size"}}


@pytest.mark.parametrize(("normalises", "axis"), [("each_row", 1), ("each_column", 0)])
def test_a_softmax_goes_the_way_that_the_rubric_says(normalises: str, axis: int) -> None:
    more = {**TOKENS_IN_ROWS, "softmax_normalises": normalises}
    answers = {f"g = softmax(Q K^T, axis={axis}) V": P, f"g = softmax(Q K^T, axis={1 - axis}) V": F}
    assert {text: judged(text, "softmax(Q K^T) V", **more) for text in answers} == answers
    sums = "each row sums to one" if normalises == "each_row" else "each column sums to one"
    assert judged(f"$g = \\operatorname{{softmax}}(Q K^\\top) V$ where {sums}.", "softmax(Q K^T) V", **more) is P


def test_a_softmax_of_a_vector_goes_one_way() -> None:
    rows = {"g = softmax(X u)^T": P, "g = softmax(u^T X^T)": P}
    assert {text: judged(text, "softmax(u^T X^T)") for text in rows} == rows


def test_a_sigma_of_a_vector_is_no_key() -> None:
    with pytest.raises(ValueError, match="σ of a vector in 'σ\\(X u\\)' may be either: write sigmoid or softmax"):
        judged("g = 1", "σ(X u)")
    assert judged("g = sigmoid(θ)", "σ(θ)") is P


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("", "needs 'softmax_normalises' for 'softmax(Q K^T) V'"),
        ("softmax_over: rows, ", "softmax_over' has no meaning here; did you mean 'softmax_normalises'?"),
        ("softmax_normalises: rows, ", "should be 'each_row' or 'each_column', not 'rows'"),
        ("softmax_normalises: , ", "needs 'softmax_normalises'"),
    ],
)
def test_a_softmax_goes_no_way_that_the_rubric_does_not_say(given: str, complaint: str, tmp_path: Path) -> None:
    symbols = "{Q: n×d, K: m×d, V: m×t, n: size, d: size, m: size, t: size}"
    reading = f'{{name: g, {given}symbols: {symbols}, equals: ["softmax(Q K^T) V"]}}'
    with pytest.raises(RubricError) as raised:
        load_rubric(written(tmp_path, reading))
    assert "f.yaml:5: formula_equals_the_key: " in str(raised.value)
    assert complaint in str(raised.value)


def written(folder: Path, reading: str) -> Path:
    check = f"{{check: formula_equals_the_key, points: 1, readings: [{reading}]}}"
    (folder / "f.yaml").write_text(
        f"rubric: f\ntitle: F\npoints: 1\nproblems:\n  - {{id: '1', title: F, points: 1, checks: [{check}]}}\n"
    )
    return folder / "f.yaml"
