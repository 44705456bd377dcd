"""A Report in the forms people and programs read."""
