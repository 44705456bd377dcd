"""Sheets that number their parts as another edition of the assignment does, where the rubric says how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.answers import read_answers
from grader.submission.opening import open_submission
from tests.answers.sheets import NLP
from tests.conftest import MakeSubmission
from tests.hostile_pdfs import pages, scan, text_page

EDITIONS = {
    "second": {
        "2.a": ["1.a.ii"],
        "2.b": ["1.b.ii"],
        "2.c.i": ["1.c.i"],
        "2.c.ii": ["1.c.ii"],
        "2.d": ["1.d.i", "1.d.ii"],
    },
    "last": {
        "2.a": ["3.a"],
        "2.b": ["3.b"],
        "3.a": ["1.a.ii"],
        "3.b": ["1.b.ii"],
        "3.c.i": ["1.c.i"],
        "3.c.ii": ["1.c.ii"],
    },
}
ALL_OF_A = "They add up to one, one score leads, its value comes out, so it is copied."
BY_LABEL = "2.a copies\n2.b average\n2.c.i means\n2.c.ii sways\n2.d steady\n"


@pytest.mark.parametrize(
    ("sheet", "want", "edition"),
    [
        (
            BY_LABEL,
            {
                "1.a.ii": "copies",
                "1.b.ii": "average",
                "1.c.i": "means",
                "1.c.ii": "sways",
                "1.d.i": "steady",
                "1.d.ii": "steady",
            },
            "second",
        ),
        (
            "## 3.a\ncopies\n## 3.b\naverage\n## 3.c.i\nmeans\n## 3.c.ii\nsways\n",
            {"1.a.ii": "copies", "1.b.ii": "average", "1.c.i": "means", "1.c.ii": "sways"},
            "last",
        ),
        ("## 3.a\nfacts\n## 3.b\ntrust\n## 3.c\nbias\n", {"3.a": "facts", "3.b": "trust", "3.c": "bias"}, ""),
        ("## (b)\n### i\nM\n### ii\naverage\n", {"1.b.i": "M", "1.b.ii": "average"}, ""),
        ("## 1.a.i\none\n## 1.c.ii\nsways\n## 2.d\nfive\n", {"1.a.i": "one", "1.c.ii": "sways", "2.d": "five"}, ""),
        (
            f"## 1.a\n{ALL_OF_A}\n## 1.c.i\nmeans\n",
            {**{f"1.a.{i}": ALL_OF_A for i in ("i", "ii", "iii", "iv")}, "1.c.i": "means"},
            "",
        ),
    ],
)
def test_the_numbering_that_finds_most_answers_is_meant(
    submission: MakeSubmission, sheet: str, want: dict[str, str], edition: str
) -> None:
    read = read_answers(submission(**{"answers.md": sheet}), NLP, editions=EDITIONS)
    assert {part: answer.prose for part, answer in read.parts.items()} == want
    assert all(answer.part == part for part, answer in read.parts.items())
    said = f"answers.md: its parts are numbered as in edition {edition}"
    assert (said in read.notes) == bool(edition)


@pytest.mark.parametrize(
    ("rows", "found", "edition"),
    [
        (BY_LABEL.splitlines(), {"1.a.ii", "1.b.ii", "1.c.i", "1.c.ii", "1.d.i", "1.d.ii"}, "second"),
        (("3.a facts", "3.b trust", "3.c bias"), {"3.a", "3.b", "3.c"}, ""),
    ],
)
def test_a_pdf_is_numbered_by_the_edition_that_finds_most(
    tmp_path: Path, rows: Sequence[str], found: set[str], edition: str
) -> None:
    (tmp_path / "answers.pdf").write_bytes(pages([text_page(*rows)]))
    with open_submission(tmp_path) as opened:
        read = read_answers(opened, NLP, editions=EDITIONS)
    assert set(read.parts) == found
    assert all(answer.places[0].page == 1 for answer in read.parts.values())
    assert (f"answers.pdf: its parts are numbered as in edition {edition}" in read.notes) == bool(edition)


def test_pages_of_a_scan_are_named_as_in_its_edition(tmp_path: Path) -> None:
    (tmp_path / "answers.pdf").write_bytes(scan(3))
    (tmp_path / "submission.yaml").write_text("pages: {2.c: 2, 2.d: 3}\n")
    with open_submission(tmp_path) as opened:
        read = read_answers(opened, NLP, editions=EDITIONS)
    assert read.pages == {"1.c.i": (2,), "1.c.ii": (2,), "1.d.i": (3,), "1.d.ii": (3,)}
    assert not any("is no part of this assignment" in note for note in read.notes)
