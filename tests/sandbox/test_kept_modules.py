"""A module that was asked before stands in for a new one only where nothing can tell them apart."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader.sandbox.inside import configured, kept_modules, purity, worker

X = np.arange(6.0).reshape(1, 2, 3)
HEAD = """
import random
from collections import defaultdict
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
"""
BEGINS = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.sizes = [width, {"of": (width, 2)}]
"""
FORWARD = "    def forward(self, x):\n"
PLAIN = HEAD + BEGINS + FORWARD + "        return self.linear(x)\n"
# What a fresh module answers with, and one that was asked before would not: each by another thing that it keeps.
KEEPING = {
    "an attribute": "        self.calls = getattr(self, 'calls', 0) + 1\n        return self.linear(x) + self.calls\n",
    "a list": "        self.sizes.append(1)\n        return self.linear(x) + len(self.sizes)\n",
    "a dictionary": "        self.sizes[1][x] = 1\n        return self.linear(x) + len(self.sizes[1])\n",
    "a loose tensor": "        self.table.add_(1)\n        return self.linear(x) + self.table\n",
    "what is trained": "        self.linear.weight.requires_grad_(False)\n        return self.linear(x)\n",
    "a shape": """        if self.linear.bias.dim() == 1:
            with torch.no_grad():
                self.linear.bias.unsqueeze_(0)
        return x @ self.linear.weight + self.linear.bias
""",
    "a mode": "        self.train()\n        return F.dropout(self.linear(x), 0.5, self.training)\n",
    "a part": "        self.more = nn.Linear(3, 3)\n        return self.linear(x)\n",
    "a hook": "        self.linear.weight.register_hook(lambda g: 2 * g)\n        return self.linear(x)\n",
}
# The same by what a constructor puts where nobody looks for it.
COUNTS = """
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
    def up(self):
        self.n += 1
        return self.n
"""
HIDDEN = {
    "a part in a list": ("self.parts = [Counts()]", "self.parts[0].up()"),
    "a part that is a key": ("self.parts = {Counts(): 0}", "list(self.parts)[0].up()"),
    "a tensor that is a key": ("self.keys = {torch.zeros(1, dtype=x): 0}", "list(self.keys)[0].add_(1)"),
    "a method of a list": (
        "seen = []\n        self.add, self.count = seen.append, seen.count",
        "self.count(self.add(1))",
    ),
    "a method of a tensor": ("self.up = torch.zeros(1, dtype=x).add_", "self.up(1)"),
    "a method of chance": ("self.draw = random.Random(0).random", "self.draw()"),
    "the sign of nothing": (
        "self.zero = torch.zeros(1, dtype=x)",
        "(torch.sign(1 / self.zero) + self.zero.fill_(-0.0))",
    ),
    "a dictionary that makes its values": ("self.made = defaultdict([1, 2, 3, 4, 5].pop)", "self.made_anew()"),
    "another key that equals the first": ("self.sizes[1] = {0: 1}", "self.renamed()"),
}
RENAMED = """
    def renamed(self):
        (key,) = list(self.sizes[1])
        del self.sizes[1][key]
        self.sizes[1][key + 0.0] = 1
        return 2 if isinstance(key, float) else 1
    def made_anew(self):
        value = self.made[0]
        del self.made[0]
        return value
"""
# Right as they are, and to be built for every question: what they hold cannot be written back, or not be compared.
INNOCENT = {
    "numbers that share a place": "        self.register_buffer('by', torch.arange(3).expand(4, 3))\n",
    "numbers made where nothing is written": """        with torch.inference_mode():
            self.register_buffer('by', torch.arange(3).expand(4, 3)[:1])
""",
    "numbers that are mostly left out": """        self.register_buffer('sparse', torch.eye(3).to_sparse())
        self.register_buffer('by', torch.arange(3).view(1, 3))
""",
    "a tensor without numbers": """        self.register_buffer('by', torch.arange(3).view(1, 3))
        self.none = torch.zeros(3, device='meta')
""",
}
# Constructors of which two runs differ, or that show.
BUILDING = {
    "numpy's chance": "        self.by = float(np.random.rand())\n",
    "Python's chance": "        self.by = random.random()\n",
    "something printed": "        self.by = 1.0\n        print('built')\n",
}


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of what was built, in order."""
    names, path = list[str](), list(sys.path)
    build = configured.built

    def noted(file: str, name: str, *given: Any) -> Any:
        names.append(name)
        return build(file, name, *given)

    monkeypatch.setattr(configured, "built", noted)
    monkeypatch.chdir(tmp_path)
    worker.forget(str(tmp_path), path)  # what other tests had this process read under the same name
    yield names
    worker.forget(str(tmp_path), path)


def _asked(code: str, times: int = 3, **more: Any) -> list[dict[str, Any]]:
    """What comes back for the same question asked again and again, and for another one in between."""
    Path("block.py").write_text(code)
    ask = [{"inputs": [[X]], "cotangents": [np.ones((1, 2, 3))]}, {"inputs": [[X], [2 * X]], "cotangents": []}]
    values = {"linear.weight": 3 * np.eye(3)}
    worker.seed(5)
    replies = []
    for number in range(times):
        parameters = values if number % 2 else {}
        replies.append(configured.run_configured("block.py", "Block", [3], parameters, **ask[number % 2], **more))
    return replies


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [one for key in value for one in (key, *_flat(value[key]))]
    if isinstance(value, list | tuple):
        return [one for item in value for one in _flat(item)]
    return [value.detach().numpy().tobytes() if isinstance(value, torch.Tensor) else value]


def test_a_module_that_keeps_nothing_is_built_once_and_answers_as_a_new_one(built: list[str]) -> None:
    dropping = HEAD + BEGINS + FORWARD + "        return F.dropout(self.linear(x), 0.5)\n"
    for code in (PLAIN, dropping):
        kept = _flat(_asked(code, 4))
        assert built == ["Block"]
        built.clear()
        worker.forget(str(Path.cwd()), list(sys.path))
        replies = []
        for number in range(4):  # with nothing kept
            replies.append(_asked(code, number + 1)[-1])
            worker.forget(str(Path.cwd()), list(sys.path))
        assert _flat(replies) == kept
        built.clear()


@pytest.mark.parametrize("what", KEEPING)
def test_a_module_that_keeps_anything_is_built_anew(built: list[str], what: str) -> None:
    loose = "        self.table = torch.zeros(3, dtype=torch.float64)\n" if "table" in KEEPING[what] else ""
    code = HEAD + BEGINS + loose + FORWARD + KEEPING[what]
    first, second, third = _asked(code)
    assert built == ["Block"] * 3
    assert not any(one["steady"] for one in (first, second, third))
    assert _flat(third["outputs"]) == _flat(first["outputs"])


@pytest.mark.parametrize("what", HIDDEN)
def test_a_module_that_keeps_something_out_of_sight_is_built_anew(built: list[str], what: str) -> None:
    held, asked = HIDDEN[what]
    holds = f"        {held}\n".replace("dtype=x", "dtype=torch.float64")
    code = HEAD + COUNTS + BEGINS + holds + RENAMED + FORWARD + f"        return self.linear(x) * {asked}\n"
    first, _, third = _asked(code)
    assert purity.what_it_may_keep("block.py") == ""
    assert built == ["Block"] * 3
    assert _flat(third["outputs"]) == _flat(first["outputs"])


@pytest.mark.parametrize("what", INNOCENT)
def test_a_module_that_cannot_be_renewed_is_built_anew_and_works(built: list[str], what: str) -> None:
    code = HEAD + BEGINS + INNOCENT[what] + FORWARD + "        return self.linear(x) + self.by[0]\n"
    first, _, third = _asked(code, tell=())
    assert built == ["Block"] * 3
    assert _flat(third["outputs"]) == _flat(first["outputs"])


@pytest.mark.parametrize("draw", ["np.random", "random"])
def test_a_constructor_that_seeds_is_run_where_chance_has_gone_on(built: list[str], draw: str) -> None:
    """Once chance is where the seed brings it, a second run of the constructor moves nothing."""
    seeds = f"        {draw}.seed(0)\n"
    forward = f"        return self.linear(x) * (1 if x.max() < 6 else {draw}.random())\n"
    code = HEAD + BEGINS + seeds + FORWARD + forward
    Path("block.py").write_text(code)
    worker.seed(5)
    ask = [configured.run_configured("block.py", "Block", [3], {}, [[by * X]], []) for by in (1, 1, 2, 2)]
    assert _flat(ask[2]["outputs"]) == _flat(ask[3]["outputs"])
    assert len(built) == 3  # the third has what the second left as it was


def test_what_calls_do_to_values_is_undone_and_is_not_steady(built: list[str]) -> None:
    counting = "        self.linear.weight.data.zero_()\n        return self.linear(x)\n"
    first, second, third = _asked(HEAD + BEGINS + FORWARD + counting)
    assert built == ["Block"]
    assert (first["steady"], second["steady"]) == (False, False)
    assert _flat(third) == _flat(first)
    worker.forget(str(Path.cwd()), list(sys.path))
    assert all(one["steady"] for one in _asked(PLAIN))


@pytest.mark.parametrize("what", BUILDING)
def test_a_constructor_of_which_two_runs_differ_runs_for_every_question(built: list[str], what: str) -> None:
    _asked(HEAD + BEGINS + BUILDING[what] + FORWARD + "        return self.by * self.linear(x)\n")
    assert built == ["Block"] * 3


def test_code_that_may_keep_something_elsewhere_is_built_anew(built: list[str]) -> None:
    _asked(PLAIN + "\nSEEN = []\n")
    assert purity.what_it_may_keep("block.py")
    assert built == ["Block"] * 3


def test_a_module_that_raised_is_not_asked_again(built: list[str]) -> None:
    code = HEAD + BEGINS + FORWARD + "        assert x.max() < 6\n        return self.linear(x)\n"
    _asked(code, 1)
    with pytest.raises(AssertionError):
        configured.run_configured("block.py", "Block", [3], {}, [[9 * X]], [])
    assert not kept_modules._kept
    _asked(code, 1)
    assert built == ["Block"] * 2
