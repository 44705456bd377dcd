"""A proof holds for a rubric that notices, and fails, saying why, for one that does not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import RubricError, shortest
from grader.proving.proof import Proof, load_proof
from grader.proving.prove import mutants_of
from grader.proving.samples import write_stub
from grader.rubric.loading import load_rubric
from grader.submission.opening import open_submission
from tests.conftest import EVERY_CASE, REPOSITORY, read_yaml, write_rubric
from tests.waiting import PATIENCE_SECONDS

RUBRIC = """\
rubric: tiny
title: Attention
points: 2
problems:
  - id: 2.1
    title: Attention
    points: 2
    with: {file: attention.py, function: attention, reference: attention, inputs: column_attention}
    checks:
      - {check: returns_an_array, gate: true}
      - {check: matches_reference, points: 2, rtol: 0.0001, review_unless: {nothing else fits: [returns_an_array]}}
"""
CHECKS = (REPOSITORY / "tests" / "rubrics" / "small-class" / "checks.py").read_text()
PROOF = """\
gold: ada
submissions: submissions
samples: samples
mutate:
  - problem: 2.1
    file: attention.py
    definitions: [softargmax]
    equivalent:
      - in: softargmax
        line: return weights / weights.sum(axis=0, keepdims=True)
        becomes:
          - return weights / weights.sum(axis=0)
          - return weights / weights.sum(axis=0, keepdims=False)
        because: it is broadcast over the rows either way
      - in: softargmax
        line: scores = scores - scores.max(axis=0, keepdims=True)
        because: it changes nothing but the rounding
"""


def course(tmp_path: Path, tolerance: float = 0.0001, proof: str = PROOF) -> Path:
    """A course with one rubric, its proof, a gold and a declared sample; the rubric's path."""
    for name in ("ada", "frank"):
        shutil.copytree(REPOSITORY / "submissions" / name, tmp_path / "tiny" / "submissions" / name)
    declared = 'rubric: tiny\npoints: 2\nproblems: {"2.1": {returns_an_array: passed, matches_reference: passed}}\n'
    files = {"checks.py": CHECKS, "proof.yaml": proof, "samples/frank.yaml": declared}
    return write_rubric(tmp_path / "tiny", RUBRIC.replace("0.0001", str(tolerance)), **files)


def proof_of(rubric: Path) -> Proof:
    return load_proof(load_rubric(rubric))


def prove(rubric: Path, *more: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "grader", "rubric", "test", str(rubric), *more]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_a_rubric_that_notices_is_proved_and_its_survivors_are_explained(tmp_path: Path) -> None:
    code, said = prove(course(tmp_path))
    assert code == 0, said
    assert "Gold (ada) full, stub nothing, 1 sample as declared: all as they should be" in said
    assert "Not noticed, and not explained" not in said
    assert "it is broadcast over the rows either way" in said
    assert "Verdict: proved" in said


@pytest.mark.slow
def test_a_rubric_that_does_not_notice_is_not_proved(tmp_path: Path) -> None:
    """With such a tolerance everything of the right shape passes."""
    code, said = prove(course(tmp_path, tolerance=100.0))
    assert code == 1
    assert "Not noticed, and not explained" in said
    assert "    scores = beta * scores\n  → scores = scores\n" in said
    assert "Verdict: NOT proved" in said


@pytest.mark.slow
def test_gold_stub_and_samples_that_are_not_as_they_should_be_are_told(tmp_path: Path) -> None:
    rubric = course(tmp_path)
    (tmp_path / "tiny" / "submissions" / "ada" / "attention.py").write_text("def attention(*_):\n    return 1\n")
    declared = tmp_path / "tiny" / "samples" / "frank.yaml"
    declared.write_text(declared.read_text().replace("points: 2", "points: 1"))
    (tmp_path / "tiny" / "proof.yaml").write_text(PROOF.partition("    definitions")[0])
    code, said = prove(rubric, "--sample", "1")
    assert code == 1
    assert "ada should get everything: 2.1 returns_an_array failed" in said
    assert "frank is not as declared: points: declared 1, got 2" in said
    assert "1 of 2" in said


