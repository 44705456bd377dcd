"""Notebooks stand in for files of code: definitions and what they need are run, and nothing else is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from grader.errors import Ambiguous, Missing, StudentFault, UsageError
from grader.grading.engine import grade
from grader.grading.randomness import NO_SECRET
from grader.model import Limits, Report, Status
from grader.rubric.choosing import only
from grader.sandbox import BoxRunner
from grader.submission.notebooks import notebook_cells
from grader.submission.opening import open_submission
from tests.conftest import DRAW, sampled, the_rubric

RUBRIC = only(the_rubric("rubrics/dl-hw3/rubric.yaml"), ["2.1", "2.2"])

ATTENTION = """
def attention(Q, K, V, beta):
    s = beta * K.T @ Q
    e = np.exp(s - s.max(0))
    return V @ (e / e.sum(0))
"""
MULTI_HEAD = """
def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    split = [np.split(W @ C, heads) for W in (W_Q, W_K, W_V)]
    out = []
    for q, k, v in zip(*split):
        s = k.T @ q / np.sqrt(len(q))
        s = s if mask is None else np.where(mask, s, NEVER)
        out.append(v @ softargmax(s))
    return W_O @ np.concatenate(out)
"""


def notebook(*cells: Any, version: int = 4) -> str:
    """A notebook of code cells; one that begins with # is text."""
    if version == 3:
        old = [{"cell_type": "code", "language": "python", "input": cell, "outputs": []} for cell in cells]
        return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": old}]})
    made = []
    for cell in cells:
        text = isinstance(cell, str) and cell.startswith("#")
        more: dict[str, Any] = {} if text else {"execution_count": None, "outputs": []}
        made.append({"cell_type": "markdown" if text else "code", "metadata": {}, "source": cell, **more})
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made})


