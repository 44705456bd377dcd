"""The answer language: what students write as mathematics → typed expressions → verdicts. Nothing is ever executed."""

ON_DEMAND = True  # of this package, students get what their own checks need
