"""What a verdict rests on: the same answer has the same hash wherever it stands, and another one has another."""

from __future__ import annotations

import shutil
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.answers import read_answers
from grader.errors import StudentFault
from grader.grading.evidence import MAX_CHARACTERS, Evidence
from grader.model import Alternative, Answers, Check, Outcome, Problem, Rubric, Submission, passed
from grader.submission.opening import open_submission
from tests.conftest import MakeSubmission
from tests.hostile_pdfs import PDFS, scan
from tests.schemas import JUDGED

Files = dict[str, str]


def _judge(student: Any, rng: Any) -> Outcome:
    return passed("good")


def _check(*files: str, names: tuple[str, ...] = ()) -> Check:
    return Check("c", _judge, {}, "It works.", Fraction(1), files=files, names=names)


WRITTEN = Problem("1.a", "Written", Fraction(1), (_check(),))
CODE = Problem("1.a", "Code", Fraction(1), (_check("work.py", names=("attend",)),))
PREDICTED = Problem("1.a", "Predicted", Fraction(1), (_check("dev.predictions"),))
CHOICE = Problem(
    "1.a",
    "Choice",
    Fraction(1),
    (_check(),),
    alternatives=(
        Alternative("rope", ("work.py",), ("attend",), ("rope.predictions",), ()),
        Alternative("other", ("other.py",), ("other",), ("other.predictions",), ()),
    ),
)
PROBLEMS = {"written": WRITTEN, "code": CODE, "predicted": PREDICTED, "choice": CHOICE}


def judged(folder: Path, problem: Problem, files: Files, chosen: str = "") -> dict[str, Any]:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text))
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64, ("1.a", "1.b"))
    with open_submission(folder) as opened:
        submission = opened.for_rubric(rubric)
        found = Evidence(submission, lambda: _sheet(submission, rubric)).of(problem, chosen)
    JUDGED.validate(found)
    return found


def _sheet(submission: Submission, rubric: Rubric) -> Answers | StudentFault:
    try:
        return read_answers(submission, rubric.parts)
    except StudentFault as fault:
        return fault


SHEET = "# 1\n## a\nAll weights are positive, $\\sum_i \\alpha_i = 1$.\n## b\nNo.\n"
WORK = """
    import numpy as np
    from helper import scale

    def attend(q):
        return scale(q)

    def unasked():
        pass
"""
HELPER = "def scale(q):\n    return 2 * q\n"