def handed_in(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "zoe"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def value(boxes: BoxRunner, tmp_path: Path, *cells: Any, version: int = 4, **files: str) -> Any:
    """What `attention(2.0)` returns, or the message of the fault."""
    path = handed_in(tmp_path, **{"hw3.ipynb": notebook(*cells, version=version)}, **files)
    with open_submission(path) as opened, boxes.open(opened.for_rubric(RUBRIC), Limits(), 0) as box:
        try:
            return box.call("attention.py", "attention", 2.0)
        except StudentFault as fault:
            return f"{fault.message}: {fault.detail}"


def lost(report: Report) -> list[str]:
    results = (result for problem in report.problems for result in problem.checks)
    return [f"{one.check.id}: {one.outcome.message}" for one in results if one.outcome.status is not Status.PASSED]


def test_a_whole_homework_in_one_notebook_earns_all_points(boxes: BoxRunner, tmp_path: Path) -> None:
    cells = [
        "# My homework",
        "!pip install torchvision \\\n    tqdm\n%matplotlib inline\nfrom google.colab import drive\ndrive.mount('/x')",
        "import numpy as np, torchvision\nimport matplotlib.pyplot as plt\nfrom tqdm.notebook import tqdm",
        "def attention(Q, K, V, beta):\n    return Q  # a first try",
        ATTENTION,
        "H = attention(np.eye(3), np.eye(3), np.eye(3), 1.0)\nprint(H)\nassert H[0, 0] > 5\nplt.imshow(H)",
        "NEVER = -1e30\nsoftargmax = lambda s: np.exp(s - s.max(0)) / np.exp(s - s.max(0)).sum(0)",
        MULTI_HEAD,
        "def oops(:\n    pass",
        "while True:\n    train()",
        "import torch\nclass Encoder(torchvision.Module):\n    inner = torch.nn.MultiheadAttention(8, 2)",
    ]
    path = tmp_path / "zoe.ipynb"
    path.write_text(notebook(*cells))
    with open_submission(path) as opened:
        report = grade(RUBRIC, opened, boxes, DRAW, notes=opened.notes)
    assert (report.submission, lost(report), report.points) == ("zoe", [], 20)
    assert report.notes == (
        "zoe.ipynb is read for its definitions and what they need: cell 9 is not valid Python (line 1); "
        "calls, loops and output were left out (cells 2, 6, 10)",
        NO_SECRET,
    )


@pytest.mark.parametrize(
    "cells",
    sampled(
        [
            ["def attention(x): return x + 1", "def attention(x): return x * 5"],
            ["def attention(x): return helper(x)", "def helper(x): return x * SCALE", "SCALE = 5"],
            ["SCALE = 2\nSCALE += 3\ndef attention(x): return x * SCALE"],
            ["SCALE, other = 5, 6", "def attention(x): return x * SCALE"],
            ["class A:\n    def __call__(self, x): return x * 5", "attention = A()"],
            ["attention = lambda x: 5 * x"],
            ["def mine(x): return x * 5", "attention = mine", "x = mine(2)"],
            ["def attention(x): return x * 5", "attention = attention(2)  # the result of trying it out"],
            ["class A:\n    pass", "A.five = 5", "def attention(x): return x * A.five"],
            ["class B:\n    five = 4", "class B(B):\n    five = 5", "def attention(x): return x * B.five"],
            ["five = 5", "def attention(x, by=five): return x * by", "five = 7"],
            ["def five(): return FIVE", "FIVE = 5", "N = five()", "FIVE = 6", "def attention(x): return x * 5"],
            ["five = 5", "fives = [five for _ in range(3)]", "five = 7", "def attention(x): return x * fives[0]"],
            ["def attention(x): return x if x >= 10 else attention(x + 8)"],
            ["def twice(f):\n    return lambda x: f(x) * 2", "@twice\ndef attention(x): return x * 2.5"],
            ["from math import *", "def attention(x): return x * floor(5.5)"],
            [
                "try:\n    import cupy as xp\nexcept ImportError:\n    import math as xp",
                "def attention(x): return x * xp.floor(5.5)",
            ],
            ["import sys\nif sys.maxsize > 0:\n    n = 5\nelse:\n    n = 1", "def attention(x): return x * n"],
            ["from nowhere import Tensor\ndef attention(x: Tensor) -> Tensor: return x * 5"],
            ["def attention(x):\n    display(x)\n    return x * 5"],
            [
                "%%time\nx = 7 \\\n  % 3\n!ls\nfiles = !ls\ndef attention(x):\n    %timeit x\n    return x * 5",
                "len?\n?len",
            ],
            ["s = '''\n%d items\n'''\ny = (7\n  % 2)\ndef attention(x): return x * (4 + y) * (len(s) == 10)"],
            [["def attention(x):\n", "    return x * 5"]],
            ["if __name__ == '__main__':\n    attention = 3", "def attention(x): return x * 5"],
            [
                "from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 5\n"
                "def attention(x): return x * C().n"
            ],
            [
                "%%bash\nrm -rf /",
                "def attention(x): return x * 5",
                "%%writefile attention.py\ndef attention(x): return 0",
            ],
            ["from help_me import five\ndef attention(x): return x * five"],
            [
                "def add_to(C):\n    return lambda f: setattr(C, f.__name__, f)",
                "class A:\n    pass\nclass B:\n    pass",
                "@add_to(A)\ndef f(self, x): return g(x)\n@add_to(B)\ndef f(self, x): return 0",
                "def g(x): return x * B().five",
                "setattr(B, 'five', 4)\nB.five += 1",
                "def attention(x): return A().f(x)",
                "import functools\n@functools.cache\ndef slow(): return nowhere\nslow()",
            ],
        ],
        3,
    ),
)
def test_a_name_means_what_it_means_after_all_cells_ran(boxes: BoxRunner, tmp_path: Path, cells: list[Any]) -> None:
    assert value(boxes, tmp_path, *cells, **{"help_me.py": "five = 5"}) == 10


def test_old_notebooks_are_read_too(boxes: BoxRunner, tmp_path: Path) -> None:
    assert value(boxes, tmp_path, ["def attention(x):\n", "  return x * 5"], version=3) == 10


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["# text", "def attention(x):\n\n    return x / 0"], "raised ZeroDivisionError at hw3.ipynb cell 2 line 3"),
        (
            ["import nowhere", "def attention(x):\n    return nowhere.f(x)"],
            "hw3.ipynb cell 2 line 2: nowhere was not handed in, and no library of that name is installed",
        ),
        (
            ["for n in range(3):\n    scale = n", "def attention(x):\n    return scale"],
            "NameError at hw3.ipynb cell 2 line 2",
        ),
        (
            ["x = 1", "def attention(a): return a\ndef other(b, b): pass"],
            "SyntaxError at hw3.ipynb cell 2 line 2: duplicate argument 'b'",
        ),
        (["attention = 3"], "attention() in hw3.ipynb cannot be called as the assignment calls it"),
        (["def attention(a, b): return a"], "attention() in hw3.ipynb cannot be called as the assignment calls it"),
        (["from attention import attention"], "attention.py was not handed in"),
        (["x = 1"], "attention.py was not handed in"),
    ],
)
def test_faults_name_the_cell_and_its_line(boxes: BoxRunner, tmp_path: Path, cells: list[str], said: str) -> None:
    assert said in value(boxes, tmp_path, *cells)


