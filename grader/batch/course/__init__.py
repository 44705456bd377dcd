"""What holds for a class beside its grades: who is in it, when work is due, and who handed in what together."""
