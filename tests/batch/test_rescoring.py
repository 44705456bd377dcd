"""New points and tiers on old evidence give what grading anew would give, or say that they cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.batch.finding import HandedIn
from grader.batch.gradebook import Result
from grader.batch.grading import Graded, Grading, Plan
from grader.batch.rescoring import NeedsGrading, rescored
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.rubric.loading import load_rubric
from tests.batch.classes import CHECKS, RIGHT, without_times
from tests.conftest import DRAW, REPOSITORY, sampled, write_rubric

RUBRIC = """
rubric: changing
title: T
points: 13
problems:
  - id: 1.a
    title: Attention
    points: 5
    with: {file: attention.py, function: attention, reference: attention, inputs: column_attention}
    checks:
      - {check: returns_an_array, gate: true}
      - {check: matches_reference, points: 3}
      - {check: leaves_inputs_unchanged, points: 2, needs: [matches_reference]}
  - id: 2.f
    title: Predictions
    points: 5
    with: {file: vanilla.pretrain.dev.predictions, labels: birth_dev.tsv}
    checks:
      - {check: predictions_reach, points: 5, tiers: [{accuracy: 0.1, score: 1}, {accuracy: 0.05, score: 1/2}]}
  - id: 2.g
    title: A variant
    points: 1
    with: {labels: birth_dev.tsv}
    checks:
      - {check: predictions_reach, points: 0.5, file: vanilla.pretrain.dev.predictions, tiers: [{right: 400, score: 1}]}
      - check: predictions_reach
        id: a_variant_reaches
        points: 0.5
        review_unless: {nothing shows that it runs: [predictions_reach]}
        file: vanilla.pretrain.dev.predictions
        tiers: [{accuracy: 0.3, score: 1}, {accuracy: 0.05, score: 1/2}]
  - id: 3.a
    title: A mean
    points: 2
    best_counts: true
    alternatives:
      - name: written
        checks: [{check: gives_the_ideas, points: 2, ideas: [{id: mean, label: what, says: [mean]}]}]
      - name: constructed
        files: [constructions.py]
        with: {file: constructions.py, function: averages, inputs: column_attention}
        checks: [{check: returns_an_array, id: once, points: 1}, {check: returns_an_array, points: 1}]
