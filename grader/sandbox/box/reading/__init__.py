"""Reading a student's source without running it."""
