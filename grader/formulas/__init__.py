"""The answer language: what students write as mathematics → typed expressions → verdicts. Nothing is ever executed."""
