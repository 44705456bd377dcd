"""Checks of a group share a sandbox: whatever code makes of that, it earns and loses what it would in fresh ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.grading.engine import grade
from grader.grading.groups import in_order
from grader.model import Check, Limits, Outcome, Problem, Rubric, Status, Submission, failed, is_code, passed
from grader.registry import StudentFile, check
from grader.report.json_report import as_data
from grader.rubric.per_student import for_student
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests.conftest import DRAW, EVERY_CASE, REPOSITORY, MakeSubmission, sampled, the_rubric
from tests.test_samples import DECLARED, graded


def _reported(rubric: Rubric, work: Submission, boxes: BoxRunner, share_boxes: bool) -> list[dict[str, Any]]:
    report = as_data(grade(rubric, work, boxes, DRAW, share_boxes=share_boxes))
    return [*_without_times(report), {"points": report["points"], "notes": report["notes"]}]


def _without_times(report: dict[str, Any]) -> list[dict[str, Any]]:
    for problem in report["problems"]:
        for result in problem["checks"]:
            del result["seconds"]
    return list(report["problems"])


# Nine bring four of five verdicts that checks of code give to any sample, mallory attacks; `make test-all` asks all.
_TELLING = ("ada", "evan", "hugo", "iris", "kate", "lena", "mallory", "mina", "oscar", "sven")


@pytest.mark.slow
@pytest.mark.parametrize("sample", DECLARED if EVERY_CASE else _TELLING)
def test_a_sample_gets_the_same_report_as_with_a_fresh_sandbox_for_each_check(
    torch_boxes: BoxRunner, sample: str
) -> None:
    """Of what runs code; `benchmarks.verdicts keep --fresh` does this for folders of other work."""
    shared = as_data(graded(torch_boxes, sample))
    with open_submission(REPOSITORY / "submissions" / sample) as work:
        whole = for_student(the_rubric(f"rubrics/{DECLARED[sample]['rubric']}/rubric.yaml"), work.name, DRAW)
        runs_code = [
            one for one in whole.problems if any(is_code(file) for each in one.every_check for file in each.files)
        ]
        fresh = as_data(grade(replace(whole, problems=tuple(runs_code)), work, torch_boxes, DRAW, share_boxes=False))
    ids = {one.id for one in runs_code}
    assert [one for one in _without_times(shared) if one["id"] in ids] == _without_times(fresh)
    assert [note for note in shared["notes"] if "GPU" in note] == [note for note in fresh["notes"] if "GPU" in note]


RIGHT = """
    import os, sys, time
    import numpy as np
    state = vars(np).setdefault("state", {"count": 0, "seen": [], "kept": {}})  # outlives this module
    seen, kept = state["seen"], state["kept"]

    def right(Q, K, V, beta):
        s = beta * K.T @ Q
        a = np.exp(s - s.max(axis=0))
        return V @ (a / a.sum(axis=0))

    def attention(Q, K, V, beta):
        count = state["count"] = state["count"] + 1
