"""A module on the workbench: its parameters are found and set, and what every module is held to is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from grader.model import Limits, Outcome
from grader.modules.obligations import irregular, trained, wrong_shape
from grader.modules.workbench import Workbench, started
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

WORK = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.map, self.unused = nn.Linear(width, 2), nn.Linear(width, width)

    def forward(self, x):
        return {forward}
"""
RNG = np.random.default_rng(2)
X = RNG.normal(size=(2, 3, 4))

OnBench = Callable[[str], Workbench]


@pytest.fixture
def bench(torch_boxes: BoxRunner, submission: MakeSubmission) -> Iterator[OnBench]:
    with ExitStack() as boxes:

        def on_bench(forward: str) -> Workbench:
            work = submission(WORK.replace("{forward}", forward))
            box: Any = boxes.enter_context(torch_boxes.open(work, Limits(), 0))
            return started(Workbench(box, "work.py", "Layer", [4]), RNG, (X,))

        yield on_bench


def test_its_parameters_are_set_and_those_in_use_are_known(bench: OnBench) -> None:
    layer = bench("self.map(x)")
    (output,) = layer.run((X,)).outputs
    np.testing.assert_allclose(output, X @ layer.values["map.weight"].T + layer.values["map.bias"])
    assert layer.influential(RNG, (X,)) == {"map.weight", "map.bias"}
    assert wrong_shape(layer, [((X,), (2, 3, 2))]) is None
    assert irregular(layer, (X,)) is None
    assert trained(layer, RNG, (X,)).score == 1


@pytest.mark.parametrize(
    ("forward", "code"),
    [
        ("self.map(x.transpose(0, 1))", "wrong_output_shape"),
        ("self.map(x - x.mean(0))", "mixes_batch_items"),
        ("self.map(x + torch.rand(()))", "not_repeatable"),
        ("self.map(nn.functional.dropout(x))", "dropout_in_evaluation"),
        ("self.map(x.mul_(2))", "changes_its_input"),
        ("self.map(x.detach())", "wrong_input_gradient"),
        ("nn.functional.linear(x, self.map.weight, self.map.bias.detach())", "no_gradient"),
    ],
)
def test_what_every_module_is_held_to_is_noticed(bench: OnBench, forward: str, code: str) -> None:
    layer = bench(forward)
    shape = wrong_shape(layer, [((X,), (2, 3, 2))])
    wrong: Outcome = shape[1] if shape else irregular(layer, (X,)) or trained(layer, RNG, (X,))
    assert wrong.code == code


def test_a_wrong_shape_is_named_before_a_crash_further_on(bench: OnBench) -> None:
    layer = bench("self.map(x)[:, :2] if x.shape[1] == 3 else self.map(x[:, :, :1])")
    shape = wrong_shape(layer, [((X,), (2, 3, 2)), ((X[:, :2],), (2, 2, 2))])
    assert shape is not None
    assert shape[1].code == "wrong_output_shape"
