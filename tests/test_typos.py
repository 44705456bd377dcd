"""Slips that authors make, each told in one line with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_core._pydantic_core import list_all_errors

from grader.errors import RubricError
from grader.proving.proof import load_proof
from grader.release.handout import read_handout
from grader.rubric.catalogue import known_checks
from grader.rubric.hints import misfit, misfit_of_a_value
from grader.rubric.loading import load_rubric
from tests.conftest import sampled

RUBRIC = """\
rubric: tiny
title: "A tiny rubric"
points: 4
problems:
  - id: 1.a
    title: Attention
    points: 3
    with: {file: attention.py, function: attention}
    checks:
      - {check: columns_sum_to_one, points: 2}
      - check: formula_equals_the_key
        points: 1
        readings: [{name: H, symbols: {Q: d×n, K: d×n, d: size, n: size}, equals: ["K^T Q"]}]
  - id: 1.b
    title: Why
    points: 1
    checks:
      - check: gives_the_ideas
        points: 1
        ideas: {sums: {label: what they make, weight: 1}}
      - {check: is_there, gate: true}
"""
IDEAS = """\
1.b:
  ideas:
    sums: [sum one]
"""
PROOF = """\
gold: right
mutate:
  - problem: 1.a
    file: attention.py
"""
RELEASE = "data: []\n"
CHECKS = '''\
from grader.model import passed
from grader.registry import check


@check
def is_there(student, rng, *, most: int = 3):
    """It is there."""
    return passed("it is there")
'''
FILES = {
    "rubric.yaml": RUBRIC,
    "ideas.yaml": IDEAS,
    "proof.yaml": PROOF,
    "release.yaml": RELEASE,
    "checks.py": CHECKS,
}
SLIPS = [
    ("rubric.yaml", "points: 4\n", "points 4\n", ":3: not YAML: while scanning a simple key, could not find"),
    ("rubric.yaml", "title: Why", "title: Why: how", ":15: not YAML: mapping values are not allowed"),
    ("rubric.yaml", '"A tiny rubric"', '"A tiny rubric', ":13: not YAML: while parsing a block mapping, did not"),
    ("rubric.yaml", "title: Why", "title: 'Why", ":15: not YAML: while scanning a quoted scalar, found"),
    ("rubric.yaml", "    title: Why", "\ttitle: Why", ":15: not YAML: while scanning a plain scalar, found a tab"),
    ("rubric.yaml", "    title: Why", "   title: Why", ":15: not YAML: while parsing a block collection, did"),
    ("rubric.yaml", "function: attention}", "function: attention", ":8: not YAML: while parsing a flow mapping, did"),
    ("rubric.yaml", '"K^T Q"', '"K^T \\quad Q"', ":13: not YAML: a backslash between double quotes; write two"),
    ("rubric.yaml", '"K^T Q"', '"K^\\top Q"', ":13: a backslash between double quotes; write two of them"),
    ("rubric.yaml", '"K^T Q"', '"\\beta K^T Q"', ":13: a backslash between double quotes; write two of them"),
    ("rubric.yaml", "title: Why", "title: @Why", ":15: not YAML: while scanning for the next token, found"),
    ("rubric.yaml", "title: Why", "title: [Why]", ":15: 'title' should be a valid string, not a list"),
    ("rubric.yaml", "title: Why", "title:", ":15: 'title' should be a valid string, and nothing stands there"),
    ("rubric.yaml", "points: 2}", "points: two}", ":10: 'points' should be a number of points, such as 3, 2.5 or 1/3"),
    ("rubric.yaml", "points: 2}", "points: 2, gate: maybe}", ":10: 'gate' should be a valid boolean, unable"),
    ("rubric.yaml", "points: 2}", "points: 2, needs: x}", ":10: 'needs' should be a valid list, not 'x'"),
    ("rubric.yaml", "points: 2}", "points: 2, review_unless: [x]}", ":10: 'review_unless' should be a valid dict"),
    ("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: x}}", ":10: 'why' should be a valid list, not 'x'"),
    ("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: []}}", ":10: 'why' should have at least 1 item"),
    (
        *("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: [formula_equals_teh_key]}}"),
        ":10: 'review_unless' names 'formula_equals_teh_key', which is no other check of the problem; did you mean",
    ),
    (
        *("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: [columns_sum_to_one]}}"),
        ":10: 'review_unless' names 'columns_sum_to_one', which is no other check of the problem",
    ),
    ("rubric.yaml", "points: 2}", "points: 2, visibility: secret}", ":10: 'visibility' should be 'public' or 'hidden'"),
    ("rubric.yaml", "id: 1.b", "id: 1 b", ":14: 'id' should match pattern '^[\\w.\\-]+$', not '1 b'"),
    ("rubric.yaml", "title: Why", "tittle: Why", ":15: 'tittle' has no meaning here; did you mean 'title'?"),
    ("rubric.yaml", "with: {file: attention.py", "with: [file", ":8: not YAML: while parsing a flow sequence, did"),
    ("rubric.yaml", "{file: attention.py, function: attention}", "attention.py", ":8: 'with' should be a valid"),
    ("rubric.yaml", "    points: 3\n", "    points: 3\n    limits: {cpu_seconds: 0.5}\n", ":8: 'cpu_seconds' sh"),
    ("rubric.yaml", "symbols: {", "symbls: {", "'readings.0.symbls' has no meaning here; did you mean 'symbols'?"),
    ("rubric.yaml", "weight: 1", "weight: 0", ":20: gives_the_ideas: 'ideas.sums.weight' should be greater than"),
    ("rubric.yaml", "weight: 1", "weight: much", "'ideas.sums.weight' should be a valid integer, not 'much'"),
    ("ideas.yaml", "[sum one]", "sum one", "/ideas.yaml:3: 'says' should be a valid list, not"),
    ("ideas.yaml", "[sum one]", "[3]", "/ideas.yaml:3: number 1 of 'says' should be a valid string, not 3"),
    ("proof.yaml", "gold: right", "gold: [right]", "/proof.yaml:1: 'gold' should be a valid string, not a list"),
    ("proof.yaml", "file: att", "fiel: att", "/proof.yaml:4: 'fiel' has no meaning here; did you mean 'file'?"),
    ("proof.yaml", "  - problem", "  problem", "/proof.yaml:4: not YAML: mapping values are not"),
    ("release.yaml", "data: []", "data: dev.tsv", "/release.yaml:1: 'data' should be a valid list, not"),
    ("release.yaml", "data: []", "dta: []", "/release.yaml:1: 'dta' has no meaning here; did you mean 'data'?"),
    ("release.yaml", "data: []", "- dev.tsv", "/release.yaml:1: this is a mapping with 'data', 'in_place_of'"),
    ("checks.py", "rng, *, most", "rng, *, , most", "/checks.py:6: cannot be imported: SyntaxError: inva"),
    ("checks.py", "import check\n", "import chekc\n", "/checks.py:2: cannot be imported: ImportError: cannot"),
    ("checks.py", '    """It is there."""\n', "", "/checks.py:5: cannot be imported: TypeError: check is_there"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "right", "wrong", "told"), sampled(SLIPS, 2), ids=[f"{one[0]} {one[2]}" for one in SLIPS]
)
def test_a_slip_is_told_in_one_line_with_its_place(
    tmp_path: Path, file: str, right: str, wrong: str, told: str
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "samples" / "right").mkdir(parents=True)
    _all_read(tmp_path)
    assert FILES[file].count(right) == 1
    (tmp_path / file).write_text(FILES[file].replace(right, wrong))
    with pytest.raises(RubricError) as caught:
        _all_read(tmp_path)
    (line, *_) = [one for one in caught.value.problems if told in one] or caught.value.problems
    assert told in line
    assert "\n" not in line


UNFIT: list[Any] = [
    None, True, 3, -1, 3.7, float("nan"), "x", "", [], {}, [1], ["x"], [None], [[1]], [{}], [{"a": 1}], {"a": 1},
    {"a": "x"}, {"a": None}, {"a": ["x"]}, {"a": [{}]}, {"a": {"b": []}},
]  # fmt: skip


def test_every_parameter_of_every_check_says_what_it_takes() -> None:
    refused = 0
    for name, definition in known_checks().items():
        for parameter in definition.parameters.values():
            for value in UNFIT:
                try:
                    parameter.read(value, {})
                except ValueError as error:
                    refused += 1
                    told = str(error)
                    assert told.startswith(f"'{parameter.name}"), (name, told)
                    assert "\n" not in told
    assert refused > 1000


def _all_read(folder: Path) -> None:
    rubric = load_rubric(folder / "rubric.yaml")
    read_handout(rubric)
    load_proof(rubric)


def test_every_error_of_pydantic_is_told_with_its_place() -> None:
    for known in list_all_errors():
        message, context = str(known["example_message_python"]), known["example_context"] or {}
        problem = {"type": known["type"], "loc": ("ideas", "weight"), "msg": message, "input": 3, "ctx": context}
        assert misfit(problem, []).startswith("'weight' ")
        place, cause = misfit_of_a_value([problem], {"ideas": {"weight": 3}}, [])
        assert place == ["ideas", "weight"]
        assert cause


def test_a_value_of_several_kinds_is_told_them_all() -> None:
    problems = [
        {"type": "string_type", "loc": ("V", "str"), "msg": "Input should be a valid string", "input": 3},
        {"type": "list_type", "loc": ("V", "list[str]"), "msg": "Input should be a valid list", "input": 3},
    ]
    told = misfit_of_a_value(problems, {"V": 3}, [])
    assert told == (["V"], "should be a valid string or a valid list, not 3")
