"""Where student code runs, and the only place it does."""

from grader.sandbox.runner import BoxRunner

__all__ = ["BoxRunner"]
