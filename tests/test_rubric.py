"""A rubric is read completely or refused with every mistake, its line and what to write instead."""

from __future__ import annotations

import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import grader.checks
from grader.checks.functions.values import columns_sum_to_one
from grader.errors import RubricError, UsageError
from grader.model import Later, Limits, Rubric
from grader.plugins import Plugin
from grader.rubric.catalogue import Catalogue, known_checks
from grader.rubric.loading import find_rubric, load_rubric, rubric_choices
from grader.rubric.locating import Glimpse, glimpse
from tests.conftest import REPOSITORY, examples
from tests.in_process import command

RIGHT = """\
rubric: tiny
title: A tiny rubric
points: 5
problems:
  - id: 1.10
    title: Attention
    points: 5
    with: {file: attention.py, function: attention}
    checks:
      - {check: writes_it_out, gate: true, forbidden: [softmax]}
      - {check: columns_sum_to_one, points: 2.5}
      - check: matches_reference
        points: 2.5
        needs: [columns_sum_to_one]
        reference: right_attention
        inputs: column_attention
        rtol: 1
"""


REFERENCE = """
from grader import reference

@reference
def right_attention(Q, K, V, beta):
    return V
"""


def _write(tmp_path: Path, text: str, checks: str = REFERENCE) -> None:
    (tmp_path / "tiny.yaml").write_text(text)
    (tmp_path / "checks.py").write_text(checks)


def _load(tmp_path: Path, text: str, checks: str = REFERENCE) -> Rubric:
    _write(tmp_path, text, checks)
    return load_rubric(tmp_path / "tiny.yaml")


@pytest.mark.parametrize(
    ("editions", "told"),
    [
        ("{2019: {2.a: 1.10}}", ""),
        ("{2019: {2.a: [1.10]}, 2020: {3: 1.10}}", ""),
        ("{2019: {2.a: 1.11}}", "tiny.yaml:4: edition 2019 says 2.a is '1.11', which is no part; did you mean '1.10'?"),
        ("{2019: {}}", "tiny.yaml:4: edition 2019 names no part"),
        ("[2019]", "tiny.yaml:4: 'editions' should be a valid dictionary, not a list"),
    ],
)
def test_a_rubric_says_how_other_editions_number_its_parts(tmp_path: Path, editions: str, told: str) -> None:
    _write(tmp_path, RIGHT.replace("problems:", f"editions: {editions}\nproblems:", 1))
    if not told:
        assert load_rubric(tmp_path / "tiny.yaml").editions["2019"] == {"2.a": ["1.10"]}
        return
    with pytest.raises(RubricError) as refused:
        load_rubric(tmp_path / "tiny.yaml")
    assert told in str(refused.value)


def test_a_right_rubric_is_read_as_written(tmp_path: Path) -> None:
    _write(tmp_path, RIGHT)
    rubric = load_rubric(tmp_path / "tiny.yaml")
    (problem,) = rubric.problems
    assert (rubric.name, problem.id, rubric.points) == ("tiny", "1.10", 5)
    gate, sums, values = problem.checks
    assert (gate.gate, gate.points, sums.points) == (True, 0, Fraction(5, 2))
    assert values.needs == ("columns_sum_to_one",)
    assert values.parameters["function"] == "attention"
    assert values.files == ("attention.py",)


LATER = """\
rubric: public
title: What students get
points: 2
problems:
  - id: 1.a
    title: All of it later
    points: 0
    later: {checks: 1, points: 5/2}
  - id: 1.b
    title: Some of it later
    points: 2
    later: {checks: 2, points: 3, files: [weights.txt]}
    with: {file: attention.py, function: attention}
    checks:
      - {check: columns_sum_to_one, points: 2}
"""


