"""Whether a token sees later ones."""

from __future__ import annotations

import numpy as np

from grader import ATOL, Array, Outcome, failed
from grader.modules import Workbench


def moved_by(before: Array, after: Array) -> Array:
    """How far each output row moved, relative to its size: (B, T)."""
    return np.asarray(np.abs(after - before).max(axis=-1) / (1 + np.abs(before).max(axis=-1)))


def looks_ahead(bench: Workbench, rng: np.random.Generator, x: Array) -> Outcome | None:
    """None if changing token s moves the outputs from s on, and none before."""
    tokens = x.shape[1]
    changed = [
        x + np.where(np.arange(tokens) == s, 1.0, 0.0)[:, None] * rng.normal(size=x.shape) for s in range(tokens)
    ]
    plain, *others = bench.run((x,), *((one,) for one in changed)).outputs
    if any(output.shape != x.shape for output in (plain, *others)):
        return failed(
            f"{bench.name} should give one output of the same width for each token", code="wrong_output_shape"
        )
    if not all(np.isfinite(output).all() for output in (plain, *others)):  # NaN compares as neither moved nor unmoved
        return failed(f"{bench.name} gives NaN or infinity", code="not_finite")
    for s, output in enumerate(others):
        moved = moved_by(plain, output).max(axis=0)
        if (moved[:s] > ATOL).any():
            message = f"with {tokens} tokens, changing token {s} changes the output of an earlier one; mask it"
            return failed(message, code="sees_later_tokens")
        if moved[s:].max() <= ATOL:
            message = f"with {tokens} tokens, changing token {s} changes nothing, not even its own output"
            return failed(message, code="input_ignored")
        if s + 1 < tokens and moved[s + 1 :].max() <= ATOL:
            return failed(f"with {tokens} tokens, no later token sees token {s}", code="tokens_not_mixed")
    return None
