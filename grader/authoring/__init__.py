"""What authors begin with: a new rubric to change into one's own, and the schema by which an editor helps."""
