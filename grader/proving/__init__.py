"""Proving a rubric: its gold gets everything, its stub nothing, every sample what it declares, every mutant less.

Mutants are made with Python's own `ast`. mutmut and cosmic-ray change a package in place and run its test suite once
for each change; here a changed copy of a submission is graded in a box, on the one problem concerned, until a point is
lost.
"""
