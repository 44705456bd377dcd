"""Checks of prediction files and of scripts that state an accuracy."""
