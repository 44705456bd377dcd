"""Numbers with units in written answers: which are there, which is meant, and whether it is the right one."""
