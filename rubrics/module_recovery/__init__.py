"""Which layers a student's module is made of, recovered from its parameters and its outputs."""
