"""Typed formulas → numbers, sympy, or sums of words in A and B."""
