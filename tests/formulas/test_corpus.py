"""The public corpus: every answer gets the verdict it deserves, and what cannot be read is explained."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.formula_corpus import Entry, Grader, entries
from grader.model import Status
from tests.conftest import sampled

ENTRIES = list(entries())


@pytest.mark.parametrize("entry", sampled(ENTRIES, 15, named=True), ids=lambda entry: entry.id)
def test_answer_gets_the_verdict_it_deserves(entry: Entry, grader: Grader) -> None:
    judged = grader(entry)
    assert judged.verdict == (entry.now or entry.verdict), f"{judged.message} (expected because: {entry.why})"
    assert judged.code == "passed" or judged.code not in set(Status), "its code says no more than its status"
    assert judged.message
    assert "\n" not in judged.message
    assert len(judged.message) < 900
    if entry.verdict == "unreadable" and entry.file == "answers.md":
        assert re.search(r"answers\.md(:\d+| is longer| has more)", judged.message), "it says no place"


def test_corpus_is_large_and_has_all_kinds() -> None:
    kinds = Counter(entry.verdict for entry in ENTRIES)
    assert len(ENTRIES) >= 1200
    assert min(kinds[kind] for kind in ("passed", "partial", "failed", "unreadable")) >= 80
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)
    assert len({entry.part for entry in ENTRIES}) >= 11


def test_what_is_not_yet_right_is_counted_and_mostly_goes_to_a_person() -> None:
    open_ones = [entry for entry in ENTRIES if entry.now]
    assert all(entry.now != entry.verdict for entry in open_ones)
    assert len(open_ones) <= 36
    assert not [entry for entry in open_ones if entry.now == "passed"]
    assert len([entry for entry in open_ones if entry.now != "unreadable"]) <= 1
