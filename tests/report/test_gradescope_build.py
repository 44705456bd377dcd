"""The autograder zip, unpacked and run as Gradescope would, with this interpreter in place of the one it installs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.report.exports.gradescope_zip import write_zip
from tests.conftest import REPOSITORY, write_rubric
from tests.schemas import GRADESCOPE
from tests.test_cli import grader
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("zip") / "autograder.zip"
    done = grader("gradescope", "build", "dl-hw3", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def unpacked(built: Path, root: Path, submission: str) -> Path:
    """/autograder as Gradescope lays it out."""
    with zipfile.ZipFile(built) as archive:
        archive.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    shutil.copytree(REPOSITORY / "submissions" / submission, root / "submission")
    return root


def run(root: Path, python: str = sys.executable) -> tuple[dict[str, Any], str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"AUTOGRADER_ROOT": str(root), "GRADER_PYTHON": python}
    command = ["bash", root / "run_autograder"]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((root / "results" / "results.json").read_text())
    GRADESCOPE.validate(results)
    return results, done.stdout


@pytest.mark.slow
def test_the_zip_holds_what_gradescope_and_the_grader_need(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        entries = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
        setup = archive.read("setup.sh").decode()
        script = archive.read("run_autograder").decode()
        page = archive.read("HOW_TO_UPLOAD.md").decode()
    needed = {"setup.sh", "run_autograder", "ungraded.json", "pyproject.toml", "constraints.txt"}
    needed |= {"rubrics/dl-hw3/rubric.yaml", "rubrics/dl-hw3/ideas.yaml", "rubrics/module_recovery/blocks.py"}
    needed |= {"assignments/pyproject.toml"}
    needed |= {"grader/cli.py", "grader/formulas/syntax/grammar.lark", "reference/attention.py"}
    assert needed <= entries.keys()
    assert {entries["setup.sh"], entries["run_autograder"]} == {0o755}
    assert not [name for name in entries if "__pycache__" in name or name.startswith(("tests/", "submissions/"))]
    assert "--constraint constraints.txt" in setup
    assert "rubric=(--rubric rubrics/dl-hw3/rubric.yaml)" in script
    assert not re.search("@[A-Z]+@", setup + script + page), "nothing is left to be filled in"
    assert "Set *Autograder points* to **100**." in page
    assert "1.1.c:gives_the_ideas" in page
    assert "--torch-backend=cpu" in setup
    assert "export DEBIAN_FRONTEND=noninteractive" in setup


def test_only_its_owner_can_read_the_zip(tmp_path: Path) -> None:
    """It holds answers, and the course's secret if there is one."""
    zipped = tmp_path / "a.zip"
    zipped.write_bytes(b"an older one")
    zipped.chmod(0o644)
    write_zip(b"a new one", zipped)
    assert (zipped.stat().st_mode & 0o777, zipped.read_bytes()) == (0o600, b"a new one")
    with pytest.raises(UsageError, match="cannot be written"):
        write_zip(b"", tmp_path / "no such folder" / "a.zip")


def build_the_image(root: Path) -> subprocess.CompletedProcess[str]:
    """What Gradescope runs once, with a Python that has the grader's libraries."""
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root), "GRADER_PYTHON": sys.executable}
    command = ["bash", root / "source" / "setup.sh"]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


@pytest.mark.slow
def test_an_image_that_cannot_grade_is_not_built(built: Path, tmp_path: Path) -> None:
    root = unpacked(built, tmp_path, "ben")
    done = build_the_image(root)
    assert done.returncode == 0, done.stderr
    for broken in ("grader/sandbox/jail/jail.py", "rubrics/dl-hw3/rubric.yaml"):
        file = root / "source" / broken
        text = file.read_text()
        file.write_text("broken: [")
        assert build_the_image(root).returncode != 0, broken
        file.write_text(text)


@pytest.mark.slow
def test_the_scripts_are_bash(built: Path, tmp_path: Path) -> None:
    for script in ("setup.sh", "run_autograder"):
        with zipfile.ZipFile(built) as archive:
            (tmp_path / script).write_bytes(archive.read(script))
        assert subprocess.run(["bash", "-n", tmp_path / script], check=False).returncode == 0