@pytest.mark.slow
def test_ready_made_functions_are_looked_for_only_in_what_is_asked(boxes: BoxRunner, tmp_path: Path) -> None:
    elsewhere = "import torch\ndef other(x): return torch.nn.MultiheadAttention(x)"
    within = "def attention(Q, K, V, beta):\n    from torch.nn import MultiheadAttention"
    for cells, first in (
        (["import numpy as np", ATTENTION, elsewhere], []),
        (
            ["", within],
            ["writes_it_out: hw3.ipynb cell 2 line 2 names torch.nn.MultiheadAttention, which is ready-made, "],
        ),
    ):
        with open_submission(handed_in(tmp_path, **{"hw3.ipynb": notebook(*cells)})) as opened:
            report = grade(RUBRIC, opened, boxes, DRAW)
        complaints = [said for said in lost(report) if said.startswith("writes_it_out: hw3")]
        assert [said[: len(first[0])] for said in complaints] == first


def _found(tmp_path: Path, **files: str) -> str:
    with open_submission(handed_in(tmp_path, **files)) as opened:
        return opened.for_rubric(RUBRIC).find("attention.py")


ALSO_DEFINES = notebook("def attention(Q): return -Q")
DEFINES, CALLS = notebook("def attention(Q): return Q"), notebook("from attention import attention\nattention = 3")


def test_two_that_define_the_same_are_both_named(tmp_path: Path) -> None:
    with pytest.raises(Ambiguous, match=r"attention\.py and src/hw3\.ipynb; keep one"):
        _found(tmp_path, **{"attention.py": "def attention(Q): return -Q", "src/hw3.ipynb": DEFINES})
    with pytest.raises(Ambiguous, match=r"more than once: a\.ipynb and src/hw3\.ipynb; keep one"):
        _found(tmp_path / "2", **{"a.ipynb": ALSO_DEFINES, "src/hw3.ipynb": DEFINES, "demo.ipynb": CALLS})
    with pytest.raises(Missing):
        _found(tmp_path / "3", **{"a.ipynb": notebook("x = 1")})


def test_a_notebook_that_only_uses_a_file_leaves_it_alone(tmp_path: Path) -> None:
    assert _found(tmp_path, **{"src/attention.py": "", "demo.ipynb": CALLS}) == "src/attention.py"
    assert _found(tmp_path / "2", **{"hw3.ipynb": DEFINES, "demo.ipynb": CALLS}) == "hw3.ipynb#attention.py"


@pytest.mark.parametrize("place", ["attention.py", "hw3.ipynb"])
def test_submission_yaml_says_which_of_two_counts(tmp_path: Path, place: str) -> None:
    said = f"files: {{attention.py: {place}}}"
    found = _found(tmp_path, **{"attention.py": "", "hw3.ipynb": DEFINES, "submission.yaml": said})
    assert found.removesuffix("#attention.py") == place


def _nested(depth: int) -> str:
    return '{"nbformat": 4, "cells": ' + "[" * depth + "]" * depth + "}"


