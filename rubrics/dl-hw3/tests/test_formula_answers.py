"""Formula answers in formulas/: each gets the verdict it deserves, and what cannot be read is explained."""

from __future__ import annotations

import pytest

from benchmarks.formula_corpus import Entry, Grader, entries
from tests.conftest import sampled
from tests.formulas.conftest import grader as grader
from tests.formulas.conftest import in_this_process as in_this_process
from tests.formulas.verdicts import check_verdict

ENTRIES = list(entries("dl-hw3"))


@pytest.mark.parametrize("entry", sampled(ENTRIES, 15, named=True), ids=lambda entry: entry.id)
def test_answer_gets_the_verdict_it_deserves(entry: Entry, grader: Grader) -> None:
    check_verdict(entry, grader(entry))
