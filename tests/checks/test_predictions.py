"""Prediction files: scored where every line surely answers its question, and every oddity called by its name."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.checks.predictions.alignment import _best_move, _Move
from grader.checks.predictions.label_files import Question, Split, read_lines
from grader.checks.predictions.prediction_files import Form, numbered, read_predictions
from grader.errors import RubricError
from grader.grading.engine import grade
from grader.model import Outcome, Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission
from tests.conftest import DRAW, REPOSITORY, sampled

DATA, NORA = REPOSITORY / "rubrics" / "nlp-a5" / "data", REPOSITORY / "submissions" / "nora"
DEV, TEST = (Split.read(str(DATA / f"birth_{split}.tsv")).questions for split in ("dev", "test"))
GOOD = read_lines(NORA / "vanilla.pretrain.dev.predictions")  # 106 of 300
WEAK = read_lines(NORA / "vanilla.nopretrain.dev.predictions")  # 4 of 300
FILE = "vanilla.pretrain.dev.predictions"
FORM = (
    "{check: predictions_are_well_formed, points: 1, called: place, pad: □, separator: ⁇, file: %s, "
    "labels: birth_dev.tsv, other_labels: birth_test.tsv}"
)
TIERS = "[{accuracy: 0.10, score: 1}, {accuracy: 0.05, score: 1/2}, {right: 1, score: 1/4}]"
REACH = (
    "{check: predictions_reach, points: 1, called: place, pad: □, separator: ⁇, baseline: London, too_good: 0.95,"
    " file: %s, labels: birth_dev.tsv, other_labels: birth_test.tsv, tiers: "
    + TIERS
    + ", unlike: [vanilla.nopretrain.dev.predictions, vanilla.pretrain.dev.predictions]}"
)

Judge = Callable[..., tuple[Outcome, Outcome]]


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _rubric(folder: Path, *checks: str, points: int = 2) -> Path:
    path = folder / "tiny.yaml"
    listed = "".join(f"      - {check}\n" for check in checks)
    head = f"rubric: tiny\ntitle: T\npoints: {points}\nproblems:\n  - id: 2.f\n    title: P\n    points: {points}\n"
    path.write_text(f"{head}    checks:\n{listed}")
    return path


@pytest.fixture
def judge(boxes: BoxRunner, tmp_path: Path) -> Judge:
    """judge(content, other_file=content): what the two checks find, form and accuracy."""

    def judged(content: bytes, **others: bytes) -> tuple[Outcome, Outcome]:
        work = tmp_path / "work"
        work.mkdir()
        for name, data in {FILE: content, **others}.items():
            (work / name).write_bytes(data)
        rubric = load_rubric(_rubric(tmp_path, FORM % FILE, REACH % FILE), DATA)
        report = grade(rubric, OpenedSubmission("s", work, 0, (FILE, *others)), boxes, DRAW)
        form, reach = (result.outcome for result in report.problems[0].checks)
        return form, reach

    return judged


def test_a_real_file_is_scored_with_count_interval_tier_and_baseline(judge: Judge) -> None:
    form, reach = judge(_text(GOOD))
    assert form.status is reach.status is Status.PASSED
    for part in ("106/300 = 35.3 %", "(95 %: 30.1–40.9 %)", "always London: 15/300 = 5.0 %", "from 10 % on, worth all"):
        assert part in reach.message
    assert reach.evidence["interval"] == [0.3014, 0.409]
    assert (reach.evidence["right"], reach.evidence["total"]) == (106, 300)
    assert reach.evidence["baseline"] == {"answer": "London", "right": 15, "total": 300}


@pytest.mark.parametrize(
    ("right", "status", "score"),
    [
        (30, Status.PASSED, Fraction(1)),
        (29, Status.PARTIAL, Fraction(1, 2)),
        (15, Status.PARTIAL, Fraction(1, 2)),
        (14, Status.PARTIAL, Fraction(1, 4)),
        (1, Status.PARTIAL, Fraction(1, 4)),
        (0, Status.FAILED, Fraction(0)),
    ],
)
def test_tiers_begin_exactly_where_the_rubric_says(judge: Judge, right: int, status: Status, score: Fraction) -> None:
    lines = [question.label if n < right else f"Nowhere {n}" for n, question in enumerate(DEV)]
    _, reach = judge(_text(lines))
    assert (reach.status, reach.score) == (status, score)
    assert reach.code == ("passed" if right >= 30 else "accuracy_below_tiers")


HARMLESS = {
    "windows line ends": (lambda good: "\r\n".join(good).encode(), "lines end as on Windows"),
    "no newline at the end": (lambda good: "\n".join(good).encode(), ""),
    "blank lines at the end": (lambda good: _text(good) + b"\n\n \n", "blank lines at the end (3)"),
    "byte order mark": (lambda good: b"\xef\xbb\xbf" + _text(good), "byte order mark"),
    "spaces": (lambda good: _text([f"  {line}\t" for line in good]), "lines 1, 2, 3, 4, 5 and 295 more"),
    "a few empty answers": (lambda good: _text(["" if n in (6, 9) else x for n, x in enumerate(good)]), "lines 7, 10"),
    "a line of pads": (lambda good: _text(["□" * 9 if n == 6 else x for n, x in enumerate(good)]), "line 7 is filled"),
    "an exotic separator": (lambda good: _text(["a\u2028b\x0cc" if n == 6 else x for n, x in enumerate(good)]), ""),
}


@pytest.mark.parametrize(("write", "told"), sampled(HARMLESS.values(), 3), ids=list(HARMLESS))
def test_what_costs_nothing_is_noticed_all_the_same(judge: Judge, write: Any, told: str) -> None:
    form, reach = judge(write(GOOD))
    assert form.status is reach.status is Status.PASSED, (form, reach)
    assert reach.evidence["right"] >= 104
    assert any(told in remark for remark in [*form.evidence["remarks"], ""])


DRESSED = {
    "utf-16": (lambda good: "\n".join(good).encode("utf-16"), "not_utf8"),
    "utf-16 without a mark": (lambda good: "\n".join(good).encode("utf-16-le"), "not_utf8"),
    "latin-1": (lambda good: "\n".join(["Zürich", *good[1:]]).encode("latin-1"), "not_utf8"),
    "old line ends": (lambda good: "\r".join(good).encode(), "carriage_returns"),
    "header": (lambda good: _text(["Predicted place", *good]), "header_line"),
    "question too": (
        lambda good: _text([f"{q.text}\t{x}" for q, x in zip(DEV, good, strict=True)]),
        "questions_in_lines",
    ),
    "raw": (lambda good: _text([f"{q.text}⁇{x}⁇□□" for q, x in zip(DEV, good, strict=True)]), "questions_in_lines"),
    "table with a header": (
        lambda good: _text(["question\tplace", *(f"{q.text}\t{x}" for q, x in zip(DEV, good, strict=True))]),
        "header_line",
    ),
    "numbered from 0": (lambda good: _text([f"{n}: {x}" for n, x in enumerate(good)]), "lines_numbered"),
    "numbered from 1": (lambda good: _text([f"{n}.\t{x}" for n, x in enumerate(good, start=1)]), "lines_numbered"),
    "quoted": (lambda good: _text([f'"{x}"' for x in good]), "lines_quoted"),
    "json": (lambda good: json.dumps(good).encode(), "json_list"),
    "json over lines": (lambda good: json.dumps(good, indent=1).encode(), "json_list"),
}


@pytest.mark.parametrize(("write", "code"), sampled(DRESSED.values(), 3), ids=list(DRESSED))
def test_what_is_plainly_meant_is_scored_for_a_person_to_confirm(judge: Judge, write: Any, code: str) -> None:
    form, reach = judge(write(GOOD))
    assert (form.status, form.score, form.code) == (Status.PARTIAL, Fraction(1, 2), code), form
    assert (reach.status, reach.score, reach.code) == (Status.REVIEW, Fraction(1), "needs_cleanup"), reach
    assert reach.evidence["right"] >= 105


def _without(lines: list[str], at: int) -> list[str]:
    return lines[:at] + lines[at + 1 :]


SHIFTED = {
    "header, count right": (_text(["prediction", *GOOD[:-1]]), "header_line", "prediction is missing"),
    "cannot be told": (_text(_without(WEAK, 40)), "wrong_line_count", "299 lines, and birth_dev.tsv asks for 300"),
    "made for the other split": (
        (NORA / "vanilla.pretrain.test.predictions").read_bytes(),
        "another_split",
        "birth_test.tsv, which has 250 lines (90 right there, ",
    ),
    "a question twice": (
        _text([f"{q.text}\t{x}" for q, x in zip([DEV[1], *DEV[1:]], GOOD, strict=True)]),
        "other_questions",
        "the question in line 1 ",
    ),
}


@pytest.mark.parametrize(("content", "code", "what"), sampled(SHIFTED.values(), 2), ids=list(SHIFTED))
def test_lines_that_may_be_another_questions_are_never_scored(
    judge: Judge, content: bytes, code: str, what: str
) -> None:
    form, reach = judge(content)
    assert form.status is Status.FAILED
    assert (reach.status, reach.score) == (Status.REVIEW, Fraction(0)), reach
    assert form.code == reach.code == code
    assert what in reach.message


HOPELESS = {
    "empty": (b"", "file_empty"),
    "far too short": (_text(GOOD[:100]), "wrong_line_count"),
    "binary": (b"PK\x03\x04\0\0\x93\xfa", "not_text"),
    "binary like utf-16": (b"\xff\xfe\x00\xd8\x00", "not_text"),
    "a million lines": (b"\n" * 10**6, "wrong_line_count"),
    "a long json list": (json.dumps(["x"] * 5_000).encode(), "wrong_line_count"),
    "deep json": (b"[" * 10**6, "wrong_line_count"),
}


@pytest.mark.parametrize(("content", "code"), sampled(HOPELESS.values(), 2), ids=list(HOPELESS))
def test_what_nobody_could_align_fails(judge: Judge, content: bytes, code: str) -> None:
    form, reach = judge(content)
    assert form.status is reach.status is Status.FAILED
    assert form.code == reach.code == code


SUSPICIOUS = {
    "always London": (["London"] * 300, "300 of 300 lines are the same (it is the baseline, London)"),
    "nearly always London": (["London"] * 290 + GOOD[290:], "it is the baseline"),
    "one answer": ([DEV[0].label] * 300, "lines are the same (one answer)"),
    "the labels": (
        [question.label for question in DEV],
        "95 % right and more is above what this model reaches; were labels copied",
    ),
}


@pytest.mark.parametrize(("lines", "told"), sampled(SUSPICIOUS.values(), 2), ids=list(SUSPICIOUS))
def test_a_suspicious_file_keeps_half_for_a_person_to_judge(judge: Judge, lines: list[str], told: str) -> None:
    _, reach = judge(_text(lines))
    assert reach.status is Status.REVIEW
    assert 0 < reach.score <= Fraction(1, 2)
    assert reach.code == "suspicious_predictions"
    assert any(told in suspicion for suspicion in reach.evidence["suspicions"])


def test_two_models_that_say_the_same_are_pointed_out(judge: Judge) -> None:
    _, reach = judge(_text(GOOD), **{"vanilla.nopretrain.dev.predictions": _text(GOOD).replace(b"\n", b"\r\n")})
    assert (reach.status, reach.score, reach.code) == (Status.REVIEW, Fraction(1, 2), "suspicious_predictions")
    assert reach.evidence["suspicions"] == ["it is the same, line by line, as vanilla.nopretrain.dev.predictions"]


def test_two_models_that_differ_are_not(judge: Judge) -> None:
    _, reach = judge(_text(GOOD), **{"vanilla.nopretrain.dev.predictions": _text(WEAK)})
    assert reach.status is Status.PASSED


def test_what_is_right_but_for_case_is_counted_apart_and_shown_to_a_person(judge: Judge) -> None:
    _, reach = judge(_text([line.upper() + "." for line in GOOD]))
    assert (reach.status, reach.score, reach.evidence["right"]) == (Status.REVIEW, Fraction(0), 0)
    assert (reach.code, reach.evidence["nearly_right"]) == ("nearly_right", 106)


def test_the_form_of_letters_does_not_matter_but_accents_do(tmp_path: Path, boxes: BoxRunner) -> None:
    (tmp_path / "birth_dev.tsv").write_text("".join(f"Where was {n} born?\tZürich {n}\n" for n in range(40)))
    said = [f"Zu\u0308rich {n}" for n in range(20)] + [f"Zurich {n}" for n in range(20, 40)]
    (tmp_path / FILE).write_bytes(_text(said))
    check = (REACH % FILE).replace(", other_labels: birth_test.tsv", "")
    rubric = load_rubric(_rubric(tmp_path, check, points=1), tmp_path)
    (problem,) = grade(rubric, OpenedSubmission("s", tmp_path, 0, (FILE,)), boxes, DRAW).problems
    assert problem.checks[0].outcome.evidence["right"] == 20
    assert problem.checks[0].outcome.evidence["nearly_right"] == 0


def test_a_hidden_check_shows_no_place(boxes: BoxRunner, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(_text(["Nowhereville"] * 100 + GOOD[100:]))
    hidden = [check.replace("points: 1", "points: 1, visibility: hidden") for check in (FORM % FILE, REACH % FILE)]
    rubric = load_rubric(_rubric(tmp_path, *hidden), DATA)
    (problem,) = grade(rubric, OpenedSubmission("s", tmp_path, 0, (FILE,)), boxes, DRAW).problems
    shown = str([(result.outcome.message, result.outcome.evidence) for result in problem.checks])
    assert "/300 = " in shown
    assert not [place for place in {"Nowhereville", *(q.label for q in DEV)} - {"London"} if place in shown]


@pytest.mark.parametrize("lines", [[question.label for question in TEST], [""] * len(TEST), GOOD, GOOD[:-2]])
def test_where_the_other_split_comes_without_places_the_verdict_is_the_same(
    boxes: BoxRunner, tmp_path: Path, lines: list[str]
) -> None:
    """Students have the questions of the test split alone."""
    (tmp_path / FILE).write_bytes(_text(lines))
    found = []
    for other in ("birth_test.tsv", "birth_test_inputs.tsv"):
        checks = [check.replace("birth_test.tsv", other) for check in (FORM % FILE, REACH % FILE)]
        rubric = load_rubric(_rubric(tmp_path, *checks), DATA)
        (problem,) = grade(rubric, OpenedSubmission("s", tmp_path, 0, (FILE,)), boxes, DRAW).problems
        found.append([(result.outcome.status, result.outcome.score) for result in problem.checks])
        assert (problem.checks[0].outcome.code == "another_split") == (len(lines) == len(TEST))
        assert ("right there" in problem.checks[0].outcome.message) == (
            len(lines) == len(TEST) and other == "birth_test.tsv"
        )
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("tiers", "told"),
    [
        ("[]", "at least one tier"),
        ("[{accuracy: 10, score: 1}]", "less than or equal to 1"),
        ("[{accuracy: ten, score: 1}]", "such as 0.1 or 1/2"),
        ("[{accuracy: 0.1, score: 2}]", "less than or equal to 1"),
        ("[{score: 1}]", "either 'accuracy' or 'right'"),
        ("[{accuracy: 0.1, right: 3, score: 1}]", "either 'accuracy' or 'right'"),
        ("[{accuracy: 0.1, score: 1/2}, {accuracy: 0.05, score: 1}]", "ask for more where it gives more"),
        ("[{acuracy: 0.1, score: 1}]", "acuracy"),
    ],
)
def test_tiers_that_make_no_sense_stop_the_rubric(tmp_path: Path, tiers: str, told: str) -> None:
    path = _rubric(tmp_path, (REACH % FILE).replace(TIERS, tiers), points=1)
    with pytest.raises(RubricError, match=r"tiny\.yaml:9: predictions_reach") as caught:
        load_rubric(path, DATA)
    assert told in str(caught.value)


def test_few_line_numbers_are_named() -> None:
    assert numbered([3]) == "line 3"
    assert numbered(list(range(1, 1001))) == "lines 1, 2, 3, 4, 5 and 995 more"


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(content: bytes) -> None:
    split = Split("dev.tsv", [Question(f"Where was {n} born?", "Rome") for n in range(3)])
    found = read_predictions(content, split, Form("place", "□", "⁇"))
    assert all(isinstance(said, str) for said in found.predictions)


@given(st.integers(0, 49), st.integers(1, 3))
def test_the_cut_is_found_where_lines_were_put_in(at: int, more: int) -> None:
    places = [f"p{n}" for n in range(50)]
    assert _best_move([*places[:at], *["x"] * more, *places[at:]], places, more) == _Move(at, 50 - at, 0)


CLASSES = ["0", "1", "2", "1", "0", "2"] * 20


@pytest.mark.parametrize(
    ("lines", "status", "told"),
    [
        (CLASSES, Status.PASSED, "120/120 = 100.0 %"),
        (["accuracy 0.98", *CLASSES], Status.REVIEW, "line 1 is no category: 'accuracy 0.98'"),
        ([f"{number} {one}" for number, one in enumerate(CLASSES)], Status.REVIEW, "write the category alone"),
        (["1"] * 120, Status.REVIEW, "120 of 120 lines are the same (one answer)"),
    ],
    ids=["all right", "a report", "numbered", "one answer"],
)
def test_labels_go_by_the_rubrics_own_name_and_may_be_numbers(
    lines: list[str], status: Status, told: str, tmp_path: Path, boxes: BoxRunner
) -> None:
    (tmp_path / "digits.tsv").write_text("".join(f"image {at}\t{one}\n" for at, one in enumerate(CLASSES)))
    tiers = "called: category, tiers: [{accuracy: 1/3, score: 1}]"
    check = f"{{check: predictions_reach, points: 1, file: out.txt, labels: digits.tsv, {tiers}}}"
    (tmp_path / "digits.yaml").write_text(
        f"rubric: digits\ntitle: D\npoints: 1\nproblems:\n  - {{id: '1', title: D, points: 1, checks: [{check}]}}\n"
    )
    work = tmp_path / "work"
    work.mkdir()
    (work / "out.txt").write_text("\n".join(lines) + "\n")
    report = grade(load_rubric(tmp_path / "digits.yaml"), OpenedSubmission("s", work, 0, ("out.txt",)), boxes, DRAW)
    outcome = report.problems[0].checks[0].outcome
    assert outcome.status is status
    assert told in outcome.message
    assert not [word for word in ("place", "London", "always") if word in outcome.message]
