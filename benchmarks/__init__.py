"""Measurements, each one command, printed as ratios taken in one run: machines are noisy, ratios less so."""
