"""Every file of the grader has tests that speak of it, and the table that says which names nothing that is gone."""

from __future__ import annotations

import ast

from benchmarks import areas
from tests.conftest import REPOSITORY, RUBRIC_CODE, RUBRICS


def test_every_file_has_its_tests_and_every_path_exists() -> None:
    own = (path for room in ("grader", "reference") for path in (REPOSITORY / room).rglob("*.py"))
    for path in (*own, *RUBRIC_CODE):
        assert areas.tests_of(path.relative_to(REPOSITORY).as_posix())
    for area, tests in areas.areas().items():
        assert all((REPOSITORY / path).exists() for path in (area, *tests)), area


def test_the_longest_path_counts_and_a_test_speaks_for_itself() -> None:
    assert areas.tests_of("grader/batch/jobs.py") == areas.areas()["grader/batch"]
    assert areas.tests_of("tests/test_cli.py") == ["tests/test_cli.py"]


def test_the_quick_loop_enters_every_room() -> None:
    """A file of tests that are not all slow imports something of each package: `make test-fast` really runs it."""
    files = (*(REPOSITORY / "tests").rglob("test_*.py"), *RUBRICS.glob("*/tests/**/test_*.py"))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    entered = set().union(*(_imported(tree) for tree in trees if _is_quick(tree)))
    rooms = {path.parent.relative_to(REPOSITORY) for path in (REPOSITORY / "grader").rglob("__init__.py")}
    names = {".".join(room.parts) for room in rooms} - {"grader.sandbox.box.reading"}  # which sandboxes alone load
    assert not {name for name in names if not any(f"{one}.".startswith(f"{name}.") for one in entered)}


def _is_quick(tree: ast.Module) -> bool:
    marks = [
        node for node in tree.body if isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node.targets[0])
    ]
    if any("mark.slow" in ast.unparse(node.value) for node in marks):
        return False
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return any("pytest.mark.slow" not in map(ast.unparse, test.decorator_list) for test in tests)


def _imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.startswith("grader")}
