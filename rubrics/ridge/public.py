"""The data that 1.a and 1.d are tried with."""

from grader import Case, inputs


@inputs
def regressions(rng):
    """More points than features, fewer, and one of either; no λ is 1, where its square would be the same."""
    for n, d, lam in [(7, 3, 0.5), (4, 6, 2.0), (9, 1, 0.1), (1, 2, 3.0), (12, 5, 10.0)]:
        X, y = rng.normal(size=(n, d)), rng.normal(size=n)
        yield Case(f"X {n}×{d}, λ = {lam:g}", (X, y, lam), names=("X", "y", "lam"))
