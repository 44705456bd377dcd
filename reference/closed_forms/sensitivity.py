"""`dl-hw3` 1.1: the softargmax's derivative, its limits, and how a changed key moves the output.

Equation    ∂aᵢ/∂sⱼ = β aᵢ(δᵢⱼ − aⱼ);  Δh ≈ β aᵢ (Δsᵢ)(vᵢ − h);  Var(q·k) = d
Convention  one query (one column of H), m keys, scores s = Kᵀq, β a positive scale. Statements hold column by
            column.
Readings    * All keys but the one or two in question enter a weight only through R = Σ e^{βs} over the rest,
              and the output only through R·w, their weighted mean times R. R and w are symbols, so the proofs
              hold for every m.
            * "Scaling the key moves h towards vᵢ" is true for kᵢᵀq > 0 only; for kᵢᵀq < 0 it moves away.
"""

from __future__ import annotations

import numpy as np
import sympy
from sympy import IndexedBase, KroneckerDelta, Sum, Symbol, exp, limit, oo
from sympy.stats import Normal
from sympy.stats import variance as variance_of

from reference.attention import attention, softargmax
from reference.closed_forms.averaging import BETA, EXACT
from reference.closed_forms.theorem import STANDARD_ERRORS, Confirmation, Residuals, Theorem

S, T = sympy.symbols("s t", real=True)  # the score of key i; of a second key j, or a shift of s
REST = Symbol("R", positive=True)  # Σ e^{βs} over all keys not named
VALUE, OTHERS = sympy.symbols("v w", real=True)  # an entry of vᵢ; the same entry of the other values' weighted mean
WEIGHT = exp(BETA * S) / (exp(BETA * S) + REST)
OUTPUT = WEIGHT * VALUE + (1 - WEIGHT) * OTHERS


# ---- 1.1.e, first step: the Jacobian -------------------------------------------------------------


def jacobian_residuals() -> Residuals:
    total = exp(BETA * S) + exp(BETA * T) + REST
    a_i, a_j = exp(BETA * S) / total, exp(BETA * T) / total
    return {
        "∂aᵢ/∂sᵢ − βaᵢ(1 − aᵢ)": sympy.simplify(sympy.diff(a_i, S) - BETA * a_i * (1 - a_i)),
        "∂aᵢ/∂sⱼ + βaᵢaⱼ": sympy.simplify(sympy.diff(a_i, T) + BETA * a_i * a_j),
    }


def confirm_jacobian(seed: int) -> Confirmation:
    import torch  # only the two confirmations by autograd need it, and it takes a second to load

    scores = torch.from_numpy(np.random.default_rng(seed).standard_normal(6))  # (6,)
    beta = 1.7
    by_autograd = torch.autograd.functional.jacobian(lambda s: torch.softmax(beta * s, dim=0), scores).numpy()
    a = softargmax(scores.numpy(), beta)  # (6,)
    error = np.abs(by_autograd - beta * (np.diag(a) - np.outer(a, a))).max()
    return Confirmation("largest entry of autograd's Jacobian − β(diag a − aaᵀ), m=6", float(error), 0.0, EXACT)


# ---- 1.1.c, 1.1.d: the limits of β ---------------------------------------------------------------


def limit_residuals() -> Residuals:
    m, j = Symbol("m", integer=True, positive=True), Symbol("j", integer=True)
    gap = Symbol("g", positive=True)
    s = IndexedBase("s", real=True)
    total_at_zero = Sum(exp(BETA * s[j]), (j, 1, m)).subs(BETA, 0).doit()
    lowest_top = 1 / (1 + (m - 1) * exp(-BETA * gap))  # every other score exactly g below the top one
    return {
        "β = 0: aᵢ − 1/m": 1 / total_at_zero - 1 / m,
        "β → ∞: lim of the top weight's lower bound − 1": limit(lowest_top, BETA, oo) - 1,
        "1 − bound = (m−1)e^{−βg}·bound": sympy.simplify(1 - lowest_top - (m - 1) * exp(-BETA * gap) * lowest_top),
    }


