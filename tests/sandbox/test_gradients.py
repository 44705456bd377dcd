"""A gradient is taken without what torch loads for `backward(cotangent)`, and is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.errors import Crashed
from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

MODULE = """
    import sys
    import torch
    from torch import nn

    class Module(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.weight = nn.Parameter(torch.full((3,), 2.0))
            self.unused = nn.Parameter(torch.zeros(1))
            self.kind = kind

        def forward(self, x):
            if self.kind == "short":
                return (self.weight * x)[:1]
            if self.kind == "single":
                return (self.weight * x).float()
            return self.weight * x ** 2 / x.sum()

    def loaded():
        return [name in sys.modules for name in ("torch", "torch.fx.experimental.symbolic_shapes", "sympy")]
"""


@pytest.mark.slow
def test_a_gradient_loads_nothing_and_is_what_backward_gives(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    import torch

    rng = np.random.default_rng(5)
    x, cotangent = rng.normal(size=(2, 4, 3)), rng.normal(size=(4, 3))
    with torch_boxes.open(submission(MODULE), Limits(), 0) as box:

        def gradients(kind: str, given: Any = cotangent) -> Any:
            asked = {
                "name": "Module",
                "build": {"kind": kind},
                "inputs": [[one] for one in x],
                "cotangents": [given] * 2,
            }
            return box.probe("run_configured", "work.py", **asked)

        found = gradients("plain")
        assert box.call("work.py", "loaded") == [True, False, False]
        for given, (got,) in zip(x, found["input_gradients"], strict=True):
            tensor = torch.from_numpy(given).requires_grad_()
            (2.0 * tensor**2 / tensor.sum()).backward(torch.from_numpy(cotangent))
            assert tensor.grad is not None
            np.testing.assert_array_equal(got, tensor.grad.numpy())
        assert set(found["parameters"]) - set(found["gradients"]) == {"unused"}
        (single,), _ = gradients("single")["input_gradients"]
        np.testing.assert_array_equal(single, np.float32(cotangent) * 2.0)
        assert gradients("short")["input_gradients"] == [[None], [None]]  # no product with what has another shape


@pytest.mark.slow
def test_code_may_write_into_an_input_whose_gradient_is_not_wanted(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    work = submission(MODULE.replace("return self.weight * x ** 2 / x.sum()", "x += 1; return self.weight * x"))
    ones = np.ones(3)
    asked = {"name": "Module", "build": {"kind": "plain"}, "inputs": [[ones]], "cotangents": [ones]}
    with torch_boxes.open(work, Limits(), 0) as box:
        found = box.probe("run_configured", "work.py", **asked, tell=["parameters"])
        assert found["gradients"]["weight"].tolist() == [2, 2, 2]
        with pytest.raises(Crashed, match="RuntimeError"):
            box.probe("run_configured", "work.py", **asked)


NAMED = """
import torch

class Named(torch.nn.Module):
    def __init__(self, hidden, dim=4):
        super().__init__()
        self.sizes = dim, hidden

    def forward(self, x):
        return x * torch.tensor(self.sizes)

class Renamed(Named):
    def __init__(self, width, inner):
        super().__init__(inner, width)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Named", "Renamed"])
def test_a_module_is_built_by_name_or_else_in_order(
    torch_boxes: BoxRunner, submission: MakeSubmission, name: str
) -> None:
    with torch_boxes.open(submission(NAMED), Limits(), 0) as box:
        found = box.probe("run_configured", "work.py", name=name, build={"dim": 2, "hidden": 3}, inputs=[[np.ones(2)]])
        assert found["outputs"][0].tolist() == [2, 3]
