"""Imports go one way, so that each layer can be read and trusted without those above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

# Lower layers first. A module may import its own layer and those below.
LAYERS = [
    {
        "grader",
        "grader.model",
        "grader.errors",
        "grader.exits",
        "grader.notation",
        "grader.options",
        "grader.progress_bar",
        "grader.quoting",
        "grader.draw",
        "grader.secret",
        "grader.shown",
        "grader.suggestions",
        "grader.yaml_source",
    },
    {"grader.compare", "grader.registry", "grader.formulas", "grader.prose"},
    {"grader.checks", "grader.sandbox", "grader.report"},
    {
        "grader.alternatives",
        "grader.answers",
        "grader.archives",
        "grader.catalogue",
        "grader.choosing",
        "grader.engine",
        "grader.idea_files",
        "grader.notebooks",
        "grader.private_copy",
        "grader.proving",
        "grader.rubric",
        "grader.submission",
    },
    {"grader.batch", "grader.release", "grader.selfcheck"},
    {"grader.cli", "grader.start", "grader.__main__"},
]
INSIDE = "grader.sandbox.inside"


def _modules(package: str) -> dict[str, Path]:
    found = {}
    for path in sorted((REPOSITORY / package).rglob("*.py")):
        dotted = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        found[dotted] = path
    return found


MODULES = _modules("grader") | _modules("reference")


def _imports(module: str, path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                base = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], base]).rstrip(".")
            yield from (f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names)


def _layer(module: str) -> int:
    if module.endswith(".commands"):  # a room's commands belong to the command line
        return len(LAYERS) - 1
    for number, layer in reversed(list(enumerate(LAYERS))):
        if any(module == name or module.startswith(f"{name}.") for name in layer - {"grader"}):
            return number
    assert module == "grader", f"{module} is in no layer: add it to LAYERS"
    return 0


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_its_own_layer_and_those_below(module: str) -> None:
    for imported in _imports(module, MODULES[module]):
        root = imported.split(".")[0]
        if module.startswith("reference"):
            assert root != "grader", f"{module} imports {imported}"
        elif root == "reference":
            assert module.startswith("grader.checks"), f"only checks see the reference, but {module} imports {imported}"
        elif root == "grader":
            assert _layer(imported) <= _layer(module), f"{module} imports {imported}"
            apart = {("grader.checks", "grader.sandbox"), ("grader.checks", "grader.report")}
            for one, other in apart:
                assert not (module.startswith(one) and imported.startswith(other)), f"{module} imports {imported}"
                assert not (module.startswith(other) and imported.startswith(one)), f"{module} imports {imported}"


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith(INSIDE)])
def test_what_runs_inside_the_box_imports_nothing_else_of_the_project(module: str) -> None:
    for imported in _imports(module, MODULES[module]):
        if imported.split(".")[0] in ("grader", "reference"):
            assert imported.startswith(INSIDE), f"{module} imports {imported}"
