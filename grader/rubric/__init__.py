"""Rubrics: YAML in, a Rubric out."""
