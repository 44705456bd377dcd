"""What people decide at a terminal, and what is still open."""
