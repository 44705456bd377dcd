"""Checks of prediction files."""
