"""How many files of the grader one answer and one function pass through, and how deep its calls go.

    python -m benchmarks.walks

The answer to 1.b.ii goes from the sheet to its verdict, with what runs in the killable child run here. The function of
2.1 goes from the opened submission to its outcomes; what happens in the box is counted by running the same probe here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import grader
from grader.answers import read_answers
from grader.formulas import outcomes
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Answer
from grader.rubric.loading import find_rubric, load_rubric
from grader.sandbox import BoxRunner
from grader.sandbox.box import wire, worker
from grader.submission.opening import open_submission

REPOSITORY = Path(__file__).resolve().parent.parent
_OWN = str(Path(grader.__file__).parent)


@dataclass
class Walk:
    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    depth: int = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(_OWN):
            return
        self.files.add(frame.f_code.co_filename)
        if not frame.f_code.co_qualname.endswith(">"):  # comprehensions and lambdas are no stations of their own
            self.functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        depth, within = 0, frame
        while within is not None:
            depth += within.f_code.co_filename.startswith(_OWN)
            within = within.f_back
        self.depth = max(self.depth, depth)

    def take(self, step: Callable[[], Any]) -> Walk:
        sys.setprofile(self)
        try:
            step()
        finally:
            sys.setprofile(None)
        return self

    def __str__(self) -> str:
        return f"{len(self.files)} files, {len(self.functions)} functions, {self.depth} calls deep"


@dataclass(frozen=True)
class _Wrote:
    """As much of a student as a formula check looks at."""

    answer: Answer


def walk_of_an_answer(sample: str = "alice", part: str = "1.b.ii") -> Walk:
    rubric = load_rubric(find_rubric("nlp-a5"))
    (problem,) = (one for one in rubric.problems if one.id == part)
    here: Any = outcomes
    here.in_killable_child = lambda function, *arguments: function(*arguments)
    with open_submission(REPOSITORY / "submissions" / sample) as submission:

        def step() -> None:
            student: Any = _Wrote(read_answers(submission, [one.id for one in rubric.problems]).parts[part])
            problem.checks[0].function(student, np.random.default_rng(0), **problem.checks[0].parameters)

        return Walk().take(step)


def walks_of_a_function(sample: str = "ada", part: str = "2.1") -> tuple[Walk, Walk]:
    """Outside the box, and inside."""
    rubric = load_rubric(find_rubric("dl-hw3"))
    alone = replace(rubric, problems=tuple(one for one in rubric.problems if one.id == part))
    with open_submission(REPOSITORY / "submissions" / sample) as submission, BoxRunner(("numpy",)) as runner:
        outside = Walk().take(lambda: grade(alone, submission, runner, Draw(0, None)))
        arguments = [np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 4)), 1.0]
        request = {"function": "attention", "args": arguments, "kwargs": {}}
        question = {"probe": "call", "file": submission.find("attention.py"), "begins": False, "each": [request]}
        reading, writing = os.pipe()
        with contextlib.chdir(submission.folder):
            os.write(writing, wire.pack_question(question))
            inside = Walk().take(lambda: worker.respond(writing, wire.read_question(reading)))
    return outside, inside


def main() -> None:
    print(f"an answer, 1.b.ii: {walk_of_an_answer()}")
    outside, inside = walks_of_a_function()
    print(f"a function, 2.1: {outside} outside the box; {inside} inside")


if __name__ == "__main__":
    main()
