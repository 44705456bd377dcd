"""A whole class: found, graded by several jobs, kept in a gradebook."""
