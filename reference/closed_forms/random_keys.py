"""`nlp-a5` 1.c.ii and 1.d: what one uncertain key does to one head, and why two heads stand it.

Equation    k_a = γμ_a, γ ~ N(1, ½);  one head, q = β(μ_a+μ_b):  α_a ≈ 1/(1 + e^{β(1−γ)})
            two heads, q₁ = βμ_a, q₂ = βμ_b:  c = ½(c₁ + c₂) ≈ ½(v_a + v_b)
Convention  ½ is the *variance* of γ (its standard deviation is 0.707); only k_a is random, the other keys are
            their orthonormal means; n keys in all.
Readings    γ can be negative: P(γ ≤ 0) = ½ erfc(1) = 7.9 %. There head 1 finds nothing, so "two heads have no
            variance" is a statement about γ > 0 and the limit β → ∞. The homework's "γ in about 0.3 to 1.7"
            is one standard deviation.
"""

from __future__ import annotations

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy import Rational, Symbol, exp, limit, log, oo, sqrt, tanh
from sympy.stats import Normal, cdf

from reference.closed_forms.averaging import BETA, N
from reference.closed_forms.theorem import STANDARD_ERRORS, Confirmation, Residuals, Theorem

GAMMA = Symbol("gamma", real=True)
GAP = Symbol("g", positive=True)
SAMPLES = 200_000

ONE_HEAD = exp(BETA * GAMMA) / (exp(BETA * GAMMA) + exp(BETA) + N - 2)  # exact, n keys
LOGISTIC = 1 / (1 + exp(BETA * (1 - GAMMA)))  # the two keys alone


