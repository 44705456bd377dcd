"""A kit holds no secret, and one that is put in is found: by its content, whatever the file is called."""

from __future__ import annotations

import ast
import builtins
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.answers import read_answers
from grader.release.kit import build_kit
from grader.release.kit_trial import NoKit
from grader.release.leaks import Withheld, grams, leaks_in, plain
from grader.rubric.loading import load_rubric
from grader.submission.opening import open_submission
from tests.conftest import REPOSITORY
from tests.release.conftest import RUBRICS, SECRET, Made

LABELS = (REPOSITORY / "rubrics" / "nlp-a5" / "data" / "birth_test.tsv").read_text().splitlines()
Kits = Callable[[str], Made]

pytestmark = pytest.mark.slow  # what is kept back is known once a kit is made


@pytest.fixture(scope="module")
def secrets(kits: Kits) -> Callable[[str], Withheld]:
    found: dict[str, Withheld] = {}

    def of(name: str) -> Withheld:
        if name not in found:
            found[name] = kits(name).withheld_from()
        return found[name]

    return of


@pytest.mark.parametrize("rubric", RUBRICS)
def test_a_kit_holds_no_secret(tmp_path: Path, kits: Kits, secrets: Callable[[str], Withheld], rubric: str) -> None:
    """Its wheel is searched by tests/release/test_wheels.py, more sharply."""
    shutil.copytree(kits(rubric).folder, tmp_path / "kit", ignore=shutil.ignore_patterns("wheel"))
    assert leaks_in(tmp_path / "kit", secrets(rubric)) == []


def _planted(folder: Path, kept: Withheld, text: str, name: str = "notes.txt") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return "; ".join(leaks_in(folder, kept))


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


def test_questions_without_places_and_labels_students_have_are_no_leak(
    tmp_path: Path, secrets: Callable[[str], Withheld]
) -> None:
    data = REPOSITORY / "rubrics" / "nlp-a5" / "data"
    for file in ("birth_test_inputs.tsv", "birth_dev.tsv", "wiki.txt"):
        assert _planted(tmp_path, secrets("nlp-a5"), (data / file).read_text()) == ""


class _Renamed(ast.NodeTransformer):
    """Every variable and argument but Python's own gets another name, every number is another."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node if node.id == "self" or hasattr(builtins, node.id) else ast.Name(f"other_{node.id}", node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node if node.arg == "self" else ast.arg(f"other_{node.arg}", None)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(node.value + 1) if type(node.value) in (int, float) else node


@pytest.mark.parametrize("rubric", RUBRICS)
def test_the_reference_solution_is_known_again_under_other_names(
    tmp_path: Path, secrets: Callable[[str], Withheld], rubric: str
) -> None:
    solutions = REPOSITORY / "submissions"
    known = [file for file, hashes in secrets(rubric).code.items() if len(hashes)]  # the others are a line or two
    for file in known:
        renamed = ast.unparse(ast.fix_missing_locations(_Renamed().visit(ast.parse((solutions / file).read_text()))))
        for text in (renamed, f"Try this:\n\n```python\n{renamed}\n```\n\nIt works (honestly)."):
            assert f"code of {file}" in _planted(tmp_path, secrets(rubric), text)
    assert len(known) >= 3


def test_what_the_solution_keeps_of_the_starter_is_no_secret(
    tmp_path: Path, secrets: Callable[[str], Withheld]
) -> None:
    for rubric in RUBRICS:
        for path in (REPOSITORY / "rubrics" / rubric / "starter").glob("*.py"):
            assert _planted(tmp_path, secrets(rubric), path.read_text()) == ""


@pytest.mark.parametrize(
    ("rubric", "text"),
    [
        ("nlp-a5", "'k_j|key @large norm|magnitude|length'"),
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


def test_the_label_of_an_idea_and_a_name_of_the_harness_are_no_secrets(
    tmp_path: Path, secrets: Callable[[str], Withheld]
) -> None:
    text = "Say which values a single weight can take.\nmatches_reference asks, and so does formula_equals_the_key.\n"
    for rubric in RUBRICS:
        assert _planted(tmp_path, secrets(rubric), text) == ""


def test_a_right_answer_is_withheld_to_its_last_words(kits: Kits, secrets: Callable[[str], Withheld]) -> None:
    with open_submission(REPOSITORY / "submissions" / "ada") as solution:
        answers = read_answers(solution, kits("dl-hw3").rubric.parts)
    ends = [plain(" ".join(answer.prose.split()[-8:])) for answer in answers.parts.values()]
    ends = [end for answer, end in zip(answers.parts.values(), ends, strict=True) if len(answer.prose.split()) > 20]
    assert len(ends) > 3
    assert set(ends) <= set(secrets("dl-hw3").texts)


@pytest.mark.parametrize("text", [SECRET.text, SECRET.fingerprint])
def test_the_secret_is_found(tmp_path: Path, secrets: Callable[[str], Withheld], text: str) -> None:
    assert "secret" in _planted(tmp_path, secrets("nlp-a5"), f"export GRADER_SECRET='{text}'")


def test_a_file_may_not_be_called_by_a_secret_either(tmp_path: Path, secrets: Callable[[str], Withheld]) -> None:
    assert "right formula for 1.b.i" in _planted(tmp_path, secrets("nlp-a5"), "", "M = AAᵀ.txt")


def test_no_kit_is_made_that_leaks(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "rubrics" / "nlp-a5", tmp_path / "nlp-a5")
    (tmp_path / "nlp-a5" / "starter" / "examples.txt").write_text(LABELS[3])
    with pytest.raises(NoKit, match=r"examples\.txt: labels of birth_test\.tsv"):
        build_kit(load_rubric(tmp_path / "nlp-a5" / "rubric.yaml"), tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_two_lines_that_anybody_would_write_are_no_code() -> None:
    assert len(grams("def attention(Q, K, V):\n    return softmax(Q @ K.T) @ V\n")) == 0
