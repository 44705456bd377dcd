"""What runs inside a sandbox. It imports nothing of the grader but the layers of its jail."""
