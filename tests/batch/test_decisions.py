"""Decisions: they stand while the answer is the same, are undone as a whole, and are seen wherever grades are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from grader.batch.deciding import commands
from grader.batch.gradebook import Gradebook
from grader.batch.rulings import AnswerChanged, Kind, Ruling
from grader.errors import UsageError
from tests.batch.classes import at_a_terminal
from tests.batch.test_gradebook import a_result, book, grade, keep, override
from tests.schemas import REPORT

__all__ = ["book"]


def prose(not_found: tuple[str, ...] = (), wrong: tuple[str, ...] = (), status: str = "review") -> dict[str, Any]:
    return {
        "id": "gives_the_ideas",
        "status": status,
        "points": 3,
        "max_points": 3,
        "code": "ideas_missing",
        "message": "found",
        "evidence": {"found": {}, "not_found": list(not_found), "wrong_claims": dict.fromkeys(wrong, "x")},
        "visibility": "public",
        "seconds": 0.1,
    }


def written(student: str, *checks: dict[str, Any], points: str = "3", score: str = "1", judged: str = "0") -> Any:
    status = "ungraded" if any(check["status"] == "ungraded" for check in checks) else "review"
    made = a_result(student, points, status, judged, checks)
    made.exact["scores"] = {f"1.a/{check['id']}": score for check in checks}
    piece = {
        "kind": "answer",
        "file": "answers.md",
        "line": 1,
        "text": f"The weights of {student} are positive and sum to one.",
    }
    made.report["problems"][0]["judged"]["pieces"].append(piece)
    return made


def part(book: Gradebook, student: str = "alice") -> dict[str, Any]:
    graded = grade(book, student)
    REPORT.validate(graded)
    first: dict[str, Any] = graded["problems"][0]  # type: ignore[index]
    return first | {"provisional": graded["provisional"]}


def test_a_decision_stands_while_the_answer_is_the_same(book: Gradebook) -> None:
    keep(book, a_result(points="1", judged="a"))
    override(book, "alice", "1.a", Fraction(2), "Kim", "good")
    keep(book, a_result(points="0", judged="a"))
    assert (part(book)["points"], part(book)["provisional"]) == (2, False)


@pytest.mark.parametrize("found", ["review", "passed", "failed"])
def test_another_answer_is_open_again_and_shows_what_was_decided(book: Gradebook, found: str) -> None:
    keep(book, a_result(points="1", judged="a"))
    override(book, "alice", "1.a", Fraction(2), "Kim", "good")
    keep(book, a_result(points="3", status=found, judged="b"))
    now = part(book)
    assert (now["points"], now["status"], now["provisional"]) == (3, "review", True)
    assert (now["decided_before"]["points"], now["decided_before"]["by"]) == (2, "Kim")
    assert "decision" not in now


def test_nothing_is_said_of_another_answer_where_the_first_is_not_known(book: Gradebook) -> None:
    keep(book, a_result(points="0", status="ungraded", judged=""))
    override(book, "alice", "1.a", Fraction(2), "Kim", "good")
    assert part(book)["points"] == 2
    keep(book, a_result(points="3", judged="b"))
    assert part(book)["decided_before"]["on"] == "an answer that was not recorded"


def test_the_first_answer_handed_in_again_is_decided_as_it_was(book: Gradebook) -> None:
    for answer in ("a", "b", "a"):
        keep(book, a_result(points="1", judged=answer))
        if answer == "a" and not book.decisions.of_student("alice"):
            override(book, "alice", "1.a", Fraction(2), "Kim", "good")
    assert part(book)["points"] == 2


@pytest.mark.parametrize(
    ("points", "found", "status"),
    [(4, "review", "passed"), (2, "ungraded", "partial"), (0, "review", "failed"), (0, "missing", "missing")],
)
def test_a_decided_part_is_settled(book: Gradebook, points: int, found: str, status: str) -> None:
    keep(book, a_result(points="0", status=found))
    book.decisions.decide([Ruling("alice", "1.a", Fraction(points), "", ("i1",))], by="Kim", kind=Kind.REVIEW)
    now = part(book)
    assert (now["status"], now["provisional"], now["decision"]["found"]) == (status, False, found)
    assert (now["decision"]["by"], now["decision"]["items"]) == ("Kim", [])


def test_one_act_is_all_or_nothing(book: Gradebook) -> None:
    keep(book, a_result("alice"), a_result("ben"))
    rulings = [Ruling("alice", "1.a", Fraction(1)), Ruling("ben", "1.a", Fraction(9))]
    with pytest.raises(UsageError, match="worth 0 to 4"):
        book.decisions.decide(rulings, by="Kim", kind=Kind.BULK)
    assert book.decisions.of_student("alice") == []
    with pytest.raises(UsageError, match="left to undo"):
        book.items.undo("Kim")


def test_one_act_is_undone_as_a_whole_and_nobody_elses_is(book: Gradebook) -> None:
    keep(book, a_result("alice", "1"), a_result("ben", "1"))
    override(book, "alice", "1.a", Fraction(4), "Kim", "first")
    both = [Ruling(student, "1.a", Fraction(2)) for student in ("alice", "ben")]
    book.decisions.decide(both, by="Kim", kind=Kind.BULK)
    override(book, "ben", "1.a", Fraction(3), "Lee", "more")
    undone = book.items.undo("Kim")
    assert [one.student for one in undone.decisions] == ["alice", "ben"]
    assert (part(book, "alice")["points"], part(book, "ben")["points"]) == (4, 3)
    book.items.undo("Kim")
    book.items.undo("Lee")
    assert (part(book, "alice")["points"], part(book, "ben")["points"]) == (1, 1)
    assert [one.undone for one in book.decisions.of_student("alice")] == [True, True]
    with pytest.raises(UsageError, match="left to undo; did you mean 'Kim'"):
        book.items.undo("Kin")


def test_a_decision_on_what_somebody_no_longer_reads_is_refused(book: Gradebook) -> None:
    keep(book, a_result(judged="a"))
    read = book.decisions.states(student="alice")[0].judged
    keep(book, a_result(judged="b"))
    with pytest.raises(AnswerChanged, match="another one now"):
        book.decisions.decide([Ruling("alice", "1.a", Fraction(1), judged=read)], by="Kim", kind=Kind.REVIEW)


@pytest.mark.parametrize("by", ["", "  "])
def test_somebody_decides(book: Gradebook, by: str) -> None:
    keep(book, a_result())
    with pytest.raises(UsageError, match="who decided"):
        book.decisions.decide([Ruling("alice", "1.a", Fraction(1))], by=by, kind=Kind.REVIEW)


# ---- at the terminal ----


def run(*arguments: str | Path, app: Any = commands.app) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def grades(book: Gradebook) -> Path:
    """All found; an idea missing; a wrong claim; a formula that nobody could read; a fault; settled by the grader."""
    unread = prose() | {"id": "formula", "evidence": {}}
    keep(
        book,
        written("all", prose()),
        written("also", prose(), prose(status="passed") | {"id": "formula"}),
        written("less", prose(("that it sums to one",)), points="1", score="1/2"),
        written("wrong", prose((), ("it is negative",)), points="1"),
        written("unread", prose(), unread),
        written("fault", prose(), prose(status="ungraded") | {"id": "formula"}, points="0"),
        a_result("settled", "4", "passed"),
    )
    return book.path.parent


def test_status_says_what_is_open_and_what_to_do(book: Gradebook, grades: Path) -> None:
    said = run("status", grades).stdout
    assert "6 parts of 6 students wait for a person. Next: grader batch SUBMISSIONS" in said
    keep(book, written("fault", prose(("an idea",)), score="1/2"))
    said = run("status", grades).stdout
    assert f"Next: grader review {grades}" in said, "before anything is accepted, somebody reads"
    at_a_terminal("accept", grades, "--part", "1.a", "--by", "Kim", typed="y\ny\n")
    said = run("status", grades).stdout
    assert f"Next: grader review {grades}" in said
    assert [cell.strip() for cell in _row(said, "1.a")] == ["1.a", "4", "0", "0", "0", "2"]
    for student in ("fault", "less", "unread", "wrong"):
        override(book, student, "1.a", Fraction(1), "Kim", "read")
    assert f"Nothing is open. Next: grader report {grades}" in run("status", grades).stdout
    keep(book, written("less", prose(), judged="b"))
    assert "1.a of less: decided before on another answer: 1 of 4 by Kim" in run("status", grades).stdout


def _row(said: str, name: str) -> list[str]:
    return next(line for line in said.splitlines() if f" {name} " in line).strip("│ ").split("│")


def test_status_of_a_student_says_who_decided(book: Gradebook, grades: Path) -> None:
    override(book, "less", "1.a", Fraction(2), "Kim", "says it below")
    said = " ".join(run("status", grades, "--student", "less").stdout.split())
    assert "decided by Kim: says it below" in said
    assert "less: 2 of 4 + 3 points, final" in said
    assert run("status", grades, "--student", "lest").exit_code != 0


def test_a_decision_writes_no_page_and_says_how_to(book: Gradebook, grades: Path) -> None:
    done = run("override", "less", "1(a)", "2", "--by", "Kim", "--why", "read", "--out", grades)
    assert done.stdout == f"less 1.a: 1 → 2, by Kim: read\n`grader report {grades}` writes the pages anew.\n"
    assert not (grades / "less.html").exists()
    assert run("report", grades).stdout.startswith("7 reports written.")
    assert "Decided by Kim" in (grades / "less.html").read_text()


@pytest.mark.parametrize("missing", ["--by", "--why"])
def test_an_override_says_who_and_why(grades: Path, missing: str) -> None:
    said = {"--by": "Kim", "--why": "read"} | {missing: " "}
    asked = [one for pair in said.items() for one in pair]
    done = run("override", "less", "1.a", "2", *asked, "--out", grades)
    assert done.exit_code == 2
    assert "needs --by and --why" in done.output
