"""Code that was written to gain by shared boxes, or loses by them through no fault of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader.checks.datasets.span_corruption import masks_at_any_place, truncates_to_every_length
from grader.engine import grade
from grader.model import Limits, Outcome, Status, failed, passed
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, MakeSubmission, the_rubric
from tests.test_sharing import RIGHT, _check, _rubric, _told, _wants


def test_a_first_answer_that_is_wrong_and_remembered_earns_nothing(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """Asked again it is answered alike, and the check that asked it looks at no values."""
    whole = the_rubric("rubrics/dl-hw3.yaml")
    (problem,) = (one for one in whole.problems if one.id == "2.1")
    body = """
        key = (Q.tobytes(), K.tobytes(), V.tobytes(), beta)
        if key not in kept:
            kept[key] = right(Q, K, V, beta) * (2 if count == 1 else 1)
        return kept[key]
"""
    work = submission(**{"attention.py": f"{RIGHT}{body}"})
    shared, fresh = (_told(replace(whole, problems=(problem,)), work, boxes, share) for share in (True, False))
    assert shared == fresh
    assert shared[-1]["points"] == 0


@pytest.mark.slow
def test_a_choice_by_chance_is_not_kept_for_as_long_as_it_passes(boxes: BoxRunner, submission: MakeSubmission) -> None:
    """Half of what is asked alone passes. Shared boxes without a second process gave 7 of 8 here."""
    work = submission("import os\nflip = os.urandom(1)[0] % 2\ndef f(x):\n    return x * flip\n")
    rubric = _rubric(*(_check(f"c{x}", _wants, x=float(x)) for x in range(1, 9)))
    points = [float(grade(rubric, work, boxes, DRAW).points) for _ in range(40)]
    assert sum(points) / len(points) < 6


DATASET = """
    import random
    import numpy as np
    made = 0

    class D:
        def __init__(self, data, block):
            global made
            made += 1
            letters = ["\u25a1", "\u2047", *sorted(set(data))]
            self.stoi, self.itos = {c: i for i, c in enumerate(letters)}, dict(enumerate(letters))
            self.vocab_size, self.block, self.data, self.drawn = len(letters), block, data.split("\\n"), 0

        def __len__(self):
            return len(self.data)

        def __getitem__(self, idx):
            self.drawn += 1
            length = random.randint(4, self.block * 7 // 8)
            RARELY
            text = self.data[idx][:length]
            n = len(text)
            span = random.randint(min(1, n), max(min(1, n), n // 2 - 1))
            start = random.randint(0, n - span)
            text = text[:start] + "\u2047" + text[start + span:] + "\u2047" + text[start:start + span]
            ids = np.array([self.stoi[c] for c in text.ljust(self.block, "\u25a1")])
            return ids[:-1], ids[1:]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "rarely", "status"),
    [
        (masks_at_any_place, "if made == 1 and self.drawn < 9: raise ValueError(length)", Status.PASSED),
        (truncates_to_every_length, "if self.block == 32 and 600 < self.drawn < 641: length = 29", Status.FAILED),
        (truncates_to_every_length, "pass", Status.PASSED),
    ],
    ids=["a few of the first draws fail", "one in a hundred is too long, none of the first", "right"],
)
def test_few_draws_are_judged_as_all_would_be(
    boxes: BoxRunner, submission: MakeSubmission, function: Any, rarely: str, status: Status
) -> None:
    work = submission(**{"work.py": DATASET.replace("RARELY", rarely)})
    check = replace(_check("draws", function), parameters={"file": "work.py", "name": "D"})
    (problem,) = grade(_rubric(check), work, boxes, DRAW).problems
    assert [one.outcome.status for one in problem.checks] == [status]


@pytest.mark.slow
def test_a_library_that_no_text_names_uses_up_nobodys_time(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    """Loading torch takes a second or more of processor time, which code that names it is not charged."""
    computes = "end = time.process_time() + 0.7\n    while time.process_time() < end: pass"
    work = submission(f'import time\ndef f(x):\n    __import__("to" + "rch")\n    {computes}\n    return x\n')
    rubric = _rubric(_check("a", _wants, x=1.0), limits=Limits(cpu_seconds=1))
    assert _told(rubric, work, torch_boxes, True)[-1]["points"] == 1


@pytest.mark.slow
def test_a_stand_in_for_a_gpu_serves_no_code_that_has_none_alone(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """The first file names a GPU, so its box has a stand-in; the second moves to one by its number alone."""
    asks = 'def f(x):\n    """As on cuda."""\n    return x\n'
    moves = "import torch\ndef f(x):\n    return torch.tensor(x).to(0).item()\n"
    work = submission(**{"work.py": asks, "other.py": moves})
    wants_other = replace(_check("b", _wants_of_other), files=("other.py",))
    (first,) = _rubric(replace(_check("a", _wants, x=1.0), files=("work.py",)), limits=Limits(cpu_seconds=20)).problems
    rubric = replace(_rubric(wants_other), problems=(first, replace(first, id="2", checks=(wants_other,))))
    shared, fresh = (_told(rubric, work, torch_boxes, share) for share in (True, False))
    assert shared == fresh
    assert shared[-1]["points"] == 1


def _wants_of_other(student: Any, rng: Any) -> Outcome:
    return passed("right") if student.call("other.py", "f", 1.0) == 1.0 else failed("wrong")


@pytest.mark.slow
def test_that_only_hidden_inputs_made_code_ask_for_a_gpu_is_not_noted(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """Code that keeps nothing is asked by a hidden check before a public one that builds on it, in one box."""
    work = submission("import torch\ndef f(x):\n    if x > 1:\n        torch.zeros(1).cuda()\n    return x\n")
    hidden = replace(_check("hidden", _wants, x=2.0, visibility="hidden"), files=("work.py",))
    public = replace(_check("public", _wants, x=1.0, needs=("hidden",)), files=("work.py",))
    rubric = _rubric(hidden, public, limits=Limits(cpu_seconds=20))
    assert _told(rubric, work, torch_boxes, True) == _told(rubric, work, torch_boxes, False)


@pytest.mark.parametrize(
    "before",
    ["class Oops(Exception):\n    pass\n", "def g(a, b: 'C'.x = None):\n    return a\n"],
    ids=["a kind of what is not read", "an annotation of what is not read"],
)
def test_code_of_which_not_all_was_read_is_told_the_same_as_alone(
    boxes: BoxRunner, submission: MakeSubmission, before: str
) -> None:
    """What could not be named was taken for nothing: the rest went unread, and its counter was shared."""
    work = submission(f"{before}n = 0\ndef f(x):\n    global n\n    n += 1\n    return float(n)\n")
    rubric = _rubric(*(replace(_check(name, x=1.0), files=("work.py",)) for name in "abc"))
    shared, fresh = (_told(rubric, work, boxes, share) for share in (True, False))
    assert shared == fresh


@pytest.mark.slow
def test_memory_as_it_was_left_is_no_weight_that_others_left(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """A layer that does not fill its weights has those of the last check's layer, where it shares the memory."""
    work = submission("""
        from torch import nn
        class L(nn.Linear):
            def reset_parameters(self):
                nn.init.zeros_(self.bias)
        def f(x):
            layer = L(40, 40)
            left = float((layer.weight == 7).sum())
            nn.init.constant_(layer.weight, 7)
            return left
    """)
    rubric = _rubric(
        *(replace(_check(name, x=1.0), files=("work.py",)) for name in "abc"), limits=Limits(cpu_seconds=20)
    )
    (problem, _) = _told(rubric, work, torch_boxes, True)
    assert {one["message"] for one in problem["checks"]} == {"it says 0"}
