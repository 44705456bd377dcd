"""What results depend on: every file of the course counts, each by its content."""

from __future__ import annotations

from pathlib import Path

from grader.batch import fingerprints
from grader.rubric.loading import load_rubric

CHECKS = '''
from collections.abc import Sequence
from grader.model import passed
from grader.registry import DataFile, check

@check
def knows(student, rng, *, labels: DataFile, other: DataFile = "", beside: Sequence[DataFile] = ()):
    """It knows."""
    return passed(labels)
'''
RUBRIC = """\
rubric: own
title: With data of its own
points: 1
problems:
  - id: a
    title: Lines
    points: 1
    checks:
      - {check: knows, points: 1, labels: one/dev.tsv, other: two/dev.tsv, beside: [names.tsv, places.tsv]}
"""


def test_every_file_of_the_course_counts(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(CHECKS)
    (tmp_path / "own.yaml").write_text(RUBRIC)
    files = [tmp_path / name for name in ("one/dev.tsv", "two/dev.tsv", "names.tsv", "places.tsv")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("before")
    unused = tmp_path / "unused.tsv"
    unused.write_text("before")

    def conditions(seed: int = 0, secret: str = "") -> str:
        return fingerprints.of_conditions(load_rubric(tmp_path / "own.yaml"), seed, secret)

    seen = [conditions(), conditions(seed=1), conditions(secret="x")]
    for file in files:
        file.write_text("after")
        seen.append(conditions())
    assert len(set(seen)) == len(seen)
    unused.write_text("after")
    assert conditions() == seen[-1]


def test_a_copied_rubric_asks_the_same_and_a_changed_one_does_not(tmp_path: Path) -> None:
    """Data files go by their names, where a check takes several, too: what is in them is among the conditions."""
    asked = []
    for place, text in (("first", RUBRIC), ("copy", RUBRIC), ("changed", RUBRIC.replace("places.tsv", "dates.tsv"))):
        folder = tmp_path / place
        for name in ("one/dev.tsv", "two/dev.tsv", "names.tsv", "places.tsv", "dates.tsv"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        (folder / "checks.py").write_text(CHECKS)
        (folder / "own.yaml").write_text(text)
        asked.append(fingerprints.definition(load_rubric(folder / "own.yaml")))
    first, copy, changed = asked
    assert copy == first
    assert changed != first
