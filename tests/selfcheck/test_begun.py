"""A kit as it came says "not started", part by part; a file that is no Python is told first; the rest is counted."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from rich.console import Console

from grader.grading.engine import grade
from grader.model import Check, CheckResult, Problem, ProblemResult, Report, Status, passed
from grader.report.part_counts import counted
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.selfcheck.begun import Begun
from grader.selfcheck.checking import check_own_work
from grader.selfcheck.form import faults_of_form
from grader.selfcheck.own_work import open_own_work
from grader.selfcheck.packing import pack_own_work
from grader.selfcheck.showing import TerminalListener
from grader.submission.opening import open_submission
from grader.submission.starter_code import DIGESTS, starter_digests
from tests.conftest import DRAW, the_rubric
from tests.selfcheck.kits import ANSWERS, ATTENTION, RUBRIC, make_kit

STUB = "import numpy as np\n\n\ndef attention(Q, K, V, beta):\n    raise NotImplementedError\n"
BUILD = "def build():\n    raise NotImplementedError\n"
EMPTY = "## 1.a\n\n## 1.b\n\n"
BUILT_LATER = "  - {id: 3, title: Built, points: 0, later: {checks: 2, points: 3}}\n"
PROMPT = RUBRIC.replace("{check: is_answered, gate: true}", "{check: is_answered, gate: true, prompt: Why both?}")


def a_kit(folder: Path, stub: str = STUB, **changed: str | None) -> Path:
    """As it came, but for what was changed."""
    code = {"attention.py": stub, "build.py": BUILD}
    with tempfile.TemporaryDirectory() as staff:
        make_kit(Path(staff), **{f"starter/{name}": text for name, text in code.items()})
        digests = starter_digests(replace(the_rubric("rubrics/ridge/rubric.yaml"), folder=Path(staff)))
    rubric = {"rubric/tiny/rubric.yaml": PROMPT + BUILT_LATER, f"rubric/tiny/{DIGESTS}": json.dumps(digests)}
    return make_kit(folder, **{"answers.md": EMPTY, **code, **rubric, **changed})


def checked(kit: Path, boxes: BoxRunner) -> tuple[list[str], Report]:
    """What a terminal shows, without the ends of lines, and the report."""
    stream = io.StringIO()
    with open_own_work(kit) as work:
        report = check_own_work(work, (), boxes, TerminalListener(Console(file=stream, width=100)))
    return [line.rstrip() for line in stream.getvalue().splitlines()], report


def test_a_kit_as_it_came_is_not_started_in_one_line_for_each_part(tmp_path: Path, boxes: BoxRunner) -> None:
    lines, report = checked(a_kit(tmp_path), boxes)
    assert lines[1:] == [
        "Form: nothing is written for 1.a, 1.b; write each answer below its heading",
        "",
        "1.a     not started  0 / 3, 1 later        A query",
        "1.b     not started  2.5 later             In words",
        "2       not started  0 / 3, 1 later        Attention",
        "3       not started  3 later               Built",
        "",
        "Parts: 4 not started. 0 of the 6 points that are checked here. In all, 3 of 9 checks are public; 6",
        "run after the deadline (7.5 of 13.5 points).",
    ]
    assert {result.status for result in report.problems} == {Status.MISSING}


def test_what_was_begun_is_not_called_untouched(tmp_path: Path, boxes: BoxRunner) -> None:
    windows = STUB.replace("\n", "\r\n")  # an editor changed the ends of lines, and nothing else
    lines, _ = checked(a_kit(tmp_path, **{"attention.py": windows, "build.py": BUILD + "# a thought\n"}), boxes)
    assert "2       not started  0 / 3, 1 later        Attention" in lines
    assert "3       later        3 later               Built" in lines
    with open_own_work(tmp_path) as work:
        assert Begun(work.submission, work.rubric).untouched == ["attention.py"]
    on_the_sheet = a_kit(tmp_path / "written", **{"answers.md": "## 3\n\nIt is built from two matrices.\n"})
    assert "3       later        3 later               Built" in checked(on_the_sheet, boxes)[0]


GIVEN_LINES = {
    "raises": "    scores = beta * K.T @ Q\n    raise NotImplementedError  # the weights, and what they give\n",
    "returns something": "    scores = beta * K.T @ Q\n    return V @ np.zeros_like(scores)  # yours\n",
    "returns nothing": "    scores = beta * K.T @ Q\n    weights = None\n    return weights\n",
}


@pytest.mark.parametrize("body", GIVEN_LINES.values(), ids=GIVEN_LINES)
def test_a_starter_that_holds_a_few_lines_is_not_started_until_it_is_changed(
    tmp_path: Path, boxes: BoxRunner, body: str
) -> None:
    stub = STUB.replace("    raise NotImplementedError\n", body)
    helped = f"{stub}\n\ndef helper(x):\n    return 2 * x\n"  # another function of the file is begun
    for number, code in enumerate((stub, helped)):
        lines, report = checked(a_kit(tmp_path / str(number), stub, **{"attention.py": code}), boxes)
        assert "2       not started  0 / 3, 1 later        Attention" in lines
        outcomes = [one.outcome for one in report.problems[2].checks if one.outcome.status is not Status.PASSED]
        assert {one.status for one in outcomes} <= {Status.MISSING, Status.SKIPPED}
        assert "not started: attention in attention.py is as given out" in {one.message for one in outcomes}
    changed = a_kit(tmp_path / "changed", stub, **{"attention.py": stub.replace("K.T @ Q", "Q.T @ K")})
    assert not any(line.startswith("2       not started") for line in checked(changed, boxes)[0])


def test_staff_are_told_the_same_of_a_starter_beside_the_rubric(tmp_path: Path, boxes: BoxRunner) -> None:
    stub = STUB.replace("    raise NotImplementedError\n", GIVEN_LINES["returns something"])
    staff = make_kit(tmp_path / "staff", **{"rubric/tiny/starter/code/attention.py": stub})
    with open_submission(make_kit(tmp_path / "work", **{"attention.py": stub})) as work:
        report = grade(load_rubric(staff / "rubric" / "tiny" / "rubric.yaml"), work, boxes, DRAW)
    first, *_ = (one.outcome for one in report.problems[2].checks if one.outcome.status is not Status.PASSED)
    assert (first.status, first.code) == (Status.MISSING, "not_started")


def test_a_file_that_is_not_there_is_missing_and_not_unstarted(tmp_path: Path, boxes: BoxRunner) -> None:
    lines, _ = checked(a_kit(tmp_path, **{"attention.py": None, "answers.md": ANSWERS}), boxes)
    assert "2       missing      0 / 3, 1 later        Attention" in lines
    counts = "1 right as far as is checked here; 1 missing; 1 not started; 1 there, to be read after the deadline."
    assert f"Parts: {counts}" in " ".join(lines)


def test_a_question_stands_under_what_was_found(tmp_path: Path, boxes: BoxRunner) -> None:
    lines, _ = checked(a_kit(tmp_path, **{"answers.md": ANSWERS}), boxes)
    at = lines.index("1.b     there        2.5 later             In words")
    assert lines[at + 1 : at + 3] == ["        answers.md:5: an answer is there", "        question: Why both?"]


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        (
            "attention.py",
            ATTENTION.replace("V, beta)", "V, beta"),
            "attention.py, line 3: '(' was never closed; mend it, or 2 cannot be checked\n"
            "    def attention(Q, K, V, beta:\n"
            "                 ^",
        ),
        (
            "helper.py",
            "def scaled(x):\n\tif x:\n\t\treturn x +* 2\n",
            "helper.py, line 3: invalid syntax; 2 imports it\n    return x +* 2\n              ^",
        ),
    ],
)
def test_a_syntax_error_is_told_first_with_line_and_caret(
    tmp_path: Path, boxes: BoxRunner, file: str, text: str, told: str
) -> None:
    using = ATTENTION.replace("return V", "return helper.scaled(1) * V")
    own = {"attention.py": f"import helper\n{using}", "helper.py": "", file: text}
    kit = a_kit(tmp_path, **{"answers.md": None, **own})
    with open_own_work(kit) as work:
        first, second, *_ = faults_of_form(work.submission, work.rubric, work.whole)
    assert first == told
    assert second.startswith("no answers were handed in")
    lines, report = checked(kit, boxes)
    assert lines[1 : 2 + told.count("\n")] == [f"Form: {told.splitlines()[0]}", *told.splitlines()[1:]]
    at = next(at for at, line in enumerate(lines) if line.startswith("2 "))
    assert lines[at].split()[:2] == ["2", "crashed"]
    assert lines[at + 1].startswith("3 "), "it is not said twice"
    assert told.splitlines()[0] in report.notes


def test_a_syntax_error_of_code_that_runs_is_told_where_it_happens(tmp_path: Path, boxes: BoxRunner) -> None:
    """The file itself can be read, so the form says nothing of it."""
    lines, _ = checked(a_kit(tmp_path, **{"attention.py": ATTENTION.replace("np.exp", "eval('1 +') or np.exp")}), boxes)
    assert any("SyntaxError" in line for line in lines)
    lines, _ = checked(a_kit(tmp_path / "top", **{"attention.py": f"{ATTENTION}attention = eval('1 +')\n"}), boxes)
    assert any("cannot be imported: SyntaxError" in line for line in lines)


def test_pack_lists_what_was_not_started_and_what_is_untouched(tmp_path: Path, boxes: BoxRunner) -> None:
    with open_own_work(a_kit(tmp_path, **{"answers.md": ANSWERS, "build.py": BUILD + "# mine\n"})) as work:
        report = check_own_work(work, (), boxes, TerminalListener(Console(file=io.StringIO())))
        packed = pack_own_work(work, report)
    assert (packed.not_started, packed.untouched) == (("2",), ("attention.py",))
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(packed.content)).read("manifest.json"))
    assert (manifest["missing"], manifest["not_started"], manifest["untouched"]) == ([], ["2"], ["attention.py"])


def test_parts_that_wait_for_a_person_are_counted_as_that() -> None:
    assert counted([Status.PASSED] * 7 + [Status.REVIEW] * 13) == "7 right, 13 wait for a person"
    assert counted([Status.REVIEW, Status.MISSING, Status.CRASHED]) == "1 crashed, 1 waits for a person, 1 missing"
    assert counted([]) == "none"


def test_every_part_has_one_line_and_its_status_the_same_colour() -> None:
    paper = io.StringIO()
    listener = TerminalListener(Console(file=paper, width=60, force_terminal=True, color_system="standard"))
    check = Check("is_right", lambda student, rng: passed("yes"), {}, "", Fraction(1))
    problem = Problem("1.a", "A title that is longer than what a terminal so narrow shows", Fraction(1), (check,))
    found = CheckResult(check, passed("yes"), Fraction(1), 0.0)
    for _ in range(3):
        listener.problem(ProblemResult(problem, Status.PASSED, Fraction(1), (found,)))
    first, *others = paper.getvalue().splitlines()
    assert others == [first, first]
    assert "passed" in first
    assert "…" in first