HOSTILE = {
    "": "not JSON, or cut short",
    "PK\x03\x04": "a zip archive under another name",
    "[]": "not laid out as a notebook",
    _nested(100_000): "nested deeper than any notebook",
    notebook(*["x = 1"] * (notebook_cells.MAX_CELLS + 1)): "longer than 2000 cells",
    notebook("x = 1\n" * 20_000): "longer than 10000 statements",
    notebook("x = 1  " + "#" * notebook_cells.MAX_CODE_CHARACTERS): "longer than 500000 characters",
    notebook(3): "not laid out as a notebook",
    notebook(["a", 3]): "not laid out as a notebook",
    notebook({"a": "b"}): "not laid out as a notebook",
    notebook("x = 1").replace('"cell_type": "code", ', ""): "not laid out as a notebook",
    json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": 7}): "not laid out as a notebook",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=list(HOSTILE.values()))
def test_what_is_no_notebook_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    folder = handed_in(tmp_path, **{"hw3.ipynb": text, "attention.py": ""})
    with open_submission(folder) as opened:
        (note,) = opened.notes
        assert note.startswith("hw3.ipynb cannot be read as a notebook: it is ")
        assert HOSTILE[text] in note
        assert opened.for_rubric(RUBRIC).find("attention.py") == "attention.py"
    with (
        pytest.raises(UsageError, match=r"^hw3\.ipynb cannot be read as a notebook"),
        open_submission(folder / "hw3.ipynb"),
    ):
        pass


def test_a_cell_without_source_is_empty(boxes: BoxRunner, tmp_path: Path) -> None:
    book = json.loads(notebook("x = 1", "def attention(x): return x * 5"))
    del book["cells"][0]["source"]
    with open_submission(handed_in(tmp_path, **{"hw3.ipynb": json.dumps(book)})) as opened:
        assert opened.notes == ()
        with boxes.open(opened.for_rubric(RUBRIC), Limits(), 0) as box:
            assert box.call("attention.py", "attention", 2.0) == 10


def test_a_folder_under_the_name_of_a_notebook_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "hw3.ipynb").mkdir()
    with pytest.raises(notebook_cells.UnreadableNotebook, match="no file that can be read"):
        notebook_cells.read_notebook(tmp_path, "hw3.ipynb")


LONG = "作业" * 40  # 240 bytes, where a name may have 255 and a part's name is longer than its notebook's


def test_a_notebook_with_a_very_long_name_is_as_good_as_another(boxes: BoxRunner, tmp_path: Path) -> None:
    path = tmp_path / f"{LONG}.ipynb"
    path.write_text(notebook("# 1.1.a\nx", "import numpy as np", ATTENTION))
    with open_submission(path) as opened:
        assert opened.for_rubric(RUBRIC).read("answers.md") == b"# 1.1.a\nx"
        assert lost(grade(only(RUBRIC, ["2.1"]), opened, boxes, DRAW)) == []
    with pytest.raises(Ambiguous):
        _found(tmp_path, **{f"{LONG}1.ipynb": DEFINES, f"{LONG}2.ipynb": ALSO_DEFINES})


def test_a_folder_where_a_part_of_a_notebook_would_be_written_is_said(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, **{"hw3.ipynb": DEFINES, "hw3.ipynb#attention.py/x.py": ""})
    with open_submission(folder) as opened:
        (note,) = opened.notes
        assert "hw3.ipynb cannot be read as a notebook" in note
        with pytest.raises(Missing):
            opened.for_rubric(RUBRIC).find("attention.py")


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "-" * 100_000 + "1",
        "x = " + "+".join("1" * 100_000),
        "x = a" + ".b" * 60_000,
        "x = '\ud800'",
        "x = 1\0",
        "%time x\n" + " " * 400_000 + "y = (",
        "%time x\n" + "f?" + " " * 400_000 + ".",
    ],
    ids=["minus", "plus", "dots", "surrogate", "nul", "indent", "spaces"],
)
def test_a_cell_no_parser_can_take_costs_only_itself(boxes: BoxRunner, tmp_path: Path, code: str) -> None:
    assert value(boxes, tmp_path, code, "def attention(x): return x * 5") == 10