@pytest.mark.slow
def test_the_same_rubric_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    grader("gradescope", "build", "dl-hw3", "--out", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == built.read_bytes()


@pytest.mark.slow
def test_a_submission_is_graded(built: Path, tmp_path: Path) -> None:
    results, printed = run(unpacked(built, tmp_path, "ben"))
    assert results["score"] == 6
    by_name = {test["name"]: test for test in results["tests"]}
    told = by_name["Attention: matches_reference"]
    assert (told["status"], told["visibility"]) == ("failed", "visible")
    assert "the softargmax runs over the queries" in told["output"]
    hidden = by_name["Multi-head attention with a mask: applies_the_mask"]
    assert (hidden["visibility"], hidden["output"]) == ("hidden", "")
    withheld = [test for test in results["tests"] if test["name"].endswith(": gives_the_ideas")]
    assert {test["visibility"] for test in withheld} == {"after_published"}
    assert "not found" not in json.dumps([test for test in results["tests"] if test["visibility"] == "visible"])
    assert sum(test["max_score"] for test in results["tests"]) == 100
    assert results["execution_time"] > 0
    assert "6 / 100" in printed  # for course staff
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["results.json"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["rubric", "python", "grader"])
def test_a_fault_of_ours_is_no_mark(built: Path, tmp_path: Path, fault: str) -> None:
    root, python = unpacked(built, tmp_path, "ben"), sys.executable
    if fault == "rubric":
        (root / "source" / "rubrics" / "dl-hw3" / "rubric.yaml").write_text("rubric: [")
    if fault == "grader":
        (root / "source" / "grader" / "grading" / "engine.py").write_text("raise RuntimeError('broken')\n")
    if fault == "python":
        python = "/no/such/python"
    results, _ = run(root, python)
    assert "no mark has been given" in results["output"]
    assert [(test["name"], test["visibility"], test["max_score"]) for test in results["tests"]] == [
        ("Ungraded: everything", "hidden", 100)
    ]


@pytest.mark.slow
def test_a_rubrics_own_checks_and_data_travel_with_it(tmp_path: Path) -> None:
    data = tmp_path / "staff data"
    data.mkdir()
    (data / "labels.tsv").write_text("c\n")
    checks = (
        "from grader import DataFile, check, passed\n\n\n"
        "@check\n"
        "def always_passes(student, rng, *, one: DataFile, two: DataFile, three: DataFile):\n"
        '    """It passes."""\n'
        '    return passed(" ".join(open(path).read().strip() for path in (one, two, three)))\n'
    )
    text = (
        "rubric: tiny\ntitle: Tiny\npoints: 1\nproblems:\n  - id: 1\n    title: One\n    points: 1\n    checks:\n"
        "      - {check: always_passes, points: 1, one: words.tsv, two: beside.txt, three: labels.tsv}\n"
    )
    files = {"checks.py": checks, "data/words.tsv": "a\n", "beside.txt": "b\n"}
    rubric = write_rubric(tmp_path / "course" / "tiny", text, **files)
    out = tmp_path / "a.zip"
    options = ("--out", out, "--data", data, "--hidden", "after_published", "--show-withheld", "--leaderboard")
    done = grader("gradescope", "build", rubric, *options)
    assert done.returncode == 0, done.stderr
    results, _ = run(unpacked(out, tmp_path / "root", "ben"))
    assert [test["output"] for test in results["tests"]] == ["passed: a b c"]
    assert [entry["value"] for entry in results["leaderboard"]] == [1]


@pytest.mark.slow
def test_the_folder_of_a_rubric_travels_as_it_is(tmp_path: Path) -> None:
    text = "rubric: tiny\ntitle: Tiny\npoints: 1\nproblems:\n  - id: 1\n    title: One\n    points: 1\n    checks:\n"
    text += "      - {check: ignores_the_order_of_pairs, points: 1, file: a.py, function: f}\n"
    files = ("checks/one.py", "public/two.py", "probes.py", "data/dev.tsv", "notes.txt", "__pycache__/one.pyc")
    write_rubric(tmp_path / "tiny", text, **dict.fromkeys(files, ""))
    done = grader("gradescope", "build", "rubric.yaml", "--out", tmp_path / "a.zip", cwd=tmp_path / "tiny")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        held = {name for name in archive.namelist() if name.startswith("rubrics/")}
    assert held == {f"rubrics/tiny/{name}" for name in ("rubric.yaml", *files[:-1])}


@pytest.mark.slow
def test_a_rubric_with_a_typo_builds_nothing(tmp_path: Path) -> None:
    done = grader("gradescope", "build", "tests/rubrics/typo/rubric.yaml", "--out", tmp_path / "a.zip")
    assert done.returncode == 2
    assert "did you mean 'returns_an_array'?" in done.stderr
    assert not (tmp_path / "a.zip").exists()
