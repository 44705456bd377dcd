"""Checks of functions, by the values they return; and what these are held against."""
