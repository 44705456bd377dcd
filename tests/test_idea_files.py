"""The phrasings of what a rubric names stand beside it: they are the check's, and a slip in them has its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch import fingerprints
from grader.errors import RubricError
from grader.model import Check, Rubric
from grader.rubric.loading import load_rubric
from tests.conftest import write_rubric

RUBRIC = """\
rubric: tiny
title: A tiny rubric
points: 4
problems:
  - id: 1.10
    title: Weights
    points: 2
    checks:
      - check: gives_the_ideas
        points: 2
        ideas:
          sums: what they make together
          sign: {label: which values one can take, weight: 2}
        wrong:
          softmax: {label: where they come from, at_most: 1/3}
  - id: 1.b
    title: Again
    points: 2
    best_counts: true
    alternatives:
      - name: short
        checks: [{check: gives_the_ideas, points: 2, ideas: {sums: what they make together}}]
      - name: long
        checks:
          - {check: gives_the_ideas, points: 1, ideas: {sums: what they make together}}
          - {check: gives_the_ideas, id: other, points: 1, ideas: [{id: here, label: beside it, says: [here]}]}
"""
IDEAS = """\
1.10:
  ideas:
    sums:
      - sum 1
      - '"Σ α"'
    sign:
      says: [positive]
      unless: [negative]
  wrong:
    softmax: [hard maximum]
1.b:
  ideas:
    sums: [total]
"""


def _load(folder: Path, rubric: str = RUBRIC, ideas: str | bytes | None = IDEAS) -> Rubric:
    path = write_rubric(folder / "tiny", rubric)
    if ideas is not None:
        (path.parent / "ideas.yaml").write_bytes(ideas if isinstance(ideas, bytes) else ideas.encode())
    return load_rubric(path)


def _ideas(check: Check) -> dict[str, list[str]]:
    return {idea.id: idea.says for idea in check.parameters["ideas"]}


def test_what_a_rubric_names_is_as_if_its_phrasings_stood_there(tmp_path: Path) -> None:
    first, second = _load(tmp_path).problems
    apart = first.checks[0].parameters
    inline = """\
        ideas:
          - {id: sums, label: what they make together, says: [sum 1, '"Σ α"']}
          - {id: sign, label: which values one can take, weight: 2, says: [positive], unless: [negative]}
        wrong: [{id: softmax, label: where they come from, at_most: 1/3, says: [hard maximum]}]
