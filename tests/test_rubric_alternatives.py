"""Alternatives in a rubric are read as written, and their mistakes are named with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import RubricError
from grader.rubric.loading import load_rubric

WAYS = """\
rubric: ways
title: Two ways to answer
points: 3
problems:
  - id: 1
    title: Attention
    points: 3
    visibility: hidden
    libraries: [torch, numpy, torch]
    with: {file: attention.py, function: attention}
    alternatives:
      - name: early
        files: [early.py]
        defines: [attend]
        beside: [notes.md]
        with: {function: attend}
        checks: [{check: columns_sum_to_one, points: 1}]
      - name: late
        files: [late.py]
        defines: [attention]
        checks: [{check: columns_sum_to_one, points: 1, file: late.py, visibility: public, asks: Sums to one.}]
    checks: [{check: columns_sum_to_one, id: own, points: 2}]
  - id: 2
    title: More
    points: 4
    optional: true
    with: {file: attention.py, function: attention}
    checks: [{check: columns_sum_to_one, points: 4}]
"""


def test_alternatives_share_what_the_problem_says_and_may_say_otherwise(tmp_path: Path) -> None:
    (tmp_path / "ways.yaml").write_text(WAYS)
    rubric = load_rubric(tmp_path / "ways.yaml")
    problem, more = rubric.problems
    assert (rubric.points, more.points, problem.optional, more.optional) == (3, 4, False, True)
    assert (problem.libraries, more.libraries, rubric.parts) == (("torch", "numpy"), ("numpy",), ("1", "2"))
    early, late = problem.alternatives
    assert (early.name, early.files, early.defines, early.beside) == (
        "early",
        ("early.py",),
        ("attend",),
        ("notes.md",),
    )
    assert [
        (check.id, check.parameters["file"], check.parameters["function"], check.visibility)
        for check in problem.every_check
    ] == [
        ("columns_sum_to_one", "attention.py", "attend", "hidden"),
        ("columns_sum_to_one", "late.py", "attention", "public"),
        ("own", "attention.py", "attention", "hidden"),
    ]
    assert late.checks[0].summary == "Sums to one."
    assert early.checks[0].summary != late.checks[0].summary
    assert (early.checks[0].files, early.checks[0].names) == (("attention.py",), ("attend",))


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("one, points: 1}", "one, points: 2}", "17: the checks of 1 as early add up to 4 points, not 3"),
        ("one, points: 1}", "one, id: own, points: 1}", "17: there are two checks 'own'; give one of them an 'id'"),
        (
            "{function: attend}",
            "{functoin: attend}",
            "16: no check of early takes 'functoin'; did you mean 'function'?",
        ),
        ("{function: attend}", "{function: 3}", "16: columns_sum_to_one: 'function' should be a valid string, not 3"),
        ("[{check: columns_sum_to_one, points: 1}]", "[]", "17: 'checks' should have at least 1 item"),
        ("beside:", "besides:", "15: 'besides' has no meaning here; did you mean 'beside'?"),
        ("        defines: [attend]\n", "", "12: 1 as early: its 'files' and what they define"),
        ("        files: [early.py]\n", "", "12: 1 as early: its 'files' and what they define"),
    ],
)
def test_a_mistake_in_an_alternative_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert right in WAYS
    (tmp_path / "ways.yaml").write_text(WAYS.replace(right, wrong, 1))
    with pytest.raises(RubricError) as caught:
        load_rubric(tmp_path / "ways.yaml")
    assert any(f"ways.yaml:{said}" in line for line in caught.value.problems), caught.value.problems


def test_an_alternative_that_nothing_judges_is_refused(tmp_path: Path) -> None:
    first = "checks: [{check: columns_sum_to_one, points: 1}]"
    assert first in WAYS
    (tmp_path / "ways.yaml").write_text(WAYS.replace(first, "checks: []", 1))
    with pytest.raises(RubricError, match=r"ways\.yaml:17: 'checks' should have at least 1 item"):
        load_rubric(tmp_path / "ways.yaml")
