"""Several requests sent at once are answered one by one, in order, and never mixed up with later ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.errors import Crashed
from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission, raises

CODE = """
import os
import numpy as np

seen = []
buffer = np.zeros(3)

def count(x):
    seen.append(x)
    return len(seen) + 1000 * x

def same_buffer(x):
    buffer[:] = x
    return buffer

def large(x):
    return x + 1

def breaks_at_three(x):
    if x == 3:
        raise ValueError("three")
    if x == 5:
        os._exit(1)
    return x
"""


def requests(function: str, *values: Any) -> list[dict[str, Any]]:
    return [{"function": function, "args": [value], "kwargs": {}} for value in values]


def test_answers_come_in_order_as_each_call_left_them(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with boxes.open(submission(CODE), Limits(), 0) as box:
        assert list(box.probe_each("call", "work.py", requests("count", 5, 6, 7))) == [5001, 6002, 7003]
        buffers = list(box.probe_each("call", "work.py", requests("same_buffer", 1, 2)))
    assert [array.tolist() for array in buffers] == [[1, 1, 1], [2, 2, 2]]


def test_more_than_a_pipe_holds_goes_through_both_ways(boxes: BoxRunner, submission: MakeSubmission) -> None:
    arrays = [np.full((700, 700), float(number)) for number in range(6)]
    with boxes.open(submission(CODE), Limits(), 0) as box:
        answers = list(box.probe_each("call", "work.py", requests("large", *arrays)))
    assert [float(answer[3, 3]) for answer in answers] == [1, 2, 3, 4, 5, 6]


def test_what_nobody_waited_for_is_not_taken_for_a_later_answer(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with boxes.open(submission(CODE), Limits(), 0) as box:
        first = box.probe_each("call", "work.py", requests("count", 1, 2, 3))
        assert next(first) == 1001
        assert box.call("work.py", "count", 9) == 9004


def test_a_fault_is_that_of_its_own_request(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with boxes.open(submission(CODE), Limits(), 0) as box:
        answers = box.probe_each("call", "work.py", requests("breaks_at_three", 1, 3, 5))
        assert next(answers) == 1
        with raises(Crashed, "raised"):
            next(answers)
        with raises(Crashed, "process_ended"):
            box.call("work.py", "count", 1)


def test_what_is_printed_does_not_depend_on_who_is_quicker(boxes: BoxRunner, submission: MakeSubmission) -> None:
    """A check that ends at the first answer shows what the code says to all that it was asked."""
    code = "import time\ndef f(x):\n    time.sleep(0.1 * (x > 1))\n    print('asked', x)\n    return x\n"
    with boxes.open(submission(code), Limits(), 0) as box:
        assert next(box.probe_each("call", "work.py", requests("f", 1, 2, 3))) == 1
        assert box.printed == "asked 1\nasked 2\nasked 3\n"


def test_answers_of_any_kind_come_as_each_call_left_them(boxes: BoxRunner, submission: MakeSubmission) -> None:
    turned = np.arange(12.0).reshape(3, 4).T
    with boxes.open(submission(CODE), Limits(), 0) as box:
        sent = [np.float32([1, 2]), 7, np.array([[1]]), turned, np.zeros((0, 2)), np.full((700, 700), 3.0)]
        answers = list(box.probe_each("call", "work.py", requests("large", *sent)))
    assert answers[1] == 8
    assert all(np.array_equal(answer, value + 1) for answer, value in zip(answers, sent, strict=True))
    assert [answer.dtype for answer in answers if isinstance(answer, np.ndarray)] == ["f4", "i8", "f8", "f8", "f8"]


def test_a_sandbox_that_ends_in_the_midst_loses_no_answer_before(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with boxes.open(submission(CODE), Limits(), 0) as box:
        answers = box.probe_each("call", "work.py", requests("breaks_at_three", 1, 2, 5))
        assert [next(answers), next(answers)] == [1, 2]
        with raises(Crashed, "process_ended"):
            next(answers)
