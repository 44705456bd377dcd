"""A box for code that has nothing to do with torch is forked from a process without it; all others have it loaded."""

from __future__ import annotations

import pytest

from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.sandbox.host.mentioned_libraries import HEAVY, mentions
from tests.conftest import MakeSubmission

IS_LOADED = "import sys\ndef f():\n    return 'to' + 'rch' in sys.modules\n"


def test_what_a_file_may_import_is_looked_at_too(submission: MakeSubmission) -> None:
    files = {
        "plain.py": "import numpy as np",
        "direct.py": "import torch",
        "through.py": "from helper import x",
        "helper.py": "from pack import y",
        "pack/__init__.py": "from .inner import y",
        "pack/inner.py": "from torch import nn",
        "hw.ipynb#attention.py": '{"cells": [{"source": "import torch"}]}',
        "round.py": "import about",
        "about.py": "import round",
    }
    work = submission(**files)
    found = {file for file in files if mentions(work.folder, file, HEAVY)}
    assert found == {
        "direct.py",
        "through.py",
        "helper.py",
        "pack/__init__.py",
        "pack/inner.py",
        "hw.ipynb#attention.py",
    }
    assert mentions(work.folder, "gone.py", HEAVY)


def test_torch_is_loaded_where_it_is_named(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{"plain.py": IS_LOADED, "named.py": f"# torch\n{IS_LOADED}"})
    for file, loaded in (("plain.py", False), ("named.py", True), ("plain.py", False)):
        with torch_boxes.open(work, Limits(), 0) as box:
            assert box.call(file, "f") is loaded


@pytest.mark.slow
def test_torch_can_be_imported_where_it_was_not_foreseen(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "def f():\n    return float(__import__('to' + 'rch').ones(2).sum())\n"
    with torch_boxes.open(submission(code), Limits(), 0) as box:
        assert box.call("work.py", "f") == 2.0
