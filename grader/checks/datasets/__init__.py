"""Checks of data sets, by their items and by what many draws of them say."""
