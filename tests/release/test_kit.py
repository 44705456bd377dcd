"""What is in a kit, what is not, and why."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.answers import cut_into_parts
from grader.errors import RubricError, UsageError
from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.model import Check, Status
from grader.registry import definition_of
from grader.release.kit import build_kit
from grader.release.kit_trial import NoKit
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests.conftest import REPOSITORY
from tests.in_process import command as grader
from tests.release.conftest import RUBRICS, Made

Kits = Callable[[str], Made]

pytestmark = pytest.mark.slow  # kits are made

PUBLIC = '''
from typing import Annotated

from grader import DataFile, HoldsTheAnswer, StudentFile, check, passed

from ._helping import far


@check
def is_open(student, rng, *, file: StudentFile):
    """It is open."""
    return passed(f"{far()}")


@check
def knows_the_key(student, rng, *, key: Annotated[str, HoldsTheAnswer()]):
    """It knows the key."""
    student.answer
    return passed("yes")


@check
def needs_labels(student, rng, *, file: StudentFile, labels: DataFile):
    """It needs labels."""
    return passed(labels)
'''
CHECKS = '''
from grader import StudentFile, check, passed

from .public.of_every_kind import is_open


@check
def spells_it_out(student, rng, *, file: StudentFile):
    """It spells the answer out."""
    return passed("forty-two")
'''
RUBRIC = """
rubric: small
title: Small
points: 9
problems:
  - id: 1.a
    title: Of every kind
    points: 7
    with: {file: work.py}
    checks:
      - {check: is_open, points: 1}
      - {check: is_open, id: nobody_knows, points: 1, visibility: hidden}
      - {check: is_open, id: builds_on_it, points: 1, needs: [nobody_knows]}
      - {check: spells_it_out, points: 1}
      - {check: needs_labels, points: 1, labels: answers.tsv}
      - {check: needs_labels, id: needs_open_labels, points: 1, labels: open.tsv}
      - {check: is_open, id: nobody_passes, gate: true, visibility: hidden}
      - {check: is_open, id: below_the_gate, points: 1}
  - id: 1.b
    title: Written
    points: 2
    checks:
      - {check: knows_the_key, points: 2, key: the answer is forty-two}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    files = {
        "checks.py": CHECKS,
        "public/of_every_kind.py": PUBLIC,
        "public/_helping.py": "def far():\n    return 3\n",
        "public/picture.txt": "(a picture)",
        "probes.py": "def looks(student, file):\n    return 1\n",
        "notes.md": "the answer is forty-two",
        "rubric.yaml": RUBRIC,
        "data/answers.tsv": "Where was Ada Fenn born?\tOslo\nWhere was Ben Ito born?\tQuito\n",
        "data/open.tsv": "Where was Cai Moss born?\tLima\n",
        "release.yaml": "data: [open.tsv]\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "rubric.yaml"


def test_a_check_reaches_students_only_if_nothing_about_it_is_a_secret(small: Path, tmp_path: Path) -> None:
    made = build_kit(load_rubric(small), tmp_path / "kit")
    assert {check: fate for _, check, fate in made.fates} == {
        "is_open": "as it is",
        "builds_on_it": "after the deadline: it builds on nobody_knows, which runs later",
        "spells_it_out": "after the deadline: its code is not public",
        "needs_labels": "after the deadline: it needs answers.tsv, which students do not get",
        "needs_open_labels": "as it is",
        "below_the_gate": "after the deadline: it builds on nobody_passes, which runs later",
        "knows_the_key": "after the deadline: 'key' holds the answer",
    }
    first, written = load_rubric(tmp_path / "kit" / "rubric" / "small" / "rubric.yaml").problems
    assert [check.id for check in first.checks] == ["is_open", "needs_open_labels"]
    assert (first.points, first.later.checks, first.later.points) == (2, 6, 5)
    assert [check.id for check in written.checks] == ["is_answered"]
    assert (written.points, written.later.points) == (0, 2)


def test_students_are_asked_the_question_that_checks_share(small: Path, tmp_path: Path) -> None:
    text = small.read_text().replace("title: Written\n", "title: Written\n    with: {prompt: What is six by seven?}\n")
    small.write_text(
        text.replace(
            "{check: knows_the_key,",
            "{check: gives_the_ideas, points: 1, ideas: {product: what it is}}\n      - {check: knows_the_key,",
        ).replace("key, points: 2", "key, points: 1")
    )
    (small.parent / "ideas.yaml").write_text("1.b: {ideas: {product: [forty-two]}}\n")
    build_kit(load_rubric(small), tmp_path / "kit")
    (_, written) = load_rubric(tmp_path / "kit" / "rubric" / "small" / "rubric.yaml").problems
    assert [dict(check.parameters) for check in written.checks] == [{"prompt": "What is six by seven?"}]
    assert not list((tmp_path / "kit").rglob("ideas.yaml"))


def test_of_a_rubrics_folder_students_get_what_is_public_as_it_is_and_nothing_else(small: Path, tmp_path: Path) -> None:
    build_kit(load_rubric(small), tmp_path / "kit")
    kit = tmp_path / "kit" / "rubric" / "small"
    there = {path.relative_to(kit).as_posix(): path for path in kit.rglob("*") if path.is_file()}
    public = ["public/_helping.py", "public/of_every_kind.py", "public/picture.txt", "probes.py"]
    assert there.keys() == {"rubric.yaml", "starter.json", "data/open.tsv", *public}
    for name in public:
        assert there[name].read_bytes() == (small.parent / name).read_bytes()
    assert "forty-two" not in "".join(
        path.read_text() for path in (tmp_path / "kit").rglob("*.*") if path.is_file() and path.suffix != ".whl"
    )


@pytest.mark.parametrize(
    "code", ["from ..checks import spells_it_out\n", "from reference.attention import attention\n"]
)
def test_public_code_that_needs_what_is_not_public_makes_no_kit(small: Path, tmp_path: Path, code: str) -> None:
    """Also if no problem uses it."""
    (small.parent / "public" / "more.py").write_text(code)
    with pytest.raises(NoKit, match=r"more\.py:1: cannot be imported: ModuleNotFoundError"):
        build_kit(load_rubric(small), tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_a_kit_is_not_written_over(small: Path, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        build_kit(load_rubric(small), tmp_path / "kit")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("dat: [open.tsv]\n", ":1: 'dat' has no meaning here; did you mean 'data'"),
        ("data: [gone.tsv]\n", "gone.tsv, and it is not in"),
        ("in_place_of: {answers.tsv: other.tsv}\n", "'other.tsv' stands in for another file"),
    ],
)
def test_a_typo_in_release_yaml_makes_no_kit(small: Path, tmp_path: Path, text: str, cause: str) -> None:
    (small.parent / "release.yaml").write_text(text)
    with pytest.raises(RubricError, match=cause):
        build_kit(load_rubric(small), tmp_path / "kit")


@pytest.mark.parametrize("rubric", RUBRICS)
def test_points_here_and_later_are_those_of_the_rubric(kits: Kits, rubric: str) -> None:
    made = kits(rubric)
    given = load_rubric(made.public_rubric)
    for whole, public in zip(made.rubric.problems, given.problems, strict=True):
        assert public.points + public.later.points == whole.points
        assert {check.visibility for check in public.every_check} <= {"public"}
    assert given.points == made.kit.points > 20


def _asked_names(check: Check) -> Iterator[str]:
    """Functions and classes; other texts are names of something else."""
    known = definition_of(check.function)
    for key in ("function", "name"):
        if known is not None and key in known.parameters:
            yield check.parameters.get(key, known.parameters[key].default)


@pytest.mark.parametrize("rubric", RUBRICS)
def test_every_file_of_code_has_a_starter_with_every_name(kits: Kits, rubric: str) -> None:
    made = kits(rubric)
    asked: dict[str, set[str]] = {}
    for problem in made.rubric.problems:
        for check in problem.every_check:
            for file in (file for file in check.files if file.endswith(".py")):
                asked.setdefault(file, set()).update(_asked_names(check))
        for one in problem.alternatives:
            for file in one.files[:1]:
                asked.setdefault(file, set()).update(one.defines)
    assert len(asked) >= 4
    for file, names in asked.items():
        text = (made.folder / file).read_text()
        tree = ast.parse(text)
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        missing = names - there - {"CausalSelfAttention"}  # which the course supplies
        assert not missing, file
        assert all(name in text for name in names)
        assert ast.get_docstring(tree)


@pytest.mark.parametrize("rubric", RUBRICS)
def test_the_sheet_has_a_heading_for_every_written_part(kits: Kits, rubric: str) -> None:
    made = kits(rubric)
    sheet = (made.folder / "answers.md").read_text()
    parts = [problem.id for problem in made.rubric.problems]
    written = [part for part in parts if f"\n## {part}\n" in sheet]
    assert len(written) == {"dl-hw3": 22, "nlp-a5": 16}[rubric]
    read = cut_into_parts(sheet, "answers.md", parts)
    assert read.parts == {}
    assert [note.removesuffix(" is empty").split(": ")[1] for note in read.notes] == written
    filled = sheet.replace("-->\n", "-->\n\nSome words of mine.\n")
    assert list(cut_into_parts(filled, "answers.md", parts).parts) == written


def test_frozen_values_judge_as_the_reference_does_and_know_their_limits(kits: Kits, boxes: BoxRunner) -> None:
    rubric = load_rubric(kits("dl-hw3").public_rubric)
    rubric = replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id == "2.1"))
    with open_submission(REPOSITORY / "submissions" / "ben") as ben:
        found = {one.check.id: one for one in grade(rubric, ben, boxes, draw_at_home()).problems[0].checks}
        assert "it looks as if the softargmax runs over" in found["matches_reference"].outcome.message
    with open_submission(REPOSITORY / "submissions" / "ada") as ada:
        (right,) = grade(rubric, ada, boxes, draw_at_home()).problems
        (other,) = grade(rubric, ada, boxes, draw_at_home(7)).problems
    assert right.status is Status.PASSED
    unknown = {one.check.id: one for one in other.checks}["matches_reference"]
    assert unknown.outcome.status is Status.UNGRADED
    assert "it was made for seed 0" in unknown.fault


def test_code_that_may_stand_in_for_words_is_not_asked_for(kits: Kits) -> None:
    made = load_rubric(kits("dl-hw3").public_rubric)
    assert "1.1.c" in [problem.id for problem in made.problems]
    assert [problem.id for problem in made.problems if "constructions.py" in problem.later.files] == []
    later = load_rubric(kits("nlp-a5").public_rubric)
    assert [file for problem in later.problems for file in problem.later.files] == [
        "vanilla.nopretrain.test.predictions",
        "vanilla.pretrain.test.predictions",
        *(f"{variant}.pretrain.test.predictions" for variant in ("perceiver", "synthesizer", "rope")),
    ]


def test_course_data_that_are_not_there_make_no_kit(tmp_path: Path) -> None:
    done = grader("release", "nlp-a5", "--out", tmp_path / "kit", "--data", tmp_path / "dta")
    assert (done.returncode, done.stderr) == (2, f"grader: {tmp_path / 'dta'}: there is no such folder of data\n")
    assert not (tmp_path / "kit").exists()
