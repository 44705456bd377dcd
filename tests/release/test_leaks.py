"""A kit holds no secret, and one that is put in is found: by its content, whatever the file is called."""

from __future__ import annotations

import ast
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.release.code_similarity import shapes_in
from grader.release.kit import Leaking, build_kit
from grader.release.leaks import leaks_in
from grader.release.withheld import Withheld, _labels
from grader.rubric.loading import load_rubric
from tests.conftest import REPOSITORY
from tests.release.conftest import RUBRICS, SECRET, Made

LABELS = (REPOSITORY / "rubrics" / "nlp-a5" / "data" / "birth_test.tsv").read_text().splitlines()
Kits = Callable[[str], Made]


@pytest.fixture(scope="module")
def secrets(kits: Kits) -> Callable[[str], Withheld]:
    found: dict[str, Withheld] = {}

    def of(name: str) -> Withheld:
        if name not in found:
            found[name] = kits(name).withheld_from()
        return found[name]

    return of


def test_labels_are_a_question_with_its_answer_and_a_name_with_it(tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text("Where was Ada born?\tLondon\nWhere was Ben born?\tParis\nno label\n")
    found = {" ".join(label).lower() for label in _labels(tmp_path / "labels.tsv")}
    assert {"where was ada born london", "ada london", "where was ben born paris", "ben paris"} == found


@pytest.mark.slow
@pytest.mark.parametrize("rubric", RUBRICS)
def test_a_kit_holds_no_secret(kits: Kits, secrets: Callable[[str], Withheld], rubric: str) -> None:
    assert leaks_in(kits(rubric).folder, secrets(rubric)) == []


def _planted(folder: Path, kept: Withheld, text: str, name: str = "notes.txt") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return "; ".join(str(leak) for leak in leaks_in(folder, kept))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        LABELS[7],
        LABELS[7].upper().replace("\t", " ; "),
        ",".join(
            [LABELS[7].split("\t")[0].removeprefix("Where was ").removesuffix(" born?"), LABELS[7].split("\t")[1]]
        ),
        "\n".join(line.split("\t")[1] for line in LABELS[20:27]),
        json.dumps([line.split("\t") for line in LABELS[:3]]),
    ],
    ids=["as it is", "in capitals", "name and place", "places in order", "as JSON"],
)
def test_a_label_is_found(tmp_path: Path, secrets: Callable[[str], Withheld], text: str) -> None:
    assert "labels of birth_test.tsv" in _planted(tmp_path, secrets("nlp-a5"), f"Some words. {text}\nMore words.")


@pytest.mark.slow
def test_questions_without_places_and_labels_students_have_are_no_leak(
    tmp_path: Path, secrets: Callable[[str], Withheld]
) -> None:
    data = REPOSITORY / "rubrics" / "nlp-a5" / "data"
    for file in ("birth_test_inputs.tsv", "birth_dev.tsv", "wiki.txt"):
        assert _planted(tmp_path, secrets("nlp-a5"), (data / file).read_text()) == ""


