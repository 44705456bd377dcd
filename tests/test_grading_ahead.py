"""A class whose boxes answer before they are asked is told what it would be told otherwise."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.engine import grade
from grader.errors import Crashed
from grader.model import Check, Limits, Outcome, Problem, Rubric, Submission, failed, passed
from grader.report.json_report import as_data
from grader.sandbox import BoxRunner
from grader.sandbox.forked_box import ForkedBox
from tests.conftest import DRAW, MakeSubmission, the_rubric

RIGHT = """import numpy as np


def softargmax(scores, beta):
    scores = beta * scores
    weights = np.exp(scores - scores.max(axis=0, keepdims=True))
    return weights / weights.sum(axis=0, keepdims=True)


def attention(Q, K, V, beta):
    return V @ softargmax(K.T @ Q, beta)
"""
HEADS = """import numpy as np
from attention import softargmax


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    size = len(W_Q) // heads
    found = []
    for head in range(heads):
        rows = slice(head * size, (head + 1) * size)
        scores = (W_K[rows] @ C).T @ (W_Q[rows] @ C)
        if mask is not None:
            scores = np.where(mask, scores, -1e30)
        found.append(W_V[rows] @ C @ softargmax(scores, 1 / np.sqrt(size)))
    return W_O @ np.concatenate(found)
"""
FIRST = "def attention(Q, K, V, beta):\n"
# All of it keeps nothing, as far as reading tells.
WORK = {
    "right": (RIGHT, HEADS),
    "overflows": (RIGHT.replace(" - scores.max(axis=0, keepdims=True)", ""), HEADS),
    "prints and is wrong": (RIGHT.replace(FIRST, f"{FIRST}    print('Q is', Q.shape)\n    K = 2 * K\n"), HEADS),
    "prints and is right": (RIGHT.replace(FIRST, f"{FIRST}    print('Q is', Q.shape)\n"), HEADS),
    "raises for one key": (RIGHT.replace(FIRST, f"{FIRST}    assert K.shape[1] > 1, 'one key'\n"), HEADS),
    "is missing the second file": (RIGHT, ""),
    "has an empty second function": (
        RIGHT,
        "def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None): pass\n",
    ),
    "ignores the mask": (RIGHT, HEADS.replace("if mask is not None", "if mask is None and mask is not None")),
    "writes into its arguments": (
        RIGHT.replace(FIRST, f"{FIRST}    Q *= 1.0\n    K += 1e-300\n    V[0, 0] += 1\n"),
        HEADS,
    ),
    "cannot be imported": (RIGHT.replace("import numpy as np", "import numpy as np\nLIMIT = 1 / 0"), HEADS),
    "has a syntax error": (RIGHT.replace("return V @", "return V @@"), HEADS),
    "calls itself for ever": (RIGHT.replace(FIRST, f"{FIRST}    return attention(Q, K, V, beta)\n"), HEADS),
    "takes all memory": (RIGHT.replace(FIRST, f"{FIRST}    np.ones((10**6, 10**6))\n"), HEADS),
    "takes other arguments": (RIGHT.replace("K, V, beta)", "K, V)"), HEADS),
    "keeps what it was asked": (RIGHT.replace(FIRST, f"seen = []\n{FIRST}    seen.append(len(seen))\n"), HEADS),
    "keeps it in the second file": (
        RIGHT,
        HEADS.replace("    size =", "    seen.append(C)\n    size =") + "seen = []\n",
    ),
}
# As a program it would run what nobody has read, where the questions of a class lie.
WORK["calls itself the program"] = (
    f"""__name__ = "__main__"
{RIGHT.replace("return V @", "return 2 * V @")}
if __name__ == "__main__":
{textwrap.indent(RIGHT.partition("import numpy as np")[2], "    ")}
""",
    HEADS.replace("from attention import softargmax", RIGHT[RIGHT.index("def soft") : RIGHT.index("def att")]),
)
SLOW = {
    "loops for ever at one query": (
        RIGHT.replace(FIRST, f"{FIRST}    while Q.shape[1] == 1:\n        pass\n"),
        HEADS,
    ),
    "loops for ever with a mask": (
        RIGHT,
        HEADS.replace("if mask is not None:", "while mask is not None:"),
    ),
}


@pytest.fixture(scope="module")
def runner() -> Iterator[BoxRunner]:
    with BoxRunner(("numpy", "einops")) as made:
        yield made


def _told(runner: BoxRunner, work: Submission, share_boxes: bool) -> Any:
    whole = the_rubric("rubrics/dl-hw3.yaml")
    problems = [
        replace(one, limits=replace(one.limits, cpu_seconds=2)) for one in whole.problems if one.id in ("2.1", "2.2")
    ]
    report = as_data(grade(replace(whole, problems=tuple(problems)), work, runner, DRAW, share_boxes=share_boxes))
    for problem in report["problems"]:
        for check in problem["checks"]:
            del check["seconds"]
    return [report["problems"], report["points"], report["notes"]]


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each box that was opened, whether it was asked ahead."""
    found, opened = list[bool](), ForkedBox._open

    def noting(self: ForkedBox, *given: Any) -> Any:
        channel = opened(self, *given)
        found.append(self.was_asked_ahead)
        return channel

    monkeypatch.setattr(ForkedBox, "_open", noting)
    return found


