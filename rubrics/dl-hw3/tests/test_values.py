"""Checks on functions: right work written in unusual ways passes, and each classic mistake is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rubric_dl_hw3.public import multi_head

from grader.checks.functions import extreme_scores, inputs, values
from grader.checks.functions.ground_truth import reference_named
from grader.errors import StudentFault
from grader.grading.engine import grade
from grader.model import Check, Limits, Outcome, Report, Status, failed
from grader.sandbox import BoxRunner
from reference import attention as truth
from reference.mistakes.attention import MISTAKES
from tests.conftest import DRAW, EVERY_CASE, MakeSubmission, reference_of, sampled, the_rubric

RUBRIC = the_rubric("rubrics/dl-hw3/rubric.yaml")
JUDGED_BY_VALUE = (values.__name__, multi_head.__name__, extreme_scores.__name__)

RIGHT_ATTENTION = {
    "softmax written on rows": """
        import numpy as np
        def attention(Q, K, V, beta):
            s = (Q.T @ K) * beta
            s = s - s.max(axis=1)[:, None]
            p = np.exp(s)
            return (p / p.sum(1, keepdims=True) @ V.T).T
    """,
    "einsum": """
        import numpy as np
        def attention(Q, K, V, beta):
            s = beta * np.einsum('dm,dn->mn', K, Q)
            e = np.exp(s - s.max(0))
            return np.einsum('tm,mn->tn', V, e / e.sum(0))
    """,
    "loops and lists": """
        import math
        def attention(Q, K, V, beta):
            d, n = Q.shape
            t, m = V.shape
            H = [[0.0] * n for _ in range(t)]
            for j in range(n):
                s = [beta * sum(K[c, i] * Q[c, j] for c in range(d)) for i in range(m)]
                top = max(s)
                e = [math.exp(x - top) for x in s]
                for r in range(t):
                    H[r][j] = sum(V[r, i] * e[i] for i in range(m)) / sum(e)
            return H
    """,
    "float32 throughout": """
        import numpy as np
        def attention(Q, K, V, beta):
            Q, K, V = (x.astype(np.float32) for x in (Q, K, V))
            s = np.float32(beta) * (K.T @ Q)
            e = np.exp(s - s.max(0))
            return V @ (e / e.sum(0))
    """,
    "log-sum-exp": """
        import numpy as np
        def attention(Q, K, V, beta):
            s = beta * K.T @ Q
            top = s.max(0)
            return V @ np.exp(s - (top + np.log(np.exp(s - top).sum(0))))
    """,
    "a callable object, printing and warning": """
        import warnings
        import numpy as np
        class Attention:
            def __call__(self, Q, K, V, beta=1.0, verbose=False):
                print("computing", Q)
                warnings.warn("experimental")
                s = beta * K.T @ Q
                e = np.exp(s - s.max(0))
                return np.asmatrix(V @ (e / e.sum(0)))
        attention = Attention()
        if __name__ == "__main__":
            raise SystemExit(input())
    """,
    "keyword names of their own, through a decorator": """
        import functools, numpy as np
        def logged(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        @logged
        def attention(queries, keys, values, beta):
            a = np.exp(beta * (keys.T @ queries) - (beta * keys.T @ queries).max(axis=0, keepdims=True))
            return values @ (a / a.sum(axis=0, keepdims=True))
    """,
    "plots and progress bars that are not installed": """
        import numpy as np
        import matplotlib.pyplot as plt
        import seaborn as sns
        from tqdm.auto import tqdm, trange
        plt.rcParams["figure.figsize"] = (3, 3)
        sns.set_theme()
        def attention(Q, K, V, beta):
            s = beta * K.T @ Q
            e = np.exp(s - s.max(0))
            A = e / e.sum(0)
            return sum(np.outer(V[:, i], A[i]) for i in tqdm(trange(len(A)), desc="keys"))
    """,
    "an own class of a forbidden name": """
        import numpy as np
        class MultiheadAttention:
            '''MultiheadAttention, written by hand'''
            def run(self, Q, K, V, beta):
                s = beta * K.T @ Q
                e = np.exp(s - s.max(0))
                return V @ (e / e.sum(0))
        def attention(Q, K, V, beta):
            return MultiheadAttention().run(Q, K, V, beta)
    """,
}

RIGHT_MULTIHEAD = {
    "all heads at once": """
        import numpy as np
        def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
            d, n = W_Q.shape[0], C.shape[1]
            Q, K, V = ((W @ C).reshape(heads, d // heads, n) for W in (W_Q, W_K, W_V))
            s = np.einsum('hdi,hdj->hij', K, Q) / np.sqrt(d / heads)
            if mask is not None:
                s = np.where(mask[None], s, -np.inf)
            e = np.exp(s - s.max(axis=1, keepdims=True))
            H = np.einsum('hdi,hij->hdj', V, e / e.sum(axis=1, keepdims=True))
            return W_O @ H.reshape(d, n)
    """,
    "torch inside": """
        import torch
        def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
            C, W_Q, W_K, W_V, W_O = map(torch.tensor, (C, W_Q, W_K, W_V, W_O))
            size = len(W_Q) // heads
            out = []
            for q, k, v in zip(W_Q.split(size), W_K.split(size), W_V.split(size)):
                s = (k @ C).T @ (q @ C) / size ** 0.5
                if mask is not None:
                    s = s.masked_fill(~torch.tensor(mask), float('-inf'))
                e = torch.exp(s - s.amax(dim=0))
                out.append((v @ C) @ (e / e.sum(dim=0)))
            return W_O @ torch.cat(out)
    """,
    "additive mask": """
        import numpy as np
        def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None, *, big=1e9):
            rows = np.array_split(np.arange(len(W_Q)), heads)
            bias = 0 if mask is None else np.where(mask, 0.0, -big)
            total = np.zeros(C.shape)
            for r in rows:
                s = (W_K[r] @ C).T @ (W_Q[r] @ C) / len(r) ** 0.5 + bias
                p = np.exp(s - s.max(0))
                total = total + W_O[:, r] @ (W_V[r] @ C @ (p / p.sum(0)))
            return total
    """,
}


def _grade(boxes: BoxRunner, submission: MakeSubmission, problem: str, file: str, code: str) -> Report:
    chosen = replace(RUBRIC, problems=tuple(p for p in RUBRIC.problems if p.id == problem))
    return grade(chosen, submission(**{file: code}), boxes, DRAW)


def _codes(report: Report) -> list[tuple[str, str]]:
    every = (result for problem in report.problems for result in problem.checks)
    return [(result.check.id, result.outcome.code) for result in every if result.outcome.status is not Status.PASSED]


@pytest.mark.parametrize("code", sampled(RIGHT_ATTENTION.values(), 3), ids=list(RIGHT_ATTENTION))
def test_right_attention_passes_however_it_is_written(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    assert _codes(_grade(boxes, submission, "2.1", "attention.py", code)) == []


@pytest.mark.slow
@pytest.mark.parametrize("code", RIGHT_MULTIHEAD.values(), ids=list(RIGHT_MULTIHEAD))
def test_right_multi_head_passes_however_it_is_written(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    assert _codes(_grade(boxes, submission, "2.2", "multihead.py", code)) == []


@pytest.mark.parametrize(
    ("code", "reason", "shown"),
    [
        ("def attention(Q, K, V, beta): H = V @ K.T @ Q", "returned_nothing", "None"),
        ("def attention(Q, K, V, beta): return V, K", "wrong_parts", "2"),
        ("def attention(Q, K, V, beta): return 'H'", "not_numbers", "text"),
        ("def attention(Q, K, V, beta): return (K.T @ Q) * 1j", "not_numbers", "complex"),
        ("def attention(Q, K, V, beta): return [[1, 2], [3]]", "ragged_rows", ""),
        ("def attention(Q, K, V): return V", "wrong_signature", "(Q, K, V)"),
        ("attention = 3", "wrong_signature", "not a function"),
        ("def atention(Q, K, V, beta): return V", "not_defined", "atention"),
        ("def attention(Q, K, V, beta):\n    return Q @ K", "raised", "ValueError at attention.py:2"),
        ("def attention(Q, K, V, beta)\n    return Q", "syntax_error", "attention.py:1"),
        ("import plots_of_mine\nattention = plots_of_mine.f()", "module_missing", "attention.py:2: plots_of_mine"),
        ("attention = input('Which? ')", "not_importable", "attention.py:1 (it asks for input"),
        ("import sys; attention = sys.exit()", "not_importable", "attention.py:1 (it exits"),
        ("attention = open('w.npy')", "not_importable", "attention.py:1 (it opens a file"),
        (
            "import torch\ndef attention(Q, K, V, beta):\n    return torch.softmax(Q, 0)",
            "ready_made",
            "attention.py:3 uses torch.softmax",
        ),
    ],
)
def test_what_cannot_be_judged_is_explained_in_one_line(
    boxes: BoxRunner, submission: MakeSubmission, code: str, reason: str, shown: str
) -> None:
    (problem,) = _grade(boxes, submission, "2.1", "attention.py", code).problems
    first = next(result.outcome for result in problem.checks if result.outcome.status is not Status.PASSED)
    assert first.code == reason
    assert shown in first.message
    assert "\n" not in first.message


def test_right_values_in_the_wrong_shape_are_told_so(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = RIGHT_ATTENTION["einsum"].replace("'tm,mn->tn'", "'tm,mn->nt'")
    (problem,) = _grade(boxes, submission, "2.1", "attention.py", code).problems
    found = next(result.outcome for result in problem.checks if result.check.id == "matches_reference")
    assert found.code == "wrong_shape"
    assert "its shape is not 2×3 as asked; it looks transposed: it is 3×2" in found.message


def test_a_wrong_output_is_shown_beside_the_right_one(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "def attention(Q, K, V, beta):\n    H = Q[:2, :3] / 3\n    H[0, 0] = float('nan')\n    return H"
    report = _grade(boxes, submission, "2.1", "attention.py", code)
    evidence = {result.check.id: result.outcome.evidence for result in report.problems[0].checks}
    assert [name for name, found in evidence.items() if "figure" in found] == ["matches_reference"]
    figure = evidence["matches_reference"]["figure"]
    assert (figure["kind"], figure["student"][0][0]) == ("heatmap", None)  # JSON has no NaN
    assert [len(row) for row in figure["reference"]] == [3, 3]
    values = [*figure["student"][1], *figure["reference"][0], *figure["reference"][1]]
    assert values == [round(value, 4) for value in values]


@pytest.mark.slow
def test_a_stub_earns_nothing(boxes: BoxRunner, submission: MakeSubmission) -> None:
    stubs = [
        "import numpy as np\ndef attention(Q, K, V, beta): return np.zeros((len(V), Q.shape[1]))",
        "def attention(Q, K, V, beta): return Q",
        "def attention(Q, K, V, beta): return V",
        "import numpy as np\ndef attention(Q, K, V, beta): return np.random.rand(len(V), Q.shape[1])",
        "import numpy as np\ndef attention(Q, K, V, beta): return np.full((len(V), Q.shape[1]), np.nan)",
        "import numpy as np\ndef attention(Q, K, V, beta): return np.repeat(V.sum(1, keepdims=True), Q.shape[1], 1)",
        "import numpy as np\ndef attention(Q, K, V, beta): return np.repeat(V.mean(1, keepdims=True), Q.shape[1], 1)",
    ]
    for stub in stubs:
        assert _grade(boxes, submission, "2.1", "attention.py", stub).points == 0, stub


def test_nan_under_a_mask_is_no_sign_of_masking(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = RIGHT_MULTIHEAD["additive mask"].replace("return total", "return total if mask is None else total * np.nan")
    lost = _codes(_grade(boxes, submission, "2.2", "multihead.py", code))
    assert ("ignores_masked_keys", "not_finite") in lost


class Direct:
    """A student who is trusted: the function runs right here, so that thousands of draws take seconds."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._latest: list[dict[str, Any]] = []

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        own = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        self._latest.append({"args": own, "kwargs": kwargs})
        return np.asarray(self._function(*own, **kwargs))

    printed = ""

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        if probe == "latest_arguments":
            return self._latest[-request["calls"] :]
        return self.call(file, request["function"], *request["args"], **request["kwargs"])

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        return (self.probe(probe, file, **request) for request in requests)


def _judged(function: Any, problem: str, seed: int) -> dict[str, Outcome]:
    student = Direct(function)
    (chosen,) = (p for p in RUBRIC.problems if p.id == problem)
    checks = [check for check in chosen.checks if check.function.__module__ in JUDGED_BY_VALUE]
    return {check.id: _outcome(check, student, seed) for check in checks}


def _outcome(check: Check, student: Direct, seed: int) -> Outcome:
    try:
        return check.function(student, np.random.default_rng(seed), **check.parameters)
    except StudentFault as fault:
        return failed(fault.message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "function"), [("2.1", truth.attention), ("2.2", truth.multi_head_attention)], ids=["2.1", "2.2"]
)
def test_no_draw_fails_right_work(problem: str, function: Any) -> None:
    def single(*args: Any, **kwargs: Any) -> Any:
        """All in float32: the least precise work that is still right."""
        arrays = [arg.astype(np.float32) if isinstance(arg, np.ndarray) else arg for arg in args]
        return np.asarray(function(*arrays, **kwargs), dtype=np.float32)

    for seed in range(1000 if EVERY_CASE else 30):
        for work in (function, single):
            for name, outcome in _judged(work, problem, seed).items():
                assert outcome.status is Status.PASSED, f"{name} with seed {seed}: {outcome.message}"


@pytest.mark.parametrize(
    ("problem", "mistaken", "mistake"),
    sampled(
        (
            pytest.param(problem, mistaken, mistake, id=f"{problem} {mistake} {number}")
            for problem, function in (("2.1", "attention"), ("2.2", "multi_head_attention"))
            for mistake, several in MISTAKES[function].items()
            for number, mistaken in enumerate(several)
        ),
        every=24,
    ),
)
def test_each_classic_mistake_fails_and_is_named(problem: str, mistaken: Any, mistake: str) -> None:
    with np.errstate(all="ignore"):
        for seed in range(2):
            judged = _judged(mistaken, problem, seed)
            told = [o.message for o in judged.values() if o.status is Status.FAILED and "looks as if" in o.message]
            assert told, f"not named with seed {seed}"
            assert all(mistake in message for message in told)


def test_a_reference_has_the_mistakes_that_are_written_beside_it_and_no_others() -> None:
    every = reference_named(reference_of(RUBRIC, "2.1"))
    usual = reference_named(reference_of(the_rubric("tests/rubrics/small-class/rubric.yaml"), "1.a"))
    assert len(every.mistakes) > 20
    assert all([[*every.pairs()], every.on_squares, every.at_extremes])
    assert usual.mistakes
    assert not any([[*usual.pairs()], usual.on_squares, usual.at_extremes])


def test_limits_of_the_rubric_reach_the_box(boxes: BoxRunner, submission: MakeSubmission) -> None:
    hungry = "import numpy as np\ndef attention(Q, K, V, beta): return np.ones(300 * 2**20, dtype=np.uint8)"
    (problem,) = (replace(p, limits=Limits(memory_mb=200)) for p in RUBRIC.problems if p.id == "2.1")
    report = grade(replace(RUBRIC, problems=(problem,)), submission(**{"attention.py": hungry}), boxes, DRAW)
    assert _codes(report)[0][1] == "out_of_memory"


MULTI_HEAD = "x, W_Q, W_K, W_V, W_O, heads, mask=None"
CHANGES = {
    "where numbers are double": (MULTI_HEAD, "x.dtype == np.float64"),
    "where numbers are single": (MULTI_HEAD, "x.dtype == np.float32"),
    "of one head": (MULTI_HEAD, "heads == 1 and x.dtype == np.float64"),
    "of several heads": (MULTI_HEAD, "heads > 1"),
    "where the mask is causal": (MULTI_HEAD, "not np.tril(mask, -1).any()"),
    "where the mask is irregular": (MULTI_HEAD, "np.tril(mask, -1).any()"),
    "of more queries than keys": ("x, W_K, W_V, beta", "x.shape[1] > W_K.shape[1]"),
    "of fewer queries than keys": ("x, W_K, W_V, beta", "x.shape[1] < W_K.shape[1]"),
    "of one key": ("x, W_K, W_V, beta", "W_K.shape[1] == 1"),
    "in single precision": ("x, W_K, W_V, beta", "x.dtype == np.float32"),
}


@pytest.mark.parametrize(("given", "where"), CHANGES.values(), ids=list(CHANGES))
def test_arguments_that_are_changed_for_some_inputs_only_are_found(
    boxes: BoxRunner, submission: MakeSubmission, given: str, where: str
) -> None:
    code = f"""
import numpy as np
def f({given}):
    if {where}:
        W_V *= 2
    return x
"""
    kind = _inputs_of("2.2" if given == MULTI_HEAD else "2.1")
    for text, status in ((code, Status.FAILED), (code.replace("W_V *= 2", "W_V = 2 * W_V"), Status.PASSED)):
        with boxes.open(submission(text), Limits(), 0) as student:
            asked = {"file": "work.py", "function": "f", "inputs": kind}
            found = values.leaves_inputs_unchanged(student, np.random.default_rng(0), **asked)
        assert found.status is status


def _inputs_of(problem: str) -> str:
    """Of the check that nothing is changed."""
    checks = (check for one in RUBRIC.problems if one.id == problem for check in one.checks)
    (found,) = (check.parameters["inputs"] for check in checks if check.id == "leaves_inputs_unchanged")
    assert isinstance(found, str)
    return found


def test_of_few_inputs_all_are_looked_at() -> None:
    few = inputs.Cases(inputs.Case(str(number), (number,)) for number in range(6))
    assert values._some_of(few) == few
