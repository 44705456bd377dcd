"""A result comes into the gradebook whole, with who is behind it; what is kept from the last one is nobody else's."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.batch import answer_traits, gradebook
from grader.batch.course.person import Person
from grader.batch.course.settings_log import HandIn, SettingsLog
from grader.batch.gradebook import Gradebook, Run
from tests.batch.test_gradebook import a_result
from tests.report.made_reports import checked

ANN = HandIn((Person("ann", "Ann"), Person("bob")), "2026-01-01T10:00")


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    book = Gradebook(tmp_path, new=True)
    book.begin_run(Run("", None, 0, (), ""), "r", "1")
    return book


def _count(book: Gradebook, table: str) -> int:
    (count,) = book.file.base.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    return int(count)


def test_a_result_and_who_is_behind_it_are_added_together(book: Gradebook) -> None:
    book.add(1, a_result("ann"), ANN)
    book.add(1, a_result("ann"), ANN)  # handed in by the same people: that is known
    book.add(1, a_result("cat"))
    assert book.settings.hand_ins() == {"ann": ANN}
    assert (_count(book, "hand_ins"), _count(book, "results")) == (1, 3)


def test_neither_is_there_without_the_other(book: Gradebook, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SettingsLog, "add_hand_in", ended)
    with pytest.raises(KeyboardInterrupt):
        book.add(1, a_result("ann"), ANN)
    assert [_count(book, table) for table in ("results", "parts", "traits", "definitions", "hand_ins")] == [0] * 5


def test_items_are_told_apart_by_every_word_of_theirs(book: Gradebook) -> None:
    asked = [checked("one", asks=asks, max_points=worth) for asks in ("It sums.", "It sums!") for worth in (1, 2)]
    book.add(1, a_result("ann", checks=asked))
    book.add(1, a_result("bob", checks=asked))
    rows = book.file.base.execute("SELECT text, points FROM initial_items WHERE origin = 'idea' ORDER BY 1, 2")
    assert rows.fetchall() == [("It sums!", "1"), ("It sums!", "2"), ("It sums.", "1"), ("It sums.", "2")]
    assert _count(book, "findings") == 2 * _count(book, "initial_items")


def test_a_result_is_kept_with_the_definition_of_its_own(book: Gradebook) -> None:
    other = json.dumps({"problems": {"1.a": {"optional": True}, "1.b": {"optional": True}}})
    results = [a_result("ann"), replace(a_result("bob"), definition=other), a_result("cat")]
    for one in results:
        book.add(1, one)
    assert list(book.everyone()) == results
    assert _count(book, "definitions") == 2


def test_what_is_kept_is_bounded() -> None:
    for number in range(3000):
        answer_traits._item("1.a", "idea", f"{number}", "1")
        answer_traits._exactly(f"{number}/7")
        gradebook._read_definition(f'{{"problems": {{"{number}": {{}}}}}}')
    kept = (answer_traits._item, answer_traits._exactly, gradebook._read_definition)
    assert [one.cache_info().currsize for one in kept] == [2048, 256, 64]
