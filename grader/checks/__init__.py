"""The grader's own checks, one idea per file. Each judges outside the box, on values that came out of it."""

ON_DEMAND = True  # of this package, students get what their own checks need
