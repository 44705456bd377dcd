"""Which mean share of masked text is accepted: the rubric says it, and no verdict depends on the seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rubric_nlp_a5.public.span_corruption import span_corruption
from rubric_nlp_a5.public.span_corruption.item_set import Sample
from rubric_nlp_a5.public.span_corruption.items import Question
from rubric_nlp_a5.public.span_corruption.span_columns import Spans
from rubric_nlp_a5.public.span_corruption.span_statistics import DRAWS, MOST
from rubric_nlp_a5.tests.test_span_corruption import CHECKS, RUBRIC, VARIANTS

from grader.compare import Array
from grader.errors import RubricError, TimedOut
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Outcome, Rubric, Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

TEXT = RUBRIC.path.read_text()
REVIEW = Status.REVIEW
CHECK, WITHIN = "masks_a_quarter_on_average", "within: 0.05"
UP_TO_A_HALF = "random.randint(min(1, most), most)"
SHARES: dict[str, Callable[[np.random.Generator, float, int], Array]] = {
    "two values": lambda rng, mean, count: mean + 0.03 * rng.choice([-1, 1], count),
    "uniform": lambda rng, mean, count: rng.uniform(0, 2 * mean, count),
    "wide": lambda rng, mean, count: rng.beta(*(one * (25 * mean * (1 - mean) - 1) for one in (mean, 1 - mean)), count),
}


@dataclass
class _Simulated:
    """Items of documents that were cut to a random length and masked in such a share, rounded by chance."""

    share: Callable[[np.random.Generator, float, int], Array]
    mean: float
    seed: int
    endure: int = MOST * DRAWS
    spans: dict[int, Spans] = field(default_factory=dict)

    def more(self, sample: Sample, length: int, block: int, draws: int) -> Sample:
        return self.sample(length, block, len(sample.spans) + draws)

    def sample(self, length: int, block: int, draws: int) -> Sample:
        if draws > self.endure:
            raise TimedOut("it used up its processor time")
        if length not in self.spans:
            rng, count = np.random.default_rng([self.seed, length]), MOST * DRAWS
            kept = np.minimum(rng.integers(4, 113, count), length)
            masked = np.floor(self.share(rng, self.mean, count) * kept + rng.random(count)).astype(np.int64)
            prefix = np.floor((kept - masked) * rng.random(count)).astype(np.int64)
            rest = np.zeros(count, np.int64)
            self.spans[length] = Spans(prefix, masked, kept - masked - prefix, rest, rest == 0)
        return Sample(Question(("x" * length,), block), self.spans[length][:draws])


def _verdict(drawn: _Simulated, monkeypatch: pytest.MonkeyPatch, **parameters: Any) -> Outcome:
    monkeypatch.setattr(span_corruption, "Items", lambda *_: drawn)
    check = CHECKS[CHECK]
    return check.function(None, np.random.default_rng(0), **(dict(check.parameters) | parameters))  # type: ignore[arg-type]


def _with(folder: Path, within: str) -> Rubric:
    """The rubric, where it accepts other means."""
    assert TEXT.count(WITHIN) == 1
    (folder / "rubric.yaml").write_text(TEXT.replace(WITHIN, within))
    return load_rubric(folder / "rubric.yaml", folder=RUBRIC.folder)


@pytest.mark.parametrize("spread", SHARES)
@pytest.mark.parametrize(
    ("mean", "status"),
    [
        (0.19, Status.FAILED),
        (0.20, Status.REVIEW),
        (0.21, Status.PASSED),
        (0.22, Status.PASSED),
        (0.25, Status.PASSED),
        (0.29, Status.PASSED),
        (0.30, Status.REVIEW),
        (0.3125, Status.FAILED),
    ],
)
def test_no_verdict_depends_on_the_seed(
    mean: float, status: Status, spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {_verdict(_Simulated(SHARES[spread], mean, seed), monkeypatch).status for seed in range(4)}
    assert found == {status}


def test_what_is_too_slow_to_be_decided_needs_review(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _verdict(_Simulated(SHARES["uniform"], 0.3, 0, endure=2 * DRAWS), monkeypatch)
    assert (outcome.status, outcome.score) == (Status.REVIEW, Fraction(1, 2))
    assert outcome.evidence["mean_share"] == pytest.approx(0.3, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("random.randint(len(document) // 8, len(document) // 2)", Status.FAILED),  # 5/16 on average
        ("int(random.uniform(0.12, 0.32) * len(document) + random.random())", Status.PASSED),
        ("int(random.uniform(0.2, 0.4) * len(document) + random.random())", Status.REVIEW),
    ],
)
def test_it_is_so_in_a_sandbox(torch_boxes: BoxRunner, submission: MakeSubmission, length: str, status: Status) -> None:
    assert UP_TO_A_HALF in VARIANTS["plain"]
    work = submission(**{"dataset.py": VARIANTS["plain"].replace(UP_TO_A_HALF, length)})
    alone = replace(RUBRIC, problems=(replace(RUBRIC.problems[0], checks=(CHECKS[CHECK],)),))
    reports = [grade(alone, work, torch_boxes, Draw(seed, None)) for seed in range(1 if status is REVIEW else 4)]
    found = {report.problems[0].checks[0].outcome.status for report in reports}
    assert found == {status}


def test_the_rubric_says_what_is_accepted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    checks = (check for problem in _with(tmp_path, "within: 1/10").problems for check in problem.checks)
    within = next(check.parameters["within"] for check in checks if check.id == CHECK)
    found = _verdict(_Simulated(SHARES["uniform"], 0.3125, 0), monkeypatch, within=within)
    assert found.status is Status.PASSED


@pytest.mark.parametrize("wrong", ["0", "1/4", "-0.05", "five", "[0.2, 0.3]"])
def test_what_is_accepted_is_a_distance_from_a_quarter(tmp_path: Path, wrong: str) -> None:
    line = TEXT[: TEXT.index(WITHIN)].count("\n") + 1
    with pytest.raises(RubricError, match=rf"\.yaml:{line}: {CHECK}: "):
        _with(tmp_path, f"within: {wrong}")
