"""Ground truth: attention and Transformers as the homework defines them, written to be read.

Nothing here imports `grader`, and nothing here is ever visible to student code.
"""
