"""RoPE's relative positions, the cost of vanilla and Perceiver attention, and parameter counts.

Equation    (R_t q)·(R_s k) = qᵀR_{s−t}k;  vanilla Lℓ²,  Perceiver 2ℓm + (L−2)m²;
            vanilla GPT: 2VD + bD + L(12D² + 13D) + 2D parameters
Convention  L layers, ℓ tokens, m basis rows, width D, vocabulary V, block b. Attention's cost counts the
            multiplications of scores and of weights times values: D each per (query, key) pair; projections
            are linear in ℓ and left out.
Readings    O(ℓm + Lm²) and (L−2)m² + 2ℓm, with or without the factor D, are the same class: each bounds the
            other.
"""

from __future__ import annotations

import numpy as np
import sympy
from sympy import Matrix, Poly, cos, limit, oo, sin

from reference.closed_forms.averaging import EXACT
from reference.closed_forms.theorem import Confirmation, Residuals, Theorem

# ---- 2.g.i: RoPE ---------------------------------------------------------------------------------


def turn(angle: sympy.Expr) -> Matrix:
    return Matrix([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])


def rope_residuals() -> Residuals:
    t, s, theta, shift = sympy.symbols("t s theta r", real=True)
    q, k = Matrix(sympy.symbols("q_1 q_2")), Matrix(sympy.symbols("k_1 k_2"))
    score = ((turn(t * theta) * q).T * turn(s * theta) * k)[0]
    moved = score.subs({t: t + shift, s: s + shift}, simultaneous=True)
    relative = (q.T * turn((s - t) * theta) * k)[0]
    return {
        "(R_t q)·(R_s k) − qᵀR_{s−t}k": sympy.expand(sympy.simplify(score - relative)),
        "moving both by r changes nothing": sympy.simplify(sympy.expand(moved - score)),
        "R_tᵀR_t − I": sympy.simplify(turn(t * theta).T * turn(t * theta) - sympy.eye(2)),
    }


def confirm_rope(seed: int) -> Confirmation:
    import torch  # reference.rope is torch code; the closed forms load without it

    from reference.rope import apply_rotary_emb, precompute_rotary_emb

    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 8, generator=generator)  # 2 × (8,): the same pair at every position
    cache = precompute_rotary_emb(8, 64)  # (64, 4, 2)
    turned_q, turned_k = (apply_rotary_emb(x.expand(64, 8), cache) for x in (q, k))  # 2 × (64, 8)
    scores = turned_q @ turned_k.T  # (64, 64): must be constant along diagonals
    spread = max(float(np.ptp(scores.diagonal(offset).numpy())) for offset in range(-63, 64))
    return Confirmation("largest spread of scores at one offset, 64 positions, float32", spread, 0.0, 1e-4)


# ---- 2.g.ii: complexities ------------------------------------------------------------------------

L, LENGTH, M, D = sympy.symbols("L ell m D", integer=True, positive=True)
VANILLA = 2 * D * L * LENGTH**2
PERCEIVER = 2 * D * (2 * LENGTH * M + (L - 2) * M**2)


def has_no_negative_coefficient(expression: sympy.Expr, **at_least: int) -> sympy.Basic:
    """True if a polynomial in positive variables (L at or above a bound) can be seen to be ≥ 0."""
    shifted = sympy.expand(expression.subs({L: L + at_least.get("L", 0)}))
    coefficients = Poly(shifted, L, LENGTH, M, D).coeffs()
    return sympy.true if all(c >= 0 for c in coefficients) else sympy.false


def complexity_residuals() -> Residuals:
    claimed = D * (LENGTH * M + L * M**2)
    return {
        "Perceiver ≤ 4·D(ℓm + Lm²)": has_no_negative_coefficient(4 * claimed - PERCEIVER),
        "3·Perceiver ≥ 2·D(ℓm + Lm²) for L ≥ 3": has_no_negative_coefficient(3 * PERCEIVER - 2 * claimed, L=3),
        "vanilla/(Lℓ²D) − 2": sympy.simplify(VANILLA / (L * LENGTH**2 * D) - 2),
        "lim Perceiver/vanilla as ℓ → ∞, m fixed": limit(PERCEIVER / VANILLA, LENGTH, oo),
    }