"""
# What each earns with a fresh box for each check stands behind it: sharing must come to the same.
HOSTILE = {
    "learns the answer to what it is asked": (
        """
        asked = (Q.tobytes(), K.tobytes(), V.tobytes(), beta)
        seen.append(asked)
        return right(Q, K, V, beta) * seen.count(asked)""",
        10,
    ),
    "answers rightly only what it was asked before": (
        """
        asked = (Q.tobytes(), K.tobytes(), V.tobytes(), beta)
        seen.append(asked)
        return right(Q, K, V, beta) * (seen.count(asked) - 1) + 1e-9 * Q.sum()""",
        0,
    ),
    "answers rightly as often as one check asks": ("return right(Q, K, V, beta) if count < 17 else Q * np.nan", 8),
    "is wrong once in each process": ("return right(Q, K, V, beta) * (2 if count == 1 else 1)", 0),
    "writes into its arguments until it has been asked often": (
        """
        answer = right(Q, K, V, beta)
        if count < 20:
            Q[:] = 0
        return answer""",
        9,
    ),
    "patches numpy for whatever comes later": (
        """
        answer = right(Q, K, V, beta)
        np.allclose = np.array_equal = lambda *args, **more: True
        if count == 16:
            np.exp = np.zeros_like
        return answer""",
        8,
    ),
    "goes away once it shares": (
        """
        if count == 17:
            os._exit(0)
        return right(Q, K, V, beta)""",
        8,
    ),
    "writes answers ahead of the questions": (
        """
        answer = right(Q, K, V, beta)
        if count == 14:
            (wire,) = (module for name, module in list(sys.modules.items()) if name.endswith("box.wire"))
            weights = [np.eye(n, m) + 0.1 for n, m in ((6, 3), (2, 7))]
            for value in (answer, *(each / each.sum(axis=0) for each in weights)):
                os.write(3, b"".join(bytes(part) for part in wire.pack({"value": value})))
        return answer""",
        8,
    ),
    "closes its channel once it shares": (
        """
        answer = right(Q, K, V, beta)
        if count == 15:
            os.close(3)
        return answer""",
        8,
    ),
    "is a stub once it shares": ("return right(Q, K, V, beta) if count < 15 else V[:, :1] + 0 * Q[:1]", 8),
    "has its answers put right where they are sent": (
        """
        (wire,) = (module for name, module in list(sys.modules.items()) if name.endswith("box.wire"))
        send = wire.pack
        if count == 15:
            wire.pack = lambda reply: send({"value": reply["value"] / reply["value"].sum(axis=0)})
        return right(Q, K, V, beta) * (1 if count < 15 else 3)""",
        8,
    ),
    "reads the next question before the sandbox does": (
        """
        if count == 14:
            import threading
            threading.Thread(target=lambda: seen.append(os.read(3, 1 << 20)), daemon=True).start()
            time.sleep(0.01)
        return right(Q, K, V, beta) if count < 15 else Q * np.nan""",
        8,
    ),
    "writes itself anew": (
        """
        if count == 14:
            with open("attention.py", "w") as file:
                file.write("def attention(Q, K, V, beta):\\n    return 0 * V[:, :1] + Q[:1]\\n")
        return right(Q, K, V, beta)""",
        10,
    ),
    "ends its sandbox as the grader would refuse one": (
        """
        answer = right(Q, K, V, beta)
        if count == 15:
            (wire,) = (module for name, module in list(sys.modules.items()) if name.endswith("box.wire"))
            os.write(3, b"".join(bytes(part) for part in wire.pack({"refused": "it is not safe"})))
        return answer""",
        8,
    ),
    "ends the process where its random numbers begin again": (
        """
        def no_more(*seed):
            raise SystemExit(3)
        np.random.seed = no_more
        return right(Q, K, V, beta)""",
        10,
    ),
    "spoils random numbers and its output": (
        """
        np.random.seed(1)
        sys.stdout = None
        return right(Q, K, V, beta)""",
        10,
    ),
}


@pytest.mark.parametrize(("body", "points"), sampled(HOSTILE.values(), 3), ids=list(HOSTILE))
def test_code_that_knows_what_was_asked_before_earns_what_it_would_without(
    boxes: BoxRunner, submission: MakeSubmission, body: str, points: int
) -> None:
    whole = the_rubric("rubrics/dl-hw3/rubric.yaml")
    (problem,) = (one for one in whole.problems if one.id == "2.1")
    # What reading the code says of it is another matter: hostile code looks like it.
    rubric = replace(whole, problems=(replace(problem, checks=problem.checks[1:]),))
    inside = body if body.startswith("\n") else f"\n        {body}"
    work = submission(**{"attention.py": f"{RIGHT}{inside}\n"})
    shared, fresh = (_reported(rubric, work, boxes, share_boxes) for share_boxes in (True, False))
    assert shared == fresh
    assert shared[-1]["points"] == points


SECOND_ANSWER = """
    import numpy as np

    def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
        if mask is None:
            np.asked = True  # outlives this module
        elif not hasattr(np, "asked"):
            mask = mask.T
        rows, heads_of = len(W_Q) // heads, (np.reshape(W @ C, (heads, -1, C.shape[1])) for W in (W_Q, W_K, W_V))
        H = []
        for q, k, v in zip(*heads_of):
            s = k.T @ q / np.sqrt(rows)
            s = s if mask is None else np.where(mask, s, -1e30)
            a = np.exp(s - s.max(axis=0))
            H.append(v @ (a / a.sum(axis=0)))
        return W_O @ np.concatenate(H)