"""
    begins, ends = RUBRIC.index("        ideas:\n"), RUBRIC.index("  - id: 1.b")
    whole = _load(tmp_path, RUBRIC[:begins] + inline + RUBRIC[ends:], IDEAS[IDEAS.index("1.b") :])
    assert whole.problems[0].checks[0].parameters == apart
    assert [[_ideas(check) for check in one.checks] for one in second.alternatives] == [
        [{"sums": ["total"]}],
        [{"sums": ["total"]}, {"here": ["here"]}],
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("    sign:\n", "    sing:\n", "tiny/ideas.yaml:6: no check of 1.10 names 'sing' among its 'ideas'; did you"),
        (
            "    sign:\n",
            "    sing:\n",
            "tiny/rubric.yaml:13: gives_the_ideas: tiny/ideas.yaml has no phrasings of 'sign'",
        ),
        ("  wrong:\n", "  worng:\n", "tiny/ideas.yaml:9: no check of 1.10 names what stands in 'worng'; did you mean"),
        ("1.b:\n", "1.c:\n", "tiny/ideas.yaml:11: no check of '1.c' names what stands here; did you mean '1.b'?"),
        ("says: [pos", "sayz: [pos", "tiny/ideas.yaml:7: 'sayz' has no meaning here; did you mean 'says'?"),
        ("      says: [positive]\n", "", "tiny/ideas.yaml:6: 'says' is missing"),
        ("[positive]", "[]", "tiny/ideas.yaml:7: 'says' should have at least 1 item"),
        ("[negative]", "[1]", "tiny/ideas.yaml:8: number 1 of 'unless' should be a valid string"),
        ("'\"Σ α\"'", "'\"Σ α'", "tiny/ideas.yaml:5: the phrasing '\"Σ α' has a quotation mark without its partner"),
        ("[total]", "[total, '@huge']", "tiny/ideas.yaml:13: the phrasing '@huge' names the group @huge, which"),
        ("[total]", "total", "tiny/ideas.yaml:13: 'says' should be a valid list"),
        ("1.b:\n  ideas:\n    sums: [total]", "1.b: [total]", "tiny/ideas.yaml:11: a part holds 'ideas' and 'wrong'"),
        ("  ideas:\n    sums: [total]", "  ideas: [total]", "tiny/ideas.yaml:12: a part holds 'ideas' and 'wrong'"),
        ("[total]", "[total", "tiny/ideas.yaml:13: not YAML: while parsing a flow sequence, did not"),
        ("    sign:\n", "    sums:\n", "tiny/ideas.yaml:6: 'sums' is given twice"),
    ],
)
def test_a_slip_in_the_phrasings_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert right in IDEAS
    with pytest.raises(RubricError) as caught:
        _load(Path(), ideas=IDEAS.replace(right, wrong, 1))
    assert any(line.startswith(said) for line in caught.value.problems), caught.value.problems
    assert len(caught.value.problems) <= 2  # the two ends of a name that does not fit, and no more


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("weight: 2", "wieght: 2", "13: gives_the_ideas: 'wieght' has no meaning here; did you mean 'weight'?"),
        ("weight: 2", "weight: 0", "13: gives_the_ideas: 'ideas.sign.weight' should be greater than or equal to 1"),
        ("at_most: 1/3", "at_most: 3", "15: gives_the_ideas: 'wrong.softmax.at_most' should be a share from 0 to 1"),
        (
            "at_most: 1/3",
            "against: [sum]",
            "15: gives_the_ideas: 'against' names 'sum', which is no idea of this part; did you mean 'sums'?",
        ),
        ("weight: 2", "says: [x]", "13: gives_the_ideas: 'says' belongs in tiny/ideas.yaml; or write a list"),
        (
            "sums: what they make together\n",
            "sums: 3\n",
            "12: gives_the_ideas: 'ideas.sums.label' should be a valid string, not 3",
        ),
        ("label: which values one can take, ", "", "13: gives_the_ideas: 'ideas.sign.label' is missing"),
    ],
)
def test_a_slip_where_it_is_named_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert right in RUBRIC
    with pytest.raises(RubricError) as caught:
        _load(Path(), RUBRIC.replace(right, wrong, 1))
    (line,) = caught.value.problems
    assert line.startswith(f"tiny/rubric.yaml:{said}")


def test_a_check_that_nobody_knows_does_not_make_its_phrasings_superfluous(tmp_path: Path) -> None:
    with pytest.raises(RubricError) as caught:
        _load(tmp_path, RUBRIC.replace("gives_the_ideas", "gives_the_idea", 1))
    assert len(caught.value.problems) == 1


def test_a_file_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(RubricError) as caught:
        _load(tmp_path, ideas=None)
    (line,) = caught.value.problems
    assert "tiny/rubric.yaml:12: gives_the_ideas: the phrasings of 'sums' should stand in " in line
    assert line.endswith("tiny/ideas.yaml, and there is no such file")
    with pytest.raises(RubricError, match=r"ideas\.yaml:1: not a UTF-8 text file"):
        _load(tmp_path, ideas=b"1.10: \xff")


def test_slips_in_the_phrasings_are_told_from_top_to_bottom(tmp_path: Path) -> None:
    with pytest.raises(RubricError) as caught:
        _load(tmp_path, ideas=IDEAS.replace("    sign:\n", "    sing:\n").replace("[total]", "total"))
    lines = [line.split("ideas.yaml:")[1].split(":")[0] for line in caught.value.problems if "ideas.yaml:" in line]
    assert lines == ["6", "13"]


def test_another_phrasing_is_another_rubric_and_is_graded_again(tmp_path: Path) -> None:
    loaded = [_load(tmp_path, ideas=IDEAS.replace("hard maximum", text)) for text in ("hard maximum", "argmax")]
    assert loaded[0].sha256 != loaded[1].sha256
    assert fingerprints.definition(loaded[0]) != fingerprints.definition(loaded[1])
