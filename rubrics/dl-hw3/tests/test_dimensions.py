"""Dimensions of projections are held against the products they stand in, in either convention."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rubric_dl_hw3.public.formulas.dimensions import dimensions_fit

from grader.answers import cut_into_parts

HEADS: dict[str, Any] = {
    "operands": {"Q": ["Q"], "K": ["K"], "V": ["V"]},
    "features": {"Q": "d", "K": "d", "V": "t"},
}
HEADS_OF_D = HEADS | {"features": {"Q": "d", "K": "d", "V": ["t", "d"]}}
SELF: dict[str, Any] = {
    "operands": {"Q": ["C", "X"], "K": ["C", "X"], "V": ["C", "X"]},
    "features": {"C": "e", "X": "e"},
}


def _judged(text: str, settings: dict[str, Any]) -> Any:
    answer = cut_into_parts(f"# 1.2.a\n\n{text}\n", "answers.md", ["1.2.a"]).parts["1.2.a"]
    return dimensions_fit(SimpleNamespace(answer=answer), np.random.default_rng(0), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (
            r"$Q_i = W_Q^i Q$, $W_Q^i \in \mathbb{R}^{\frac{d}{h} \times d}$ and $W_V^i \in \mathbb{R}^{t/h \times t}$",
            HEADS,
        ),
        (r"$Q_i = Q W_Q^i$ with $W_Q^i \in \mathbb{R}^{d \times d/h}$, tokens in rows", HEADS),
        (r"$K_i = W_K^{(i)} K$, $W_K^{(i)} \in \mathbb{R}^{d_k \times d}$", HEADS),
        (r"$Q = W_Q C$, $K = W_K C$, $V = W_V C$ with $W_Q, W_K, W_V \in \mathbb{R}^{d \times e}$", SELF),
        (r"$Q_i = C W_Q^i$, $W_Q^i \in \mathbb{R}^{e \times d_k}$", SELF),
        (r"$W^Q_i ∈ ℝ^{d/h × d}$, $Q_i = W^Q_i Q$", HEADS),
        (r"$\bm{Q}_i = \bm{W}_Q^{i}\bm{Q}$, $\bm{W}_Q^{i} \in \mathbb{R}^{\frac dh\times d}$", HEADS),
        (
            r"$\mathbf{W}_{\mathrm{K}}^i \in \mathbb{R}^{\tfrac{d}h \times d}$, $\mathbf{W}_\text{K}^i \mathbf K$",
            HEADS,
        ),
        (r"${\boldsymbol W}_V^i \in \mathbb{R}^{\dfrac t{h} \times t}$, ${\boldsymbol W}_V^i V$", HEADS),
        ("Q = W_Q C, K = W_K C, V = W_V C. C is e × n, the W are $d × e$, so Q, K and V are $d × n$.", SELF),
        (
            "H_i = W_V^i V A_i, Q_i = W_Q^i Q. Each projection has size d/h × d. H = W_O [H_1; H_2], W_O is d × d",
            HEADS_OF_D,
        ),
        ("Q = W_Q C, K = W_K C and V = W_V C, where all three W's have size d × e.", SELF),
    ],
)
def test_dimensions_that_fit_pass(text: str, settings: dict[str, Any]) -> None:
    outcome = _judged(text, settings)
    assert outcome.status == "passed", outcome


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        (r"$Q_i = W_Q^i Q$ where $W_Q^i \in \mathbb{R}^{d \times \frac{d}{h}}$", HEADS, "it meets d"),
        (r"$V_i = W_V^i V$, $W_V^i \in \mathbb{R}^{t/h \times d}$", HEADS, "it meets t"),
        (r"$Q = W_Q C$ with $W_Q \in \mathbb{R}^{e \times d}$", SELF, "it meets e"),
        (r"$\bm{Q}_i = \bm{W}_Q^{i}\bm{Q}$, $\bm{W}_Q^{i} \in \mathbb{R}^{d\times\frac dh}$", HEADS, "it meets d"),
        ("Q = W_Q C, K = W_K C, V = W_V C. C is e × n, the W are e × d.", SELF, "the size stated for it"),
    ],
)
def test_dimensions_that_do_not_fit_are_named(text: str, settings: dict[str, Any], said: str) -> None:
    outcome = _judged(text, settings)
    assert outcome.status == "failed"
    assert said in outcome.detail


def test_dimensions_that_are_not_stated_go_to_a_person() -> None:
    assert _judged("We project and concatenate.", HEADS).status == "review"
