"""A student's two functions of rotary positions, asked alone and replaced: whose cache is used, what is handed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rubric_nlp_a5 import probes

from grader.errors import StudentFault
from grader.model import Box, Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission, raises

WORK = """
import torch

def precompute(dim, positions):
    return torch.full((positions, dim), 2.0, dtype=torch.float64)

def apply(x, rope_cache):
    return x * rope_cache

class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.cache = precompute(2, config.positions)

    def forward(self, x):
        return apply(rope_cache=self.cache, x=x)
"""
X = np.arange(6.0).reshape(3, 2)


@pytest.fixture
def student(torch_boxes: BoxRunner, submission: MakeSubmission) -> Iterator[Box]:
    with torch_boxes.open(submission(WORK), Limits(), 0) as box:
        yield box


def test_their_own_cache_is_used_unless_another_is_given(student: Box) -> None:
    asked = {"name": "apply", "precompute": "precompute", "dim": 2, "positions": 3, "inputs": [X]}
    own = student.probe(probes.rotate, "work.py", **asked)
    given = student.probe(probes.rotate, "work.py", **asked, cache=np.full((3, 2), 5.0))
    np.testing.assert_array_equal(own["rotated"][0], 2 * X)
    np.testing.assert_array_equal(own["cache"][0], np.full((3, 2), 2.0))
    np.testing.assert_array_equal(given["rotated"][0], 5 * X)
    assert given["cache"] == []


def test_given_rotations_stand_in_place_of_both_functions_however_they_are_called(student: Box) -> None:
    def outputs(positions: int, **more: Any) -> Any:
        asked: dict[str, Any] = {"name": "Attention", "parameters": {}, "inputs": [[X]], "cotangents": []}
        probe = probes.run_with_rotations if more else "run_configured"
        return student.probe(probe, "work.py", **asked, config={"positions": positions}, **more)["outputs"]

    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    names = {"precompute": "precompute", "apply": "apply"}
    rotations = {**names, "cache": np.ones((4, 2)), "matrices": np.array([turn] * 4)}
    np.testing.assert_array_equal(outputs(3)[0], 2 * X)
    np.testing.assert_array_equal(outputs(3, rotations=rotations)[0], X @ turn.T)
    with raises(StudentFault, "raised"):
        outputs(5, rotations=rotations)
    np.testing.assert_array_equal(outputs(3)[0], 2 * X)
