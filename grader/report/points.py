"""Exact points, shown with at most two decimals."""

from __future__ import annotations

from fractions import Fraction


def rounded(points: Fraction) -> int | float:
    """Two decimals, halves up, a whole number where it is one. Done on the fraction: no float error decides a cent."""
    over, under = points.numerator, points.denominator
    hundredths = (200 * over + under) // (2 * under)
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


def shown(points: Fraction) -> str:
    return f"{rounded(points):g}"


def worth(max_points: float, max_bonus: float) -> str:
    """`60`, or with bonus `60 + 7`: the maximum stays what it is."""
    return f"{max_points:g} + {max_bonus:g}" if max_bonus else f"{max_points:g}"
