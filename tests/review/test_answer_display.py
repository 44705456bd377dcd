"""What a page shows of an answer: lines that messages name, files without their names, pages and their places."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.report.answer_display import boxes_on, lines_named, pages_of, shown_pieces, without_names
from grader.review.handed_in_files import HandedInFiles, NotShown
from grader.review.page_templates import exact

CODE = {
    "kind": "code",
    "file": "alice/src/attention.py",
    "name": "attend",
    "line": 10,
    "text": "def attend():\n\treturn <1>\n",
}
PDF = {
    "kind": "answer",
    "file": "alice-doe.pdf",
    "page": 2,
    "places": [{"page": 2, "box": [1, 2, 3, 4]}, {"page": 3}, {"page": 2, "box": [5, 6, 7, 8]}],
    "text": "so $x$",
    "doubt": "a line is doubtful",
    "left_out": 7,
}


def check(message: str, status: str = "failed") -> dict[str, Any]:
    return {"status": status, "message": message}


def test_lines_that_messages_name_are_marked() -> None:
    (shown,) = shown_pieces(
        [CODE], {}, [check("it raises at attention.py:11"), check("see line 10", "passed")], names=True
    )
    assert [(line.number, line.named) for line in shown.lines] == [(10, False), (11, True), (12, False)]
    assert shown.lines[1].text == "\treturn <1>"
    named = lines_named([check("blanks in lines 107, 135, 155"), check("hw.ipynb cell 3 line 4: no")])
    assert named == {107, 135, 155, 4}


@pytest.mark.parametrize("piece", [CODE, PDF, {"kind": "file", "file": "alice.dev.predictions", "lines": 300}])
def test_names_of_files_are_hidden_with_those_of_students(piece: dict[str, Any]) -> None:
    hidden, told = (shown_pieces([piece], {}, [], names=names)[0].heading for names in (False, True))
    assert "alice" not in hidden
    assert piece["file"] in told


def test_messages_name_no_file_that_may_tell_whose_it_is() -> None:
    sheet = {"kind": "answer", "file": "alice a/alice's a5.md"}
    said = [check("alice's a5.md:14: no 'q'"), check("alice a.tar.gz: the archive: cannot"), check("x.zip is, not: it")]
    assert [one["message"] for one in without_names(said, [sheet])] == [
        "the .md:14: no 'q'",
        "the .tar.gz that was handed in: the archive: cannot",
        "x.zip is, not: it",
    ]
    of_pdf = {**check("read"), "evidence": {"file": sheet["file"], "places": [{"page": 1}]}}
    assert without_names([of_pdf], [sheet])[0]["evidence"] == {"places": [{"page": 1}]}


def test_an_answer_from_a_pdf_has_its_pages_and_what_is_doubtful() -> None:
    (shown,) = shown_pieces([PDF], {}, [], names=False)
    assert [picture.page for picture in shown.pictures] == [2, 3]
    assert shown.heading.endswith("page 2")
    assert shown.notes == ("7 more characters are left out here", "it may have been read wrongly: a line is doubtful")
    assert pages_of(PDF) == [2, 3]
    assert boxes_on(PDF, 2) == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert boxes_on(PDF, 3) == []


@pytest.mark.parametrize(("points", "field"), [("3/2", "1.5"), ("1/3", "1/3"), ("-1", "-1"), ("2/16", "1/8")])
def test_a_field_holds_points_exactly(points: str, field: str) -> None:
    assert exact(Fraction(points)) == field


def test_a_page_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "class" / "alice").mkdir(parents=True)
    (tmp_path / "class" / "ben").mkdir()
    (tmp_path / "secret.pdf").write_bytes(b"%PDF")
    (tmp_path / "class" / "alice" / "link.pdf").symlink_to(tmp_path / "secret.pdf")
    for place, student, said in (
        (None, "alice", "--submissions DIR"),
        (tmp_path / "nowhere", "alice", "cannot be read"),
        (tmp_path / "class", "carol", "does not lie among the submissions"),
    ):
        files = HandedInFiles(place)
        assert said in files.why_not(student)
        files.close()
    files = HandedInFiles(tmp_path / "class")
    assert files.why_not("alice") == ""
    for file in ("../../secret.pdf", "link.pdf", "answers.pdf", str(tmp_path / "secret.pdf")):
        with pytest.raises(NotShown, match="not among what was handed in"):
            files.picture("alice", file, 1, [], whole=True)
    files.close()
