"""`grader check`: the same verdicts as after the deadline, what is not judged here said plainly, nothing given away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.model import ProblemResult, Report, Rubric, Status
from grader.sandbox import BoxRunner
from grader.selfcheck.checking import check_own_work
from grader.selfcheck.home_rubric import at_home, extent, is_judged
from grader.selfcheck.own_work import open_own_work
from grader.selfcheck.showing import SilentListener
from grader.submission.opening import open_submission
from tests.conftest import REPOSITORY, the_rubric
from tests.in_process import command as grader
from tests.report.made_reports import Page
from tests.schemas import REPORT
from tests.selfcheck.kits import ANSWERS, ATTENTION, RUBRIC, SUMMARY, make_kit

_PATHS = (REPOSITORY / "rubrics").glob("*/rubric.yaml")
RUBRICS = [the_rubric(path.relative_to(REPOSITORY).as_posix()) for path in sorted(_PATHS)]
PROSE = "gives_the_ideas"


def said(*arguments: str | Path, cwd: Path = REPOSITORY) -> str:
    done = grader("check", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


# What is checked, and what is not.


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_nothing_hidden_is_left_at_home_and_no_point_is_lost(rubric: Rubric) -> None:
    home = at_home(rubric)
    for whole, public in zip(rubric.problems, home.problems, strict=True):
        checks = {check.id: check for check in public.every_check}
        assert all(check.visibility == "public" for check in checks.values())
        assert not [check.id for check in checks.values() if "ideas" in check.parameters]
        assert all(needed in checks for check in checks.values() for needed in check.needs)
        for one in public.alternatives or (None,):
            here = sum((check.points for check in (*(one.checks if one else ()), *public.checks)), Fraction(0))
            later = public.later.points + (one.later.points if one else 0)
            assert here + later == whole.points, whole.id
    assert home.parts == rubric.parts


@pytest.mark.slow
# Few, because tests/release tries every sample in a kit of its own.
@pytest.mark.parametrize("sample", ["ada", "ines", "stub"])
def test_public_verdicts_are_those_of_the_full_grader(torch_boxes: BoxRunner, sample: str) -> None:
    folder = REPOSITORY / "submissions" / sample
    with open_own_work(folder) as work, open_submission(folder) as submission:
        home = check_own_work(work, (), torch_boxes, SilentListener())
        full = grade(work.whole, submission, torch_boxes, draw_at_home())  # on the same inputs, so in the same words
    later = {result.problem.id: _verdicts(result) for result in full.problems}
    for result in home.problems:
        if not result.problem.alternatives or not _is_prose_alternative(result):
            for check, verdict in _verdicts(result).items():
                assert later[result.problem.id][check] == verdict, (result.problem.id, check)
    assert len(home.problems) == len(full.problems)


def test_what_was_only_looked_at_has_not_passed(boxes: BoxRunner, tmp_path: Path) -> None:
    with open_own_work(make_kit(tmp_path)) as work:
        report = check_own_work(work, (), boxes, SilentListener())
    judged = {result.problem.id: result.status for result in report.problems}
    assert judged == {"1.a": Status.PASSED, "1.b": Status.REVIEW, "2": Status.PASSED}


def _verdicts(result: ProblemResult) -> dict[str, tuple[object, ...]]:
    """Of what is judged here. What needs a hidden check may be told at home, where nothing stops it."""
    return {
        one.check.id: (one.outcome.status, one.points, one.outcome.message)
        for one in result.checks
        if one.check.visibility == "public" and is_judged(one.check) and "ideas" not in one.check.parameters
    }


def _is_prose_alternative(result: ProblemResult) -> bool:
    return not any(is_judged(one.check) for one in result.checks)


def test_it_says_how_much_runs_later_and_never_that_all_is_well(tmp_path: Path) -> None:
    told = said(make_kit(tmp_path))
    assert f"6 of the 6 points that are checked here. In all, {SUMMARY}." in told
    assert "1.b there 2.5 later In words" in told
    assert "all passed" not in told.lower()
    assert "everything" not in told.lower()


def test_the_sentence_follows_the_counts_of_a_whole_rubric() -> None:
    with open_own_work(REPOSITORY / "submissions" / "ben") as work:
        report = Report("ben", work.rubric, 0, tuple(_missing(work.rubric)), None, 0.0)  # type: ignore[arg-type]
    found = extent(report)
    whole = sum((problem.points for problem in work.whole.problems if not problem.optional), Fraction(0))
    assert found.points + found.later.points == whole
    assert f"{found.checks} of {found.checks + found.later.checks} checks are public" in str(found)


def _missing(rubric: Rubric) -> Iterator[ProblemResult]:
    for problem in rubric.problems:
        yield ProblemResult(problem, Status.MISSING, Fraction(0), ())


@pytest.mark.slow
def test_prose_is_said_to_be_there_and_nothing_about_its_ideas(tmp_path: Path) -> None:
    done = grader("check", "submissions/ines", "--part", "1.a", "--part", "1.c.ii", "--json", tmp_path / "r.json")
    text = done.stdout + (tmp_path / "r.json").read_text()
    (whole,) = (rubric for rubric in RUBRICS if rubric.name == "nlp-a5")
    prose = [check for problem in whole.problems for check in problem.every_check if "ideas" in check.parameters]
    labels = [idea.label for check in prose for idea in check.parameters["ideas"]]
    assert len(labels) > 20
    assert not [label for label in labels if label in text]
    assert "1.c.ii  there" in done.stdout
    assert "idea" not in text


@pytest.mark.slow
def test_what_the_form_has_said_is_not_said_again_and_the_rest_is(tmp_path: Path) -> None:
    nothing = said(make_kit(tmp_path / "a", **{"answers.md": "## 1.a\n", "attention.py": None}))
    assert "attention.py is missing (2)" in nothing
    assert "nothing is written for 1.a" in nothing
    assert "wanted:" not in nothing
    assert "0 of the 6 points" in nothing
    stub = said(make_kit(tmp_path / "b", **{"attention.py": "def attend(): pass\n"}))
    assert "attention.py defines no 'attention': it defines attend" in stub


# Options.


@pytest.mark.slow
def test_one_part_and_groups_of_parts_are_chosen(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    assert "2 passed" not in said(kit, "--part", "1")
    assert "3 of the 3 points that are checked here. In all, 2 of 3 checks are public" in said(kit, "--part", "2")
    done = grader("check", kit, "--part", "3")
    assert (done.returncode, done.stderr) == (2, "grader: tiny has no part '3'; it has 1.a, 1.b, 2\n")


@pytest.mark.slow
def test_fail_under_json_and_markdown(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", **{"answers.md": ANSWERS.replace("k_b", "k_c")})
    out = ("--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md")
    assert grader("check", kit, *out, "--fail-under", "3").returncode == 0
    assert grader("check", kit, "--fail-under", "3.5").returncode == 1
    report = json.loads((tmp_path / "r.json").read_text())
    REPORT.validate(report)
    assert report["notes"][0] == SUMMARY
    assert [problem["status"] for problem in report["problems"]] == ["failed", "review", "passed"]
    page = (tmp_path / "r.md").read_text()
    assert SUMMARY in page
    assert "| 2 | Attention | passed | 3 / 3, 1 later |" in page
    assert "**1.a weights\\_tend\\_to\\_their\\_targets** failed" in page
    only_json = grader("check", kit, "--json", "-")
    assert json.loads(only_json.stdout)["points"] == 3


@pytest.mark.slow
def test_the_page_that_staff_have_opens_in_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit(tmp_path / "kit", **{"answers.md": ANSWERS.replace("(k_a + k_b)", "k_a")})
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    assert said("--html", cwd=kit).endswith("self-check.html: the page is open in your browser")
    page = kit / "self-check.html"
    assert (tmp_path / "opened").read_text().strip() == page.as_uri()
    shown = Page(page.read_text())
    assert SUMMARY in shown.text
    assert "Read as q=βka" in shown.text  # set as it was read
    assert "q=βka for a large β" in shown.text
    assert "attention in attention.py, line 3 3def attention(Q, K, V, beta):" in shown.text
    assert "1.b In words ? review" in shown.text
    assert shown.every("script") == []
    monkeypatch.delenv("BROWSER")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert said("--html", "--part", "1.a", cwd=kit).endswith("self-check.html: open it in a browser")
    both = grader("check", "--html", "--watch", cwd=kit)
    assert (both.returncode, both.stderr) == (2, "grader: --html shows one check; leave out --watch\n")


@pytest.mark.slow
def test_it_stands_where_one_is(tmp_path: Path) -> None:
    make_kit(tmp_path)
    assert SUMMARY in said(cwd=tmp_path)


# The rubric of a kit is for checking at home alone.


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "batch"])
@pytest.mark.parametrize("name", ["tiny", "dl-hw3"])
def test_nobody_is_graded_by_a_rubric_from_his_own_folder(tmp_path: Path, command: str, name: str) -> None:
    mine = RUBRIC.replace("rubric: tiny", f"rubric: {name}")
    kit = make_kit(tmp_path / "class" / "zoe", **{"rubric/tiny/rubric.yaml": None, f"rubric/{name}/rubric.yaml": mine})
    (kit / "submission.yaml").write_text(f"rubric: {name}\n")
    (kit / "rubric" / name / "checks.py").write_text(f"open({str(tmp_path / 'escaped')!r}, 'w')")
    out = ("--part", "2.1", *(("--out", tmp_path / "grades") if command == "batch" else ()))
    done = grader(command, kit if command == "run" else kit.parent, *out, cwd=kit)
    assert not (tmp_path / "escaped").exists()
    if name == "tiny":
        assert done.returncode == 2
        assert "rubric" in done.stderr
    else:
        told = done.stdout + "".join(path.read_text() for path in tmp_path.glob("grades/zoe.json"))
        assert "Attention, Transformers, ViT" in told
        assert "A tiny homework" not in told


@pytest.mark.slow
def test_the_kit_s_rubric_comes_before_the_grader_s_own(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, **{"rubric/tiny/rubric.yaml": RUBRIC.replace("rubric: tiny", "rubric: dl-hw3")})
    (kit / "rubric" / "tiny").rename(kit / "rubric" / "dl-hw3")
    (kit / "submission.yaml").write_text("rubric: dl-hw3\n")
    assert "A tiny homework" in said(kit)


def test_what_the_kit_brings_is_not_taken_for_handed_in(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, **{"attention.py": None, "rubric/tiny/attention.py": ATTENTION})
    assert "attention.py is missing (2)" in said(kit)
