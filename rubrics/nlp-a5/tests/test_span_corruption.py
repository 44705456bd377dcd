"""Span corruption: correct work of every kind passes, each departure is called by its name."""

from __future__ import annotations

import contextlib
import io
import math
import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from rubric_nlp_a5.probes import looked_at
from rubric_nlp_a5.public.span_corruption.span_columns import Spans, spans_at_the_beginning
from rubric_nlp_a5.public.span_corruption.span_statistics import (
    DRAWS,
    ERROR_RATE,
    WITHIN,
    judge_bounds,
    judge_emptiness,
    judge_every_length,
    judge_masked_lengths,
    judge_positions,
    margin,
)
from rubric_nlp_a5.public.span_corruption.spans import Cause, Span, measured, read_span

from grader.errors import RubricError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Outcome, Probe, Report, Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.sandbox.box.probes.rubrics_probes import STUDENT_CODE
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, sampled, some_of, the_rubric

WHOLE = the_rubric("rubrics/nlp-a5/rubric.yaml")
RUBRIC = replace(WHOLE, problems=tuple(problem for problem in WHOLE.problems if problem.id == "2.e"))
CHECKS = {check.id: check for check in RUBRIC.problems[0].checks}
FOLDER = Path(__file__).parent / "span_variants"
VARIANTS = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.py"))}
DEPARTURES: list[tuple[str, dict[str, Any]]] = [
    (check, departure)
    for check, departures in yaml.safe_load((FOLDER / "departures.yaml").read_text()).items()
    for departure in departures
    if check != "groups"
]
ACCEPTED: dict[str, dict[str, str]] = yaml.safe_load((FOLDER / "accepted.yaml").read_text())
SLIPS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "slips.yaml").read_text())
BESIDE = {
    f"{name}.py": (REPOSITORY / "reference" / f"{name}.py").read_text().replace("from reference.", "from ")
    for name in ("span_corruption", "handout_constants")
}
# Of all checks for each variant; SPAN_ROUNDS=24 repeats the run the stated bound was held against (3,120 verdicts).
ROUNDS = int(os.environ.get("SPAN_ROUNDS", "1"))


def _lost(report: Report) -> dict[str, str]:
    (problem,) = report.problems
    return {r.check.id: r.outcome.code for r in problem.checks if r.outcome.status is not Status.PASSED}


@pytest.mark.slow
@pytest.mark.parametrize("variant", some_of(VARIANTS, 4))  # all of them are judged below, many times, without a box
def test_correct_work_passes_in_a_box(torch_boxes: BoxRunner, submission: MakeSubmission, variant: str) -> None:
    assert _lost(grade(RUBRIC, submission(**{"dataset.py": VARIANTS[variant]}, **BESIDE), torch_boxes, DRAW)) == {}


@pytest.mark.slow
def test_plain_work_passes_and_its_report_is_the_same_again(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{"dataset.py": VARIANTS["plain"]})
    first, again = (grade(RUBRIC, work, torch_boxes, Draw(3, None)) for _ in range(2))
    assert _lost(first) == {}
    assert [r.outcome for r in first.problems[0].checks] == [r.outcome for r in again.problems[0].checks]


