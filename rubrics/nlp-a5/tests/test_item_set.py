"""One set of draws for all checks of a data set: each finds in it what it would find alone, and nothing is looked at
less than before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rubric_nlp_a5.probes import draw_items
from rubric_nlp_a5.public.span_corruption.item_set import DOCUMENTS, ORDINARY
from rubric_nlp_a5.public.span_corruption.items import Question, entries_of
from rubric_nlp_a5.public.span_corruption.span_statistics import DRAWS
from rubric_nlp_a5.tests.test_span_corruption import CHECKS, RUBRIC, VARIANTS, _changed, _WithoutBox

from grader.grading.engine import grade
from grader.model import Limits, Outcome, Probe, Report, Status
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, MakeSubmission


class _Counting(_WithoutBox):
    """Counts the draws that are asked of a data set, by block."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.draws: Counter[int] = Counter()
        self.requests = 0

    def probe(self, probe: Probe, file: str, /, **request: Any) -> Any:
        self.draws[request["block_size"]] += request["times"]
        self.requests += 1
        return super().probe(probe, file, **request)


def _asked(folder: Path, *checks: str) -> _Counting:
    (folder / "dataset.py").write_text(VARIANTS["plain"])
    student = _Counting(folder)
    for check in checks:
        outcome = CHECKS[check].function(student, np.random.default_rng(0), **CHECKS[check].parameters)
        assert outcome.score == 1, outcome.message
    return student


def test_bounds_are_looked_at_in_as_many_draws_as_ever(tmp_path: Path) -> None:
    """4,600, 1,200 and 2,000: so a length beyond them in one draw of a thousand is missed once in 2,400 times."""
    draws = _asked(tmp_path, "truncates_to_every_length").draws
    assert draws == {32: DRAWS + 600, 50: 1200, 128: DRAWS // 2}
    assert (1 - 0.001) ** sum(draws.values()) < 1 / 2400


def test_forms_are_looked_at_in_more_than_two_thousand_draws_and_many_of_each_document() -> None:
    firsts = [DOCUMENTS[block][length][0] for length, block in ORDINARY]
    assert sum(firsts) >= 2100
    assert min(firsts) >= 300


@pytest.mark.slow
def test_right_work_is_drawn_from_once_for_all_checks(tmp_path: Path) -> None:
    together = _asked(tmp_path, *CHECKS)
    alone = sum(sum(_asked(tmp_path, check).draws.values()) for check in CHECKS)
    assert sum(together.draws.values()) < 10_000 < 15_000 < alone
    assert together.requests < 25


def test_a_data_set_with_a_generator_of_its_own_is_drawn_from_at_once(tmp_path: Path) -> None:
    """Built anew for each go it would draw the same again, and 4,000 draws would be 3,400."""
    seeded = "self.chance = random.Random(0)\n        self.data = "
    own = _changed({"random.randint": "self.chance.randint", "self.data = ": seeded})
    (tmp_path / "dataset.py").write_text(own)
    student, check = _Counting(tmp_path), CHECKS["truncates_to_every_length"]
    assert check.function(student, np.random.default_rng(0), **check.parameters).score == 1
    assert student.draws[32] >= 2 * DRAWS


def test_two_checks_of_forms_draw_as_much_as_one(tmp_path: Path) -> None:
    both = _asked(tmp_path, "items_are_shifted_pairs", "items_rebuild_the_document").draws
    assert both == _asked(tmp_path, "items_rebuild_the_document").draws


def test_draws_of_a_question_are_the_same_whatever_was_asked_before(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    work = submission(**{"dataset.py": VARIANTS["plain"]})
    documents = ("abcdefgh ijkl mnopq rstuv wxyz ABCD EFGHI",)

    def drawn(box: Any, question: Question) -> bytes:
        request = {"name": "CharCorruptionDataset", "data": question.data, "block_size": question.block}
        asked = {"items": question.items, "times": question.times, "stream": question.stream}
        found: bytes = box.probe(draw_items, "dataset.py", **request, **asked)["x"].tobytes()
        return found

    question, later = Question(documents, 32, times=20), Question(documents, 32, times=20, after=20)
    with torch_boxes.open(work, Limits(), 7) as box:
        first, second, again = (drawn(box, one) for one in (question, later, question))
    with torch_boxes.open(work, Limits(), 7) as box:
        alone = drawn(box, later)
    with torch_boxes.open(work, Limits(), 8) as box:
        of_other_numbers = drawn(box, later)
    assert first == again != second == alone != of_other_numbers


_FAILS = "if {}:\n            raise ValueError('rare')\n        most = len"
RARE = {
    "too long at times": {"document[:kept]": "document[: kept + 8 * (random.random() < 0.0004)]"},
    "raises at times": {"most = len": _FAILS.format("random.random() < 0.0005")},
    "on the edge of too much": {"most = len(document) // 2": "most = int(len(document) * 0.58)"},
    "short ones fail at times": {"most = len": _FAILS.format("len(document) < 3 and random.random() < 0.1")},
}


@pytest.mark.slow
@pytest.mark.parametrize("rare", RARE)
def test_chance_gives_the_same_with_shared_draws_and_with_a_box_for_each_check(
    torch_boxes: BoxRunner, submission: MakeSubmission, rare: str
) -> None:
    work = submission(**{"dataset.py": _changed(RARE[rare])})
    shared, fresh = (grade(RUBRIC, work, torch_boxes, DRAW, share_boxes=share) for share in (True, False))
    assert _without_output(shared) == _without_output(fresh)


def _without_output(report: Report) -> list[Outcome]:
    """What is found. Less is printed where others have drawn items before."""
    outcomes = (one.outcome for one in report.problems[0].checks)
    return [
        replace(one, evidence={key: value for key, value in one.evidence.items() if key != "printed"})
        for one in outcomes
    ]


@pytest.mark.parametrize(
    ("table", "entries"),
    [
        ([["a", 0], ["bb", None]], (("a", 0), ("bb", None))),
        ({"keys": "abc"}, None),
        ([["a", 0, 1]], None),
        (None, None),
    ],
)
def test_a_vocabulary_is_read_as_it_was_sent_or_not_at_all(table: Any, entries: Any) -> None:
    assert entries_of(table) == entries


DATASET = """
    import random
    import numpy as np
    made = 0

    class CharCorruptionDataset:
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
    ("check", "rarely", "status"),
    [
        ("masks_at_any_place", "if made == 1 and self.drawn < 9: raise ValueError(length)", Status.PASSED),
        ("truncates_to_every_length", "if self.block == 32 and 600 < self.drawn < 641: length = 29", Status.FAILED),
        ("truncates_to_every_length", "pass", Status.PASSED),
    ],
    ids=["a few of the first draws fail", "one in a hundred is too long, none of the first", "right"],
)
def test_few_draws_are_judged_as_all_would_be(
    torch_boxes: BoxRunner, submission: MakeSubmission, check: str, rarely: str, status: Status
) -> None:
    work = submission(**{"dataset.py": DATASET.replace("RARELY", rarely)})
    alone = replace(RUBRIC, problems=(replace(RUBRIC.problems[0], checks=(CHECKS[check],)),))
    (problem,) = grade(alone, work, torch_boxes, DRAW).problems
    assert [one.outcome.status for one in problem.checks] == [status]
