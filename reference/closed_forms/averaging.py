"""`nlp-a5` 1.b and 1.e: extracting one vector of a sum, averaging two values, and a self-attention by hand.

Equation    M = AAᵀ;  q = β(k_a + k_b) ⇒ α_a = α_b = e^β/(2e^β + n − 2)
Convention  d×m and d×p bases with orthonormal columns; n orthonormal keys of which a and b are two.
Readings    all sizes stay symbols (d, m, p, n), so nothing here is a numeric instance of the claim.
"""

from __future__ import annotations

import numpy as np
import sympy
from sympy import (
    Identity,
    Matrix,
    MatrixExpr,
    MatrixSymbol,
    Rational,
    Symbol,
    ZeroMatrix,
    exp,
    limit,
    log,
    oo,
)

from reference.attention import single_query_attention
from reference.closed_forms.theorem import Confirmation, Residuals, Theorem

BETA = Symbol("beta", positive=True)
N = Symbol("n", integer=True, positive=True)
EXACT = 1e-12  # float64 arithmetic on numbers of order one, with room for a few hundred roundings


def orthonormal_columns(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """A random rows×columns matrix Q with QᵀQ = I."""
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]  # (rows, columns)


# ---- 1.b.i: M = AAᵀ extracts v_a -----------------------------------------------------------------

d, m, p = sympy.symbols("d m p", integer=True, positive=True)
A, B = MatrixSymbol("A", d, m), MatrixSymbol("B", d, p)
c, e = MatrixSymbol("c", m, 1), MatrixSymbol("e", p, 1)  # coordinates: v_a = Ac, v_b = Be


def using_orthonormality(expression: MatrixExpr) -> MatrixExpr:
    """Multiply out, then apply AᵀA = I, BᵀB = I, AᵀB = 0 and BᵀA = 0, and nothing else."""
    rules = [
        (A.T * A, Identity(m)),
        (B.T * B, Identity(p)),
        (A.T * B, ZeroMatrix(m, p)),
        (B.T * A, ZeroMatrix(p, m)),
    ]
    return expression.expand().subs(rules).doit()


def extraction_residuals() -> Residuals:
    s = A * c + B * e  # (d, 1)
    return {
        "AAᵀ(v_a + v_b) − v_a": using_orthonormality(A * A.T * s - A * c),
        "(I − BBᵀ)(v_a + v_b) − v_a": using_orthonormality(s - B * B.T * s - A * c),
        "Aᵀ(v_a + v_b) − c (coordinates only)": using_orthonormality(A.T * s - c),
    }