def confirm_limits(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal(7)  # (7,)
    top, second = np.sort(scores)[::-1][:2]
    beta = 20 / (top - second)
    lost = 1 - softargmax(scores, beta).max()
    return Confirmation("1 − top weight at β·gap = 20, m=7", float(lost), 0.0, 6 * float(np.exp(-20)))


# ---- 1.1.e: a perturbed key ----------------------------------------------------------------------


def perturbed_residuals() -> Residuals:
    moved = OUTPUT.subs(S, S + T)  # t = εᵀq
    first = sympy.diff(moved, T).subs(T, 0)
    second = sympy.diff(moved, T, 2).subs(T, 0)
    sigma, length = sympy.symbols("sigma l", positive=True)  # ε ~ N(0, σ²I), l = ‖q‖: t ~ N(0, σ²l²)
    shift = Normal("t", 0, sigma * length)
    slope = Symbol("b", real=True)
    return {
        "dh/dt − βa(v − h)": sympy.simplify(first - BETA * WEIGHT * (VALUE - OUTPUT)),
        "d²h/dt² − β²a(1−2a)(v − h)": sympy.simplify(second - BETA**2 * WEIGHT * (1 - 2 * WEIGHT) * (VALUE - OUTPUT)),
        "Var of b·t − b²σ²‖q‖²": sympy.simplify(variance_of(slope * shift) - slope**2 * sigma**2 * length**2),
        "a > 0: every column moves": sympy.simplify(WEIGHT) > 0,
    }


def confirm_perturbed(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    K, q, V = rng.standard_normal((4, 6)), rng.standard_normal((4, 1)), rng.standard_normal((3, 6))
    beta, sigma, samples = 0.5, 1e-3, 4000
    a = softargmax(K.T @ q, beta)[2, 0]
    h = attention(q, K, V, beta)  # (3, 1)
    moved = np.empty(samples)
    for index in range(samples):
        perturbed = K.copy()
        perturbed[:, 2] += sigma * rng.standard_normal(4)
        moved[index] = (attention(q, perturbed, V, beta) - h)[0, 0]
    expected = (beta * a * sigma * np.linalg.norm(q) * (V[0, 2] - h[0, 0])) ** 2
    squares = moved**2  # (samples,)
    # 2 % more for what the first order leaves out: terms of relative size βσ‖q‖, squared and in pairs
    error = STANDARD_ERRORS * squares.std() / np.sqrt(samples) + 0.02 * expected
    quantity = "Var Δh₁ over ε ~ N(0, 10⁻⁶I), relative to β²a²σ²‖q‖²(v−h)²"
    return Confirmation(quantity, float(squares.mean() / expected), 1.0, float(error / expected))


# ---- 1.1.f: a scaled key -------------------------------------------------------------------------


def scaled_residuals() -> Residuals:
    factor = Symbol("alpha", positive=True)
    after = WEIGHT.subs(S, factor * S)
    moved = OUTPUT.subs(S, factor * S)
    size, more = sympy.symbols("p r", positive=True)  # s = ±p, α = 1 + r
    return {
        "exact: h′ − h − (a′−a)/(1−a)·(v−h)": sympy.simplify(
            moved - OUTPUT - (after - WEIGHT) / (1 - WEIGHT) * (VALUE - OUTPUT)
        ),
        "dh/dα at 1 − βas(v−h)": sympy.simplify(
            sympy.diff(moved, factor).subs(factor, 1) - BETA * WEIGHT * S * (VALUE - OUTPUT)
        ),
        "a grows with its own score": sympy.simplify(sympy.diff(WEIGHT, S)) > 0,
        "s > 0, α > 1: the score rises": sympy.expand((1 + more) * size - size) > 0,
        "s < 0, α > 1: the score falls": sympy.expand((1 + more) * -size + size) < 0,
    }


def confirm_scaled(seed: int) -> Confirmation:
    import torch  # see confirm_jacobian

    rng = np.random.default_rng(seed)
    K, q, V = (torch.from_numpy(rng.standard_normal(shape)) for shape in ((4, 6), (4,), (3, 6)))
    beta = 0.5

    def output(alpha: torch.Tensor) -> torch.Tensor:
        factors = torch.ones(6, dtype=torch.float64).index_put((torch.tensor([2]),), alpha)  # (6,)
        return V @ torch.softmax(beta * factors * (K.T @ q), dim=0)  # (3,)

    one = torch.ones((), dtype=torch.float64)
    by_autograd = torch.autograd.functional.jacobian(output, one)  # (3,)
    score, h = (K.T @ q)[2], output(one)
    a = torch.softmax(beta * (K.T @ q), dim=0)[2]
    error = (by_autograd - beta * a * score * (V[:, 2] - h)).abs().max()
    return Confirmation("largest entry of autograd's dh/dα − βas(v−h)", float(error), 0.0, EXACT)


# ---- 1.1.b: why 1/√d -----------------------------------------------------------------------------


def score_variance_residuals() -> Residuals:
    size = Symbol("d", integer=True, positive=True)
    i, j = sympy.symbols("i j", integer=True)
    q, k = Normal("q", 0, 1), Normal("k", 0, 1)
    # E(Σᵢqᵢkᵢ)² = ΣᵢΣⱼ E(qᵢqⱼ)E(kᵢkⱼ) = ΣᵢΣⱼ δᵢⱼ²; the inner sum over j has one term for each i in range.
    inner = Sum(KroneckerDelta(i, j) ** 2, (j, 1, size)).doit()
    within = inner.subs(i, Symbol("i", integer=True, positive=True))
    one_per_row = sympy.refine(within, sympy.Q.ge(size, Symbol("i", integer=True, positive=True)))
    return {
        "Var(qᵢkᵢ) − 1": sympy.simplify(variance_of(q * k) - 1),
        "Σⱼ δᵢⱼ² − 1 for 1 ≤ i ≤ d": one_per_row - 1,
        "Σᵢ 1 − d": Sum(1, (i, 1, size)).doit() - size,
        "Var(q·k/√d) − 1": sympy.simplify((1 / sympy.sqrt(size)) ** 2 * size - 1),
    }


def confirm_score_variance(seed: int) -> Confirmation:
    rng = np.random.default_rng(seed)
    d, samples = 64, 50_000
    products = np.einsum("sd,sd->s", rng.standard_normal((samples, d)), rng.standard_normal((samples, d)))
    squares = products**2  # (samples,)
    error = STANDARD_ERRORS * squares.std() / np.sqrt(samples)
    return Confirmation("Var q·k at d=64", float(squares.mean()), float(d), float(error))


THEOREMS = [
    Theorem(
        name="softargmax Jacobian",
        part="1.1.e",
        statement="∂aᵢ/∂sⱼ = β aᵢ(δᵢⱼ − aⱼ)",
        assumptions="any m; β > 0",
        proof="differentiation with all other keys in one positive symbol R",
        prove=jacobian_residuals,
        confirm=confirm_jacobian,
    ),
    Theorem(
        name="limits of β",
        part="1.1.c, 1.1.d",
        statement="β → 0: aᵢ = 1/m, h = mean(v); β → ∞: a is one-hot, h = vⱼ, 1 − aⱼ ≤ (m−1)e^{−βg}",
        assumptions="any m; the top score leads the second by g > 0",
        proof="symbolic sum at β = 0; limit of the bound with every other score at the gap",
        prove=limit_residuals,
        confirm=confirm_limits,
    ),
    Theorem(
        name="a perturbed key",
        part="1.1.e",
        statement="k̂ᵢ = kᵢ+ε: Δh = β aᵢ(εᵀq)(vᵢ−h) + ½β²aᵢ(1−2aᵢ)(εᵀq)²(vᵢ−h) + …; mean 0 to first order, "
        "variance β²aᵢ²σ²‖q‖²(vᵢ−h)²; aᵢ > 0, so every column moves",
        assumptions="ε ~ N(0, σ²I), σ small; any m",
        proof="first and second derivative in εᵀq; variance by sympy.stats",
        prove=perturbed_residuals,
        confirm=confirm_perturbed,
    ),
    Theorem(
        name="a scaled key",
        part="1.1.f",
        statement="k̂ᵢ = αkᵢ: exactly h′−h = (a′−a)/(1−a)·(vᵢ−h) with a′ ∝ e^{βαs}; to first order "
        "β aᵢ(α−1)s(vᵢ−h); for α > 1 towards vᵢ if s = kᵢᵀq > 0, away if s < 0",
        assumptions="any m; a the weight of key i before, a′ after",
        proof="exact identity, derivative at α = 1, a rising in its score and the score's own sign",
        prove=scaled_residuals,
        confirm=confirm_scaled,
    ),
    Theorem(
        name="variance of a score",
        part="1.1.b",
        statement="Var(q·k) = d, so Var(q·k/√d) = 1: β = 1/√d keeps scores of order one at every width",
        assumptions="entries of q and k independent, mean 0, variance 1",
        proof="sympy.stats for one product, Kronecker sums for symbolic d",
        prove=score_variance_residuals,
        confirm=confirm_score_variance,
    ),
]
