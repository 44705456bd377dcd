"""What travels to a worker and back arrives as it was sent, or is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grader import exits
from grader.batch.cluster.parcels import hand_in_parcel, plan_in, rubric_parcel
from grader.batch.cluster.sealing import Damaged, Parcel
from grader.batch.cluster.survey import Survey, names_in, survey, versions
from grader.batch.finding import HandedIn
from grader.batch.grading import Plan
from grader.errors import UsageError
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.rubric.loading import load_rubric
from tests.conftest import DRAW, REPOSITORY

SECRET = "a secret of the course"


def _sent(handed_in: HandedIn, seen_by_all: bool = False) -> Parcel:
    return Parcel.opened(*hand_in_parcel(handed_in, None, seen_by_all).sealed())


def test_a_folder_arrives_with_its_files_and_with_what_was_left_out(tmp_path: Path) -> None:
    work = tmp_path / "alice"
    (work / "src" / "__pycache__").mkdir(parents=True)
    (work / "src" / "attention.py").write_bytes(b"\x00 any bytes \xff")
    (work / "src" / "__pycache__" / "x.pyc").write_bytes(b"not the student's")
    (work / "answers.md").symlink_to("/etc/passwd")
    parcel = _sent(HandedIn("alice", work))
    assert parcel.files == {"alice/src/attention.py": b"\x00 any bytes \xff"}
    assert parcel.about["notes"] == ["answers.md is a link or no ordinary file and was left out"]
    parcel.unpack(tmp_path / "there")
    assert (tmp_path / "there/alice/src/attention.py").read_bytes() == b"\x00 any bytes \xff"


@pytest.mark.slow
def test_files_go_as_they_are_and_what_is_too_much_says_so(tmp_path: Path) -> None:
    archive = tmp_path / "bob.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("../outside.py", "x")  # opened by the worker, which refuses it as a job would
    assert _sent(HandedIn("bob", archive)).files == {"bob.zip": archive.read_bytes()}
    many = tmp_path / "many"
    many.mkdir()
    for number in range(5_001):
        (many / str(number)).touch()
    assert _sent(HandedIn("many", many)).about["refused"].startswith("many: more than 5000 files")
    assert "cannot be read" in _sent(HandedIn("gone", tmp_path / "gone.zip")).about["refused"]
    huge = tmp_path / "huge.zip"
    with huge.open("wb") as file:
        os.truncate(file.fileno(), 3 * 2**30)  # a hole: nothing is on the disk
    assert "more than 2048 MiB" in _sent(HandedIn("huge", huge)).about["fault"]


def test_where_all_see_the_same_folder_only_places_travel(tmp_path: Path) -> None:
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "attention.py").write_text("x")
    parcel = _sent(HandedIn("alice", tmp_path / "alice"), seen_by_all=True)
    assert (parcel.about["path"], parcel.files) == (str(tmp_path / "alice"), {})
    before = names_in(str(tmp_path))
    (tmp_path / "bob").mkdir()
    assert names_in(str(tmp_path)) != before


def test_what_changes_on_the_way_is_noticed(tmp_path: Path) -> None:
    words, content = Parcel({}, {"a": b"one", "b": b"two"}).sealed()
    with pytest.raises(Damaged):
        Parcel.opened(words, content.replace(b"two", b"six"))
    with pytest.raises(Damaged):
        Parcel({}, {"../a": b"one"}).unpack(tmp_path)


@pytest.mark.slow
def test_a_rubric_arrives_with_its_data_and_asks_the_same(tmp_path: Path) -> None:
    source = REPOSITORY / "rubrics" / "nlp-a5" / "rubric.yaml"
    data = tmp_path / "course"
    data.mkdir()
    (data / "birth_dev.tsv").write_text((source.parent / "data" / "birth_dev.tsv").read_text().upper())
    plan = Plan(source, data, ("1",), Draw(3, Secret(SECRET)), unsafe=False)
    parcel = rubric_parcel(plan, load_rubric(source, data), plan.draw.secret)
    assert "data/birth_dev.tsv" in parcel.files
    there = plan_in(Parcel.opened(*parcel.sealed()), tmp_path / "there")
    assert replace(there, rubric=source, data=data) == plan
    assert load_rubric(there.rubric, there.data).sha256 == load_rubric(source, data).sha256
    assert (tmp_path / "there/data/birth_dev.tsv").read_bytes() == (data / "birth_dev.tsv").read_bytes()
    no_secret = rubric_parcel(plan, load_rubric(source, data), None)
    assert SECRET not in str(no_secret)
    assert plan_in(no_secret, tmp_path / "again").draw == replace(DRAW, seed=3)


def test_checks_and_phrasings_of_a_rubric_travel_with_it(tmp_path: Path) -> None:
    source = REPOSITORY / "rubrics" / "ridge" / "rubric.yaml"
    parcel = rubric_parcel(Plan(source, None, (), DRAW, unsafe=False), load_rubric(source), None)
    there = plan_in(Parcel.opened(*parcel.sealed()), tmp_path)
    assert load_rubric(there.rubric).sha256 == load_rubric(source).sha256


def test_a_worker_with_another_version_is_told_from_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", SECRET)
    here = Survey.from_data(survey())
    assert here.secret == Secret(SECRET).fingerprint
    assert SECRET not in str(here)
    assert here.differences(versions()) == []
    other = replace(here, versions={**here.versions, "numpy": "1.0", "scipy": "none"})
    assert other.differences({**versions(), "scipy": "2.0"}) == [
        f"numpy 1.0 (here {versions()['numpy']})",
        "scipy none (here 2.0)",
    ]


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"^--dask needs distributed: pip install 'attention-grader\[dask\]'$"):  # noqa: SIM117
        with exits.extra_needed("dask", "--dask"):
            import distributed  # noqa: F401


@pytest.mark.slow
def test_nothing_of_dask_is_loaded_unless_it_is_asked_for() -> None:
    loaded = "print([name for name in sys.modules if name.partition('.')[0] in ('dask', 'distributed', 'tornado')])"
    code = f"import sys, grader.cli, grader.commands, grader.batch.commands; {loaded}"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
