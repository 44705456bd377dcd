"""Checks of torch modules, by what they compute."""
