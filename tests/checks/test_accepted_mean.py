"""Which mean share of masked text is accepted: the rubric says it, and no verdict depends on the seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from grader.checks.datasets import span_corruption
from grader.checks.datasets.drawn_items import Question
from grader.checks.datasets.item_set import Sample
from grader.checks.datasets.span_columns import Spans
from grader.checks.datasets.span_statistics import DRAWS, MOST
from grader.compare import Array
from grader.errors import RubricError, TimedOut
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Outcome, Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from tests.checks.test_datasets import VARIANTS
from tests.conftest import REPOSITORY, MakeSubmission

RUBRIC = REPOSITORY / "tests" / "rubrics" / "span-corruption.yaml"
REVIEW = Status.REVIEW
CHECK, WITHIN = "masks_a_quarter_on_average", "within: 0.05"
UP_TO_A_HALF = "random.randint(min(1, most), most)"
SHARES: dict[str, Callable[[np.random.Generator, float, int], Array]] = {
    "two values": lambda rng, mean, count: mean + 0.03 * rng.choice([-1, 1], count),
    "uniform": lambda rng, mean, count: rng.uniform(0, 2 * mean, count),
    "wide": lambda rng, mean, count: rng.beta(*(one * (25 * mean * (1 - mean) - 1) for one in (mean, 1 - mean)), count),
}


@dataclass
class _Drawn:
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


def _verdict(drawn: _Drawn, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.setattr(span_corruption, "Items", lambda *_: drawn)
    check = next(one for one in load_rubric(RUBRIC).problems[0].checks if one.id == CHECK)
    return check.function(None, np.random.default_rng(0), **check.parameters)  # type: ignore[arg-type]


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
    found = {_verdict(_Drawn(SHARES[spread], mean, seed), monkeypatch).status for seed in range(4)}
    assert found == {status}


def test_what_is_too_slow_to_be_decided_needs_review(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _verdict(_Drawn(SHARES["uniform"], 0.3, 0, endure=2 * DRAWS), monkeypatch)
    assert (outcome.status, outcome.score) == (Status.REVIEW, Fraction(1, 2))
    assert outcome.evidence["mean_share"] == pytest.approx(0.3, abs=0.01)


def _graded(boxes: BoxRunner, submission: MakeSubmission, rubric: Path, length: str, seed: int) -> Status:
    assert UP_TO_A_HALF in VARIANTS["plain"]
    work = submission(**{"dataset.py": VARIANTS["plain"].replace(UP_TO_A_HALF, length)})
    report = grade(load_rubric(rubric), work, boxes, Draw(seed, None))
    return next(one.outcome.status for one in report.problems[0].checks if one.check.id == CHECK)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("random.randint(len(document) // 8, len(document) // 2)", Status.FAILED),  # 5/16 on average
        ("int(random.uniform(0.12, 0.32) * len(document) + random.random())", Status.PASSED),
        ("int(random.uniform(0.2, 0.4) * len(document) + random.random())", Status.REVIEW),
    ],
)
def test_it_is_so_in_a_sandbox(
    torch_boxes: BoxRunner, submission: MakeSubmission, tmp_path: Path, length: str, status: Status
) -> None:
    text, path = RUBRIC.read_text(), tmp_path / RUBRIC.name
    head, checks = text.split("    checks:\n")
    (alone,) = (line for line in checks.splitlines() if CHECK in line)
    path.write_text(f"{head}    checks:\n{alone}\n".replace("points: 10", "points: 1.5"))
    found = {_graded(torch_boxes, submission, path, length, seed) for seed in range(1 if status is REVIEW else 4)}
    assert found == {status}


def test_the_rubric_says_what_is_accepted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / RUBRIC.name
    path.write_text(RUBRIC.read_text().replace(WITHIN, "within: 1/10"))
    monkeypatch.setattr("tests.checks.test_accepted_mean.RUBRIC", path)
    assert _verdict(_Drawn(SHARES["uniform"], 0.3125, 0), monkeypatch).status is Status.PASSED


@pytest.mark.parametrize("wrong", ["0", "1/4", "-0.05", "five", "[0.2, 0.3]"])
def test_what_is_accepted_is_a_distance_from_a_quarter(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / RUBRIC.name
    path.write_text(RUBRIC.read_text().replace(WITHIN, f"within: {wrong}"))
    with pytest.raises(RubricError, match=rf"\.yaml:18: {CHECK}: "):
        load_rubric(path)
