"""Imports go one way, so that each layer can be read and trusted without those above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.conftest import REPOSITORY, RUBRIC_CODE, RUBRICS

# Lower layers first. A module may import its own layer and those below.
LAYERS = [
    {
        "grader",
        "grader.sandbox.diagnosis",
        "grader.lazy_names",
        "grader.model",
        "grader.errors",
        "grader.exits",
        "grader.notation",
        "grader.options",
        "grader.plugins",
        "grader.progress_bar",
        "grader.quoting",
        "grader.grading.randomness",
        "grader.grading.secret",
        "grader.grading.concealment",
        "grader.rubric.hints",
        "grader.rubric.yaml_errors",
        "grader.rubric.yaml_source",
        "grader.shares",
    },
    {"grader.compare", "grader.registry", "grader.rubric.own_functions", "grader.formulas", "grader.prose"},
    {"grader.checks", "grader.modules", "grader.sandbox", "grader.report", "grader.answers.pdf"},
    {"grader.answers", "grader.authoring", "grader.grading", "grader.proving", "grader.rubric", "grader.submission"},
    {"grader.batch", "grader.release", "grader.review", "grader.selfcheck", "grader.similar"},
    {"grader.api", "grader.cli", "grader.start", "grader.__main__"},
]
JAIL = "grader.sandbox.jail"
PDF_CHILD = tuple(f"grader.answers.pdf.{name}" for name in ("child", "drawings", "glyphs", "pixels"))
INSIDE = ("grader.sandbox.box", JAIL, *PDF_CHILD)
_PAIRS = (("grader.checks", "grader.sandbox"), ("grader.checks", "grader.report"))
APART = (*_PAIRS, *((other, one) for one, other in _PAIRS))  # neither sees the other
# Review starts in a second and runs no student code. Of the sandbox it sees the process that draws a page, and no more.
NOT_IN_REVIEW = ("grader.checks", "grader.grading.engine", "grader.formulas", "grader.sandbox")
DRAWS_PAGES = ("grader.answers.pdf.page_picture", "grader.answers.pdf.process")


def _modules(package: str) -> dict[str, Path]:
    found = {}
    for path in sorted((REPOSITORY / package).rglob("*.py")):
        dotted = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        found[dotted] = path
    return found


_IMPORT = re.compile(r"^[ \t]*((?:from|import) [^\n(]+(?:\([^)]*\))?)", re.MULTILINE)
MODULES = _modules("grader") | _modules("reference")


def _statements(path: Path) -> Iterator[ast.stmt]:
    """Those that import, wherever they stand: to parse all of the house for them takes a second."""
    for written in _IMPORT.findall(path.read_text()):
        with suppress(SyntaxError):  # a sentence in a docstring that begins with one of these words
            yield from ast.parse(written).body


def _imports(module: str, path: Path) -> Iterator[str]:
    for node in _statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                base = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], base]).rstrip(".")
            yield from (_imported(base, alias.name) for alias in node.names)


def _imported(base: str, name: str) -> str:
    if f"{base}.{name}" in MODULES:
        return f"{base}.{name}"
    return "grader.api" if base == "grader" and name != "__version__" else base


def _layer(module: str) -> int:
    if module.endswith(".commands"):  # a room's commands belong to the command line
        return len(LAYERS) - 1
    names = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    fitting = [name for name in names if name != "grader" and f"{module}.".startswith(f"{name}.")]
    assert fitting or module == "grader", f"{module} is in no layer: add it to LAYERS"
    return names[max(fitting, key=len, default="grader")]  # a part of a package may lie lower than the package


def test_a_module_imports_only_its_own_layer_and_those_below() -> None:
    wrong = [pair for module, path in MODULES.items() for pair in _not_allowed(module, set(_imports(module, path)))]
    assert not wrong, "these import what they may not"


def _not_allowed(module: str, imported: set[str]) -> Iterator[tuple[str, str]]:
    for one in sorted(imported):
        root = one.split(".")[0]
        if (
            (module.startswith("reference") and root == "grader")
            or (root == "reference" and not module.startswith(("grader.checks", "reference")))  # only checks see it
            or (module.startswith("grader.") and root == "grader" and _layer(one) > _layer(module))
            or (module.startswith("grader") and root == "rubrics")
            or any(module.startswith(here) and one.startswith(there) for here, there in APART)
            or (module.startswith("grader.review") and one.startswith(NOT_IN_REVIEW) and one not in DRAWS_PAGES)
            or (module.startswith(INSIDE) and root in ("grader", "reference") and not one.startswith(INSIDE))
        ):
            yield module, one


PUBLIC = ("grader.api", "grader.formulas", "grader.modules")  # what an assignment may import of the grader
FOR_STUDENTS = ("public", "public.py", "probes.py")  # of an assignment: it holds no answer


def test_an_assignment_imports_the_public_interface_alone() -> None:
    wrong = []
    for path in RUBRIC_CODE:
        place = path.relative_to(RUBRICS)
        for one in _imports(".".join(place.with_suffix("").parts), path):
            root = one.split(".")[0]
            answers = root == "reference" or "checks" in one.split(".")
            if (root == "grader" and one not in PUBLIC) or (place.parts[1] in FOR_STUDENTS and answers):
                wrong.append((str(place), one))
    assert not wrong, "these import what they may not"


def test_what_may_not_be_imported_is_noticed() -> None:
    for module, imported in (
        ("reference.attention", "grader.model"),
        ("grader.grading.engine", "reference.attention"),
        ("grader.grading.engine", "rubrics.ridge"),
        ("grader.checks.prose", "grader.api"),
        ("grader.model", "grader.grading.engine"),
        ("grader.checks.prose", "grader.sandbox.host.runner"),
        ("grader.report.html", "grader.checks.prose"),
        ("grader.review.visit", "grader.sandbox.host.runner"),
        ("grader.sandbox.box.wire", "grader.errors"),  # it stands below, but outside the box
    ):
        assert list(_not_allowed(module, {imported})) == [(module, imported)]