@pytest.mark.parametrize("name", [*WORK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_work_is_told_the_same_in_boxes_that_answer_before_they_are_asked(
    runner: BoxRunner, submission: MakeSubmission, ahead: list[bool], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    code, heads = {**WORK, **SLOW}[name]
    right = submission(**{"attention.py": RIGHT, "multihead.py": HEADS})
    while not any(ahead):  # the first two that are right are not
        assert _told(runner, right, True)[1] == 20
        assert len(ahead) < 8
    ahead.clear()
    files = {"attention.py": code, **({"multihead.py": heads} if heads else {})}
    if not heads:
        (right.folder / "multihead.py").unlink()
    work = submission(**files)
    shared = _told(runner, work, True)
    if name in ("right", "overflows", "prints and is wrong", "ignores the mask", "loops for ever with a mask"):
        assert any(ahead)
    if name == "keeps what it was asked":
        assert not any(ahead)
    if name == "calls itself the program":
        assert shared[1] == 11
    ahead.clear()
    monkeypatch.setattr(BoxRunner, "found_by_reading", lambda *given: {})  # so that no file is run as it stands
    assert shared == _told(runner, work, False)
    assert not any(ahead)


def _takes_no_answer_for_a_pass(student: Any, rng: Any) -> Outcome:
    """What it asks next follows from what was answered, and it makes something of a crash, as some checks do."""
    try:
        found = student.call("work.py", "f", student.call("work.py", "f", 1.0) + 1)
    except Crashed:
        return passed("it crashes")
    return passed("right") if found == 6.0 else failed("wrong")


def test_what_was_not_answered_in_a_box_that_was_asked_ahead_earns_nothing(
    runner: BoxRunner, submission: MakeSubmission, ahead: list[bool]
) -> None:
    check = Check("a", _takes_no_answer_for_a_pass, {}, "It works.", Fraction(1), files=("work.py",))
    more = Check("b", _takes_no_answer_for_a_pass, {}, "It works.", Fraction(1), files=("work.py",))
    problem = Problem("1", "One", Fraction(2), (check, more), Limits(cpu_seconds=5))
    rubric = Rubric("r", "R", Fraction(2), (problem,), Path("r.yaml"), "0" * 64)

    def points(code: str) -> Fraction:
        (result,) = grade(rubric, submission(code), runner, DRAW).problems
        return result.points

    assert [points("def f(x):\n    return 2 * x\n") for _ in range(3)] == [2, 2, 2]
    assert any(ahead)
    ahead.clear()
    assert points("def f(x):\n    return 3 * x\n") == 0
    assert any(ahead)