def confirm_extraction(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    basis = orthonormal_columns(9, 5, rng)  # (9, 5): three columns span A, two span B, four are left over
    own, other = basis[:, :3], basis[:, 3:]  # (9, 3), (9, 2)
    v_a, v_b = own @ rng.standard_normal(3), other @ rng.standard_normal(2)  # (9,), (9,)
    error = np.abs(own @ own.T @ (v_a + v_b) - v_a).max()
    return Confirmation("largest error of AAᵀ(v_a + v_b), d=9, m=3, p=2", float(error), 0.0, EXACT)


# ---- 1.b.ii: the average of two ------------------------------------------------------------------

ALPHA_TWO = exp(BETA) / (2 * exp(BETA) + N - 2)  # the weight of a, and of b
ALPHA_REST = 1 / (2 * exp(BETA) + N - 2)  # the weight of each other key


def scores_of_the_sum() -> tuple[MatrixExpr, MatrixExpr]:
    """(k_aᵀq, k_iᵀq) for q = β(k_a + k_b), by orthonormality of the keys alone."""
    k_a, k_b, k_i = (MatrixSymbol(name, d, 1) for name in ("k_a", "k_b", "k_i"))
    one, zero = Identity(1), ZeroMatrix(1, 1)
    rules = [(k_a.T * k_a, one), (k_a.T * k_b, zero), (k_i.T * k_a, zero), (k_i.T * k_b, zero)]
    q = BETA * (k_a + k_b)
    return tuple((k.T * q).expand().subs(rules).doit() for k in (k_a, k_i))


def average_residuals() -> Residuals:
    own, other = scores_of_the_sum()
    return {
        "k_aᵀq − β": own - BETA * Identity(1),
        "k_iᵀq": other,
        "2α_a + (n−2)α_i − 1": sympy.simplify(2 * ALPHA_TWO + (N - 2) * ALPHA_REST - 1),
        "α_a/α_i − e^β": sympy.simplify(ALPHA_TWO / ALPHA_REST - exp(BETA)),
        "lim α_a − ½": limit(ALPHA_TWO, BETA, oo) - Rational(1, 2),
        "lim (n−2)α_i": limit((N - 2) * ALPHA_REST, BETA, oo),
    }


def confirm_average(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    n, beta = 6, 3.0
    keys = orthonormal_columns(8, n, rng).T  # (n, 8)
    alpha, _ = single_query_attention(beta * (keys[1] + keys[4]), keys, rng.standard_normal((n, 8)))
    expected = float(ALPHA_TWO.subs({BETA: beta, N: n}))
    return Confirmation("α_a at n=6, β=3 on random orthonormal keys", float(alpha[1]), expected, EXACT)


# ---- 1.b.ii: how large β must be -----------------------------------------------------------------

EPSILON = Symbol("epsilon", positive=True)
SHORTFALL = (N - 2) / (2 * (2 * exp(BETA) + N - 2))
BETA_NEEDED = log((N - 2) * (1 - 2 * EPSILON) / (4 * EPSILON))


def shortfall_residuals() -> Residuals:
    more = Symbol("k", positive=True)  # n = 2 + k: with n = 2 there is nothing to lose weight to
    return {
        "½ − α_a − (n−2)/(2(2e^β+n−2))": sympy.simplify(Rational(1, 2) - ALPHA_TWO - SHORTFALL),
        "shortfall at β(ε, n) − ε": sympy.simplify(SHORTFALL.subs(BETA, BETA_NEEDED) - EPSILON),
        "d(shortfall)/dβ < 0": sympy.simplify(sympy.diff(SHORTFALL.subs(N, 2 + more), BETA)) < 0,
        "no scale: α_a − e/(2e+n−2)": ALPHA_TWO.subs(BETA, 1) - sympy.E / (2 * sympy.E + N - 2),
    }


def confirm_shortfall(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    n, error = 100, 0.01
    beta = float(BETA_NEEDED.subs({N: n, EPSILON: error}))
    keys = orthonormal_columns(n, n, rng)  # (n, n)
    alpha, _ = single_query_attention(beta * (keys[0] + keys[1]), keys, keys)
    return Confirmation(f"½ − α_a at n=100, β={beta:.3f}", 0.5 - float(alpha[0]), error, EXACT)


# ---- 1.e: self-attention by hand -----------------------------------------------------------------

# Orthogonal vectors of norm β are β times an orthonormal basis, and attention does not change under rotation,
# so the first four coordinate vectors stand for all choices.
u_a, u_b, u_c, u_d = (BETA * Matrix(4, 1, lambda row, _, i=i: int(row == i)) for i in range(4))
X = [u_d + u_b, u_a, u_c + u_b]
V_1E = (u_b * u_b.T - u_c * u_c.T) / BETA**2
Q_1E = (u_d * u_a.T + u_c * u_d.T) / BETA**2


def self_attention_direction(tokens: list[Matrix], i: int, Q: Matrix, V: Matrix) -> Matrix:
    """lim c_i/β as β → ∞, with keys equal to the tokens; c_i grows like β, its direction is what is asked."""
    scores = [sympy.expand((token.T * Q * tokens[i])[0]) for token in tokens]
    total = sum(exp(score) for score in scores)
    output = sum((exp(s) * V * x for s, x in zip(scores, tokens, strict=True)), sympy.zeros(4, 1)) / total
    return (output / BETA).applyfunc(lambda entry: limit(sympy.simplify(entry), BETA, oo))


def by_hand_residuals() -> Residuals:
    eye = sympy.eye(4)
    with_d = [X[0], X[1] + u_d, X[2]]
    return {
        "c₂ → u_a when v = k = q = x": self_attention_direction(X, 1, eye, eye) - u_a / BETA,
        "x₂ + u_d keeps to itself": self_attention_direction(with_d, 1, eye, eye) - (u_a + u_d) / BETA,
        "c₂ → u_b with the given K, Q, V": self_attention_direction(X, 1, Q_1E, V_1E) - u_b / BETA,
        "c₁ → u_b − u_c with the same": self_attention_direction(X, 0, Q_1E, V_1E) - (u_b - u_c) / BETA,
    }


def confirm_by_hand(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    beta = 6.0
    u = beta * orthonormal_columns(7, 4, rng).T  # (4, 7): u_a, u_b, u_c, u_d
    x = np.stack([u[3] + u[1], u[0], u[2] + u[1]])  # (3, 7)
    V = (np.outer(u[1], u[1]) - np.outer(u[2], u[2])) / beta**2  # (7, 7)
    Q = (np.outer(u[3], u[0]) + np.outer(u[2], u[3])) / beta**2  # (7, 7)
    _, c_2 = single_query_attention(Q @ x[1], x, x @ V.T)
    _, c_1 = single_query_attention(Q @ x[0], x, x @ V.T)
    error = max(np.abs(c_2 - u[1]).max(), np.abs(c_1 - (u[1] - u[2])).max())
    return Confirmation("largest error of c₁ and c₂ at β=6 in ℝ⁷", float(error), 0.0, 6 * beta * np.exp(-(beta**2)))


THEOREMS = [
    Theorem(
        name="extraction",
        part="1.b.i",
        statement="M = AAᵀ gives M(v_a + v_b) = v_a; so does I − BBᵀ; Aᵀ gives only the coordinates c",
        assumptions="AᵀA = I, BᵀB = I, AᵀB = 0; v_a = Ac, v_b = Be; any d, m, p",
        proof="noncommutative matrix symbols of symbolic size, expanded under the three rules",
        prove=extraction_residuals,
        confirm=confirm_extraction,
    ),
    Theorem(
        name="average of two",
        part="1.b.ii, 1.c.i",
        statement="q = β(k_a + k_b) gives α_a = α_b = e^β/(2e^β + n − 2) → ½, all others → 0 as β → ∞",
        assumptions="n orthonormal keys (the means μᵢ in 1.c.i, where the covariance vanishes)",
        proof="scores by matrix symbols under kᵢᵀkⱼ = δᵢⱼ, normalisation and limits with n a symbol",
        prove=average_residuals,
        confirm=confirm_average,
    ),
    Theorem(
        name="error of the average",
        part="1.b.ii",
        statement="½ − α_a = (n−2)/(2(2e^β+n−2)), falling in β, and equal to ε at β = ln((n−2)(1−2ε)/(4ε))",
        assumptions="as above, n > 2, 0 < ε < ½; with no scale (β = 1) α_a = e/(2e+n−2)",
        proof="simplification to 0 and the sign of the derivative",
        prove=shortfall_residuals,
        confirm=confirm_shortfall,
    ),
    Theorem(
        name="self-attention by hand",
        part="1.e",
        statement="v=k=q=x: c₂ → u_a, and x₂+u_d attends to itself; V = β⁻²(u_bu_bᵀ−u_cu_cᵀ), K = I, "
        "Q = β⁻²(u_du_aᵀ+u_cu_dᵀ): c₂ → u_b, c₁ → u_b − u_c",
        assumptions="u_a, u_b, u_c, u_d orthogonal of norm β → ∞",
        proof="limits of cᵢ/β, entry by entry",
        prove=by_hand_residuals,
        confirm=confirm_by_hand,
    ),
]