class _WithoutBox:
    """The same probe in this process: so many draws are not worth a box, and these files are ours."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self._folder = folder
        self._seed = seed
        self._kept: dict[str, Any] = {}

    def in_common(self, name: str, make: Callable[[Any], Any]) -> Any:
        if name not in self._kept:
            self._kept[name] = make(np.random.default_rng(self._seed))
        return self._kept[name]

    def probe(self, probe: Probe, file: str, /, **request: Any) -> Any:
        del request["stream"]  # random numbers go on from question to question
        finders = [*sys.meta_path]  # else what this process imports later is taken for a student's
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                return probe(STUDENT_CODE, str(self._folder / file), **request)
        finally:
            sys.meta_path[:] = finders


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_false_alarm_in_many_rounds(tmp_path: Path, variant: str) -> None:
    for name, text in ({"dataset.py": VARIANTS[variant]} | BESIDE).items():
        (tmp_path / name).write_text(text)
    for round_ in range(ROUNDS):
        random.seed(round_)
        np.random.seed(round_)
        torch.manual_seed(round_)
        for check in CHECKS.values():
            rng = np.random.default_rng(round_)
            outcome = check.function(_WithoutBox(tmp_path), rng, **check.parameters)
            assert outcome.status is Status.PASSED, f"{check.id}, round {round_}: {outcome.message}"


def test_there_are_ten_and_more_correct_ways_and_twenty_five_and_more_departures() -> None:
    assert len(VARIANTS) >= 11
    assert len({departure["code"] for _, departure in DEPARTURES}) >= 25
    assert {check for check, _ in DEPARTURES} == set(CHECKS)
    assert len(ACCEPTED) >= 20
    assert {slip["check"] for slip in SLIPS} < set(CHECKS)


def _changed(changes: dict[str, str]) -> str:
    code = VARIANTS["plain"]
    for before, after in changes.items():
        assert before in code
        code = code.replace(before, after)
    return code


def _judged(folder: Path, code: str, seed: int = 0) -> dict[str, Outcome]:
    (folder / "dataset.py").write_text(code)
    random.seed(seed)
    return {
        check.id: check.function(_WithoutBox(folder), np.random.default_rng(seed), **check.parameters)
        for check in CHECKS.values()
    }


@pytest.mark.slow
@pytest.mark.parametrize("accepted", some_of(ACCEPTED, 2))
def test_what_the_assignment_leaves_open_costs_nothing(tmp_path: Path, accepted: str) -> None:
    outcomes = _judged(tmp_path, _changed(ACCEPTED[accepted]))
    assert {id_: o.message for id_, o in outcomes.items() if o.status is not Status.PASSED} == {}


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS, ids=[slip["code"] for slip in SLIPS])
def test_one_bad_item_in_a_thousand_is_a_small_slip(tmp_path: Path, slip: dict[str, Any]) -> None:
    outcomes = _judged(tmp_path, _changed(slip["change"]))
    lost = {id_: outcome for id_, outcome in outcomes.items() if outcome.status is not Status.PASSED}
    assert set(lost) <= {slip["check"]}
    assert all((o.score, o.code) == (Fraction(9, 10), slip["code"]) for o in lost.values())


@pytest.mark.parametrize("slip", sampled(SLIPS, 5), ids=[slip["code"] for slip in SLIPS])
def test_a_mistake_in_one_draw_of_fifty_is_no_slip(tmp_path: Path, slip: dict[str, Any]) -> None:
    often = {before: after.replace("0.001", "0.02") for before, after in slip["change"].items()}
    outcome = _judged_alone(tmp_path, slip["check"], _changed(often))
    assert (outcome.score, outcome.code) == (0, slip["code"])


def _judged_alone(folder: Path, check: str, code: str, **parameters: Any) -> Outcome:
    (folder / "dataset.py").write_text(code)
    random.seed(0)
    one = CHECKS[check]
    return one.function(_WithoutBox(folder), np.random.default_rng(0), **(dict(one.parameters) | parameters))


@pytest.mark.slow
@pytest.mark.parametrize("block_share", ["3/4", "7/8", "1/2"])
def test_the_rubric_says_how_much_of_the_block_is_kept(tmp_path: Path, block_share: str) -> None:
    code = _changed({"self.block_size * 7 / 8": f"self.block_size * {block_share}"})
    for asked in ("3/4", "7/8", "1/2"):
        outcome = _judged_alone(tmp_path, "truncates_to_every_length", code, longest=Fraction(asked))
        assert (outcome.status is Status.PASSED) == (asked == block_share)
        named = f"{block_share} of the block is another edition's bound" in outcome.message
        assert named == (asked != block_share and block_share != "1/2")


@pytest.mark.parametrize("wrong", ["0", "1", "9/8", "-1/2", "most", "7/0"])
def test_a_share_of_the_block_lies_between_none_and_all(tmp_path: Path, wrong: str) -> None:
    text = RUBRIC.path.read_text()
    assert "points: 1.5, longest: 7/8" in text
    (tmp_path / "rubric.yaml").write_text(text.replace("longest: 7/8", f"longest: {wrong}"))
    with pytest.raises(RubricError, match="longest"):
        load_rubric(tmp_path / "rubric.yaml", folder=RUBRIC.folder)


def _departures(every: int = 1, quick: int = 1) -> pytest.MarkDecorator:
    some = DEPARTURES[::every]
    names = [departure["name"] for _, departure in some]
    return pytest.mark.parametrize(("check", "departure"), sampled(some, quick), ids=names)


@_departures(quick=40)
def test_a_departure_is_told_what_it_is(
    torch_boxes: BoxRunner, submission: MakeSubmission, check: str, departure: dict[str, Any]
) -> None:
    alone = replace(RUBRIC, problems=(replace(RUBRIC.problems[0], checks=(CHECKS[check],)),))
    lost = _lost(grade(alone, submission(**{"dataset.py": _changed(departure["change"])}), torch_boxes, DRAW))
    assert lost == {check: departure["code"]}


@pytest.mark.slow
@_departures(every=12)  # all of them would take minutes
def test_one_slip_does_not_cost_checks_about_something_else(
    torch_boxes: BoxRunner, submission: MakeSubmission, check: str, departure: dict[str, Any]
) -> None:
    report = grade(RUBRIC, submission(**{"dataset.py": _changed(departure["change"])}), torch_boxes, DRAW)
    assert set(_lost(report)) <= {check, *departure.get("too", ())}
    assert all(r.outcome.status is not Status.UNGRADED for r in report.problems[0].checks)


@pytest.mark.slow
@pytest.mark.parametrize("body", ["raise NotImplementedError", "pass", "return None", "..."])
def test_a_data_set_without_code_is_not_started(torch_boxes: BoxRunner, submission: MakeSubmission, body: str) -> None:
    code, _, _ = VARIANTS["plain"].partition("        document = self.data[idx]")
    lost = _lost(grade(RUBRIC, submission(**{"dataset.py": f"{code}        {body}\n"}), torch_boxes, DRAW))
    assert set(lost) == set(CHECKS) - {"vocabulary_begins_with_pad_and_mask"}
    assert set(lost.values()) == {"not_started"}


@pytest.mark.slow
def test_an_exclusive_end_costs_half(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    right = VARIANTS["plain"]
    report = grade(RUBRIC, submission(**{"dataset.py": right.replace("randint(4,", "randrange(4,")}), torch_boxes, DRAW)
    by_id = {r.check.id: r for r in report.problems[0].checks}
    assert by_id["truncates_to_every_length"].outcome.status is Status.PARTIAL
    assert report.points == report.max_points - CHECKS["truncates_to_every_length"].points / 2


FORGERIES = [
    "{}",
    "{'kinds': 3, 'stoi': 1, 'itos': 2, 'vocab_size': [], 'length': 'x'}",
    "{'kinds': [[1]], 'stoi': [[[1], 2]], 'itos': [[1]], 'vocab_size': 'x', 'length': {}, 'x': 1, 'y': 2}",
    "{'kinds': [], 'stoi': None, 'itos': None, 'vocab_size': None, 'length': None, 'x': np.ones((2, 2)), 'y': [1],"
    " 'x_lengths': np.array([-1]), 'y_lengths': np.array([2**62])}",
    "{'kinds': [], 'stoi': [], 'itos': [], 'vocab_size': 2, 'length': 9, 'x': np.zeros(0, int), 'y': np.zeros(0, int),"
    " 'x_lengths': np.zeros(times, int), 'y_lengths': np.zeros(times, int)}",
]


@pytest.mark.slow
@pytest.mark.parametrize("forged", FORGERIES)
def test_forged_answers_earn_nothing_and_break_nothing(
    torch_boxes: BoxRunner, submission: MakeSubmission, forged: str
) -> None:
    code = f"""
        import sys
        import numpy as np
        class CharCorruptionDataset:
            def __init__(self, data, block_size):
                worker = sys.modules["_grader.sandbox.box.worker"]
                worker._of_rubrics["rubric_nlp_a5.probes"]["looked_at"] = lambda dataset, items, times: {forged}
            def __getitem__(self, idx):
                return idx, idx
        """
    report = grade(RUBRIC, submission(**{"dataset.py": code}), torch_boxes, DRAW)
    assert report.points == 0
    assert all(r.outcome.status in (Status.FAILED, Status.CRASHED) for r in report.problems[0].checks)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("ab⁇de⁇c□□", Span(2, 1, 2)),
        ("ab⁇de⁇c⁇□□", Span(2, 1, 2)),
        ("⁇⁇abcde", Span(0, 5, 0)),
        ("bc⁇e⁇d□", Span(2, 1, 1)),
        ("⁇⁇□□", Span(0, 0, 0)),
        ("ab⁇de⁇x", "masked_text_differs"),
        ("ab⁇de⁇c⁇d", "text_after_masked"),
        ("□□ab⁇de⁇c", "pads_first"),
        ("abcde", "wrong_mask_count"),
    ],
)
def test_items_are_read_back(text: str, read: Span | str) -> None:
    found = read_span(text, "abcde")
    assert (found.code if isinstance(found, Cause) else found) == read


def test_a_vocabulary_leaves_the_box_as_whole_numbers_and_short_texts() -> None:
    odd = SimpleNamespace(stoi={"a": np.int64(0), "b" * 9: 1.5}, itos=["a", None])
    found = looked_at(odd, [0], times=0)
    assert found["stoi"] == [["a", 0], ["b" * 8, None]]
    assert [type(index) for _, index in found["stoi"]] == [int, type(None)]
    assert found["itos"] == [[0, "a"], [1, None]]


def test_the_stated_bounds_hold() -> None:
    assert 2 * math.exp(-2 * 2000 * margin(2000) ** 2) == pytest.approx(ERROR_RATE)
    assert 25 * 0.995**DRAWS <= ERROR_RATE
    assert math.exp(-DRAWS * (1 - 9 / 16) ** 2 / (2 * 10)) < 1e-16
    assert math.exp(-DRAWS * (2 / 3 - 9 / 16) ** 2 / (2 * 2 / 3)) < 1e-13
    assert margin(3600) <= WITHIN  # the draws of pieces of either kind that a mean is judged by at least
    # Means of two bands and of two documents, two shares of empty masks, every length, the two outer eighths.
    assert (2 + 2 + 2 + 1) * ERROR_RATE + 2 * 0.99 ** (DRAWS // 2) < 1e-6


@pytest.mark.slow
def test_a_worst_case_at_the_edge_of_what_is_allowed_is_not_misjudged() -> None:
    """All-or-nothing masks have the largest variance a share can have, and a mean of exactly a quarter."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        kept, hit = rng.integers(4, 113, size=(2, DRAWS)), rng.random((2, DRAWS)) < 0.25
        spans = [
            [Span(0, n if masked else 0, 0 if masked else n) for n, masked in zip(*pair, strict=True)]
            for pair in zip(kept.tolist(), hit.tolist(), strict=True)
        ]
        found = judge_masked_lengths(*map(Spans.of, spans), block=128, within=WITHIN)
        assert found is None or found.undecided
        often_empty = [Span(0, int(masked), 60 - int(masked)) for masked in rng.random(DRAWS // 2) < 0.75]
        assert judge_emptiness(Spans.of(often_empty), 128, 60) is None


def test_truncation_needs_every_length_and_a_mask_has_something_on_both_sides() -> None:
    every, share = [Span(0, 1, n - 1) for n in range(4, 29)], Fraction(7, 8)
    assert judge_every_length(Spans.of(every), 32, share) is None
    some = Spans.of([s for s in every if s.kept not in (9, 17)])
    assert "(9, 17)" in judge_every_length(some, 32, share).summary  # type: ignore[union-attr]
    stripped = [replace(s, blanks=int(s.kept in (8, 16))) for s in every if s.kept not in (9, 17)]
    assert judge_every_length(Spans.of(stripped), 32, share) is None
    assert judge_bounds(Spans.of([Span(1, 1, 0, blanks=2), *every]), 90, 32, share) is None
    assert judge_bounds(Spans.of([Span(1, 1, 0, blanks=1)] * 9 + every), 90, 32, share) is not None
    assert judge_positions(Spans.of([Span(p, 2, 8 - p) for p in (0, 8)])) is None
    assert judge_positions(Spans.of([Span(n // 2, 2, n // 2) for n in range(2, 20, 2)])) is None
    assert judge_positions(Spans.of([Span(0, n, 9) for n in range(9)])) is not None
    assert judge_positions(Spans.of([Span(9, n, 0) for n in range(9)])) is not None


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("abc⁇ghi⁇def□□", Span(5, 3, 3)),  # 'abc def ghi' with every piece stripped
        ("⁇ghi⁇def", Span(0, 3, 4, blanks=1)),
        ("abc ⁇⁇def", Span(4, 3, 0, blanks=1)),
        ("ab⁇ghi⁇def", "masked_text_differs"),
    ],
)
def test_blanks_may_be_stripped_and_nothing_else(text: str, read: Span | str) -> None:
    found = read_span(text, "abc def ghi")
    assert (found.code if isinstance(found, Cause) else found) == read


_DOCUMENT = "abcdefg hijkl mnop"
_AT_ONCE = ("ab⁇de⁇c□□", "ab⁇de⁇c⁇□□", "⁇⁇abcde", "⁇⁇□□", "abcdefg ⁇⁇h□", "abc⁇g⁇def□", "abcdefg hijkl mno⁇⁇p", "⁇⁇⁇")
_ONE_BY_ONE = (
    *("bc⁇e⁇d□", "ab⁇de⁇x", "ab⁇de⁇c⁇d", "□□ab⁇de⁇c", "ab□⁇de⁇c", "abcde", "ab⁇c□□", "⁇⁇⁇⁇□", "⁇", "□□", "de⁇ab⁇c"),
    *("abcdefg hijkl mnop⁇⁇q", "ab\ufffd⁇de⁇c", "ab⁇de⁇c⁇⁇⁇", "a⁇c⁇b□⁇", "ab⁇c⁇de", "abcdefg⁇ijkl⁇h", "abcdefg⁇hijkl⁇"),
)


@pytest.mark.parametrize("text", _AT_ONCE)
def test_what_is_read_at_once_is_what_is_read_one_by_one(text: str) -> None:
    spans, read = spans_at_the_beginning(np.array([[ord(letter) for letter in text]] * 2, "<u4"), _DOCUMENT)
    assert read.all()
    found = Span(spans.prefix[1], spans.masked[1], spans.suffix[1], spans.blanks[1], spans.exact[1])
    assert found == read_span(text, _DOCUMENT) == measured(text, _DOCUMENT)


@pytest.mark.parametrize("text", _ONE_BY_ONE)
def test_what_is_no_beginning_of_the_document_is_read_one_by_one(text: str) -> None:
    _, read = spans_at_the_beginning(np.array([[ord(letter) for letter in text]] * 2, "<u4"), _DOCUMENT)
    assert not read.any()
