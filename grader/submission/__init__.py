"""Submissions: folders, archives and notebooks, opened safely."""
