"""What every verdict on an answer of the corpora has to be."""

from __future__ import annotations

import re

from benchmarks.formula_corpus import Entry, Judged
from grader.model import Status


def check_verdict(entry: Entry, judged: Judged) -> None:
    assert judged.verdict == (entry.now or entry.verdict), f"{judged.message} (expected because: {entry.why})"
    assert judged.code == "passed" or judged.code not in set(Status), "its code says no more than its status"
    assert judged.message
    assert "\n" not in judged.message
    assert len(judged.message) < 900
    if entry.verdict == "unreadable" and entry.file == "answers.md":
        assert re.search(r"answers\.md(:\d+| is longer| has more)", judged.message), "it says no place"
