"""docs/checks.md says what the code reads: every key and every parameter, each with its meaning."""

from __future__ import annotations

import re

from grader.authoring.checks_page import checks_page
from grader.authoring.meanings import MEANINGS
from grader.notation.function_names import DECLARABLE, FUNCTIONS
from grader.notation.units import BINARY_PREFIXES, METRIC, PLAIN, PREFIXES, WORDS
from grader.rubric.catalogue import known_checks
from tests.conftest import REPOSITORY

PAGE = checks_page(known_checks())


def test_the_page_is_up_to_date() -> None:
    assert (REPOSITORY / "docs" / "checks.md").read_text(encoding="utf-8") == PAGE, "grader checks --markdown makes it"


def test_every_check_and_every_name_is_explained() -> None:
    assert set(re.findall(r"^### ([a-z]\w+)$", PAGE, re.MULTILINE)) == set(known_checks())
    assert not re.findall(r"^.*\|  \|$", PAGE, re.MULTILINE), "say in grader/authoring/meanings.py what these are"


def test_every_function_and_unit_is_listed() -> None:
    names = {*FUNCTIONS, *DECLARABLE, *METRIC, *PLAIN, *WORDS, *PREFIXES, *BINARY_PREFIXES}
    assert names <= set(re.findall(r"`([^`]+)`", PAGE))


def test_nothing_is_explained_that_is_gone() -> None:
    assert not [name for name, meaning in MEANINGS.items() if f"| {meaning} |" not in PAGE]
