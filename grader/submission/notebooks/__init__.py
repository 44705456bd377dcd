"""Notebooks as a place to find definitions in: read and parsed, never run."""

from grader.submission.notebooks.handed_in import ENDING, parts_holding, read_all, sheets_in
from grader.submission.notebooks.notebook_cells import Notebook

__all__ = ["ENDING", "Notebook", "parts_holding", "read_all", "sheets_in"]
