"""Grades in the forms other programs read. Each format is a pure function from JSON reports to text."""
