"""Whose work is whose, as folders and the downloads of learning platforms name it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grader.batch import finding
from grader.batch.finding import find_submissions
from grader.errors import UsageError

GRADESCOPE = """---
submission_101:
  :submitters:
  - :name: Ada Example
    :sid: '00123'
    :email: ada@example.edu
  :created_at: 2024-03-01 10:00:00.000000000 Z
  :score: 3.0
  :results:
    tests:
    - :name: "not a person: at all"
submission_102:
  :submitters:
  - :name: Bo Example
    :sid:
    :email: bo@example.edu
  - :name: Cy Example
    :sid: 77
    :email: cy@example.edu
  :status: processed
"""


def archive(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return path


def test_gradescope_says_who_handed_in_what_together_and_when(tmp_path: Path) -> None:
    top = "assignment_9_export"
    files = {
        f"{top}/submission_metadata.yml": GRADESCOPE,
        f"{top}/submission_101/attention.py": "1",
        f"{top}/submission_102/src/attention.py": "2",
    }
    found = find_submissions(archive(tmp_path / "export.zip", **files), tmp_path / "work")
    assert [(one.student, one.name, one.path.name, one.came) for one in found.submissions] == [
        ("00123", "Ada Example", "submission_101", "2024-03-01 10:00:00.000000000 Z"),
        ("77", "Cy Example", "submission_102", ""),
    ]
    assert [one.student for one in found.submissions[1].members] == ["77", "bo@example.edu"]
    assert not found.twice
    assert not found.notes


def test_times_of_earlier_attempts_and_no_times_are_nobodys(tmp_path: Path) -> None:
    for number in (101, 102):
        (tmp_path / f"submission_{number}").mkdir()
    text = GRADESCOPE.replace("  :score: 3.0", "  :history:\n  - :score: 1\n    :created_at: 2023-01-01 00:00:00 Z")
    text = text.replace(":status: processed", ":created_at: yesterday")
    (tmp_path / "submission_metadata.yml").write_text(text)
    found = find_submissions(tmp_path, tmp_path / "work").submissions
    assert [one.came for one in found] == ["2024-03-01 10:00:00.000000000 Z", ""]


def test_a_group_whose_first_member_also_handed_in_alone_goes_by_another(tmp_path: Path) -> None:
    for number in (101, 102):
        (tmp_path / f"submission_{number}").mkdir()
    (tmp_path / "submission_metadata.yml").write_text(GRADESCOPE.replace("'00123'", "77"))
    found = find_submissions(tmp_path, tmp_path / "work")
    assert [(one.student, len(one.members)) for one in found.submissions] == [("77", 1), ("bo@example.edu", 2)]
    assert not found.twice


def test_canvas_names_are_taken_apart_and_files_get_their_own_names_back(tmp_path: Path) -> None:
    files = {
        "doejane_4711_815_attention-2.py": "again",
        "doejane_4711_816_answers.md": "text",
        "roerichard_LATE_4712_900_hw3.zip": "PK",
        "smithal_4713_901_a.py": "a",
        "smithal_4713_902_a-1.py": "b",
        "anon_Xy12z_903_attention.py": "x",
    }
    found = find_submissions(archive(tmp_path / "submissions.zip", **files), tmp_path / "work")
    by_id = {one.student: one for one in found.submissions}
    assert set(by_id) == {"4711", "4712", "4713", "Xy12z"}
    assert {path.name: path.read_text() for path in by_id["4711"].path.iterdir()} == {
        "attention.py": "again",
        "answers.md": "text",
    }
    assert by_id["4712"].late
    assert by_id["4712"].path.name.endswith("hw3.zip")
    assert not by_id["4711"].late
    assert {path.name for path in by_id["4713"].path.iterdir()} == {"a.py", "a-1.py"}
    assert by_id["4711"].name == "doejane"


def test_an_id_too_long_for_a_table_is_cut(tmp_path: Path) -> None:
    (tmp_path / f"anon_{'x' * 150}_7_attention.py").touch()
    (one,) = find_submissions(tmp_path, tmp_path / "work").submissions
    assert one.student.startswith("xxx")
    assert len(one.student) < 150


@pytest.mark.parametrize(("bound", "most"), [("_MAX_BYTES", 6), ("_MAX_FILES", 1)])
def test_a_download_that_is_too_large_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    made = archive(tmp_path / "class.zip", **{"ada/a.py": "1234", "bo/a.py": "567"})
    monkeypatch.setattr(finding, bound, most)
    with pytest.raises(UsageError, match=r"more than|unpacked"):
        find_submissions(made, tmp_path / "work")


def test_moodle_folders_are_read_into_ids(tmp_path: Path) -> None:
    (tmp_path / "in" / "Jane Doe_4711_assignsubmission_file_").mkdir(parents=True)
    (one,) = find_submissions(tmp_path / "in", tmp_path / "work").submissions
    assert (one.student, one.name) == ("4711", "Jane Doe")


def test_folders_and_archives_stand_for_students_and_the_rest_is_named(tmp_path: Path) -> None:
    here = tmp_path / "in"
    (here / "alice").mkdir(parents=True)
    (here / ".git").mkdir()
    (here / "ben.tar.gz").write_bytes(b"")
    (here / "notes.txt").write_text("")
    (here / "eve").symlink_to("/etc")
    found = find_submissions(here, tmp_path / "work")
    assert [one.student for one in found.submissions] == ["alice", "ben"]
    assert found.notes == (
        "eve is a link and was left out",
        "notes.txt is no folder, archive or notebook and was left out",
    )


def test_two_things_under_one_id_are_said_and_neither_is_picked(tmp_path: Path) -> None:
    here = tmp_path / "in"
    for name in ("alice", "ben", "ev\x1b", "ev\x07"):
        (here / name).mkdir(parents=True)
    (here / "alice.zip").write_bytes(b"")
    found = find_submissions(here, tmp_path / "work")
    assert [one.student for one in found.submissions] == ["ben"]
    assert found.twice == (
        "alice is there more than once (alice and alice.zip), so none of them is graded; keep one",
        "ev� is there more than once (ev� and ev�), so none of them is graded; keep one",
    )


@pytest.mark.parametrize("name", ["../escaped.py", "/etc/escaped.py", "a/../../escaped.py"])
def test_a_download_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="points outside the archive"):
        find_submissions(archive(tmp_path / "all.zip", **{name: "x"}), tmp_path / "work")
    assert not list(tmp_path.rglob("escaped.py"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x1f\x8b"])
def test_a_damaged_download_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "all.zip").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        find_submissions(tmp_path / "all.zip", tmp_path / "work")
    assert "cannot be unpacked" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_one_student_under_two_names_are_one_hand_in(tmp_path: Path) -> None:
    for name in ("doejane_4711_815_attention.py", "doejanemarried_4711_816_multihead.py", "roe_12_817_attention.py"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text("")
    found = find_submissions(tmp_path / "in", tmp_path / "work")
    assert [(one.student, one.fault) for one in found.submissions] == [("12", ""), ("4711", "")]
    assert sorted(path.name for path in found.submissions[1].path.iterdir()) == ["attention.py", "multihead.py"]


def test_a_file_that_cannot_be_unpacked_costs_its_own_student_alone(tmp_path: Path) -> None:
    files = {f"class/ada/{'n' * 300}.py": "1", "class/ada/attention.py": "1", "class/bo/attention.py": "2"}
    files |= {"class/cy/a": "1", "class/cy/a/b": "2"}  # a file where a folder should be
    found = find_submissions(archive(tmp_path / "export.zip", **files), tmp_path / "work")
    faults = {one.student: one.fault for one in found.submissions}
    assert list(faults) == ["ada", "bo", "cy"]
    assert faults["bo"] == ""
    assert "cannot be unpacked (File name too long)" in faults["ada"]
    assert "cannot be unpacked (" in faults["cy"]
    assert len(found.notes) == 2


def test_a_folder_of_notebooks_is_a_class(tmp_path: Path) -> None:
    for name in ("ada.ipynb", "bo.IPYNB"):
        (tmp_path / name).write_text("{}")
    found = find_submissions(tmp_path, tmp_path / "work")
    assert [(one.student, one.path.name) for one in found.submissions] == [("ada", "ada.ipynb"), ("bo", "bo.IPYNB")]
    assert not found.notes
