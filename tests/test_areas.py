"""Every file of the grader has tests that speak of it, and the table that says which names nothing that is gone."""

from __future__ import annotations

from benchmarks import areas
from tests.conftest import REPOSITORY


def test_every_file_has_its_tests_and_every_path_exists() -> None:
    for path in (*(REPOSITORY / "grader").rglob("*.py"), *(REPOSITORY / "reference").rglob("*.py")):
        assert areas.tests_of(path.relative_to(REPOSITORY).as_posix())
    for area, tests in areas.areas().items():
        assert all((REPOSITORY / path).exists() for path in (area, *tests)), area


def test_the_longest_path_counts_and_a_test_speaks_for_itself() -> None:
    assert areas.tests_of("grader/batch/jobs.py") == areas.areas()["grader/batch"]
    assert areas.tests_of("tests/test_cli.py") == ["tests/test_cli.py"]