def test_a_long_chain_of_elif_is_read_once(boxes: BoxRunner, tmp_path: Path) -> None:
    chain = "mode = 3\nif mode == 0:\n    SCALE = 0\n" + "".join(
        f"elif mode == {number}:\n    SCALE = {number + 2}\n" for number in range(1, 60)
    )
    assert value(boxes, tmp_path, chain, "def attention(x): return x * SCALE") == 10


def test_code_outside_cells_is_never_seen(boxes: BoxRunner, tmp_path: Path) -> None:
    book = json.loads(notebook("x = 1"))
    hidden = "def attention(x): return 42"
    book["metadata"] = {"source": hidden, "cells": [{"cell_type": "code", "source": hidden}]}
    book["cells"][0]["metadata"] = {"source": hidden}
    book["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": hidden}]
    book["cells"].append({"cell_type": "raw", "metadata": {}, "source": hidden})
    with pytest.raises(Missing):
        _found(tmp_path, **{"hw3.ipynb": json.dumps(book)})


@pytest.mark.slow
def test_large_outputs_and_tangled_names_take_no_time(tmp_path: Path) -> None:
    book = json.loads(notebook("def attention(x): return x"))
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 30_000_000}}
    book["cells"][0]["outputs"] = [picture]
    chain = "x0 = 1\n" + "".join(f"x{n} = x{n - 1} + f()\n" for n in range(1, 3_000))
    tangled = "def f(): return " + " + ".join(f"x{n}" for n in range(2_000)) + "\n" + chain
    began = time.process_time()
    assert _found(tmp_path, **{"hw3.ipynb": json.dumps(book)}) == "hw3.ipynb#attention.py"
    cells = notebook(tangled, "def attention(x): return x2999")
    assert _found(tmp_path / "2", **{"hw3.ipynb": cells}) == "hw3.ipynb#attention.py"
    assert time.process_time() - began < 10


ANSWERS = the_rubric("rubrics/dl-hw3/rubric.yaml")
WRITTEN = [
    "# Homework 3",
    "x = 1",
    "## 1.1.a\n$$H = V \\mathrm{softargmax}_\\beta(K^\\top Q)$$",
    "# 1.1.b\n$\\beta = d$",
]


def _formulas(boxes: BoxRunner, path: Path) -> list[str]:
    asked = only(ANSWERS, ["1.1.a", "1.1.b"])
    with open_submission(path) as opened:
        report = grade(asked, opened, boxes, DRAW, notes=opened.notes)
    return [str(problem.checks[0].outcome.status) for problem in report.problems]


def test_text_cells_are_the_sheet_of_answers_where_there_is_no_other(boxes: BoxRunner, tmp_path: Path) -> None:
    alone = tmp_path / "zoe.ipynb"
    alone.write_text(notebook(*WRITTEN))
    assert _formulas(boxes, alone) == ["passed", "failed"]
    beside = handed_in(tmp_path, **{"hw3.ipynb": notebook(*WRITTEN), "answers.md": "## 1.1.b\n$\\beta = 1/\\sqrt d$\n"})
    assert _formulas(boxes, beside) == ["missing", "passed"]


def test_of_two_notebooks_with_text_the_one_that_answers_parts_is_the_sheet(boxes: BoxRunner, tmp_path: Path) -> None:
    two = handed_in(tmp_path, **{"a.ipynb": notebook(*WRITTEN), "b.ipynb": notebook("# Plots", "x = 1")})
    assert _formulas(boxes, two) == ["passed", "failed"]


def test_of_two_notebooks_with_other_answers_submission_yaml_says_which_counts(
    boxes: BoxRunner, tmp_path: Path
) -> None:
    other = [cell.replace("V", "U") for cell in WRITTEN]
    two = handed_in(tmp_path, **{"a.ipynb": notebook(*WRITTEN), "b.ipynb": notebook(*other)})
    assert _formulas(boxes, two) == ["review", "review"]
    (two / "submission.yaml").write_text("files: {answers.md: a.ipynb}\n")
    assert _formulas(boxes, two) == ["passed", "failed"]


def test_a_value_with_its_type_is_taken_along_with_what_needs_it(boxes: BoxRunner, tmp_path: Path) -> None:
    assert value(boxes, tmp_path, "SCALE: int = 5", "def attention(x): return x * SCALE") == 10
