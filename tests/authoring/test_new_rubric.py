"""`grader new` makes a rubric that is proved as it is, and stays so through everything an author does with it."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from grader.authoring.new_rubric import make_rubric
from grader.errors import UsageError
from grader.model import Status
from grader.proving.declarations import declarations, failed_by
from grader.rubric.loading import load_rubric
from tests.conftest import read_yaml
from tests.in_process import command
from tests.test_cli import grader


def test_it_has_every_kind_of_problem_and_a_sample_of_every_outcome(tmp_path: Path) -> None:
    path, written = make_rubric(tmp_path / "scores")
    assert path == tmp_path / "scores" / "rubric.yaml"
    rubric = load_rubric(path)
    modules = {check.function.__module__ for problem in rubric.problems for check in problem.every_check}
    kinds = {module.removeprefix("grader.checks.").partition(".")[0] for module in modules}
    assert kinds == {
        "rubric_scores", "functions", "modules", "formulas", "predictions", "prose", "numbers", "choices",
    }  # fmt: skip
    samples = declarations(tmp_path / "scores" / "samples", rubric)
    found = [found for one in samples.values() for found in one.data["problems"].values()]
    statuses = {str(value).partition(" ")[0] for one in found for key, value in one.items() if key != "points"}
    assert statuses == set(Status) - {Status.UNGRADED}  # which is our own fault
    failed = {one for sample in samples.values() for one in failed_by(sample.data)}
    assert failed == {(problem.id, check.id) for problem in rubric.problems for check in problem.every_check}
    schema = json.loads((tmp_path / "scores" / "schema.json").read_text())
    assert path.read_text().startswith("# yaml-language-server: $schema=schema.json\n")
    assert not list(Draft7Validator(schema).iter_errors(read_yaml(path)))
    assert not [one for one in written if "NAME" in one.read_text() or one.suffix == ".in"]


@pytest.mark.parametrize("name", ["a b", "x.yaml", "ä", "-x", "a:b"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="is no name for a rubric; write letters, digits and '-'"):
        make_rubric(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(UsageError, match="taken: it is there already; choose another name"):
        make_rubric(tmp_path / "taken")
    assert not list((tmp_path / "taken").iterdir())


@pytest.mark.slow
def test_new_edit_prove_release_check_and_grade_a_class(tmp_path: Path) -> None:
    """From an empty folder, as an author would, with the rubric's name in place of a path of this repository."""

    def run(*command: str | Path, cwd: Path = tmp_path) -> str:
        done = grader(*command, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "grader rubric test scores/rubric.yaml" in run("new", "scores")
    _edit(tmp_path / "scores" / "rubric.yaml", "        right: b", "        right: c")
    _edit(tmp_path / "scores" / "samples" / "right" / "answers.md", "(b) They shrink.", "(c) They stay.")
    proved = run("rubric", "test", "scores/rubric.yaml", "--sample", "6")
    assert "Gold (right) full, stub nothing, 5 samples as declared: all as they should be" in proved
    assert "no sample fails it" not in proved

    assert "No leak was found" in run("release", "scores/rubric.yaml", "--out", "kit")
    shutil.copytree(tmp_path / "scores" / "samples" / "half", tmp_path / "kit", dirs_exist_ok=True)
    assert "4 of the 5 points that are checked here" in " ".join(run("check", ".", cwd=tmp_path / "kit").split())

    for sample in ("right", "half", "empty"):
        shutil.copytree(tmp_path / "scores" / "samples" / sample, tmp_path / "class" / sample)
    run("batch", "class", "--rubric", "scores/rubric.yaml", "--out", "grades", "--jobs", "1")
    with (tmp_path / "grades" / "gradebook.csv").open() as table:
        points = {row["student"]: row["points"] for row in csv.DictReader(table)}
    assert points == {"right": "16", "half": "7", "empty": "0"}


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.mark.slow
def test_a_bug_in_a_check_is_told_with_its_line_at_the_terminal_alone(tmp_path: Path) -> None:
    make_rubric(tmp_path / "scores")
    checks = tmp_path / "scores" / "public.py"
    _edit(checks, "got.mean(axis=0), np.zeros(", "got.mean(axis=0), np.zeroes(")
    line = 1 + checks.read_text().split("np.zeroes")[0].count("\n")
    done = grader(
        "run", "scores/samples/right", "--rubric", "scores/rubric.yaml", "--part", "1.a", "--json", "-", cwd=tmp_path
    )
    assert done.returncode == 3
    assert "1.a columns_have_mean_zero is ungraded: AttributeError: module 'numpy' has no attribute" in done.stderr
    assert f"(scores/public.py:{line}, in __init__.py:" in done.stderr
    assert "public.py" not in done.stdout
    assert "AttributeError" not in done.stdout


def test_folders_are_listed_as_folders_and_files_as_files(tmp_path: Path) -> None:
    done = command("new", "scores", cwd=tmp_path)
    listed = [line.split("  ")[0].strip() for line in done.stdout.splitlines()[:-1]]
    assert all((tmp_path / path).is_dir() == path.endswith("/") for path in listed), listed
    assert any(path.endswith("/") for path in listed)
