"""What samples are declared to get is read as strictly as a rubric, and written as a person would."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader.errors import RubricError
from grader.proving.declarations import declarations, failed_by, undeclared_samples, write_declaration
from grader.proving.listing import print_written
from grader.proving.proof import load_proof
from grader.proving.prove import declared_samples
from grader.proving.writing import Written
from grader.rubric.loading import load_rubric
from tests.conftest import read_yaml, the_rubric, write_rubric
from tests.in_process import command

RUBRIC = """\
rubric: tiny
title: Attention
points: 2
problems:
  - id: 2.1
    title: Attention
    points: 2
    with: {file: attention.py, function: attention}
    checks:
      - {check: columns_sum_to_one, points: 1}
      - {check: ignores_the_order_of_pairs, points: 1}
"""
DECLARED = """\
# by hand
rubric: tiny
points: 1.50
problems:
  2.1: {points: 1, columns_sum_to_one: passed, ignores_the_order_of_pairs: review 1/2}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The samples of a rubric: one that is declared."""
    (tmp_path / "tiny" / "samples" / "ann").mkdir(parents=True)
    write_rubric(tmp_path / "tiny", RUBRIC, **{"proof.yaml": "gold: ann\n", "samples/ann.yaml": DECLARED})
    return tmp_path / "tiny" / "samples"


def _refused(samples: Path) -> list[str]:
    rubric = load_rubric(samples.parent / "rubric.yaml")
    with pytest.raises(RubricError) as caught:
        declared_samples(rubric, load_proof(rubric))
    return [line.removeprefix(f"{samples}/") for line in caught.value.problems]


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("passed,", "pased,", "ann.yaml:5: no sample gets 'pased'; did you mean 'passed'?"),
        ("passed,", "ungraded,", "ann.yaml:5: no sample gets 'ungraded'; known: crashed, failed, missing"),
        ("passed,", "passed 1/2,", "ann.yaml:5: columns_sum_to_one: a score goes with 'review', as in 'review 1/2'"),
        ("review 1/2", "review", "ann.yaml:5: ignores_the_order_of_pairs: a score goes with 'review'"),
        ("columns_sum", "colums_sum", "ann.yaml:5: 2.1 has no check 'colums_sum_to_one'; did you mean 'columns_sum_to"),
        ("2.1:", "2.2:", "ann.yaml:5: tiny has no problem '2.2'; did you mean '2.1'?"),
        ("points: 1.50\n", "pionts: 1\n", "ann.yaml:3: 'pionts' has no meaning here; did you mean 'points'?"),
        ("points: 1.50\n", "points: one\n", "ann.yaml:3: 'points' should be a number"),
        ("{points: 1", "{chosen: x, points: 1", "ann.yaml:5: 2.1 has no alternative 'x'"),
        ("{points: 1", "[points: 1", "ann.yaml:5: not YAML: while parsing a flow sequence, did not find expected"),
        ("rubric: tiny", "rubrik: tiny", "ann.yaml:1: a sample is declared by 'rubric', 'points' and 'problems'"),
    ],
)
def test_a_slip_is_told_with_its_line(tiny: Path, right: str, wrong: str, told: str) -> None:
    assert right in DECLARED
    (tiny / "ann.yaml").write_text(DECLARED.replace(right, wrong, 1))
    assert any(line.startswith(told) for line in _refused(tiny)), _refused(tiny)


def test_both_halves_of_a_sample_are_needed_and_none_at_all_is_an_error(tiny: Path) -> None:
    (tiny / "ben").mkdir()
    (tiny / "carl.yaml").write_text(DECLARED)
    missing, undeclared = _refused(tiny)
    assert missing == f"carl.yaml: there is no submission 'carl' in {tiny}"
    assert undeclared.startswith("ben: nothing says what this sample should get; `grader rubric test ")
    assert undeclared.endswith("tiny/rubric.yaml --write` writes what it gets")
    for path in (tiny / "ann.yaml", tiny / "carl.yaml"):
        path.write_text(DECLARED.replace("rubric: tiny", "rubric: other"))
    (tiny / "ben" / "submission.yaml").write_text("rubric: other\n")
    (none,) = _refused(tiny)
    assert none.startswith(f"{tiny}: no sample of tiny is declared, so nothing is proved; `grader")


def test_archives_are_samples_and_other_files_are_not(tiny: Path) -> None:
    for name in ("dora.zip", "notes.txt", ".hidden"):
        (tiny / name).write_text("")
    rubric = load_rubric(tiny.parent / "rubric.yaml")
    assert undeclared_samples(tiny, tiny, rubric) == ["dora.zip"]
    (tiny / "dora.zip.yaml").write_text(DECLARED)
    assert undeclared_samples(tiny, tiny, rubric) == []
    assert list(declarations(tiny, rubric)) == ["ann", "dora.zip"]


def test_what_is_written_is_read_again_and_the_word_about_it_stays(tiny: Path) -> None:
    rubric = load_rubric(tiny.parent / "rubric.yaml")
    before = declarations(tiny, rubric)["ann"].data
    assert pickle.loads(pickle.dumps(before)) == before  # other processes are told
    many = {f"check_{number}": "passed" for number in range(9)}
    data: dict[str, Any] = {**before, "problems": {**before["problems"], "3.10": many}}
    write_declaration(tiny / "ann.yaml", data)
    text = (tiny / "ann.yaml").read_text()
    assert text.startswith("# by hand\nrubric: tiny\npoints: 1.5\nproblems:\n  '2.1': {points: 1, columns_sum_to_one: ")
    assert max(map(len, text.splitlines())) <= 120
    assert read_yaml(tiny / "ann.yaml") == data


def test_what_a_sample_fails_is_known_from_its_declaration() -> None:
    problems = {
        "a": {"points": 1, "x": "passed", "y": "crashed", "z": "review 1"},
        "b": {"x": "crashed", "y": "skipped", "z": "missing"},
        "c": {"x": "partial", "y": "failed", "z": "review 2/3"},
    }
    assert list(failed_by({"problems": problems})) == [("a", "y"), ("c", "x"), ("c", "y"), ("c", "z")]


@pytest.mark.parametrize("name", ["dl-hw3", "nlp-a5"])
def test_our_own_samples_are_declared_without_a_slip(name: str) -> None:
    rubric = the_rubric(f"rubrics/{name}/rubric.yaml")
    assert len(declared_samples(rubric, load_proof(rubric))) > 9


def test_only_a_problem_with_alternatives_has_a_verdict_in_their_place(tiny: Path) -> None:
    (tiny / "ann.yaml").write_text(DECLARED.replace("{points: 1", "{one_alternative: missing, points: 1"))
    (told,) = _refused(tiny)
    assert told.startswith("ann.yaml:5: 2.1 has no check 'one_alternative'")


def test_what_became_of_each_sample_is_told(tmp_path: Path) -> None:
    paper = io.StringIO()
    fates = [(True, (), ()), (False, ("1.a: failed",), ()), (False, (), ()), (True, (), ("1.b: no box",))]
    written = [Written(tmp_path / f"{number}.yaml", *fate) for number, fate in enumerate(fates)]
    print_written(written, Console(file=paper, width=200))
    states = [line.rpartition(": ")[2] for line in paper.getvalue().splitlines() if ".yaml: " in line]
    assert states == ["new", "changed", "as it was", "not written"]


def test_everything_that_is_done_to_a_rubric_is_a_command() -> None:
    told = command("rubric", "--help").stdout
    assert all(f"  {name} " in told for name in ("lint", "show", "schema", "test"))