"""


def test_a_guess_at_a_convention_gets_no_second_answer_in_a_shared_sandbox(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """It reads a mask one way alone and the other way where it has been asked without one. The check that compares with
    a mask runs alone, and fails."""
    whole = the_rubric("rubrics/dl-hw3/rubric.yaml")
    (problem,) = (one for one in whole.problems if one.id == "2.2")
    work = submission(**{"multihead.py": SECOND_ANSWER})
    rubric = replace(whole, problems=(replace(problem, checks=problem.checks[1:]),))
    shared, fresh = (_reported(rubric, work, boxes, share) for share in (True, False))
    assert shared == fresh


@check(group="values")
def says(student: Any, rng: Any, *, file: StudentFile, x: float = 0.0) -> Outcome:
    """It can be called."""
    return passed(f"it says {student.call(file, 'f', x):.6g}")


@check(group="values", compares=True)
def equals(student: Any, rng: Any, *, file: StudentFile, x: float) -> Outcome:
    """It returns its argument."""
    got = student.call(file, "f", x)
    return passed("right") if got == x else failed(f"it says {got:.6g}")


@check
def equals_alone(student: Any, rng: Any, *, file: StudentFile, x: float) -> Outcome:
    """It returns its argument, in a fresh sandbox."""
    return equals(student, rng, file=file, x=x)


def _check(name: str, function: Any = equals, x: float = 1.0, file: str = "work.py", **more: Any) -> Check:
    return Check(name, function, {"file": file, "x": x}, "It works.", Fraction(1), files=(file,), **more)


def _rubric(*checks: Check, limits: Limits | None = None) -> Rubric:
    total = sum((each.points for each in checks), Fraction(0))
    problem = Problem("1", "One", total, checks, limits or Limits(cpu_seconds=5))
    return Rubric("r", "R", total, (problem,), Path("r.yaml"), "0" * 64)


class _Counting(BoxRunner):
    """Counts the sandboxes that ran code."""

    forked = 0

    def _forked(self, *given: Any) -> Any:
        self.forked += 1
        return super()._forked(*given)


@pytest.fixture(scope="module")
def counting() -> Iterator[_Counting]:
    with _Counting() as runner:
        yield runner


COUNTS = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return {}\n"
COUNTS_ELSEWHERE = "import numpy\ndef f(x):\n    n = numpy.n = getattr(numpy, 'n', 0) + 1\n    return {}\n"
HIDDEN = _check("hidden", visibility="hidden")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "checks", "forked"),
    [
        ("def f(x): return x", [_check(name) for name in "abcdef"], 1),
        ("def f(x): return x if x != 3 else 0.0", [_check(name, x=float(name)) for name in "123456"], 6),
        ("def f(x): return 0.0", [_check(name) for name in "1234"], 4),
        (COUNTS.format("x if n < 2 else 0.0"), [_check(name) for name in "12345"], 1),
        (COUNTS_ELSEWHERE.format("x if n < 4 else 0.0"), [_check(name) for name in "123456"], 6),
        (COUNTS_ELSEWHERE.format("x if n == 1 else 0.0"), [_check(name) for name in "123"], 3),
        ("def f(x): return x", [_check("a"), HIDDEN, _check("b"), replace(HIDDEN, id="more")], 2),
        ("def f(x): return x", [_check("a"), _check("b", equals_alone), _check("c")], 2),
        ("def f(x): return x", [_check("a", says), _check("b", says)], 2),
        ("def f(x): return x", [_check("a", says), _check("b"), _check("c", says)], 1),
        ("def f(x): return x", [_check("a", says, gate=True), _check("b"), _check("c", says)], 2),
    ],
    ids=[
        "all pass: one",
        "after a failure each alone, and so what passed in common",
        "none passes",
        "modules are loaded again: one",
        "fails for having been called: all alone",
        "right once in each sandbox: each alone",
        "public and hidden apart",
        "a check without a group alone",
        "nothing that compares: no group",
        "what compares goes first",
        "a gate that does not compare alone",
    ],
)
def test_a_group_shares_a_sandbox_as_long_as_its_checks_pass(
    counting: _Counting, submission: MakeSubmission, code: str, checks: list[Check], forked: int
) -> None:
    work = submission(code)
    counting.forked = 0
    shared, needed = _reported(_rubric(*checks), work, counting, True), counting.forked
    assert (shared, needed) == (_reported(_rubric(*checks), work, counting, False), forked)


@check(group="draws")
def asks(student: Any, rng: Any, *, file: StudentFile, x: float = 0.0) -> Outcome:
    """It can be called; what is found counts."""
    return passed(f"it says {student.call(file, 'f', x):.6g}")


@pytest.mark.parametrize(
    ("code", "function"),
    [
        (COUNTS.format("x if n > 1 or x != 2 else 0.0"), equals),
        ("import os\ndef f(x):\n    return os._exit(0) if x == 2 else x\n", asks),
        (COUNTS.format("x if n < 3 else [][n]"), asks),
    ],
    ids=[
        "values: wrong for one question, if it is the first of a process",
        "draws: ends the process at one question",
        "draws: crashes when a process has been asked twice",
    ],
)
def test_state_that_outlives_a_check_changes_no_verdict(
    counting: _Counting, submission: MakeSubmission, code: str, function: Any
) -> None:
    rubric = _rubric(*(_check(name, function, float(name)) for name in "123"))
    shared, fresh = (_reported(rubric, submission(code), counting, share_boxes) for share_boxes in (True, False))
    assert shared == fresh


@pytest.mark.slow
@pytest.mark.parametrize("call", [4, 9])
def test_a_wrong_call_that_no_value_depends_on_is_not_used_up_by_the_check_that_opens_a_group(
    torch_boxes: BoxRunner, submission: MakeSubmission, call: int
) -> None:
    """The opening check builds and probes a module before it compares any of its outputs."""
    whole = the_rubric("rubrics/dl-hw3/rubric.yaml")
    (problem,) = (one for one in whole.problems if one.id == "2.3")
    source = (REPOSITORY / "submissions/ada/encoder.py").read_text(encoding="utf-8")
    wrong = f"forward(self, x):\n        calls.append(1)\n        x = x * float('nan') if len(calls) == {call} else x\n"
    source = source.replace("class ", "calls = []\n\n\nclass ", 1).replace("forward(self, x):\n", wrong)
    work = submission(**{"encoder.py": source})
    shared, fresh = (
        _reported(replace(whole, problems=(problem,)), work, torch_boxes, share) for share in (True, False)
    )
    assert shared == fresh


@pytest.mark.parametrize(("crashing", "forked"), [(1, 3), (2, 3), (9, 1)], ids=["opens", "shares", "none"])
def test_after_a_crash_every_draw_is_judged_alone(
    counting: _Counting, submission: MakeSubmission, crashing: int, forked: int
) -> None:
    """Or code that crashes by chance would toss until it opens a sandbox, and keep that for all other checks."""
    rubric = _rubric(*(_check(name, asks, float(name)) for name in "123"))
    work = submission(f"def f(x):\n    return [][0] if x == {crashing} else x\n")
    counting.forked = 0
    shared, needed = _reported(rubric, work, counting, True), counting.forked
    assert (shared, needed) == (_reported(rubric, work, counting, False), forked)


def test_no_group_goes_beyond_its_problem(counting: _Counting, submission: MakeSubmission) -> None:
    problems = tuple(Problem(part, part, Fraction(1), (_check("c"),), Limits(cpu_seconds=5)) for part in "12")
    counting.forked = 0
    report = grade(replace(_rubric(_check("c")), problems=problems), submission("def f(x): return x"), counting, DRAW)
    assert (counting.forked, report.points) == (2, 2)


CARRIES = (
    "import numpy\nseen = vars(numpy).setdefault('seen', [])\ndef f(x):\n    seen.append(x)\n    return max(seen)\n"
)


@pytest.mark.parametrize("needs", [(), ("hidden",)], ids=["anywhere", "built upon"])
def test_what_a_hidden_check_sent_is_in_no_sandbox_that_a_public_one_asks(
    boxes: BoxRunner, submission: MakeSubmission, needs: tuple[str, ...]
) -> None:
    """The message of a pass shows what its check got, so code could carry a hidden input out in it for nothing."""
    work, reports = submission(CARRIES), []
    for x in (37.0, 201.0):
        rubric = _rubric(
            _check("before"), _check("hidden", x=x, visibility="hidden"), _check("after", says, 0.0, needs=needs)
        )
        reports.append(_reported(rubric, work, boxes, True))
    assert reports[0] == reports[1]
    assert [result["id"] for result in reports[0][0]["checks"]] == ["before", "hidden", "after"]
    assert reports[0][0]["checks"][2]["message"] == ("it says 0" if needs else "it says 1")


def test_public_checks_come_first_and_each_group_in_one_piece() -> None:
    hidden = _check("hidden", visibility="hidden")
    for checks, order in (
        ([hidden, _check("alone", equals_alone), _check("says", says), _check("b")], "b says alone hidden"),
        ([hidden, _check("a", needs=("hidden",)), _check("b")], "hidden a b"),
        ([_check("a"), replace(hidden, id="gate", gate=True), _check("b"), hidden], "a gate b hidden"),
    ):
        assert " ".join(each.id for each in in_order(checks)) == order


def test_random_numbers_of_the_code_begin_again_with_each_check(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission("import numpy as np\ndef f(x):\n    return x or float(np.random.random())\n")
    rubric = _rubric(_check("first"), *(_check(name, says, 0.0) for name in "abc"))
    shared, fresh = (_reported(rubric, work, boxes, share_boxes) for share_boxes in (True, False))
    assert shared == fresh


def test_processor_time_that_checks_use_together_counts_against_none(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    computes = "end = time.process_time() + 0.6\n    while time.process_time() < end: pass"
    work = submission(f"import time\ndef f(x):\n    {computes}\n    return x\n")
    rubric = _rubric(*(_check(f"c{x}", x=float(x)) for x in (1, 2, 3)), limits=Limits(cpu_seconds=1))
    assert _reported(rubric, work, boxes, True)[-1]["points"] == 3


@check(group="draws")
def draws(student: Any, rng: Any, *, file: StudentFile, passes: bool = True) -> Outcome:
    """One sample for the whole group."""
    sample = student.in_common("sample", lambda made: (made.normal(), student.call(file, "f", 1.0)))
    message = f"{sample[0]:.3f} {sample[1]:.0f}"
    return passed(message) if passes else failed(message)


def test_statistics_over_one_set_of_samples_count_as_they_are(counting: _Counting, submission: MakeSubmission) -> None:
    """Failed or not: to sample again would be a second try. Public and hidden checks have a set each."""

    def made(name: str, passes: bool = True, visibility: Any = "public") -> Check:
        parameters = {"file": "work.py", "passes": passes}
        return Check(name, draws, parameters, "", Fraction(1), visibility, files=("work.py",))

    rubric = _rubric(made("a"), made("b", passes=False), made("c"), made("hidden", visibility="hidden"))
    counting.forked = 0
    report = grade(rubric, submission(COUNTS.format("n")), counting, DRAW)
    outcomes = [result.outcome for result in report.problems[0].checks]
    assert [outcome.status for outcome in outcomes] == [Status.PASSED, Status.FAILED, Status.PASSED, Status.PASSED]
    assert outcomes[0].message == outcomes[1].message == outcomes[2].message != outcomes[3].message
    assert counting.forked == 2


@pytest.mark.slow
def test_a_choice_by_chance_earns_little(boxes: BoxRunner, submission: MakeSubmission) -> None:
    """Code that is right every second time it is loaded. docs/security.md says what it has."""
    work = submission("import os\nflip = os.urandom(1)[0] % 2\ndef f(x):\n    return x * flip\n")
    rubric = _rubric(*(_check(f"c{x}", x=float(x)) for x in range(1, 9)))
    points = [float(grade(rubric, work, boxes, DRAW).points) for _ in range(60)]
    assert sum(points) / len(points) < 5  # 4.01 on average; 60 times, by less than one in a thousand above this


def test_a_first_answer_that_is_wrong_and_remembered_earns_nothing(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """Asked again it is answered alike, and the check that asked it looks at no values."""
    whole = the_rubric("rubrics/dl-hw3/rubric.yaml")
    (problem,) = (one for one in whole.problems if one.id == "2.1")
    body = """
        key = (Q.tobytes(), K.tobytes(), V.tobytes(), beta)
        if key not in kept:
            kept[key] = right(Q, K, V, beta) * (2 if count == 1 else 1)
        return kept[key]