def test_a_problem_says_how_much_of_it_is_judged_later_and_its_points_do_not_count_that(tmp_path: Path) -> None:
    (tmp_path / "public.yaml").write_text(LATER)
    rubric = load_rubric(tmp_path / "public.yaml")
    assert [problem.later for problem in rubric.problems] == [
        Later(1, Fraction(5, 2)),
        Later(2, Fraction(3), ("weights.txt",)),
    ]
    assert (rubric.points, rubric.problems[0].checks) == (2, ())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("later: {cheks: 1, points: 5/2}", "8: 'cheks' has no meaning here; did you mean 'checks'?"),
        ("later: {checks: 0, points: 1}", "8: 'checks' should be greater than or equal to 1"),
        ("later: {checks: 1}", "8: 'points' is missing"),
        ("", "5: 1.a has no checks"),
    ],
)
def test_what_is_judged_later_is_read_as_strictly_as_the_rest(tmp_path: Path, wrong: str, said: str) -> None:
    (tmp_path / "public.yaml").write_text(LATER.replace("later: {checks: 1, points: 5/2}", wrong))
    with pytest.raises(RubricError) as caught:
        load_rubric(tmp_path / "public.yaml")
    assert any(f"public.yaml:{said}" in line for line in caught.value.problems), caught.value.problems


