"""What counts as using a ready-made function: a library's, plainly written; never the student's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.checks.source import writes_it_out
from grader.model import Limits, Outcome, Status
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

FORBIDDEN = ["scaled_dot_product_attention", "MultiheadAttention"]


def _judged(boxes: BoxRunner, work: Any) -> Outcome:
    with boxes.open(work, Limits(), seed=0) as student:
        return writes_it_out(student, np.random.default_rng(0), file="a.py", forbidden=FORBIDDEN)


USED = {
    "attribute": "import torch\ntorch.nn.functional.scaled_dot_product_attention(1)",
    "alias": "import torch.nn.functional as F\nF.scaled_dot_product_attention(1)",
    "from import": "from torch.nn.functional import scaled_dot_product_attention as sdpa",
    "inside a function": "def f():\n    from torch.nn import MultiheadAttention",
    "alias of a part": "import torch\nlayers = torch.nn\nlayers.MultiheadAttention(1)",
    "getattr": "import torch\ngetattr(torch.nn, 'MultiheadAttention')",
    "star": "from torch.nn import *\nMultiheadAttention(1)",
    "behind a decoy": "from torch.nn import MultiheadAttention\ndef f():\n    def MultiheadAttention(): pass",
}

OWN = {
    "method": "class A:\n    def MultiheadAttention(self): pass\n    def f(self): self.MultiheadAttention()",
    "object": "class A:\n    def MultiheadAttention(self): pass\na = A()\na.MultiheadAttention()",
    "function": "def scaled_dot_product_attention(): pass\nscaled_dot_product_attention()",
    "words": "'''scaled_dot_product_attention'''\n# MultiheadAttention\n__all__ = ['MultiheadAttention']",
    "byte order mark": "\ufeffx = 1",
}


@pytest.mark.parametrize("code", USED.values(), ids=list(USED))
def test_a_librarys_function_is_found(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    found = _judged(boxes, submission(**{"a.py": code}))
    assert found.status is Status.FAILED
    assert found.message.startswith("a.py:")


@pytest.mark.parametrize("code", OWN.values(), ids=list(OWN))
def test_a_students_own_is_not(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    assert _judged(boxes, submission(**{"a.py": code})).status is Status.PASSED


@pytest.mark.parametrize("helper", ["layers.py", "layers/__init__.py"])
def test_helper_files_are_read_too(boxes: BoxRunner, submission: MakeSubmission, helper: str) -> None:
    calls = "import layers\nlayers.scaled_dot_product_attention(1)"
    own = submission(**{"a.py": calls, helper: "def scaled_dot_product_attention(x): return x"})
    assert _judged(boxes, own).status is Status.PASSED
    handed_on = submission(**{"a.py": calls, helper: "from torch.nn.functional import scaled_dot_product_attention"})
    assert f"{helper}:1 uses" in _judged(boxes, handed_on).message


def test_more_files_than_are_read_is_for_a_person(boxes: BoxRunner, submission: MakeSubmission) -> None:
    files = {f"m{n}.py": f"import m{n + 1}" for n in range(300)}
    assert _judged(boxes, submission(**{"a.py": "import m0", **files})).status is Status.REVIEW
