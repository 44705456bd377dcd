"""Faults of form come first, each with its place and its fix."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.rubric.choosing import only
from grader.selfcheck.form import faults_of_form
from grader.selfcheck.own_work import open_own_work
from tests.conftest import REPOSITORY
from tests.selfcheck.kits import ANSWERS, ATTENTION, make_kit


def faults(folder: Path) -> list[str]:
    with open_own_work(folder) as work:
        return list(faults_of_form(work.submission, work.rubric, work.whole))


def test_a_whole_kit_has_none(tmp_path: Path) -> None:
    assert faults(make_kit(tmp_path)) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"attention.py": None}, "attention.py is missing (2); put it anywhere in the folder you check"),
        ({"weights.txt": None}, "weights.txt is missing (2); put it anywhere in the folder you check"),
        (
            {"src/attention.py": ATTENTION + "# again\n"},
            "attention.py is there more than once: attention.py and src/attention.py; keep one, or name it in "
            "submission.yaml",
        ),
        (
            {"answers.md": None},
            "no answers were handed in; write them in answers.md (answers.tex and answers.yaml are read too); "
            "weights.txt names no part (1.a, 1.b)",
        ),
        (
            {"answers.md": ANSWERS.replace("## 1.b", "## 1.z")},
            "answers.md:5: '1.z' is no part of this assignment; did you mean '1.b'?",
        ),
        (
            {"answers.md": ANSWERS.partition("## 1.b")[0]},
            "there is no answer to 1.b; write a heading above each, such as '## 1.b'",
        ),
        (
            {"answers.md": "## 1.a\n\n## 1.b\n"},
            "nothing is written for 1.a, 1.b; write each answer below its heading",
        ),
        (
            {"answers.md": ANSWERS.replace("k_b)", "k_b")},
            "1.a: answers.md:3:11: the bracket '(' is never closed; `grader formula` shows how a formula is read",
        ),
        (
            {"submission.yaml": "rubric: tiny\nfiles: {attention.py: 'src\\mine.py'}\n"},
            "submission.yaml says attention.py is at src/mine.py, but nothing is there (2); correct it there",
        ),
        (
            {"hw.ipynb": "{"},
            "hw.ipynb cannot be read as a notebook: it is not JSON, or cut short; save it again in Jupyter",
        ),
    ],
)
def test_each_is_told_with_its_fix(tmp_path: Path, changed: dict[str, str | None], told: str) -> None:
    assert told in faults(make_kit(tmp_path, **changed))


def test_a_windows_path_in_submission_yaml_is_read(tmp_path: Path) -> None:
    elsewhere = {"attention.py": None, "src/mine.py": ATTENTION}
    named = {"submission.yaml": "rubric: tiny\nfiles: {attention.py: 'src\\mine.py'}\n"}
    assert faults(make_kit(tmp_path, **elsewhere, **named)) == []


@pytest.mark.parametrize("change", ["a line too few", "blank lines at the end", "last places empty"])
def test_lines_of_predictions_are_counted(tmp_path: Path, change: str) -> None:
    shutil.copytree(REPOSITORY / "submissions" / "alice", tmp_path / "alice")
    file = tmp_path / "alice" / "vanilla.pretrain.dev.predictions"
    lines = file.read_text().splitlines()
    changed = {
        "a line too few": lines[:-1],
        "blank lines at the end": [*lines, "", ""],
        "last places empty": [*lines[:-2], "", ""],
    }[change]
    file.write_text("".join(f"{line}\n" for line in changed))
    found = [fault for fault in faults(tmp_path / "alice") if file.name in fault]
    wanted = f"{file.name} has {len(lines) - 1} lines, and {len(lines)} are asked for (2.f); "
    assert found == (
        [f"{wanted}write one place per line, in the order of the questions"] if change == "a line too few" else []
    )


def test_what_is_answered_in_code_is_not_missing_on_the_sheet(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "submissions" / "ada", tmp_path / "ada")
    sheet = tmp_path / "ada" / "answers.md"
    sheet.write_text("## 1.1.a\n\nH = V A\n")
    absent = [fault for fault in faults(tmp_path / "ada") if fault.startswith("there is no answer to")]
    assert len(absent) == 1
    (tmp_path / "ada" / "constructions.py").write_text("")
    (fewer,) = [fault for fault in faults(tmp_path / "ada") if fault.startswith("there is no answer to")]
    assert "1.1.c" in absent[0]
    assert "1.1.c" not in fewer


def test_where_only_code_is_asked_a_sheet_is_read_if_there_is_one(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    (kit / "answers.md").write_text("## 1.z\n\nWords.\n")
    told = []
    for _ in range(2):
        with open_own_work(kit) as work:
            told.append(list(faults_of_form(work.submission, only(work.rubric, ["2"]), work.whole)))
        (kit / "answers.md").unlink(missing_ok=True)
    assert ["'1.z' is no part of this assignment" in "".join(lines) for lines in told] == [True, False]
    assert told[1] == []
