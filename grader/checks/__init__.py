"""The grader's own checks, one idea per file. Each judges outside the box, on values that came out of it."""