SAME: dict[str, tuple[str, Files, Files]] = {
    "it stands further down": ("written", {"answers.md": SHEET}, {"answers.md": "\n\nPreface.\n\n" + SHEET}),
    "another part changed": ("written", {"answers.md": SHEET}, {"answers.md": SHEET.replace("No.", "Yes!")}),
    "lines are broken elsewhere": (
        "written",
        {"answers.md": SHEET.replace("All weights are", "All   weights  are")},
        {"answers.md": SHEET},
    ),
    "code was added": ("written", {"answers.md": SHEET}, {"answers.md": SHEET, "work.py": WORK}),
    "the file lies elsewhere": ("code", {"work.py": WORK}, {"src/work.py": WORK}),
    "a file it does not use changed": ("code", {"work.py": WORK, "z.py": "1"}, {"work.py": WORK, "z.py": "2"}),
    "predictions lie elsewhere": ("predicted", {"dev.predictions": "a\nb\n"}, {"out/dev.predictions": "a\nb\n"}),
    "nothing, and nothing again": ("code", {"answers.md": SHEET}, {"answers.md": "# 1\n## b\nNo.\n"}),
}
OTHER: dict[str, tuple[str, Files, Files]] = {
    "a word": ("written", {"answers.md": SHEET}, {"answers.md": SHEET.replace("positive", "negative")}),
    "a formula": ("written", {"answers.md": SHEET}, {"answers.md": SHEET.replace("= 1", "= 2")}),
    "the answer is gone": ("written", {"answers.md": SHEET}, {"answers.md": "# 1\n## b\nNo.\n"}),
    "the function": ("code", {"work.py": WORK}, {"work.py": WORK.replace("scale(q)", "scale(-q)")}),
    "a constant beside it": ("code", {"work.py": WORK}, {"work.py": WORK + "    BETA = 2\n"}),
    "a module that it imports": (
        "code",
        {"work.py": WORK, "helper.py": HELPER},
        {"work.py": WORK, "helper.py": HELPER.replace("2", "3")},
    ),
    "a module that its module loads by name": (
        "code",
        {"work.py": WORK, "helper.py": "scale = __import__('deep').scale\n", "deep.py": HELPER},
        {"work.py": WORK, "helper.py": "scale = __import__('deep').scale\n", "deep.py": HELPER.replace("2", "3")},
    ),
    "a prediction": ("predicted", {"dev.predictions": "a\nb\n"}, {"dev.predictions": "a\nc\n"}),
    "predictions beside an alternative": (
        "choice",
        {"work.py": WORK, "rope.predictions": "a"},
        {"work.py": WORK, "rope.predictions": "b"},
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_work_has_the_same_hash(tmp_path: Path, case: str) -> None:
    kind, one, other = SAME[case]
    first, second = (judged(tmp_path / str(at), PROBLEMS[kind], files) for at, files in enumerate((one, other)))
    assert first["sha256"] == second["sha256"]


@pytest.mark.parametrize("case", OTHER)
def test_other_work_has_another_hash(tmp_path: Path, case: str) -> None:
    kind, one, other = OTHER[case]
    first, second = (judged(tmp_path / str(at), PROBLEMS[kind], files) for at, files in enumerate((one, other)))
    assert first["sha256"] != second["sha256"]


def test_an_answer_is_shown_as_it_was_written_with_its_place(tmp_path: Path) -> None:
    found = judged(tmp_path, WRITTEN, {"answers.md": SHEET})
    text = "All weights are positive, $\\sum_i \\alpha_i = 1$."
    assert found["kind"] == "answer"
    assert found["pieces"] == [{"kind": "answer", "file": "answers.md", "line": 2, "text": text}]


def test_code_is_the_function_asked_for_with_its_first_line(tmp_path: Path) -> None:
    source = "import x\n\n@cached\n@wrapped\ndef attend(\n    q,\n):\n"
    source += '    """\nAt the margin.\n"""\n    return q\n\n# end\nlast = 1\n'
    (piece,) = judged(tmp_path, CODE, {"src/work.py": source})["pieces"]
    assert (piece["file"], piece["name"], piece["line"]) == ("src/work.py", "attend", 3)
    assert piece["text"].startswith("@cached\n@wrapped\ndef attend(")
    assert piece["text"].endswith("return q\n\n# end")


def test_without_the_function_the_file_is_shown(tmp_path: Path) -> None:
    (piece,) = judged(tmp_path, CODE, {"work.py": "attend = lambda q: q\n"})["pieces"]
    assert piece == {"kind": "code", "file": "work.py", "line": 1, "text": "attend = lambda q: q\n"}


def test_predictions_are_named_and_counted(tmp_path: Path) -> None:
    found = judged(tmp_path, PREDICTED, {"dev.predictions": "a\nb\nc"})
    (piece,) = found["pieces"]
    assert (found["kind"], piece["file"], piece["lines"]) == ("files", "dev.predictions", 3)
    assert "text" not in piece


def test_what_is_too_long_is_cut_and_hashed_whole(tmp_path: Path) -> None:
    long = "## 1.a\n" + "word " * MAX_CHARACTERS
    one = judged(tmp_path / "a", WRITTEN, {"answers.md": long})
    other = judged(tmp_path / "b", WRITTEN, {"answers.md": long + "more"})
    assert len(one["pieces"][0]["text"]) == MAX_CHARACTERS
    assert one["pieces"][0]["left_out"] > MAX_CHARACTERS
    assert one["sha256"] != other["sha256"]


def test_only_the_alternative_that_was_chosen_is_shown(tmp_path: Path) -> None:
    files = {"work.py": WORK, "rope.predictions": "a", "other.py": "def other(): ...", "answers.md": SHEET}
    named = [piece["file"] for piece in judged(tmp_path, CHOICE, files, "rope")["pieces"]]
    assert named == ["work.py", "rope.predictions"]
    assert len(judged(tmp_path, CHOICE, files)["pieces"]) == 3


def test_where_two_sheets_answer_the_part_everything_was_judged(tmp_path: Path) -> None:
    two = {"answers.md": SHEET, "answers.txt": SHEET.replace("positive", "negative")}
    one = judged(tmp_path / "a", WRITTEN, two)
    other = judged(tmp_path / "b", WRITTEN, two | {"answers.txt": SHEET.replace("positive", "even")})
    assert one["pieces"] == []
    assert one["sha256"] != other["sha256"]


def test_where_text_names_no_part_the_sheet_was_judged(submission: MakeSubmission) -> None:
    handed_in = submission(**{"answers.md": "All weights are positive.", "work.py": "1"})
    sheet = Answers({}, files=("answers.md",), unplaced={"1.a": "answers.md:1"})
    one = Evidence(handed_in, lambda: sheet).of(WRITTEN, "")
    (handed_in.folder / "work.py").write_text("2")
    same = Evidence(handed_in, lambda: sheet).of(WRITTEN, "")
    (handed_in.folder / "answers.md").write_text("All weights are negative.")
    other = Evidence(handed_in, lambda: sheet).of(WRITTEN, "")
    assert one["pieces"] == [{"kind": "answer", "file": "answers.md"}]
    assert one["sha256"] == same["sha256"] != other["sha256"]


@pytest.mark.slow
def test_pages_of_a_scan_are_named_and_the_scan_is_hashed(tmp_path: Path) -> None:
    declared = {"submission.yaml": "pages: {1.a: [2, 3]}\n"}
    for number in (3, 4):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "answers.pdf").write_bytes(scan(number))
    one, other = (judged(tmp_path / str(number), WRITTEN, declared) for number in (3, 4))
    assert [(piece["file"], piece["page"]) for piece in one["pieces"]] == [("answers.pdf", 2), ("answers.pdf", 3)]
    assert one["sha256"] != other["sha256"]


def test_an_answer_in_a_pdf_is_shown_with_its_page_and_place(tmp_path: Path) -> None:
    shutil.copy(PDFS / "sections.pdf", tmp_path / "answers.pdf")
    (piece,) = judged(tmp_path, WRITTEN, {})["pieces"]
    assert (piece["file"], piece["page"], piece["places"][0]["page"]) == ("answers.pdf", 1, 1)
    assert len(piece["places"][0]["box"]) == 4
    assert piece["text"]


@pytest.mark.slow
def test_hostile_source_is_scanned_in_little_time(tmp_path: Path) -> None:
    hostile = "@\n" * 200_000 + "def attend(): pass\n" + '"' * 100_000
    assert judged(tmp_path, CODE, {"work.py": hostile})["pieces"][0]["left_out"] > 0


@pytest.mark.parametrize(("content", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\n", 2)])
def test_lines_are_counted_as_an_editor_does(tmp_path: Path, content: str, lines: int) -> None:
    (piece,) = judged(tmp_path, PREDICTED, {"dev.predictions": content})["pieces"]
    assert piece["lines"] == lines
