"""The grader's side of a sandbox."""
