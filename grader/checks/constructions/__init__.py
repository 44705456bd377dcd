"""Checks of matrices that make attention into another layer."""
