"""Checks of formulas in written answers."""