@pytest.mark.slow
def test_what_samples_get_is_written_to_be_read_and_what_is_right_is_not_touched(tmp_path: Path) -> None:
    rubric = course(tmp_path)
    samples = tmp_path / "tiny" / "samples"
    frank = samples / "frank.yaml"
    right = frank.read_text()
    frank.write_text(
        "# what a person wrote\n" + right.replace("matches_reference: passed", "matches_reference: failed")
    )
    (tmp_path / "tiny" / "submissions" / "eve").mkdir()
    (tmp_path / "tiny" / "submissions" / "eve" / "attention.py").write_text("def attention(*_):\n    return 1\n")
    code, said = prove(rubric, "--write")
    assert code == 0, said
    assert [line for line in said.splitlines() if ".yaml: " in line] == [
        f"{shortest(samples / 'eve.yaml')}: new",
        f"{shortest(frank)}: changed",
    ]
    assert "  2.1 matches_reference: declared failed, got passed" in said
    assert frank.read_text().startswith(
        "# what a person wrote\nrubric: tiny\npoints: 2\nproblems:\n  '2.1': {points: 2,"
    )
    assert read_yaml(samples / "eve.yaml") == {
        "rubric": "tiny",
        "points": 0,
        "problems": {"2.1": {"points": 0, "returns_an_array": "failed", "matches_reference": "skipped"}},
    }
    before = frank.read_bytes()
    (samples / "eve.yaml").write_text("rubric: tiny\npoints: 0\nproblems: {2.1: {a_check_of_last_year: failed}}\n")
    code, said = prove(rubric, "--write")
    assert code == 0, said
    first, why, last = said.splitlines()[:3]
    assert (first, last) == (f"{shortest(samples / 'eve.yaml')}: changed", f"{shortest(frank)}: as it was")
    assert "eve.yaml:3: 2.1 has no check 'a_check_of_last_year'" in why
    assert frank.read_bytes() == before


def test_a_stub_has_the_names_and_nothing_in_them(tmp_path: Path) -> None:
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "answers.md").write_text("# 1\n\nBecause.\n")
    (tmp_path / "gold" / "notes.txt").write_text("42")
    (tmp_path / "gold" / "work.py").write_text("X = 1\nclass A:\n    y = 2\n    def f(self):\n        return 3\n")
    (tmp_path / "stub").mkdir()
    with open_submission(tmp_path / "gold") as gold:
        write_stub(gold, tmp_path / "stub")
    written = {path.name: path.read_text() for path in (tmp_path / "stub").iterdir()}
    assert written == {
        "answers.md": "# 1",
        "work.py": "class A:\n\n    def f(self):\n        raise NotImplementedError",
    }


def test_entries_do_not_move_with_the_gold_and_those_that_fit_nothing_are_told(tmp_path: Path) -> None:
    rubric = course(tmp_path)
    gold = tmp_path / "tiny" / "submissions" / "ada" / "attention.py"
    proof = proof_of(rubric)
    (part,) = proof.parts
    gold.write_text("# a comment\n\n" + gold.read_text().replace("weights / weights", "weights /  weights"))
    assert proof.stale(part, mutants_of(load_rubric(rubric), proof, part)) == []
    gold.write_text(gold.read_text().replace("keepdims=True)\n    weights", "keepdims=1)\n    weights"))
    (line,) = proof.stale(part, mutants_of(load_rubric(rubric), proof, part))
    assert line.endswith("proof.yaml:15: no mutant of 2.1 attention.py is this one: " + part.equivalent[1].statement)


