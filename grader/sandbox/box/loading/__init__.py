"""Loading a student's files."""