def confirm_complexity(seed: int) -> Confirmation:
    import torch  # counts what the models really multiply
    from torch.utils.flop_counter import FlopCounterMode

    from reference.gpt import GPTConfig, Variant
    from reference.gpt_variants import gpt

    sizes = {L: 5, LENGTH: 64, M: 16, D: 32}
    ids = torch.randint(1, 20, (1, 64), generator=torch.Generator().manual_seed(seed))  # (1, 64)

    def products(variant: Variant) -> int:
        model = gpt(GPTConfig(20, block=64, layers=5, heads=4, width=32, variant=variant, bottleneck=16))
        with FlopCounterMode(display=False) as counter:
            model(ids)
        counted = counter.get_flop_counts()["Global"]
        return (
            int(counted[torch.ops.aten.bmm]) // 2
        )  # batched products are attention's own; a product is two operations

    expected = float((PERCEIVER / VANILLA).subs(sizes))
    measured = products("perceiver") / products("vanilla")
    return Confirmation("Perceiver/vanilla multiplications, L=5, ℓ=64, m=16, counted", measured, expected, EXACT)


# ---- parameter counts ----------------------------------------------------------------------------

VOCABULARY, BLOCK, HEADS = sympy.symbols("V b H", integer=True, positive=True)
GPT_PARAMETERS = 2 * VOCABULARY * D + BLOCK * D + L * (12 * D**2 + 13 * D) + 2 * D


def linear(inputs: sympy.Expr, outputs: sympy.Expr) -> sympy.Expr:
    return inputs * outputs + outputs


def parameter_residuals() -> Residuals:
    attention, mlp, norm = 4 * linear(D, D), linear(D, 4 * D) + linear(4 * D, D), 2 * D
    block = attention + mlp + 2 * norm
    embedding, head, positions = VOCABULARY * D, VOCABULARY * D, BLOCK * D
    synthesizer = 3 * linear(D, D) + D / HEADS * (BLOCK - 1) + (BLOCK - 1)
    return {
        "one block − (12D² + 13D)": sympy.expand(block - 12 * D**2 - 13 * D),
        "GPT − formula": sympy.expand(embedding + positions + L * block + norm + head - GPT_PARAMETERS),
        "synthesizer − attention = (b−1)(D/H+1) − D² − D": sympy.expand(
            synthesizer - attention - (BLOCK - 1) * (D / HEADS + 1) + D**2 + D
        ),
    }


def confirm_parameters(seed: int) -> Confirmation:
    from reference.gpt import GPT, GPTConfig

    rng = np.random.default_rng(seed)
    vocabulary, block, layers, heads = (int(rng.integers(low, 9)) for low in (5, 6, 1, 1))
    width = 2 * heads
    model = GPT(GPTConfig(vocabulary, block, layers, heads, width))
    counted = sum(parameter.numel() for parameter in model.parameters())
    sizes = {VOCABULARY: vocabulary, BLOCK: block, L: layers, D: width}
    return Confirmation("parameters of a GPT of random size, counted", counted, float(GPT_PARAMETERS.subs(sizes)), 0.0)


THEOREMS = [
    Theorem(
        name="RoPE is relative",
        part="2.g.i",
        statement="(R_t q)·(R_s k) = qᵀR_{s−t}k: scores depend on the offset s − t only, and |R_t q| = |q|",
        assumptions="any angle θ per plane; a head is a sum over planes",
        proof="trigonometric simplification for one plane",
        prove=rope_residuals,
        confirm=confirm_rope,
    ),
    Theorem(
        name="complexities",
        part="2.g.ii",
        statement="vanilla Θ(Lℓ²D); Perceiver 2D(2ℓm + (L−2)m²) = Θ((ℓm + Lm²)D), a vanishing share as ℓ → ∞",
        assumptions="m ≤ ℓ, L ≥ 3; one block down, one up, L − 2 between",
        proof="both bounds coefficient by coefficient; limit of the ratio",
        prove=complexity_residuals,
        confirm=confirm_complexity,
    ),
    Theorem(
        name="parameter counts",
        part="2",
        statement="vanilla GPT: 2VD + bD + L(12D²+13D) + 2D; RoPE: less bD; Perceiver: plus mD; "
        "synthesizer: plus L((b−1)(D/H+1) − D² − D)",
        assumptions="biases everywhere but in the head, MLP 4D wide, head not tied to the embedding",
        proof="expansion of the sum over parts",
        prove=parameter_residuals,
        confirm=confirm_parameters,
    ),
]
