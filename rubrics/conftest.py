"""Tests of assignments use the fixtures and rules of the grader's own tests, and import the assignments as packages."""

from pathlib import Path

from grader.plugins import Plugin
from tests.conftest import (
    boxes,
    pytest_configure,
    pytest_ignore_collect,
    pytest_runtest_makereport,
    submission,
    torch_boxes,
)

__all__ = [
    "boxes",
    "pytest_configure",
    "pytest_ignore_collect",
    "pytest_runtest_makereport",
    "submission",
    "torch_boxes",
]

for _rubric in Path(__file__).parent.glob("*/rubric.yaml"):
    Plugin(_rubric.parent).register()