"""
NORA = REPOSITORY / "submissions" / "nora"
DATA = REPOSITORY / "rubrics" / "nlp-a5" / "data"

_TIERS = "tiers: [{accuracy: 0.1, score: 1}, {accuracy: 0.05, score: 1/2}]"
_MATCHES = "matches_reference, points: 3"

CHANGES = {
    "points of checks": (_MATCHES, "matches_reference, points: 4", "points: 2, needs", "points: 1, needs"),
    "points of a problem": (
        *("points: 13\n", "points: 15\n", "reach, points: 5", "reach, points: 7"),
        *("title: Predictions\n    points: 5", "title: Predictions\n    points: 7"),
    ),
    "a higher bar for a variant": ("accuracy: 0.3,", "accuracy: 0.9,"),
    "a higher bar": ("accuracy: 0.1,", "accuracy: 0.9,"),
    "a bar nobody reaches": (_TIERS, "tiers: [{accuracy: 0.99, score: 1}]"),
    "a finer score": (
        _TIERS,
        "tiers: [{accuracy: 0.9, score: 1}, {accuracy: 0.2, score: 2/3}, {right: 1, score: 0.1}]",
    ),
    "a title": ("title: Attention", "title: Something else"),
}
NEED_GRADING = {
    "another tolerance": (_MATCHES, f"{_MATCHES}, rtol: 0.1", "1.a matches_reference: 'rtol' has"),
    "other inputs": ("inputs: column_attention", "inputs: row_attention", "1.a returns_an_array: 'inputs' has"),
    "a check less": ("      - {check: returns_an_array, gate: true}\n", "", "1.a: its checks are not the same"),
    "hidden": ("returns_an_array, gate: true", "returns_an_array, gate: true, visibility: hidden", "'visibility' has"),
    "a limit": ("points: 13\n", "points: 13\nlimits: {cpu_seconds: 3}\n", "1.a: 'limits' has"),
    "another id": ("id: 2.f", "id: 2.h", "2.h is new"),
    "what may make another alternative the best": (
        "id: once, points: 1}, {check: returns_an_array, points: 1",
        "id: once, points: 1.5}, {check: returns_an_array, points: 0.5",
        "3.a: another of its alternatives may count now",
    ),
    "what a review depends on": ("right: 400,", "right: 1,", "2.g a_variant_reaches: whether it needs review"),
    "why it is reviewed": ("nothing shows that", "nobody knows whether", "'review_unless' has changed"),
    "a bar and a baseline": (
        "score: 1/2}]}\n  - id: 2.g",
        "score: 1}], baseline: Paris}\n  - id: 2.g",
        "2.f predictions_reach: 'baseline' has",
    ),
    "another baseline": ("labels: birth_dev.tsv", "labels: birth_dev.tsv, baseline: Paris", "'baseline' has"),
}


def written(folder: Path, *changes: str) -> Path:
    text = RUBRIC
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return write_rubric(folder / f"rubric{abs(hash(text))}", text, **{"checks.py": CHECKS})


def graded(rubric: Path, folder: Path, stored: Result | None = None) -> Graded:
    with Grading(Plan(rubric, DATA, (), DRAW, unsafe=False)) as grading:
        return grading.grade_one(HandedIn("nora", folder), stored)


@pytest.fixture(scope="module", params=sampled(["right", "wrong", "with nothing"], 3))
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    if request.param != "with nothing":
        code = RIGHT if request.param == "right" else RIGHT.replace("beta * ", "")
        (folder / "attention.py").write_text(code)
        name = "vanilla.pretrain.dev.predictions"
        (folder / name).write_bytes((NORA / name).read_bytes())
    return folder


@pytest.fixture(scope="module")
def first(work: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    result = graded(written(tmp_path_factory.mktemp("rubric")), work).result
    assert result is not None
    return result


@pytest.mark.parametrize("change", sampled(CHANGES, 7))
def test_rescored_is_what_grading_anew_gives(change: str, work: Path, first: Result, tmp_path: Path) -> None:
    rubric = written(tmp_path, *CHANGES[change])
    anew = graded(rubric, work).result
    again = graded(rubric, work, first).result
    assert anew is not None
    assert again is not None
    assert (anew.how, again.how) == ("graded", "rescored")
    assert again.exact == anew.exact
    assert without_times(again.report) == without_times(anew.report)
    assert again.definition == anew.definition


@pytest.mark.parametrize("change", NEED_GRADING)
def test_what_evidence_cannot_tell_needs_grading(change: str, first: Result, tmp_path: Path) -> None:
    old, new, said = NEED_GRADING[change]
    if "was not handed in" in str(first.report):
        return  # nothing was tried, so nothing needs to be tried again
    with pytest.raises(NeedsGrading, match=said):
        rescored(first, load_rubric(written(tmp_path, old, new), DATA))


def test_the_same_work_and_rubric_are_not_graded_again(work: Path, first: Result, tmp_path: Path) -> None:
    assert graded(written(tmp_path), work, first).result is None


def test_only_a_settled_result_of_the_same_work_asked_the_same_way_holds(tmp_path: Path) -> None:
    (tmp_path / "nora").mkdir()
    (tmp_path / "nora" / "notes.txt").write_text("nothing yet")
    nora = HandedIn("nora", tmp_path / "nora")
    with Grading(Plan(written(tmp_path), DATA, (), DRAW, unsafe=False)) as grading:
        stored = grading.grade_one(nora, None).result
        assert stored is not None
        assert grading.grade_one(nora, stored).result is None
        for changed in ({"settled": False}, {"submission_sha256": "0" * 64}, {"conditions_sha256": "0" * 64}):
            again = grading.grade_one(nora, replace(stored, **changed)).result
            assert again is not None
            assert (again.how, again.settled) == ("graded", True)


@pytest.mark.slow
def test_what_cannot_be_opened_is_tried_again_unless_it_is_the_same_file(tmp_path: Path) -> None:
    archive, gone = HandedIn("nora", tmp_path / "nora.zip"), HandedIn("nora", tmp_path / "gone")
    archive.path.write_bytes(b"no archive")
    with Grading(Plan(written(tmp_path), DATA, (), DRAW, unsafe=False)) as grading:
        stored, unknown = grading.grade_one(archive, None).result, grading.grade_one(gone, None).result
        assert stored is not None
        assert unknown is not None
        assert (stored.how, stored.settled) == ("not opened", True)
        assert grading.grade_one(archive, stored).result is None
        for changed in ({"settled": False}, {"conditions_sha256": "0" * 64}, {"rubric_sha256": "0" * 64}):
            assert grading.grade_one(archive, replace(stored, **changed)).result is not None, changed
        assert grading.grade_one(gone, unknown).result is not None, "without content nobody knows whether it changed"
        archive.path.write_bytes(b"no archive either")
        assert grading.grade_one(archive, stored).result is not None


@pytest.mark.slow
def test_one_part_graded_again_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "nora").mkdir()
    (tmp_path / "nora" / "notes.txt").write_text("nothing yet")
    nora, rubric = HandedIn("nora", tmp_path / "nora"), written(tmp_path)
    with Grading(Plan(rubric, DATA, (), DRAW, unsafe=False)) as grading:
        whole = grading.grade_one(nora, None).result
        assert whole is not None
    other = Draw(0, Secret("another course's secret"))
    with Grading(Plan(rubric, DATA, ("2",), other, unsafe=False)) as grading:
        alone, beside = grading.grade_one(nora, None).result, grading.grade_one(nora, whole).result
        moved = grading.grade_one(nora, replace(whole, submission_sha256="0" * 64)).result
        unsettled = grading.grade_one(nora, replace(whole, settled=False)).result
    assert alone is not None
    assert beside is not None
    assert moved is not None
    assert unsettled is not None
    assert [one["id"] for one in beside.report["problems"]] == ["1.a", "2.f", "2.g", "3.a"]
    assert without_times(beside.report["problems"]) == without_times(whole.report["problems"])
    assert (beside.exact, beside.definition) == (whole.exact, whole.definition)
    assert beside.report["notes"][-1] == "1.a, 3.a: graded earlier, with another secret than the rest"
    assert [one["id"] for one in moved.report["problems"]] == ["2.f", "2.g"], "of other work nothing is kept"
    assert (alone.settled, beside.settled, unsettled.settled) == (True, True, False)
