"""LaTeX and Unicode → the one plain spelling that prose is searched in."""

from __future__ import annotations

import pytest

from grader.model import Piece
from grader.prose.plain_spelling import plain


@pytest.mark.parametrize(
    ("written", "want"),
    [
        (r"$\sum_{i=1}^n \alpha_i = 1$", "Σ α_i = 1"),
        ("Σαᵢ = 1", "Σ α_i = 1"),
        (r"$\frac{1}{2}$ and ½, ¾", "1/2 and 1/2 , 3/4"),
        (r"$Mv_a \approx \mathbf{v}_a$", "M v_a ≈ v_a"),
        (r"$A^\top B \Rightarrow q$", "A B , q"),
        (r"$\beta \gg 0$, $\beta \to \infty$", "β ≫ 0 , β → ∞"),
        (r"$\softmax(k^T q)$ is $\exp$", "softmax (k q) is exp"),
        (r"$\Theta(\psi \leftarrow \ell)$", "Θ(ψ = l)"),
        (r"$w_{i, j}$ of $k_{a}$", "w_ij of k_a"),
        (r"$\hat{k}_i \sim \textbf{p}$", "k_i ~ p"),
        (r"$\sqrt{d}$ and $e^{x}$", "√ d and exp (x)"),
        ("x² isn’t kᵦ", "x ^2 isn't k_β"),
        (r"$\exists x \mid y$", "x y"),
        (r"a $\unknown{b}$ c", "a b c"),
    ],
)
def test_prose_is_searched_as(written: str, want: str) -> None:
    assert " ".join(plain((Piece("prose", written, 1),), 1000).split()) == want
