"""Requests to look again: taken in once, answered once, and the answer is where the student reads it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grader.batch.course.people_files import Person
from grader.batch.course.settings_log import HandIn
from grader.batch.deciding import commands as deciding
from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.report.html import student_page
from grader.review import commands
from grader.review.desk import Desk
from grader.review.refs import Ref
from tests.review.made_classes import decide, essays, grade, keep, prose, result
from tests.schemas import REPORT


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return essays(tmp_path, 3)


def taken_in(book: Gradebook, text: str | bytes) -> Result:
    table = book.path.with_name("requests.csv")
    table.write_bytes(text.encode() if isinstance(text, str) else text)
    return CliRunner().invoke(commands.app, ["regrade", "import", str(table), str(book.path.parent)])


def test_a_table_is_taken_in_once(book: Gradebook) -> None:
    table = '\ufeffText,Student,part,when\r\n"two\nlines, and\u2028more",s0,1.a,now\r\n\r\nplease,s1,1.a\r\n'
    assert taken_in(book, table).stdout.startswith("2 requests opened; 2 wait for an answer\n")
    assert taken_in(book, table).stdout.startswith("0 requests opened, 2 were known before; 2 wait")
    assert [request.text for request in book.requests.all()] == ["two\nlines, and\u2028more", "please"]
    listed = CliRunner().invoke(commands.app, ["regrade", "list", str(book.path.parent)]).stdout
    assert "two lines, and" in listed
    said = CliRunner().invoke(deciding.app, ["status", str(book.path.parent)]).stdout
    assert "Open regrade requests: 2." in said


def test_status_sends_to_review_while_a_request_is_open_and_nothing_else(book: Gradebook) -> None:
    kim = Desk(book, "Kim")
    for number in range(3):
        decide(kim, Ref(f"s{number}", "1.a"), 1)
    taken_in(book, "student,part,text\ns0,1.a,please\n")
    said = CliRunner().invoke(deciding.app, ["status", str(book.path.parent)]).stdout
    assert "No part is open. Open regrade requests: 1. Next: grader review" in said


def test_a_member_of_a_group_asks_about_the_groups_work(book: Gradebook) -> None:
    book.settings.note_hand_in("s0", HandIn((Person("s0"), Person("zoe"))))
    assert "1 requests opened" in taken_in(book, "student,part,text\nzoe,1.a,please\n").stdout
    assert [request.student for request in book.requests.all()] == ["s0"]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("", "its first line names the columns student, part, text; student is missing, and it has nothing"),
        ("s0,1.a,please\n", "student is missing"),
        ("student,part,text\n", "it holds no request"),
        ("student,part,text\ns0,1.a,x\ns00,1.a,x\n", "line 3: the gradebook has no student 's00'; did you mean 's0'?"),
        ("student,part,text\nnobody,1.a,x\n", "no student 'nobody'; nothing was imported"),
        ('student,part,text\n"s0",1.a,"a\nb"\ns1,1.A,x\n', "line 4: s1 has no part '1.A'; did you mean '1.a'?"),
        ("student,part,text\ns0,1.a\n", "line 2: the text is empty"),
        ("student,part,text\ns0,1.a," + "x" * 10_001, "line 2: the text has 10001 characters"),
        ('student,part,text\ns0,1.a,"x', "line 2: unexpected end of data"),
        (b"student,part,text\ns0,1.a,\xff\xfe", "it is not UTF-8"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_taken_in(book: Gradebook, table: str | bytes, told: str) -> None:
    done = taken_in(book, table)
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())
    assert book.requests.all() == []


def test_an_answer_is_logged_with_the_points_before_and_after_and_shown(book: Gradebook) -> None:
    kim, ref = Desk(book, "Kim"), Ref("s0", "1.a")
    decide(kim, ref, 1, comment="too short")
    taken_in(book, "student,part,text\ns0,1.a,<i>I said it</i>\ns1,1.a,and I\n")
    first, second = kim.requests()
    assert kim.view(ref).request == first
    assert kim.parts()[0].waiting_requests == 2
    asked = grade(book, "s0")
    REPORT.validate(asked)
    assert asked["problems"][0]["regrade"] == [{"at": first.at, "text": "<i>I said it</i>"}]
    kim.answer_request(first.id, "You did, in the last line.", Fraction(2))
    kim.answer_request(second.id, "It stays.")
    graded = grade(book, "s0")
    REPORT.validate(graded)
    reply = graded["problems"][0]["regrade"][0]["reply"]
    assert (reply["text"], reply["by"], reply["was"], reply["points"]) == ("You did, in the last line.", "Kim", 1, 2)
    assert (graded["points"], graded["problems"][0]["decision"]["kind"]) == (2, "regrade")
    assert graded["problems"][0]["decision"]["comment"] == "too short"
    assert grade(book, "s1")["problems"][0]["regrade"][0]["reply"]["points"] == 3  # nobody decided it: what was found
    page = student_page(graded)
    assert "You asked: &lt;i&gt;I said it" in page
    assert "Answered by Kim: You did, in the last line. (1 → 2 points)" in page
    said = CliRunner().invoke(deciding.app, ["status", str(book.path.parent), "--student", "s0"]).stdout
    assert "answered by Kim" in " ".join(said.replace("│", " ").split())
    assert kim.requests() == []
    with pytest.raises(UsageError, match="was answered by Kim"):
        kim.answer_request(first.id, "again")


def test_an_answer_is_undone_with_its_points(book: Gradebook) -> None:
    kim = Desk(book, "Kim")
    taken_in(book, "student,part,text\ns0,1.a,please\n")
    (request,) = kim.requests()
    for reply, points in ((" ", None), ("more", Fraction(9))):
        with pytest.raises(UsageError):
            kim.answer_request(request.id, reply, points)
    kim.answer_request(request.id, "yes", Fraction(1))
    kim.undo()
    assert (kim.requests(), grade(book, "s0")["points"]) == ([request], 3)
    with pytest.raises(UsageError, match="no request 99"):
        kim.answer_request(99, "yes")


def test_a_request_outlives_another_grading(book: Gradebook) -> None:
    kim = Desk(book, "Kim")
    taken_in(book, "student,part,text\ns0,1.a,please\n")
    keep(book, result("s0", prose("a new answer: positive", {"positive": "positive"})))
    (request,) = kim.requests()
    kim.answer_request(request.id, "Your new answer counts.")
    assert grade(book, "s0")["problems"][0]["regrade"][0]["reply"]["was"] == 2