"""
    work = submission(**{"attention.py": f"{RIGHT}{body}"})
    shared, fresh = (_reported(replace(whole, problems=(problem,)), work, boxes, share) for share in (True, False))
    assert shared == fresh
    assert shared[-1]["points"] == 0


@pytest.mark.slow
def test_a_library_that_no_text_names_uses_up_nobodys_time(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    """Loading torch takes a second or more of processor time, which code that names it is not charged."""
    computes = "end = time.process_time() + 0.7\n    while time.process_time() < end: pass"
    work = submission(f'import time\ndef f(x):\n    __import__("to" + "rch")\n    {computes}\n    return x\n')
    rubric = _rubric(_check("a"), limits=Limits(cpu_seconds=1))
    assert _reported(rubric, work, torch_boxes, True)[-1]["points"] == 1


@pytest.mark.slow
def test_memory_as_it_was_left_is_no_weight_that_others_left(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """A layer that does not fill its weights has those of the last check's layer, where it shares the memory: a pass by
    that is worth nothing alone, and what compares does not pass by it."""
    work = submission("""
        from torch import nn
        class L(nn.Linear):
            def reset_parameters(self):
                nn.init.zeros_(self.bias)
        def f(x):
            layer = L(40, 40)
            left = float((layer.weight == 7).sum())
            nn.init.constant_(layer.weight, 7)
            return x + left
    """)
    rubric = _rubric(*(_check(name) for name in "abc"), limits=Limits(cpu_seconds=20))
    shared, fresh = (_reported(rubric, work, torch_boxes, share) for share in (True, False))
    assert shared == fresh


@pytest.mark.slow
def test_a_stand_in_for_a_gpu_serves_no_code_that_has_none_alone(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """The first file names a GPU, so its sandbox has a stand-in; the second moves to one by its number alone."""
    asks = 'def f(x):\n    """As on cuda."""\n    return x\n'
    moves = "import torch\ndef f(x):\n    return torch.tensor(x).to(0).item()\n"
    work = submission(**{"work.py": asks, "other.py": moves})
    (first,) = _rubric(_check("a"), limits=Limits(cpu_seconds=20)).problems
    second = replace(first, id="2", checks=(_check("b", file="other.py"),))
    rubric = replace(_rubric(_check("a")), problems=(first, second))
    shared, fresh = (_reported(rubric, work, torch_boxes, share) for share in (True, False))
    assert shared == fresh
    assert shared[-1]["points"] == 1


@pytest.mark.slow
def test_that_only_hidden_inputs_made_code_ask_for_a_gpu_is_not_noted(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    work = submission("import torch\ndef f(x):\n    if x > 1:\n        torch.zeros(1).cuda()\n    return x\n")
    hidden = _check("hidden", x=2.0, visibility="hidden")
    rubric = _rubric(hidden, _check("public", needs=("hidden",)), limits=Limits(cpu_seconds=20))
    shared, fresh = (_reported(rubric, work, torch_boxes, share) for share in (True, False))
    assert shared == fresh
    assert not [note for note in shared[-1]["notes"] if "GPU" in note]
