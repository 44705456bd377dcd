"""Grading one submission: the loop, the checks and what their verdicts rest on."""
