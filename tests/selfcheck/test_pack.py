"""`grader pack`: what is asked for, the same bytes for the same work, and it is graded as the folder is."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from grader.model import Isolation, Report
from grader.selfcheck.own_work import open_own_work
from grader.selfcheck.packing import pack_own_work
from tests.conftest import REPOSITORY
from tests.in_process import command as grader
from tests.selfcheck.kits import ATTENTION, RUBRIC, SUMMARY, make_kit


def packed(kit: Path, out: Path) -> zipfile.ZipFile:
    done = grader("pack", kit, "--out", out)
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(out)


def test_the_archive_holds_what_is_asked_for_and_a_manifest(tmp_path: Path) -> None:
    litter = {"data/wiki.txt": "x" * 1000, "model.ckpt": "x", "helper.py": "x = 1\n", "README.md": "read me"}
    archive = packed(make_kit(tmp_path / "kit", **litter), tmp_path / "hand-in.zip")
    names = ["answers.md", "attention.py", "helper.py", "submission.yaml", "weights.txt", "manifest.json"]
    assert archive.namelist() == names
    manifest = json.loads(archive.read("manifest.json"))
    assert manifest["files"]["attention.py"]["sha256"] == hashlib.sha256(ATTENTION.encode()).hexdigest()
    assert manifest["missing"] == []
    assert manifest["self_check"]["summary"] == SUMMARY
    assert manifest["self_check"]["problems"] == {"1.a": "passed", "1.b": "later", "2": "passed"}


ALTERNATIVES = """\
  - id: 3
    title: A variant
    points: 1
    best_counts: true
    alternatives:
      - name: fast
        files: [fast.ipynb]
        beside: [fast.log, timings.csv]
        checks: [{check: is_answered, points: 1}]
      - name: written
        checks: [{check: is_answered, points: 1}]
"""


def test_what_stands_beside_an_alternative_is_packed_wherever_it_lies(tmp_path: Path) -> None:
    """A file that an alternative is known or judged by counts, though no check of it asks for the file by name."""
    notebook = json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": []})
    files = {"fast.ipynb": notebook, "runs/fast.log": "12 s\n", "timings.csv": "1\n", "other.csv": "2\n"}
    kit = make_kit(
        tmp_path / "kit",
        **{"rubric/tiny/rubric.yaml": RUBRIC.replace("points: 6", "points: 7") + ALTERNATIVES, **files},
    )
    with open_own_work(kit) as work:
        packed = pack_own_work(work, Report("kit", work.rubric, 0, (), Isolation((), ()), 0.0))
    own = {"answers.md", "attention.py", "submission.yaml", "weights.txt"}
    assert set(packed.files) == own | {"fast.ipynb", "runs/fast.log", "timings.csv"}
    assert packed.sha256 == hashlib.sha256(packed.content).hexdigest()


@pytest.mark.slow
def test_the_same_work_gives_the_same_bytes(tmp_path: Path) -> None:
    one = make_kit(tmp_path / "one" / "kit")
    packed(one, tmp_path / "a.zip")
    time.sleep(2.1)  # a zip counts time in steps of two seconds
    shutil.copytree(one, tmp_path / "two" / "kit")
    packed(tmp_path / "two" / "kit", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.slow
def test_what_is_missing_is_listed(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", **{"weights.txt": None})
    done = grader("pack", kit, cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "missing: weights.txt (2)"
    assert "kit-tiny.zip: 3 files" in done.stdout
    assert json.loads(zipfile.ZipFile(tmp_path / "kit-tiny.zip").read("manifest.json"))["missing"] == [
        "weights.txt (2)"
    ]


@pytest.mark.slow
def test_a_notebook_that_stands_in_for_code_is_packed(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": ATTENTION, "outputs": [], "execution_count": None}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]})
    archive = packed(make_kit(tmp_path / "kit", **{"attention.py": None, "hw.ipynb": text}), tmp_path / "a.zip")
    assert "hw.ipynb" in archive.namelist()
    assert not [name for name in archive.namelist() if "#" in name]


@pytest.mark.slow
def test_the_archive_is_graded_as_the_folder_is(tmp_path: Path) -> None:
    packed(REPOSITORY / "submissions" / "ben", tmp_path / "ben.zip")
    reports = []
    for handed_in in (REPOSITORY / "submissions" / "ben", tmp_path / "ben.zip"):
        grader("run", handed_in, "--part", "2.1", "--part", "2.2", "--json", tmp_path / "r.json")
        report = json.loads((tmp_path / "r.json").read_text())
        reports.append(
            [(one["id"], one["points"], [c["message"] for c in one["checks"]]) for one in report["problems"]]
        )
    assert reports[0] == reports[1]


def test_what_is_there_twice_is_not_called_missing(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", **{"mine/weights.txt": "0\n", "mine/attention.py": ATTENTION + "# mine\n"})
    done = grader("pack", kit, cwd=tmp_path)
    assert "missing: weights.txt is there more than once: mine/weights.txt and weights.txt; keep one" in done.stdout
