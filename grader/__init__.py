"""An auto-grader for homework on attention and Transformers."""

__version__ = "0.1.0"
