"""A module built and run beside the student's code: what comes back for each list of inputs and each change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.sandbox.box.probes.configured_module import run_configured

SCALE = """
import torch

class Scale(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.by = torch.nn.Parameter(torch.tensor(float(config.by)))
        self.register_buffer("seen", torch.zeros(2, 3))

    def forward(self, x):
        return self.by * x
"""
X = np.array([1.0, 2.0])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """In the tests' own process, which has to find the grader's modules afterwards as before."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    (tmp_path / "scale.py").write_text(SCALE)

    def ran(parameters: dict[str, Any], cotangents: list[Any], **more: Any) -> dict[str, Any]:
        return run_configured(str(tmp_path / "scale.py"), "Scale", {"by": 2}, parameters, [[X]], cotangents, **more)

    return ran


def test_each_change_is_made_alone_and_taken_back(run: Any) -> None:
    reply = run({}, [], changes=[{"by": np.array(5.0)}, {}])
    (changed,), (unchanged,) = reply["changed"]
    np.testing.assert_array_equal(changed.numpy(), 5 * X)
    np.testing.assert_array_equal(unchanged.numpy(), 2 * X)
    assert float(reply["parameters"]["by"]) == 2
    assert run({}, [])["changed"] == []


def test_parameters_are_set_and_gradients_are_those_of_the_sum(run: Any) -> None:
    reply = run({"by": np.array(3.0)}, [np.array([1.0, 10.0])])
    np.testing.assert_array_equal(reply["outputs"][0].detach().numpy(), 3 * X)
    assert float(reply["gradients"]["by"]) == 1 * 1 + 10 * 2
    np.testing.assert_array_equal(reply["input_gradients"][0][0].numpy(), [3, 30])
    assert (reply["trainable"], reply["buffers"]) == (["by"], {"seen": [2, 3]})


def test_without_cotangents_and_for_outputs_that_do_not_fit_there_are_no_gradients(run: Any) -> None:
    assert run({}, [])["gradients"] == {}
    assert run({}, [np.ones(3)])["gradients"] == {}
