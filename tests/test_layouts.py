"""Whole repositories as they are handed in: backups, other weeks, downloads; the same files count from every folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_fitting import DEMO, OTHER, STUB, WRITTEN, _opened

HERE, OLD = "Rome\n", "Paris\n"

FOUND = {
    "backup of code": ({"src/model.py": WRITTEN, "backup/model.py": OTHER}, "model.py", "src/model.py"),
    "old code below": ({"model.py": WRITTEN, "old/v1/model.py": OTHER}, "model.py", "model.py"),
    "dated backup": ({"src/model.py": WRITTEN, "src_backup_0302/model.py": OTHER}, "model.py", "src/model.py"),
    "copy of a folder": ({"a5/model.py": WRITTEN, "a5 copy/model.py": OTHER}, "model.py", "a5/model.py"),
    "only in a backup": ({"backup/model.py": WRITTEN}, "model.py", "backup/model.py"),
    "a backup that is further along": ({"model.py": STUB, "backup/model.py": WRITTEN}, "model.py", "backup/model.py"),
    "other weeks": (
        {"a3/model.py": DEMO, "a4/model.py": DEMO * 2, "a5/src/model.py": WRITTEN, "a5/mingpt-demo/model.py": OTHER},
        "model.py",
        "a5/src/model.py",
    ),
    "backup of predictions": (
        {"old/dev.predictions": OLD, "dev.predictions": HERE},
        "dev.predictions",
        "dev.predictions",
    ),
    "predictions above the code": (
        {"a5/src/model.py": WRITTEN, "a5/dev.predictions": HERE, "runs/dev.predictions": OLD},
        "dev.predictions",
        "a5/dev.predictions",
    ),
    "predictions beside the code's folder": (
        {"a5/src/model.py": WRITTEN, "a5/preds/dev.predictions": HERE, "a4/dev.predictions": OLD},
        "dev.predictions",
        "a5/preds/dev.predictions",
    ),
    "downloaded again": ({"dev (1).predictions": HERE}, "dev.predictions", "dev (1).predictions"),
    "with an ending more": ({"out/dev.predictions.txt": HERE}, "dev.predictions", "out/dev.predictions.txt"),
    "with another sign": ({"dev_predictions": HERE}, "dev.predictions", "dev_predictions"),
    "right name before others": (
        {"dev.predictions.txt": OLD, "dev.predictions": HERE},
        "dev.predictions",
        "dev.predictions",
    ),
    "a door to a package": (
        {"model.py": "from work.parts.model import Projection\n", "work/parts/model.py": WRITTEN},
        "model.py",
        "model.py",
    ),
    "a door to a package, relative": (
        {"work/model.py": "from .parts.model import (\n    Projection,\n)\n", "work/parts/model.py": WRITTEN},
        "model.py",
        "work/model.py",
    ),
    "code downloaded again": ({"src/model (2).py": WRITTEN}, "model.py", "src/model (2).py"),
}


@pytest.mark.parametrize(("files", "asked", "found"), FOUND.values(), ids=list(FOUND))
def test_the_work_is_found_and_a_note_says_what_was_passed_over(
    tmp_path: Path, files: dict[str, str], asked: str, found: str
) -> None:
    opened = _opened(tmp_path, files)
    assert opened.places[asked] == found
    if "dev.predictions.txt" not in files and (len(files) > 1 or found.rpartition("/")[2] != asked):
        assert any(found in note for note in opened.notes), opened.notes


STILL_OPEN = {
    "two folders of equal standing": ({"a/model.py": WRITTEN, "b/model.py": OTHER}, "model.py"),
    "both are backups": ({"old/model.py": WRITTEN, "backup/model.py": OTHER}, "model.py"),
    "predictions in two runs": ({"run1/dev.predictions": HERE, "run2/dev.predictions": OLD}, "dev.predictions"),
    "downloaded twice": ({"dev (1).predictions": HERE, "dev (2).predictions": OLD}, "dev.predictions"),
    "predictions by each of two": (
        {"a5/src/model.py": WRITTEN, "a5/x/dev.predictions": HERE, "a5/y/dev.predictions": OLD},
        "dev.predictions",
    ),
}


@pytest.mark.parametrize(("files", "asked"), STILL_OPEN.values(), ids=list(STILL_OPEN))
def test_what_is_ambiguous_is_never_absent(tmp_path: Path, files: dict[str, str], asked: str) -> None:
    assert _opened(tmp_path, files).places[asked].startswith(f"Ambiguous: {asked} is there more than once")


@pytest.mark.parametrize("name", ["mymodel.py", "model.pyc", "model.py.bak", "model_test.py", "other.predictions"])
def test_other_names_are_other_files(tmp_path: Path, name: str) -> None:
    places = _opened(tmp_path, {name: WRITTEN, "readme.txt": ""}).places
    assert all(place.startswith("Missing") for place in places.values()), places


def test_the_same_files_count_from_every_folder(tmp_path: Path) -> None:
    inner = {"src/model.py": WRITTEN, "dev.predictions": HERE, "src/baseline.py": "print(1)\n"}
    beside = {"a5/mingpt-demo/model.py": DEMO, "a3/model.py": DEMO * 2, "a3/baseline.py": ""}
    for at, prefix in enumerate(("", "a5/")):
        outer = beside if prefix else {}
        opened = _opened(tmp_path / str(at), {f"{prefix}{path}": text for path, text in inner.items()} | outer)
        assert [opened.places[file] for file in ("model.py", "dev.predictions", "baseline.py")] == [
            f"{prefix}src/model.py",
            f"{prefix}dev.predictions",
            f"{prefix}src/baseline.py",
        ]
