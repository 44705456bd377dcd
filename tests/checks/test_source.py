"""What counts as ready-made: a library's function, however it is reached; never what the student wrote or does not use.

The ways round the rule that are known stand in ready_made/cheats.yaml, honest work that looks like one in honest.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.checks.functions.ready_made import writes_it_out
from grader.errors import StudentFault
from grader.model import Limits, Outcome, Problem, Status
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission, open_submission
from tests.conftest import MakeSubmission, read_yaml, sampled, the_rubric
from tests.test_notebooks import notebook

RUBRIC = the_rubric("rubrics/dl-hw3/rubric.yaml")
PROBLEMS: dict[str, Problem] = {problem.id: problem for problem in RUBRIC.problems}
BY_HAND = "np.exp(S - S.max(0)) / np.exp(S - S.max(0)).sum(0)"


def _cases(file: str) -> list[Any]:
    cases = read_yaml(Path(__file__).parent / "ready_made" / file)
    return [pytest.param(case, id=case["name"]) for case in cases]


@contextmanager
def _handed_in(submission: MakeSubmission, case: dict[str, Any]) -> Iterator[OpenedSubmission]:
    function = f"""
def attention(Q, K, V, beta):
    S = beta * (K.T @ Q)
    return V @ np.asarray({case.get("weights", BY_HAND)})
"""
    written = f"import numpy as np\n{case.get('before', '')}\n{function}\n{case.get('after', '')}"
    files = case.get("files", {"attention.py": written})
    cells = {name: notebook(*text.split("\n# %%\n")) for name, text in files.items() if name.endswith(".ipynb")}
    with open_submission(submission(**{**files, **cells}).folder) as opened:
        yield opened.for_rubric(RUBRIC)


def _looked_at(boxes: BoxRunner, work: OpenedSubmission, part: str) -> Outcome:
    """What the rubric's own check finds, with what stands in the rubric."""
    check = PROBLEMS[part].checks[0]
    with boxes.open(work, Limits(), seed=0) as student:
        return check.function(student, np.random.default_rng(0), **check.parameters)


def _is_right(boxes: BoxRunner, work: OpenedSubmission, part: str) -> bool:
    values = {"2.1": "matches_reference", "2.2": "matches_reference", "2.3": "encodes_any_batch_of_tokens"}
    check = next(one for one in PROBLEMS[part].checks if one.id == values.get(part, "vit_gives_one_logit_per_class"))
    with boxes.open(work, Limits(), seed=0) as student:
        try:
            return check.function(student, np.random.default_rng(0), **check.parameters).status is Status.PASSED
        except StudentFault:
            return False


@pytest.mark.parametrize("case", sampled(_cases("cheats.yaml"), 9))
def test_no_way_round_passes_by_itself(
    torch_boxes: BoxRunner, submission: MakeSubmission, case: dict[str, Any]
) -> None:
    part = case.get("part", "2.1")
    with _handed_in(submission, case) as work:
        found = _looked_at(torch_boxes, work, part)
        assert found.code == case["is"], found.message
        assert (found.status is Status.FAILED) == (found.code == "ready_made")
        assert found.message.partition(":")[0].partition(" cell")[0] in work.files
        assert _is_right(torch_boxes, work, part) == case.get("installed", True)


@pytest.mark.parametrize("case", sampled(_cases("honest.yaml"), 9))
def test_honest_work_keeps_its_pass(torch_boxes: BoxRunner, submission: MakeSubmission, case: dict[str, Any]) -> None:
    part = case.get("part", "2.1")
    with _handed_in(submission, case) as work:
        found = _looked_at(torch_boxes, work, part)
        assert found.status is Status.PASSED, found.message
        assert _is_right(torch_boxes, work, part)


def _read_only(boxes: BoxRunner, submission: MakeSubmission, **files: str) -> Outcome:
    """What is found where no inputs are known to run it on."""
    rules = {"forbidden": ["*softmax*"], "allowed": ["numpy.*"]}
    with boxes.open(submission(**files), Limits(), seed=0) as student:
        return writes_it_out(student, np.random.default_rng(0), file="a.py", function="f", **rules)


@pytest.mark.parametrize(
    ("code", "reason", "where"),
    [
        ("def f(x): return x.softmax(0)", "perhaps_ready_made", "a.py:1 "),
        ("def f(x): return x.exp(0).T", "passed", ""),
        ("class A:\n    def softmax(self): return 1\ndef f(x): return A().softmax()", "passed", ""),
        ("def f(x):\n    return eval(x)", "names_looked_up", "a.py:2 "),
        ("import torch\ndef f(x, name): return getattr(torch, name, 'exp')(x)", "names_looked_up", "a.py:2 "),
        ("from m import *\ndef f(x): return g(x)", "ready_made", "m.py:2 "),
        ("import m\ndef f(x): return m.h(x)", "passed", ""),
        (
            "def set():\n    global g\n    import torch\n    g = torch.softmax\ndef f(x): return g(x)",
            "ready_made",
            "a.py:4 ",
        ),
        ("from softmax import f", "passed", ""),  # a file that was not handed in; other checks say so
        ("\ufefff = lambda x: x", "passed", ""),
        # Tangles that must neither be followed without end nor run out of anything.
        ("from a import f, g\ng = g.h\nf = g if f else g", "passed", ""),
        ("a0 = f\n" + "".join(f"a{n + 1} = a{n} if f else a{n}\n" for n in range(60)) + "f = a60", "passed", ""),
        ("import torch\nf = torch" + ".x" * 900, "passed", ""),
    ],
)
def test_reading_alone_tells_what_is_plain(
    boxes: BoxRunner, submission: MakeSubmission, code: str, reason: str, where: str
) -> None:
    helper = "import torch\ng = lambda x: torch.softmax(x, 0)\ndef h(x): return x"
    found = _read_only(boxes, submission, **{"a.py": code, "m.py": helper})
    assert (found.code, found.message[: len(where)]) == (reason, where)


def test_what_the_students_code_has_put_on_the_path_stays_hers(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "import sys\nsys.path.insert(0, 'lib')\nfrom mine import softmax\ndef f(x): return softmax(x)"
    work = submission(**{"a.py": code, "lib/mine.py": "def softmax(x): return x"})
    with boxes.open(work, Limits(), seed=0) as student:
        assert student.call("a.py", "f", 1.0) == 1.0  # an earlier check in the same box
        found = writes_it_out(student, np.random.default_rng(0), file="a.py", function="f", forbidden=["softmax"])
    assert found.status is Status.PASSED, found.message


def test_code_that_ends_the_watching_in_one_run_is_watched_in_the_next(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    code = """
        import sys
        import numpy as np
        def f(x):
            if x:
                sys.setprofile(None)
            return np.trace(np.eye(2))
    """
    with boxes.open(submission(code), Limits(), seed=0) as student:
        requests = [{"args": [x], "kwargs": {}} for x in (1, 0)]
        told = student.probe("calls_made", "work.py", name="f", run_as="call", requests=requests)
    assert told["finished"]
    assert any("trace" in name for name, _, _ in told["calls"])


def test_more_files_than_are_read_is_for_a_person(boxes: BoxRunner, submission: MakeSubmission) -> None:
    chain = {f"m{n}.py": f"import m{n + 1}\ndef f(x): return m{n + 1}.f(x)" for n in range(300)}
    found = _read_only(boxes, submission, **{"a.py": "from m0 import f", **chain})
    assert (found.status, found.code) == (Status.REVIEW, "files_unread")