class _Renamed(ast.NodeTransformer):
    """Every variable, argument, function and attribute of self gets another name, every number is another."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node if node.id == "self" else ast.Name(f"other_{node.id}", node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node if node.arg == "self" else ast.arg(f"other_{node.arg}", None)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(node.value + 1) if type(node.value) in (int, float) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return ast.Attribute(node.value, f"my_{node.attr}" if own else node.attr, node.ctx)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name, node.returns = "mine", None
        return node


@pytest.mark.slow  # what is kept back is known once a kit is made
@pytest.mark.parametrize("module", ["attention", "gpt", "transformer", "vit", "rope", "span_corruption"])
def test_every_function_of_the_reference_is_known_again_under_other_names(
    tmp_path: Path, secrets: Callable[[str], Withheld], module: str
) -> None:
    kept = secrets("dl-hw3")
    tree = ast.parse((REPOSITORY / "reference" / f"{module}.py").read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    telling = [node for node in functions if any(shape.is_telling for shape in shapes_in(ast.unparse(node)))]
    assert telling
    for node in telling:
        renamed = ast.unparse(ast.fix_missing_locations(_Renamed().visit(node)))
        assert "of the reference" in _planted(tmp_path, kept, renamed, "helper.py"), renamed
    assert len(telling) >= len(functions) / 3  # what is left out are functions of one or two short statements


def test_code_is_found_in_pages_notebooks_and_archives(tmp_path: Path) -> None:
    source = (REPOSITORY / "reference" / "attention.py").read_text()
    kept, tree = Withheld(code=list(shapes_in(source))), ast.parse(source)
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "softargmax")
    code = ast.unparse(ast.fix_missing_locations(_Renamed().visit(function)))
    page = f"Try this:\n\n```python\n{code}\n```\n\nIt works (honestly)."
    notebook = json.dumps({"cells": [{"source": [f"{line}\n" for line in code.splitlines()]}]})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.py", code)
    for name, content in (("a.md", page.encode()), ("b.ipynb", notebook.encode()), ("c.bin", packed.getvalue())):
        folder = tmp_path / name.replace(".", "_")
        folder.mkdir()
        (folder / name).write_bytes(content)
        assert [leak for leak in leaks_in(folder, kept) if "of the reference" in leak.what], name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rubric", "text"),
    [
        ("dl-hw3", "applies_the_mask"),
        ("dl-hw3", "stays_finite_at_extreme_scores"),
        (
            "dl-hw3",
            "With a mask its values equal the reference's:\n   True where query j (column) may attend to key i (row).",
        ),
        ("nlp-a5", "test_is_better_than_nothing"),
        ("nlp-a5", "'k_j|key @large norm|magnitude|length'"),
        ("nlp-a5", "of_the_matching_key"),
        ("dl-hw3", (REPOSITORY / "rubrics" / "dl-hw3" / "ideas.yaml").read_text()),
        ("nlp-a5", "ℓ m + L m^2"),
        ("dl-hw3", r"H = $V \cdot softmax_\beta(K^\top Q)$"),
        ("nlp-a5", "so M = AAᵀ will do"),
    ],
)
def test_texts_and_formulas_that_were_cut_are_found(
    tmp_path: Path, secrets: Callable[[str], Withheld], rubric: str, text: str
) -> None:
    assert _planted(tmp_path, secrets(rubric), f"# Hints\n\n{text}\n") != ""


@pytest.mark.slow
def test_the_label_of_an_idea_is_no_secret(tmp_path: Path, secrets: Callable[[str], Withheld]) -> None:
    assert _planted(tmp_path, secrets("nlp-a5"), "Say which values a single weight can take.\n") == ""


@pytest.mark.slow
@pytest.mark.parametrize("text", [SECRET.text, SECRET.fingerprint])
def test_the_secret_is_found(tmp_path: Path, secrets: Callable[[str], Withheld], text: str) -> None:
    assert "secret" in _planted(tmp_path, secrets("nlp-a5"), f"export GRADER_SECRET='{text}'")


@pytest.mark.slow
def test_a_file_may_not_be_called_by_a_secret_either(tmp_path: Path, secrets: Callable[[str], Withheld]) -> None:
    assert "cut from the rubric" in _planted(tmp_path, secrets("dl-hw3"), "", "stays_finite_at_extreme_scores.txt")


@pytest.mark.slow
def test_no_kit_is_made_that_leaks(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "rubrics" / "nlp-a5", tmp_path / "nlp-a5")
    (tmp_path / "nlp-a5" / "starter" / "examples.txt").write_text(LABELS[3])
    with pytest.raises(Leaking, match=r"examples\.txt: labels of birth_test\.tsv"):
        build_kit(load_rubric(tmp_path / "nlp-a5" / "rubric.yaml"), tmp_path / "kit")
    assert not (tmp_path / "kit").exists()
