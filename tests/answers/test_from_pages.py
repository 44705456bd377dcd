"""How PDFs are judged: a pass may stand, anything else is for a person, and the page is said."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from grader.answers import read_answers
from grader.errors import ForAPerson, Missing, StudentFault
from grader.grading.engine import grade
from grader.grading.pdf_caution import answer_in, from_pages
from grader.model import Answer, Answers, Outcome, Piece, Place, Problem, Report, Status, failed, passed
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests import hostile_pdfs
from tests.answers.sheets import NLP
from tests.conftest import DRAW, the_rubric
from tests.hostile_pdfs import PDFS, pages, scan, text_page

FORMULAS = ("1.b.i", "1.b.ii", "1.c.i", "1.d.i")


def _graded(boxes: BoxRunner, folder: Path, parts: tuple[str, ...] = FORMULAS) -> Report:
    rubric = the_rubric("rubrics/nlp-a5/rubric.yaml")
    rubric = replace(rubric, problems=tuple(one for one in rubric.problems if one.id in parts))
    with open_submission(folder) as submission:
        return grade(rubric, submission, boxes, DRAW)


def _folder(tmp_path: Path, pdf: bytes | str, **files: str) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    if isinstance(pdf, str):
        shutil.copy(PDFS / f"{pdf}.pdf", folder / "answers.pdf")
    else:
        (folder / "answers.pdf").write_bytes(pdf)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sections", "lists", "bold", "word_processor"])
def test_right_formulas_pass(boxes: BoxRunner, tmp_path: Path, name: str) -> None:
    for problem in _graded(boxes, _folder(tmp_path, name)).problems:
        formula = problem.checks[0].outcome
        assert formula.status is Status.PASSED, (problem.problem.id, formula.message)
        assert formula.evidence["places"][0]["page"] in (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wrong", "wrong_too", "word_processor_wrong"])
def test_wrong_formulas_are_for_a_person_and_never_full(boxes: BoxRunner, tmp_path: Path, name: str) -> None:
    for problem in _graded(boxes, _folder(tmp_path, name)).problems:
        formula = problem.checks[0].outcome
        assert formula.status is Status.REVIEW, (problem.problem.id, formula.message)
        assert formula.score < 1, (problem.problem.id, formula.message)
        assert "answers.pdf, page 1" in formula.message


@pytest.mark.slow
def test_doubtful_formulas_and_unseen_ones_earn_no_full_points(boxes: BoxRunner, tmp_path: Path) -> None:
    for name in ("stacked", "unseen"):
        folder = tmp_path / name
        folder.mkdir()
        for problem in _graded(boxes, _folder(folder, name), ("1.b.i", "1.b.ii")).problems:
            formula = problem.checks[0].outcome
            assert formula.status is Status.REVIEW, (name, problem.problem.id, formula.message)
            assert formula.score < 1


@pytest.mark.slow
def test_a_scan_is_for_a_person_who_is_told_the_page(boxes: BoxRunner, tmp_path: Path) -> None:
    folder = _folder(tmp_path, scan(3), **{"submission.yaml": "pages: {1.b: 2, 1.d.i: [2, 3], 9.z: 1}\n"})
    report = _graded(boxes, folder, ("1.b.i", "1.c.i", "1.d.i", "1.e.i", "3.a"))
    assert [str(problem.status) for problem in report.problems] == ["review", "review", "review", "missing", "review"]
    assert report.points == 0
    codes = [problem.checks[0].outcome.code for problem in report.problems]
    assert codes == ["pages_unread", "pages_unread", "pages_unread", "no_answer_given", "pages_unread"]
    messages = [problem.checks[0].outcome.message for problem in report.problems]
    assert messages[0] == "a person reads answers.pdf, page 2"
    assert messages[1] == "a person reads answers.pdf"
    assert messages[2] == "a person reads answers.pdf, pages 2, 3"
    assert report.problems[0].checks[0].outcome.evidence["places"] == [{"page": 2}]
    assert sum("is a scan without text (3 pages)" in note for note in report.notes) == 1
    assert any("'9.z', which is no part" in note for note in report.notes)


@pytest.mark.parametrize(
    ("content", "said"),
    [(hostile_pdfs.locked(), "locked by a password"), (b"", "empty, cut off or damaged"), (b"%PDF-1.4", "cut off")],
    ids=["locked", "empty", "cut off"],
)
def test_what_cannot_be_read_is_said_once(tmp_path: Path, content: bytes, said: str) -> None:
    with open_submission(_folder(tmp_path, content)) as submission:
        answers = read_answers(submission, NLP)
    assert answers.parts == {}
    assert [said in note for note in answers.notes] == [True]


def test_text_is_read_rather_than_the_pdf_beside_it(tmp_path: Path) -> None:
    with open_submission(_folder(tmp_path, "sections", **{"answers.md": "## 3.a\nfacts\n"})) as submission:
        answers = read_answers(submission, NLP)
    assert (set(answers.parts), answers.pdf) == ({"3.a"}, "")
    assert any("answers.pdf was not read" in note for note in answers.notes)


def test_a_pdf_is_read_where_text_answers_nothing(tmp_path: Path) -> None:
    with open_submission(_folder(tmp_path, "sections", **{"answers.md": "see the PDF\n"})) as submission:
        answers = read_answers(submission, NLP)
    assert answers.pdf == "answers.pdf"
    assert {"1.a.i", "1.b.i", "1.d.ii"} <= set(answers.parts)


def test_the_assignment_itself_is_not_taken_for_answers(tmp_path: Path) -> None:
    questions = [f"({letter}) (2 points) Explain to your reader what you find" for letter in "abcdefghij"]
    folder = _folder(tmp_path, pages([text_page("1", "(b)", "(i) M = A")]))
    (folder / "a5.pdf").write_bytes(pages([text_page("1 Attention", *questions)]))
    with open_submission(folder) as submission:
        assert read_answers(submission, NLP).pdf == "answers.pdf"
    (folder / "answers.pdf").unlink()
    with open_submission(folder) as submission:
        answers = read_answers(submission, NLP)
    assert answers.parts == {}
    assert "holds the questions of an assignment" in answers.notes[0]


def _answers(doubt: str = "") -> Answers:
    place = Place(2, (1.0, 2.0, 3.0, 4.0))
    answer = Answer("1.b.i", "answers.pdf", 7, (Piece("prose", "x", 7),), places=(place,), doubt=doubt)
    return Answers({"1.b.i": answer}, pdf="answers.pdf")


def test_verdicts_on_pages() -> None:
    half = Outcome(Status.PARTIAL, Fraction(1, 2), "half of it")
    assert from_pages(passed("right"), _answers(), "1.b.i").status is Status.PASSED
    assert from_pages(passed("right"), _answers("it is stacked"), "1.b.i").score == Fraction(1, 2)
    for outcome in (failed("answers.pdf:7: no"), half, Outcome(Status.MISSING, Fraction(0), "nothing")):
        judged = from_pages(outcome, _answers(), "1.b.i")
        assert (judged.status, judged.score) == (Status.REVIEW, outcome.score)
        assert judged.message.startswith("answers.pdf, page 2")
        assert "answers.pdf:7" not in judged.message
        assert judged.evidence["places"] == [{"page": 2, "box": [1.0, 2.0, 3.0, 4.0]}]
    assert from_pages(half, Answers({}), "1.b.i") is half


@pytest.mark.parametrize(
    ("answers", "optional", "kind", "said"),
    [
        (Answers({}), False, Missing, "there is no answer to 1.a"),
        (Answers({}, pdf="a.pdf"), True, Missing, "there is no answer to 1.a"),
        (Answers({}, pdf="a.pdf", pages={"1.a": (2, 3)}), True, ForAPerson, "a person reads a.pdf, pages 2, 3"),
        (Answers({}, pdf="a.pdf", unread="a scan"), False, ForAPerson, "a person reads a.pdf"),
        (
            Answers({}, pdf="a.pdf", unplaced={"1.a": "a.pdf:7"}),
            False,
            ForAPerson,
            "what stands at a.pdf:7 names no part; a person looks whether it answers 1.a",
        ),
        (Answers({}, pdf="a.pdf"), False, ForAPerson, "no answer to 1.a was found in a.pdf; a person looks for it"),
    ],
)
def test_what_is_not_found_on_pages_is_for_a_person(
    answers: Answers, optional: bool, kind: type[StudentFault], said: str
) -> None:
    with pytest.raises(kind) as raised:
        answer_in(answers, Problem("1.a", "One", Fraction(1), (), optional=optional))
    assert str(raised.value) == said