def test_entries_whose_mutants_all_lose_points_are_told(tmp_path: Path) -> None:
    rubric = course(tmp_path)
    proof = proof_of(rubric)
    (part,) = proof.parts
    there = mutants_of(load_rubric(rubric), proof, part)
    assert proof.idle(part, [], there) == []
    told = [line.partition(": every such mutant")[0] for line in proof.idle(part, there, there)]
    assert told == [f"{proof.path}:9", f"{proof.path}:15"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gold: ada", "gold: eve", "there is no sample 'eve'"),
        ("problem: 2.1", "problem: 2.7", "proof.yaml:5: tiny has no problem '2.7'; it has 2.1"),
        ("    file: attention.py\n", "", "proof.yaml:5: give either 'file' or 'formulas'"),
        ("because: it is", "becuase: it is", "proof.yaml:14: 'becuase' has no meaning here"),
        ("    definitions", "    checks: [nothing]\n    definitions", "proof.yaml:5: 2.1 has no check 'nothing'"),
    ],
)
def test_a_typo_stops_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    rubric = course(tmp_path, proof=PROOF.replace(old, new))
    with pytest.raises(RubricError) as raised:
        proof_of(rubric)
    assert any(line.endswith(said) or said in line for line in raised.value.problems)


def test_what_is_not_in_the_gold_is_told_with_its_line(tmp_path: Path) -> None:
    for old, new, said in [
        ("[softargmax]", "[softmax]", "proof.yaml:5: ada: it does not define softmax"),
        ("file: attention.py", "file: atention.py", "proof.yaml:5: ada: atention.py was not handed in"),
    ]:
        folder = tmp_path / new.strip("[]").replace(": ", "-")
        folder.mkdir()
        rubric = course(folder, proof=PROOF.replace(old, new))
        proof = proof_of(rubric)
        with pytest.raises(RubricError, match=said):
            mutants_of(load_rubric(rubric), proof, proof.parts[0])


@pytest.mark.slow
def test_a_rubric_without_a_proof_is_told_what_is_missing(tmp_path: Path) -> None:
    rubric = course(tmp_path)
    (tmp_path / "tiny" / "proof.yaml").unlink()
    code, said = prove(rubric)
    assert code == 2
    assert "tiny/proof.yaml: there is no such file; it says which sample is gold" in said
    assert said.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "rubrics").glob("*/proof.yaml")), ids=lambda path: path.parent.name
)
def test_every_entry_of_our_own_proofs_fits_a_mutant(path: Path) -> None:
    rubric = load_rubric(path.parent / "rubric.yaml")
    proof = load_proof(rubric)
    for part in proof.parts:
        there = mutants_of(rubric, proof, part)
        assert there
        assert proof.stale(part, there) == []


@pytest.mark.slow
def test_a_sample_of_mutants_proves_dl_hw3(tmp_path: Path) -> None:
    """With a few of its samples: tests/test_samples.py holds all of them to what they declare."""
    shutil.copytree(REPOSITORY / "rubrics" / "dl-hw3", tmp_path / "dl-hw3")
    chosen = (
        [path.name for path in (REPOSITORY / "submissions").iterdir()]
        if EVERY_CASE
        else ["ada", "ben", "edith", "mallory"]
    )
    (tmp_path / "samples").mkdir()
    for name in chosen:
        shutil.copytree(REPOSITORY / "submissions" / name, tmp_path / "submissions" / name)
        shutil.copy(REPOSITORY / "tests" / "samples" / f"{name}.yaml", tmp_path / "samples")
    written = (tmp_path / "dl-hw3" / "proof.yaml").read_text()
    (tmp_path / "dl-hw3" / "proof.yaml").write_text(written.replace("../../tests", "..").replace("../../", "../"))
    code, said = prove(tmp_path / "dl-hw3" / "rubric.yaml", "--part", "1.1.a", "--part", "2.4", "--sample", "5")
    assert code == 0, said
    assert EVERY_CASE or "Gold (ada) full, stub nothing, 4 samples as declared" in said


@pytest.mark.slow
def test_the_assignment_that_is_not_about_attention_is_proved_whole() -> None:
    """Written with the rubric tools alone: it shows that the harness is one."""
    code, said = prove(REPOSITORY / "rubrics" / "ridge" / "rubric.yaml")
    assert code == 0, said
    assert "Gold (rosa) full, stub nothing, 5 samples as declared" in said
    assert re.search(r"Total +│ (\d+) +│ \1 +│ 0 +│ 0 ", said), "every mutant loses points"
