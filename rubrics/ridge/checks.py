"""What the rubric needs beyond the grader's own checks. For staff: it holds answers."""

import numpy as np

from grader import StudentFile, WrongKind, check, difference, failed, numbers, passed, reference

from .public import regressions


def _without_the_penalty(X, y, lam):
    return np.linalg.lstsq(X, y, rcond=None)[0]


def _averaged(X, y, lam):
    return ridge_regression(X, y, lam * len(X))


def _squared(X, y, lam):
    return ridge_regression(X, y, lam**2)


@reference(
    mistakes={
        "the penalty is left out": _without_the_penalty,
        "the squares are averaged, which makes the penalty n times as strong": _averaged,
        "the penalty is squared": _squared,
    }
)
def ridge_regression(X, y, lam):
    """Where the gradient Xᵀ(Xw − y) + λw vanishes."""
    return np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)


@check
def least_squares_on_them_is_ridge_regression(student, rng, *, file: StudentFile, function: str):
    """Ordinary least squares on the points it returns gives what ridge regression gives on the points it was given."""
    for case in regressions(rng):
        match student.call(file, function, *case.args):
            case [more_X, more_y]:
                X, y = numbers(more_X, "its first array"), numbers(more_y, "its second array")
            case _:
                raise WrongKind(f"{function}() should return two arrays, X and y, with more rows", code="wrong_parts")
        if X.ndim != 2 or y.shape != X.shape[:1] or X.shape[1] != case.args[0].shape[1]:
            detail = f"they are {X.shape} and {y.shape}"
            return failed(f"its arrays do not fit together ({case.label})", detail, code="wrong_shape")
        if not np.isfinite(X).all() or not np.isfinite(y).all():
            return failed(f"its arrays hold NaN or infinity ({case.label})", code="not_finite")
        got = np.linalg.lstsq(X, y, rcond=None)[0]
        if found := difference(got, ridge_regression(*case.args)):
            message = f"least squares on its arrays is not ridge regression ({case.label}): {found.summary}"
            return failed(message, code="values_differ")
    return passed("least squares on its arrays is ridge regression")
