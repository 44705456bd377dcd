"""Editors are told of rubrics by the checks there are: what rubrics may hold is valid, typical slips are not."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from grader.authoring.rubric_schema import _shared_by_checks as shared_by_checks
from grader.authoring.rubric_schema import rubric_schema, schema_text
from grader.rubric.catalogue import known_checks
from tests.conftest import RUBRICS, read_yaml, write_rubric
from tests.test_cli import grader

RIGHT = """\
rubric: tiny
title: A tiny rubric
points: 4
problems:
  - id: 1.1
    title: Attention
    points: 2.5
    libraries: [numpy]
    with: {file: attention.py, function: attention}
    checks:
      - {check: returns_an_array, gate: true, inputs: column_attention}
      - {check: columns_sum_to_one, points: 5/2, visibility: hidden}
  - id: 1.b
    title: In words
    points: 1.5
    checks:
      - check: gives_the_ideas
        points: 1
        ideas: {sums: what they make, signs: {label: which sign they have, weight: 2}}
      - check: chooses_the_option
        points: 1/2
        options: {1: more, 2: less}
        right: 2
"""


@cache
def _validator() -> Draft7Validator:
    return Draft7Validator(rubric_schema())


def _faults(text: str, tmp_path: Path) -> list[Any]:
    (tmp_path / "tiny.yaml").write_text(text)
    as_an_editor_has_it = json.loads(json.dumps(read_yaml(tmp_path / "tiny.yaml")))  # keys are text
    return list(_validator().iter_errors(as_an_editor_has_it))


@pytest.mark.parametrize("path", sorted(RUBRICS.glob("*/rubric.yaml")), ids=lambda path: path.parent.name)
def test_our_own_rubrics_are_valid(path: Path) -> None:
    schema = rubric_schema(path)
    Draft7Validator.check_schema(schema)
    assert not list(Draft7Validator(schema).iter_errors(read_yaml(path)))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("", ""),
        ("points: 4\n", ""),
        ("points: 4\n", "points: four\n"),
        ("points: 4\n", "points: [4]\n"),
        ("title: A tiny", "titel: A tiny"),
        ("id: 1.b", "id: 1 b"),
        ("columns_sum_to_one", "colums_sum_to_one"),
        ("- {check: returns", "- {chekc: returns"),
        ("inputs: column", "input: column"),
        ("gate: true", "gate: maybe"),
        ("visibility: hidden", "visibility: secret"),
        ("function: attention}", "fnction: attention}"),
        ("[numpy]", "[numpi]"),
        ("[numpy]", "numpy"),
        ("weight: 2", "wieght: 2"),
        ("weight: 2", "weight: much"),
        ("options: {1: more, 2: less}", "options: [more, less]"),
        ("    checks:\n      - check: gives", "    cheks:\n      - check: gives"),
    ],
)
def test_a_slip_is_seen_and_what_is_right_is_valid(tmp_path: Path, right: str, wrong: str) -> None:
    assert right in RIGHT
    assert bool(_faults(RIGHT.replace(right, wrong, 1), tmp_path)) == bool(right)


def test_every_check_and_parameter_is_there_with_its_words() -> None:
    cases = {case["if"]["properties"]["check"]["const"]: case["then"] for case in _check_form()["allOf"]}
    known = known_checks()
    assert cases.keys() == known.keys()
    for name, definition in known.items():
        assert cases[name]["description"].startswith(definition.summary)
        for parameter in definition.parameters.values():
            assert parameter.kind in cases[name]["properties"][parameter.name]["description"]
    parameters = cases["matches_reference"]["properties"]
    assert parameters["rtol"]["description"] == "relative tolerance; float; default: 0.0001"
    assert parameters["file"]["description"] == "the student's file; str; needed"


def _check_form() -> dict[str, Any]:
    (form,) = (one for one in rubric_schema()["$defs"].values() if "allOf" in one)
    return dict(form)


@pytest.mark.slow
def test_checks_that_a_rubric_brings_are_known_to_its_schema(tmp_path: Path) -> None:
    own = "from grader import check\n@check\ndef is_mine(student, rng, *, most: int):\n    '''It is mine.'''\n"
    write_rubric(tmp_path / "own", "", **{"checks.py": own})
    done = grader("rubric", "schema", "own/rubric.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    validator = Draft7Validator(json.loads(done.stdout))
    for written, valid in [({"most": 3}, True), ({"most": "x"}, False), ({"least": 3}, False)]:
        problem = {"id": "a", "title": "A", "points": 1, "checks": [{"check": "is_mine", "points": 1, **written}]}
        rubric = {"rubric": "own", "title": "Own", "points": 1, "problems": [problem]}
        assert validator.is_valid(rubric) == valid


def test_the_text_of_the_schema_keeps_its_letters() -> None:
    text = schema_text(None)
    assert json.loads(text) == rubric_schema(None)
    assert "\\u" not in text.replace("\\\\u", "")
    assert text.endswith("}\n")


def test_a_parameter_that_checks_share_may_have_the_form_of_any_of_them() -> None:
    text, several, number = {"type": "string"}, {"type": "array"}, {"type": "number"}
    shared = shared_by_checks(
        {
            "one": {"file": {**text, "description": "a file"}},
            "two": {"file": several, "n": number},
            "three": {"n": number},
        }
    )
    assert shared["properties"] == {"file": {"anyOf": [text, several]}, "n": number}
