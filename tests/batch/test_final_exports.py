"""Exports follow the gradebook, not older files beside it, and say what is not final."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import Result

from grader.batch.gradebook import Gradebook
from grader.report import commands
from tests.batch.test_decisions import book, grades, run
from tests.batch.test_gradebook import override

__all__ = ["book", "grades"]


def export(grades: Path, *more: str) -> Result:
    return run("export", grades, "--to", *more, app=commands.app)


def test_exports_follow_the_gradebook_and_say_what_is_not_final(book: Gradebook, grades: Path) -> None:
    done = export(grades, "csv")
    assert "grader: 6 parts are not final: 1.a (6)" in done.stderr
    refused = export(grades, "csv", "--final-only")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "6 parts are not final: 1.a (6)" in refused.stderr
    for state in [state for state in book.decisions.states() if state.is_open]:
        override(book, state.student, state.part, Fraction(2), "Kim", "read")
    done = export(grades, "csv", "--final-only")
    assert done.exit_code == 0, done.stderr
    assert "not final" not in done.stderr
    assert '"less",2,4,0,"no","","1.a",2,0' in done.stdout


@pytest.mark.parametrize("form", ["markdown", "junit", "gradescope"])
def test_no_export_asks_for_a_person_where_one_decided(
    book: Gradebook, grades: Path, tmp_path: Path, form: str
) -> None:
    for state in [state for state in book.decisions.states() if state.is_open]:
        override(book, state.student, state.part, Fraction(2), "Kim", "read")
    assert export(grades, form, "--out", str(tmp_path / "exported"), "--final-only").exit_code == 0
    made = tmp_path / "exported"
    text = (made / "less.json").read_text() if made.is_dir() else made.read_text()
    assert "decided by Kim" in text
    assert "review" not in text.replace("gives_the_ideas", "")


def test_reports_that_the_gradebook_does_not_know_are_named(grades: Path) -> None:
    (grades / "stranger.json").write_text("{}")
    assert "grader: left out, because the gradebook does not know them: stranger.json" in export(grades, "csv").stderr
