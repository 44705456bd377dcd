"""A page of public names is loaded name by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import grader
import grader.api
import grader.formulas
import grader.formulas.formula_questions


@pytest.mark.parametrize(
    ("package", "page"),
    [(grader, grader.api), (grader.formulas, grader.formulas.formula_questions)],
    ids=lambda one: one.__name__,
)
def test_every_name_of_the_page_is_found_by_itself(package: object, page: object) -> None:
    for name in page.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name) is getattr(page, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_who_wants_a_check_does_not_load_the_engine() -> None:
    asked = (
        "import sys; from grader import check, passed; from grader.formulas import killable_child; print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "grader.registry" in loaded
    assert not {"grader.api", "grader.grading.engine", "grader.formulas.answer", "lark"} & set(loaded)
