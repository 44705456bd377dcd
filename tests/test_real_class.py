"""The made class of `benchmarks.real_class` is what it is described as."""

from __future__ import annotations

import ast
import json
from collections import Counter

import pytest

from benchmarks.real_class.class_maker import Made, make


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Made]:
    return make(tmp_path_factory.mktemp("class"))


@pytest.mark.parametrize(
    ("rubric", "parts", "right"), [("nlp-a5", ["2.e"], 19), ("nlp-a5", ["2.g.i"], 21), ("dl-hw3", [], 55)]
)
def test_so_many_parts_are_right(made: list[Made], rubric: str, parts: list[str], right: int) -> None:
    works = [
        work for one in made if one.rubric == rubric for part, work in one.parts.items() if part in parts or not parts
    ]
    assert sum(work.is_right for work in works) == right


def test_no_two_submissions_of_a_rubric_are_the_same(made: list[Made]) -> None:
    written = Counter(
        (one.rubric, tuple((path.name, path.read_text()) for path in sorted(one.folder.rglob("*.*")) if path.is_file()))
        for one in made
    )
    assert max(written.values()) == 1


def test_wrong_work_is_not_right_work_unchanged(made: list[Made]) -> None:
    """A change whose text is no longer in the file it changes would leave it right."""
    right = {text for one in made for work in one.parts.values() if work.is_right for text in work.files.values()}
    for one in made:
        for part, work in one.parts.items():
            if not work.is_right and work.files:
                assert not set(work.files.values()) <= right, f"{one.folder.name} {part}"


def test_only_what_is_meant_to_be_unreadable_is(made: list[Made]) -> None:
    unreadable = []
    for one in made:
        for path in one.folder.rglob("*.py"):
            try:
                ast.parse(path.read_text(encoding="utf-8"))
            except SyntaxError:
                unreadable.append(f"{one.rubric} {path.name}")
        for path in one.folder.rglob("*.ipynb"):
            json.loads(path.read_text(encoding="utf-8"))
    assert sorted(unreadable) == ["dl-hw3 encoder.py", "dl-hw3 multihead.py", "dl-hw3 vit.py"]