def draw_gamma(seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(1.0, np.sqrt(0.5), SAMPLES)  # (samples,)


def expectation(values: NDArray[np.float64], gamma: NDArray[np.float64]) -> float:
    """E f(γ) for f on an even grid, by the trapezoid rule under the density e^{−(γ−1)²}/√π."""
    return float(np.trapezoid(values * np.exp(-((gamma - 1) ** 2)) / np.sqrt(np.pi), gamma))


GRID = np.linspace(-8.0, 10.0, 180_001)  # nine units, thirteen standard deviations, to either side of 1


# ---- 1.c.ii: the weight of a stretched key -------------------------------------------------------


def stretched_residuals() -> Residuals:
    lost = (N - 2) / (exp(BETA * GAMMA) + exp(BETA) + N - 2)  # the share of the n − 2 other keys, at most (n−2)e^{−β}
    return {
        "n = 2: exact − logistic": sympy.simplify(ONE_HEAD.subs(N, 2) - LOGISTIC),
        "exact − logistic·(1 − lost share)": sympy.simplify(ONE_HEAD - LOGISTIC * (1 - lost)),
        "lim lost share": limit(lost.subs(GAMMA, 1), BETA, oo),
        "γ = 1 + g: lim α_a − 1": limit(LOGISTIC.subs(GAMMA, 1 + GAP), BETA, oo) - 1,
        "γ = 1 − g: lim α_a": limit(LOGISTIC.subs(GAMMA, 1 - GAP), BETA, oo),
    }


def confirm_stretched(seed: int) -> Confirmation:
    n, beta, gamma = 5, 8.0, draw_gamma(seed)
    exact = np.exp(beta * gamma) / (np.exp(beta * gamma) + np.exp(beta) + n - 2)  # (samples,)
    worst = np.abs(exact - 1 / (1 + np.exp(beta * (1 - gamma)))).max()
    return Confirmation("largest |exact − logistic| at n=5, β=8", float(worst), 0.0, (n - 2) * float(np.exp(-beta)))


# ---- 1.c.ii: the law of α_a ----------------------------------------------------------------------

X = Symbol("x", positive=True)  # a weight, 0 < x < 1
LOGIT = log(X / (1 - X))
LAW = (1 + sympy.erf(LOGIT / BETA)) / 2


def law_residuals() -> Residuals:
    gamma = Normal("gamma", 1, sqrt(Rational(1, 2)))
    return {
        "α_a ≤ x ⇔ γ ≤ 1 + logit(x)/β": sympy.simplify(LOGISTIC.subs(GAMMA, 1 + LOGIT / BETA) - X),
        "α_a grows with γ": sympy.simplify(sympy.diff(LOGISTIC, GAMMA)) > 0,
        "P(γ ≤ 1 + logit(x)/β) − law": sympy.simplify(cdf(gamma)(1 + LOGIT / BETA) - LAW),
        "lim law − ½ for every x in (0, 1)": limit(LAW.subs(LOGIT, GAP), BETA, oo) - Rational(1, 2),
    }


def confirm_law(seed: int) -> Confirmation:
    beta, x = 4.0, 0.9
    weights = 1 / (1 + np.exp(beta * (1 - draw_gamma(seed))))  # (samples,)
    expected = float(LAW.subs({BETA: beta, X: x}))
    error = STANDARD_ERRORS * np.sqrt(expected * (1 - expected) / SAMPLES)
    return Confirmation("P(α_a ≤ 0.9) at β=4", float(np.mean(weights <= x)), expected, float(error))


# ---- 1.c.ii: mean and variance of c --------------------------------------------------------------

U = Symbol("u", real=True)  # γ − 1, symmetric about 0
CENTRED = tanh(BETA * U / 2) / 2


def variance_residuals() -> Residuals:
    alpha = LOGISTIC.subs(GAMMA, 1 + U)
    v_a, v_b = sympy.symbols("v_a v_b")
    weight = Symbol("alpha")
    density = exp(-(U**2)) / sqrt(sympy.pi)
    small = sympy.series(CENTRED**2, BETA, 0, 3).removeO()
    return {
        "α_a − ½ − ½tanh(β(γ−1)/2)": sympy.simplify((alpha - Rational(1, 2) - CENTRED).rewrite(exp)),
        "α_a − ½ is odd in γ − 1": sympy.simplify(CENTRED + CENTRED.subs(U, -U)),
        "the density is even in γ − 1": density - density.subs(U, -U),
        "c − ½(v_a+v_b) − (α_a−½)(v_a−v_b)": sympy.expand(
            weight * v_a + (1 - weight) * v_b - (v_a + v_b) / 2 - (weight - Rational(1, 2)) * (v_a - v_b)
        ),
        "lim (α_a − ½)² − ¼, γ ≠ 1": limit(CENTRED.subs(U, GAP) ** 2, BETA, oo) - Rational(1, 4),
        "E[small-β (α_a − ½)²] − β²/32": sympy.integrate(small * density, (U, -oo, oo)) - BETA**2 / 32,
    }


def confirm_variance(seed: int) -> Confirmation:
    beta = 20.0
    alpha = 1 / (1 + np.exp(beta * (1 - draw_gamma(seed))))  # (samples,)
    squares = (alpha - 0.5) ** 2  # (samples,)
    expected = expectation((0.5 * np.tanh(beta * (GRID - 1) / 2)) ** 2, GRID)
    error = STANDARD_ERRORS * squares.std() / np.sqrt(SAMPLES)
    return Confirmation("Var α_a at β=20 (limit ¼)", float(squares.mean()), expected, float(error))


# ---- 1.d: two heads ------------------------------------------------------------------------------

HEAD_ONE = exp(BETA * GAMMA) / (exp(BETA * GAMMA) + N - 1)  # weight of a under q₁ = βμ_a
HEAD_TWO = exp(BETA) / (exp(BETA) + N - 1)  # weight of b under q₂ = βμ_b; k_aᵀμ_b = 0 whatever γ is


def two_heads_residuals() -> Residuals:
    gamma = Normal("gamma", 1, sqrt(Rational(1, 2)))
    v_a, v_b = sympy.symbols("v_a v_b")
    limit_one = limit(HEAD_ONE.subs(GAMMA, GAP), BETA, oo)
    limit_two = limit(HEAD_TWO, BETA, oo)
    return {
        "head 1, γ > 0: lim weight of a − 1": limit_one - 1,
        "head 2: lim weight of b − 1": limit_two - 1,
        "head 2 does not depend on γ": sympy.diff(HEAD_TWO, GAMMA),
        "lim c − ½(v_a+v_b), γ > 0": sympy.expand((limit_one * v_a + limit_two * v_b - v_a - v_b) / 2),
        "lim Var of head 1's weight given γ > 0": limit((HEAD_ONE.subs(GAMMA, GAP) - 1) ** 2, BETA, oo),
        "head 1, γ = −g: lim weight of a": limit(HEAD_ONE.subs(GAMMA, -GAP), BETA, oo),
        "P(γ ≤ 0) − ½erfc(1)": sympy.simplify((cdf(gamma)(0) - sympy.erfc(1) / 2).rewrite(sympy.erf)),
    }


def confirm_two_heads(seed: int) -> Confirmation:
    n, beta = 5, 60.0
    gamma = draw_gamma(seed)
    present = gamma[gamma > 0]  # (about 0.92·samples,)
    weights = 1 / (1 + (n - 1) * np.exp(-beta * present))  # (…,)
    positive = GRID[GRID > 0]
    on_grid = 1 / (1 + (n - 1) * np.exp(-beta * positive))
    mass = expectation(np.ones_like(positive), positive)
    expected = expectation((1 - on_grid) ** 2, positive) / mass
    squares = (1 - weights) ** 2
    error = STANDARD_ERRORS * squares.std() / np.sqrt(len(squares))
    quantity = "E(1 − head 1's weight)² given γ > 0, n=5, β=60 (one head: ¼)"
    return Confirmation(quantity, float(squares.mean()), expected, float(error))


THEOREMS = [
    Theorem(
        name="a stretched key",
        part="1.c.ii",
        statement="q = β(μ_a+μ_b), k_a = γμ_a: α_a = 1/(1+e^{β(1−γ)}) up to (n−2)e^{−β}; → 1 if γ > 1, → 0 if γ < 1",
        assumptions="n keys, the other n − 1 at their orthonormal means",
        proof="exact identity with the lost share, limits on both sides of γ = 1",
        prove=stretched_residuals,
        confirm=confirm_stretched,
    ),
    Theorem(
        name="law of the weight",
        part="1.c.ii",
        statement="P(α_a ≤ x) = ½(1 + erf(ln(x/(1−x))/β)); as β → ∞ α_a is 0 or 1, each with probability ½",
        assumptions="γ ~ N(1, ½), ½ the variance; two keys, or β large",
        proof="inverse function, its monotonicity, and the normal distribution function of sympy.stats",
        prove=law_residuals,
        confirm=confirm_law,
    ),
    Theorem(
        name="variance of one head",
        part="1.c.ii",
        statement="E c = ½(v_a+v_b), Cov c = Var(α_a)(v_a−v_b)(v_a−v_b)ᵀ, Var(α_a) = ¼E tanh²(β(γ−1)/2) → ¼ "
        "(β²/32 for small β)",
        assumptions="γ ~ N(1, ½); α_b = 1 − α_a",
        proof="odd × even integrates to 0; pointwise limit, bounded by ¼, so the mean follows; series in β",
        prove=variance_residuals,
        confirm=confirm_variance,
    ),
    Theorem(
        name="two heads",
        part="1.d",
        statement="q₁ = βμ_a, q₂ = βμ_b: c → ½(v_a+v_b) and Var → 0 given γ > 0; head 2 never sees γ; "
        "P(γ ≤ 0) = ½erfc(1) ≈ 7.9 %, where head 1 loses v_a",
        assumptions="γ ~ N(1, ½), β → ∞, n keys",
        proof="limits for γ > 0 and γ < 0, derivative in γ, normal distribution function at 0",
        prove=two_heads_residuals,
        confirm=confirm_two_heads,
    ),
]
