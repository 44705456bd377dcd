"""The answers to formula questions of all assignments, which are tested with them: how many, of which kinds."""

from __future__ import annotations

from collections import Counter

from benchmarks.formula_corpus import entries

ENTRIES = list(entries())


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
