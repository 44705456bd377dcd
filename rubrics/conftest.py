"""Tests of assignments use the fixtures of the grader's own tests, and import the assignments as packages."""

from pathlib import Path

from grader.plugins import Plugin
from tests.conftest import boxes, submission, torch_boxes

__all__ = ["boxes", "submission", "torch_boxes"]

for _rubric in Path(__file__).parent.glob("*/rubric.yaml"):
    Plugin(_rubric.parent).register()