@pytest.mark.parametrize(
    ("right", "wrong", "line", "said"),
    [
        ("columns_sum_to_one, points", "colums_sum_to_one, points", 11, "no check 'colums_sum_to_one'; did you mean"),
        ("- check: matches_reference\n", "- chekc: matches_reference\n", 12, "'check' is missing; write `check: NAME`"),
        ("rtol: 1", "rtoll: 1", 17, "matches_reference takes no 'rtoll'; did you mean 'rtol'?"),
        ("rtol: 1", "rtol: tiny", 17, "'rtol' should be a valid number, not 'tiny'"),
        ("rtol: 1", "rtol: true", 17, "'rtol' should be a valid number, not true"),
        ("        inputs: column_attention\n", "", 12, "matches_reference needs 'inputs' (str)"),
        ("inputs: column_attention", "inputs: colum_attention", 16, "did you mean 'column_attention'?"),
        ("reference: right_attention", "reference: right_atention", 15, "did you mean 'right_attention'?"),
        ("reference: right_attention", "reference: nowhere", 15, "names no @reference"),
        ("points: 2.5\n", "points: 2\n", 7, "the checks of 1.10 add up to 9/2 points, not 5"),
        ("points: 5\nproblems", "points: 6\nproblems", 3, "the problems add up to 5 points, not 6"),
        ("points: 2.5\n", "points: lots\n", 13, "should be a number of points"),
        ("points: 2.5\n", "points: -1\n", 13, "should not be negative"),
        ("needs: [columns_sum_to_one]", "needs: [colums]", 14, "not an earlier check of 1.10"),
        ("gate: true, forbidden", "gate: true, points: 1, forbidden", 10, "is a gate and so earns no points"),
        ("gate: true, forbidden", "forbidden", 10, "earns no points and is no gate"),
        ("id: 1.10", "id: ../1", 5, "'id' should match pattern '^[\\w.\\-]+$', not '../1'"),
        ("title: Attention", "titel: Attention", 6, "'titel' has no meaning here; did you mean 'title'?"),
        ("title: A tiny rubric\n", "", 1, "'title' is missing"),
        (
            "function: attention}",
            "function: attention, fnction: x}",
            8,
            "no check of 1.10 takes 'fnction'; did you mean",
        ),
        ("check: matches_reference\n", "check: columns_sum_to_one\n", 12, "two checks 'columns_sum_to_one'"),
        ("[softmax]", "softmax", 10, "'forbidden' should be a valid list, not 'softmax'"),
        ("[softmax]", "[1]", 10, "'forbidden.0' should be a valid string, not 1"),
        (
            "    with:",
            "    libaries: [numpy]\n    with:",
            8,
            "'libaries' has no meaning here; did you mean 'libraries'?",
        ),
        ("    with:", "    libraries: [scipi]\n    with:", 8, "'numpy', 'torch', 'einops'"),
        ("    with:", "    limits: {cpu_second: 3}\n    with:", 8, "did you mean 'cpu_seconds'?"),
        ("    with:", "    limits: {cpu_seconds: 0}\n    with:", 8, "greater than or equal to 1"),
        ("    with:", "    visibility: secret\n    with:", 8, "'public' or 'hidden'"),
        ("    with:", "    best_counts: true\n    with:", 8, "1.10 has no alternatives to take the best of"),
        (
            "    checks:",
            "    alternatives: [{name: written, checks: [{check: columns_sum_to_one, id: other}]}]\n    checks:",
            9,
            "its 'files' and what they define tell whether it was handed in; or say 'best_counts: true'",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_a_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, line: int, said: str
) -> None:
    assert right in RIGHT
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, RIGHT.replace(right, wrong, 1))
    with pytest.raises(RubricError) as caught:
        load_rubric(Path("tiny.yaml"))
    told = [problem for problem in caught.value.problems if said in problem]
    assert told, caught.value.problems
    assert told[0].startswith(f"tiny.yaml:{line}: ")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = RIGHT.replace("rtol", "rtoll").replace("{check: columns", "{check: colums")
    with pytest.raises(RubricError) as caught:
        _load(tmp_path, text)
    assert len(caught.value.problems) == 3  # the check it needs is gone as well


@pytest.mark.parametrize("text", ["", "3", "- a", "rubric: x", "rubric: [", "\0"])
def test_what_is_no_rubric_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(RubricError, match=r"tiny\.yaml"):
        _load(tmp_path, text)


def test_two_problems_of_one_id_are_refused(tmp_path: Path) -> None:
    problem = RIGHT[RIGHT.index("  - id") :]
    with pytest.raises(RubricError, match=r"tiny\.yaml:18: there are two problems '1\.10'"):
        _load(tmp_path, RIGHT.replace("points: 5", "points: 10", 1) + problem)


AUTHORS_CHECK = '''
import numpy as np
from grader.model import passed
from grader.registry import DataFile, StudentFile, check

@check
def counts_lines(student, rng, *, file: StudentFile, labels: DataFile, most: int = 3):
    """It has as many lines as the labels."""
    return passed(labels)
'''
AUTHORS_RUBRIC = """\
rubric: own
title: With a check of its own
points: 1
problems:
  - id: a
    title: Lines
    points: 1
    checks:
      - {check: counts_lines, points: 1, file: x.txt, labels: dev.tsv}
"""


def test_what_a_rubric_brings_of_code_is_part_of_what_was_graded_by(tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text("q\ta\n")
    first = _load(tmp_path, AUTHORS_RUBRIC, AUTHORS_CHECK)
    (tmp_path / "notes.py").write_text("raise SystemError")  # no code of the rubric
    assert load_rubric(tmp_path / "tiny.yaml").sha256 == first.sha256
    for name in ("checks.py", "probes.py", "public/more.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        earlier = load_rubric(tmp_path / "tiny.yaml").sha256
        (tmp_path / name).write_text((AUTHORS_CHECK if name == "checks.py" else "") + "# new")
        assert load_rubric(tmp_path / "tiny.yaml").sha256 != earlier


def test_a_check_beside_the_rubric_and_its_data_are_found(tmp_path: Path) -> None:
    with pytest.raises(
        RubricError, match=r"tiny\.yaml:9: counts_lines: 'labels' names 'dev\.tsv', and there is no such file in"
    ):
        _load(tmp_path, AUTHORS_RUBRIC, AUTHORS_CHECK)
    (tmp_path / "dev.tsv").write_text("q\ta\n")
    assert load_rubric(tmp_path / "tiny.yaml").problems[0].checks[0].parameters["labels"] == str(tmp_path / "dev.tsv")
    for folder in (
        tmp_path / "data",
        tmp_path / "course",
    ):  # the folder of data before the rubric's, --data before both
        folder.mkdir()
        empty = load_rubric(tmp_path / "tiny.yaml", data=folder).problems[0].checks[0]
        assert empty.parameters["labels"] != str(folder / "dev.tsv")
        (folder / "dev.tsv").write_text("q\tb\n")
        found = load_rubric(tmp_path / "tiny.yaml", data=folder).problems[0].checks[0]
        assert found.parameters["labels"] == str(folder / "dev.tsv")
    own = load_rubric(tmp_path / "tiny.yaml").problems[0].checks[0]
    assert own.parameters["labels"] == str(tmp_path / "data" / "dev.tsv")


def test_lint_reads_code_that_no_problem_uses(tmp_path: Path) -> None:
    _write(tmp_path, RIGHT)
    assert command("rubric", "lint", tmp_path / "tiny.yaml").returncode == 0
    (tmp_path / "public.py").write_text("from grader import chekc\n")
    told = command("rubric", "lint", tmp_path / "tiny.yaml")
    assert (told.returncode, "public.py:1: cannot be imported: ImportError" in told.stderr) == (2, True)


def test_a_problem_has_its_own_limits_or_those_of_the_rubric(tmp_path: Path) -> None:
    second = (
        RIGHT[RIGHT.index("  - id") :]
        .replace("1.10", "1.11")
        .replace("points: 5", "limits: {cpu_seconds: 9}\n    points: 5")
    )
    text = RIGHT.replace("points: 5", "points: 10\nlimits: {cpu_seconds: 3, memory_mb: 100}", 1) + second
    _write(tmp_path, text)
    limits = [problem.limits for problem in load_rubric(tmp_path / "tiny.yaml").problems]
    assert limits == [Limits(cpu_seconds=3, memory_mb=100), Limits(cpu_seconds=9)]
    _write(tmp_path, RIGHT)
    assert load_rubric(tmp_path / "tiny.yaml").problems[0].limits == Limits()


def test_limits_are_bounded_on_both_sides(tmp_path: Path) -> None:
    names = ("cpu_seconds", "wall_seconds", "memory_mb", "scratch_mb", "patience_seconds", "hurried_wall_seconds")
    least, most = (1, 1, 64, 1, 1, 1), (3600, 7200, 65536, 4096, 7200, 7200)

    def load(values: tuple[int, ...]) -> Limits:
        given = dict(zip(names, values, strict=True))
        _write(tmp_path, RIGHT.replace("problems:", f"limits: {given}\nproblems:"))
        return load_rubric(tmp_path / "tiny.yaml").problems[0].limits

    assert load(least) == Limits(**dict(zip(names, least, strict=True)))
    assert load(most) == Limits(**dict(zip(names, most, strict=True)))
    for beyond in (tuple(one - 1 for one in least), tuple(one + 1 for one in most)):
        with pytest.raises(RubricError) as caught:
            load(beyond)
        assert len(caught.value.problems) == len(names)


def test_checks_that_are_loaded_as_they_are_named_are_all_there_are(tmp_path: Path) -> None:
    as_named, known = Catalogue(Plugin(tmp_path)), known_checks()
    assert as_named["columns_sum_to_one"] is known["columns_sum_to_one"]
    assert (set(as_named), len(as_named)) == (set(known), len(known))


def test_a_broken_checks_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match=r"checks\.py:1: cannot be imported: ZeroDivisionError"):
        _load(tmp_path, AUTHORS_RUBRIC, "1 / 0")


def test_a_check_beside_a_rubric_may_not_shadow_one_of_the_grader(tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text("")
    _load(tmp_path, AUTHORS_RUBRIC, AUTHORS_CHECK)  # a name of its own is right
    shadowing = AUTHORS_CHECK.replace("counts_lines", "columns_sum_to_one")
    line = 1 + shadowing[: shadowing.index("@check")].count("\n")
    with pytest.raises(RubricError) as caught:
        _load(tmp_path, AUTHORS_RUBRIC, shadowing)
    assert caught.value.problems == [
        f"{tmp_path / 'checks.py'}:{line}: {columns_sum_to_one.__module__} has a check 'columns_sum_to_one' already; "
        "give this one another name"
    ]
    borrowing = AUTHORS_CHECK + "\nfrom grader.checks.functions.values import columns_sum_to_one\n"
    _load(tmp_path, AUTHORS_RUBRIC, borrowing)  # what is imported is not defined anew


def test_two_checks_of_the_grader_may_not_share_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grader.checks, "__path__", [*grader.checks.__path__, str(tmp_path)])
    (tmp_path / "more_lines.py").write_text(AUTHORS_CHECK)
    assert "counts_lines" in known_checks()
    (tmp_path / "other_lines.py").write_text(AUTHORS_CHECK)
    with pytest.raises(
        RubricError, match=r"other_lines\.py:\d+: grader\.checks\.more_lines has a check 'counts_lines'"
    ):
        known_checks()


def test_checks_of_an_installed_package_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real installed distribution: metadata with an entry point, found the way pip leaves it."""
    (tmp_path / "acme_checks.py").write_text(AUTHORS_CHECK.replace("counts_lines", "acme_counts"))
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[grader.checks]\nacme = acme_checks\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "dev.tsv").write_text("")
    _load(tmp_path, AUTHORS_RUBRIC.replace("counts_lines", "acme_counts"))


@pytest.mark.parametrize("part", ["", "1", "2.1", "2.3"])
def test_a_glimpse_sees_what_loading_finds(part: str) -> None:
    """Libraries begin to load by it; where it sees others, they would be loaded twice."""
    parts = [part] if part else []
    for path in rubric_choices().values():
        rubric = load_rubric(path)
        problems = [one for one in rubric.problems if not part or f"{one.id}.".startswith(f"{part}.")]
        libraries = tuple(dict.fromkeys(name for problem in problems for name in problem.libraries))
        assert glimpse(path, parts) == Glimpse(rubric.title, libraries), path


@pytest.mark.parametrize("text", ["", "[", "title: x", "title: x\nproblems: [3]", "\x00"])
def test_a_glimpse_leaves_complaints_to_loading(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken.yaml").write_text(text)
    assert glimpse(tmp_path / "broken.yaml") == Glimpse()
    with pytest.raises(RubricError):
        load_rubric(tmp_path / "broken.yaml")


def test_the_hash_covers_the_rubric_and_its_own_checks(tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text("")
    hashes = set()
    for text, checks in [
        (AUTHORS_RUBRIC, AUTHORS_CHECK),
        (AUTHORS_RUBRIC + "\n", AUTHORS_CHECK),
        (AUTHORS_RUBRIC, AUTHORS_CHECK + "\n"),
    ]:
        _load(tmp_path, text, checks)
        hashes.add(load_rubric(tmp_path / "tiny.yaml").sha256)
    assert len(hashes) == 3
    assert load_rubric(tmp_path / "tiny.yaml").sha256 in hashes
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)


def test_rubrics_are_found_by_name_and_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_rubric("dl-hw3").resolve() == REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml"
    for name in ("mine", "dl-hw3"):
        (tmp_path / "rubrics" / name).mkdir(parents=True)
        shutil.copy(REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml", tmp_path / "rubrics" / name)
    here = REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml"
    assert find_rubric("dl-hw3").resolve() == here  # a name is never what lies here
    for path in ("rubrics/mine", "rubrics/mine/", "rubrics/mine/rubric.yaml"):
        assert find_rubric(path) == Path("rubrics/mine/rubric.yaml")
    with pytest.raises(UsageError, match=r"no rubric 'mine'; .*a rubric of your own is .* path: \./rubrics/mine"):
        find_rubric("mine")
    with pytest.raises(UsageError, match="no rubric 'dl-hw'; did you mean 'dl-hw3'"):
        find_rubric("dl-hw")
    with pytest.raises(UsageError, match=r"other\.yaml: there is no such rubric file"):
        find_rubric("rubrics/other.yaml")


lines = st.lists(st.integers(0, len(RIGHT.splitlines()) - 1), max_size=6)
scraps = st.sampled_from(
    ["", "  ", "- ", "x: 1", "points: 3", "check: 3", "checks: []", "problems:", "[", "{", "'", "&a *a", "id:"]
)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, st.lists(scraps, min_size=6, max_size=6), st.booleans())
def test_any_mutilated_rubric_is_read_or_refused_in_lines(
    tmp_path: Path, where: list[int], what: list[str], append: bool
) -> None:
    text = RIGHT.splitlines()
    for line, scrap in zip(where, what, strict=False):
        text[line] = text[line] + scrap if append else scrap
    try:
        _load(tmp_path, "\n".join(text))
    except RubricError as error:
        problems = error.problems
    else:
        problems = []
    assert all("tiny.yaml:" in problem for problem in problems)
