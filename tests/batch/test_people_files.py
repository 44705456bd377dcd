"""Rosters and times as staff have them: whoever is in the file is found, and what is wrong is named by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.course.people_files import read_roster, read_times
from grader.batch.course.person import Person
from grader.errors import UsageError

ALICE, BOB = Person("alice", "Doe, Alice"), Person("bob", "Bob Roe")
ROSTERS = {
    "plain": ('student,name\nalice,"Doe, Alice"\nbob,Bob Roe\n', ("alice",)),
    "saved by a spreadsheet": ("\ufeffStudent;Name\r\nalice;Doe, Alice\r\n;\r\nbob;Bob Roe\r\n", ()),
    "the same row twice": (
        'student,name\nalice,"Doe, Alice"\nbob,Bob Roe\nalice,"Doe, Alice"\n',
        (),
    ),
    "canvas": (
        "Student,ID,SIS User ID,SIS Login ID,Section,A5 (9)\n    Points Possible,,,,,60\n"
        '"Doe, Alice",4711,u1,alice,S1,\nBob Roe,4712,u2,bob,S1,\n',
        ("alice", "bob"),
    ),
    "moodle": (
        'Identifier,Full name,Email address,Grade\nParticipant 1,"Doe, Alice",alice@x.example,\n'
        "Participant 2,Bob Roe,bob@x.example,\n",
        ("bob",),
    ),
    "gradescope": (
        'Name,Email,Role,SID\n"Doe, Alice",a@x.example,Student,alice\n'
        "Bob Roe,b@x.example,Student,bob\nProf,p@x.example,Instructor,\n",
        ("alice",),
    ),
}


def _file(folder: Path, text: str) -> Path:
    path = folder / "roster.csv"
    path.write_text(text, newline="")
    return path


@pytest.mark.parametrize("kind", ROSTERS)
def test_everybody_is_found_by_the_ids_that_hand_ins_have(kind: str, tmp_path: Path) -> None:
    text, known = ROSTERS[kind]
    assert read_roster(_file(tmp_path, text), known) == [ALICE, BOB]


def test_a_platforms_own_number_counts_where_hand_ins_go_by_it(tmp_path: Path) -> None:
    text, _ = ROSTERS["canvas"]
    assert [one.student for one in read_roster(_file(tmp_path, text), ("4712",))] == ["4711", "4712"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("student,name\nalice,A\n\nalice,B\n", "roster.csv:4: 'alice' is in line 2, too, with another name"),
        (
            "student,name\nalice\nbob,B\n,C\n",
            "roster.csv:2: it has 1 cells, the first line 2\n.*:4: there is no student",
        ),
        ("student\n", "there is nobody in it"),
        ("", "the file is empty"),
        ("who,what\nalice,A\n", "no column says who; call it 'student' .it has who, what."),
        ('student,name\nalice,"A\n', "not CSV"),
    ],
)
def test_bad_rows_are_named_by_their_lines(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        read_roster(_file(tmp_path, text), ())


def test_times_are_read_and_whoever_has_none_is_left_open(tmp_path: Path) -> None:
    text = "SID,Submission Time\nAlice,2026-11-20 23:59:00 -0800\nbob,\n"
    assert read_times(_file(tmp_path, text), ("alice",)) == {"alice": "2026-11-20 23:59:00 -0800"}
    for wrong, said in (
        ("student,time\nalice,2026-11-20T23:59\n", ":2: .* does not say in which time zone"),
        ("student,time\nalice,2026-11-20T23:59Z\nalice,2026-11-21T23:59Z\n", ":3: 'alice' is in line 2, too, with an"),
        ("student,when\nalice,2026-11-20T23:59Z\n", "call it 'time'"),
    ):
        with pytest.raises(UsageError, match=said):
            read_times(_file(tmp_path, wrong), ())
