"""Sheets that number their parts as another edition of the assignment does, where the rubric says how."""

from __future__ import annotations

import pytest

from grader.answers import read_answers
from tests.answers.sheets import NLP
from tests.conftest import MakeSubmission

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
