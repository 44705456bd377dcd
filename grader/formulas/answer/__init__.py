"""Which formula of a written answer is meant: rows, clauses, statements, and the one that was asked for."""
