"""Slips that authors make, each told in one line with its place, and never in the words of a library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic_core._pydantic_core import list_all_errors

from grader.errors import RubricError
from grader.proving.proof import load_proof
from grader.release.handout import read_handout
from grader.rubric.catalogue import known_checks
from grader.rubric.hints import misfit, misfit_of_a_value
from grader.rubric.loading import load_rubric
from grader.rubric.yaml_errors import complaint
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
# Words that only pydantic, PyYAML, jsonschema or Python's own reprs use.
THEIRS = (
    "Input", "valid", "dictionary", "Field", "Extra", "pattern", "instance", "greater", "None", "True", "token",
    "scalar", "stream", "node", "block end", "block mapping", "flow", "mapping values", "Traceback", "unexpected",
    "expected",
)  # fmt: skip
SLIPS = [
    ("rubric.yaml", "points: 4\n", "points 4\n", ":3: not YAML: a key needs a ':' behind it"),
    ("rubric.yaml", "title: Why", "title: Why: how", ":15: not YAML: a ':' where none can stand"),
    ("rubric.yaml", '"A tiny rubric"', '"A tiny rubric', ":13: not YAML: this line is indented otherwise"),
    ("rubric.yaml", "title: Why", "title: 'Why", ":15: not YAML: a quotation mark is never closed"),
    ("rubric.yaml", "    title: Why", "\ttitle: Why", ":15: not YAML: a tab; indent with blanks"),
    ("rubric.yaml", "    title: Why", "   title: Why", ":15: not YAML: this line is indented otherwise"),
    ("rubric.yaml", "function: attention}", "function: attention", ":8: not YAML: a '{' is never closed"),
    ("rubric.yaml", '"K^T Q"', '"K^T \\quad Q"', ":13: not YAML: a backslash between double quotes; write two"),
    ("rubric.yaml", '"K^T Q"', '"K^\\top Q"', ":13: a backslash between double quotes; write two of them"),
    ("rubric.yaml", '"K^T Q"', '"\\beta K^T Q"', ":13: a backslash between double quotes; write two of them"),
    ("rubric.yaml", "title: Why", "title: @Why", ":15: not YAML: a value that begins with '@' needs quotes"),
    ("rubric.yaml", "title: Why", "title: [Why]", ":15: 'title' should be text, not a list"),
    ("rubric.yaml", "title: Why", "title:", ":15: 'title' should be text, and nothing stands there"),
    ("rubric.yaml", "points: 2}", "points: two}", ":10: 'points' should be a number of points, such as 3, 2.5 or 1/3"),
    ("rubric.yaml", "points: 2}", "points: 2, gate: maybe}", ":10: 'gate' should be true or false, not 'maybe'"),
    ("rubric.yaml", "points: 2}", "points: 2, needs: x}", ":10: 'needs' should be a list, such as [a, b], not 'x'"),
    ("rubric.yaml", "points: 2}", "points: 2, review_unless: [x]}", ":10: 'review_unless' should be a mapping"),
    ("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: x}}", ":10: 'why' should be a list, such as [a, b]"),
    ("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: []}}", ":10: 'why' is empty"),
    (
        *("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: [formula_equals_teh_key]}}"),
        ":10: 'review_unless' names 'formula_equals_teh_key', which is no other check of the problem; did you mean",
    ),
    (
        *("rubric.yaml", "points: 2}", "points: 2, review_unless: {why: [columns_sum_to_one]}}"),
        ":10: 'review_unless' names 'columns_sum_to_one', which is no other check of the problem",
    ),
    ("rubric.yaml", "points: 2}", "points: 2, visibility: secret}", ":10: 'visibility' should be 'public' or 'hidden'"),
    ("rubric.yaml", "id: 1.b", "id: 1 b", ":14: 'id' should be made of letters, digits, '.', '-' and '_', not '1 b'"),
    ("rubric.yaml", "title: Why", "tittle: Why", ":15: 'tittle' has no meaning here; did you mean 'title'?"),
    ("rubric.yaml", "with: {file: attention.py", "with: [file", ":8: not YAML: a '[' is never closed"),
    ("rubric.yaml", "{file: attention.py, function: attention}", "attention.py", ":8: 'with' should be a mapping"),
    ("rubric.yaml", "    points: 3\n", "    points: 3\n    limits: {cpu_seconds: 0.5}\n", ":8: 'cpu_seconds' sh"),
    ("rubric.yaml", "symbols: {", "symbls: {", "'readings.0.symbls' has no meaning here; did you mean 'symbols'?"),
    ("rubric.yaml", "weight: 1", "weight: 0", ":20: gives_the_ideas: 'ideas.sums.weight' should be at least 1, not 0"),
    ("rubric.yaml", "weight: 1", "weight: much", "'ideas.sums.weight' should be a whole number, not 'much'"),
    ("ideas.yaml", "[sum one]", "sum one", "/ideas.yaml:3: 'says' should be a list, such as [a, b], not"),
    ("ideas.yaml", "[sum one]", "[3]", "/ideas.yaml:3: number 1 of 'says' should be text, not 3"),
    ("proof.yaml", "gold: right", "gold: [right]", "/proof.yaml:1: 'gold' should be text, not a list"),
    ("proof.yaml", "file: att", "fiel: att", "/proof.yaml:4: 'fiel' has no meaning here; did you mean 'file'?"),
    ("proof.yaml", "  - problem", "  problem", "/proof.yaml:4: not YAML: a ':' where none can stand"),
    ("release.yaml", "data: []", "data: dev.tsv", "/release.yaml:1: 'data' should be a list, such as [a, b], not"),
    ("release.yaml", "data: []", "dta: []", "/release.yaml:1: 'dta' has no meaning here; did you mean 'data'?"),
    ("release.yaml", "data: []", "- dev.tsv", "/release.yaml:1: this is a mapping with 'data', 'in_place_of'"),
    ("checks.py", "rng, *, most", "rng, *, , most", "/checks.py:6: cannot be imported: SyntaxError: inva"),
    ("checks.py", "import check\n", "import chekc\n", "/checks.py:2: cannot be imported: ImportError: cannot"),
    ("checks.py", '    """It is there."""\n', "", "/checks.py:5: cannot be imported: TypeError: check is_there"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "right", "wrong", "told"), sampled(SLIPS, 2), ids=[f"{one[0]} {one[2]}" for one in SLIPS]
)
def test_a_slip_is_told_in_our_words_with_its_place(
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
    own = line if file != "checks.py" else ""  # what Python says of Python, authors know
    assert not _theirs(own.partition(": ")[2])


def _theirs(told: str) -> list[str]:
    return [word for word in THEIRS if re.search(rf"\b{word}\b", told)]


UNFIT: list[Any] = [
    None, True, 3, -1, 3.7, float("nan"), "x", "", [], {}, [1], ["x"], [None], [[1]], [{}], [{"a": 1}], {"a": 1},
    {"a": "x"}, {"a": None}, {"a": ["x"]}, {"a": [{}]}, {"a": {"b": []}},
]  # fmt: skip


def test_every_parameter_of_every_check_says_in_our_words_what_it_takes() -> None:
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
                    assert not _theirs(told.partition("' ")[2]), (name, told)
                    assert "does not fit here" not in told
                    assert "other letters" not in told
    assert refused > 1000


def _all_read(folder: Path) -> None:
    rubric = load_rubric(folder / "rubric.yaml")
    read_handout(rubric)
    load_proof(rubric)


def test_no_error_of_pydantic_comes_through_in_its_own_words() -> None:
    seen = 0
    for known in list_all_errors():
        context: Any = known["example_context"] or {}
        kind: Any = known["type"]
        message = str(known["example_message_python"])
        problem = {"type": kind, "loc": ("ideas", "weight"), "msg": message, "input": 3, "ctx": context}
        for told in (misfit(problem, []), misfit_of_a_value([problem], {"ideas": {"weight": 3}}, [])[1]):
            if kind not in ("value_error", "assertion_error"):  # these carry words of ours
                assert message not in told, kind
                assert not told.startswith("Input")
                seen += 1
    assert seen > 150


@pytest.mark.parametrize(
    "text",
    ["a: b: c", "a: [1", "a: {b", "'", '"\\q"', "\ta: 1", "a: @", "- a\nb: 1", "a: - 1", "a: ]", "&", "--- 1\n--- 2"],
)
def test_no_error_of_yaml_comes_through_in_its_own_words(text: str) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        list(yaml.compose_all(text, Loader=yaml.SafeLoader)) if "---" not in text else yaml.compose(text)
    _, cause = complaint(caught.value)
    assert not _theirs(cause)
    assert "look at quotes" not in cause, "it has a cause of its own"


def test_a_value_of_several_kinds_is_told_them_all() -> None:
    problems = [
        {"type": "string_type", "loc": ("V", "str"), "msg": "", "input": 3},
        {"type": "list_type", "loc": ("V", "list[str]"), "msg": "", "input": 3},
    ]
    told = misfit_of_a_value(problems, {"V": 3}, [])
    assert told == (["V"], "should be text or a list, such as [a, b], not 3")
