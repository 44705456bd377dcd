"""Which problems of a rubric are graded, and which rubric a submission may be graded by."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.model import Problem, Rubric
from grader.rubric import locating as rubric_files
from grader.rubric.choosing import choose_rubric, only, refuse_rubric_inside
from tests.conftest import REPOSITORY, MakeSubmission, write_rubric

IDS = ("1", "1.a", "1.b", "1.b.ii", "10", "2.a")
RUBRIC = Rubric(
    "r", "R", Fraction(0), tuple(Problem(one, one, Fraction(0), ()) for one in IDS), Path("r.yaml"), "0" * 64, IDS
)
OWN = REPOSITORY / "rubrics"


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ([], IDS),
        (["1"], ("1", "1.a", "1.b", "1.b.ii")),
        (["1.b"], ("1.b", "1.b.ii")),
        (["2", "1.a"], ("1.a", "2.a")),  # in the rubric's order
        (["10", "10"], ("10",)),
    ],
)
def test_a_part_means_itself_and_what_is_below_it(wanted: list[str], chosen: tuple[str, ...]) -> None:
    found = only(RUBRIC, wanted)
    assert tuple(problem.id for problem in found.problems) == chosen
    assert found.parts == IDS


@pytest.mark.parametrize(
    ("written", "chosen"),
    [
        ("1b", ("1.b", "1.b.ii")),
        ("1(b)", ("1.b", "1.b.ii")),
        ("1B", ("1.b", "1.b.ii")),
        ("b.ii", ("1.b.ii",)),
        ("1(b) ii.", ("1.b.ii",)),
        ("Problem 1, part b, ii", ("1.b.ii",)),
        ("1.", ("1", "1.a", "1.b", "1.b.ii")),
        ("(ii)", ("1.b.ii",)),
    ],
)
def test_a_part_is_written_as_headings_are(written: str, chosen: tuple[str, ...]) -> None:
    assert tuple(problem.id for problem in only(RUBRIC, [written]).problems) == chosen


def test_a_name_that_fits_several_parts_is_asked_about() -> None:
    with pytest.raises(UsageError, match=r"^'\(a\)' may mean several parts; say which: 1\.a, 2\.a$"):
        only(RUBRIC, ["(a)"])
    for dots, shown in ((37, "." * 37), (38, "." * 36 + "…")):
        with pytest.raises(UsageError) as told:
            only(RUBRIC, ["(a)" + "." * dots])
        assert str(told.value).startswith(f"'(a){shown}' may mean")


@pytest.mark.parametrize("unknown", ["3", "1.b.i", "", "b.ii and more"])
def test_a_part_that_is_not_there_is_refused_with_those_that_are(unknown: str) -> None:
    with pytest.raises(UsageError, match=rf"r has no part '{unknown}'; it has 1, 1\.a, 1\.b, 1\.b\.ii, 10, 2\.a"):
        only(RUBRIC, ["1", unknown])


def test_the_rubric_is_the_one_named_else_declared_else_the_one_that_fits(submission: MakeSubmission) -> None:
    work = submission(**{"attention.py": "", "dataset.py": ""})
    declared = replace(work, rubric="dl-hw3")
    assert choose_rubric("nlp-a5", declared, work.folder) == OWN / "nlp-a5" / "rubric.yaml"
    assert choose_rubric(None, declared, work.folder) == OWN / "dl-hw3" / "rubric.yaml"
    assert choose_rubric(None, work, work.folder) == OWN / "nlp-a5" / "rubric.yaml", "more of what it asks for is there"
    with pytest.raises(UsageError, match=r"^submission\.yaml: .*no rubric 'nlp-a6'"):
        choose_rubric(None, replace(work, rubric="nlp-a6"), work.folder)
    with pytest.raises(UsageError, match="several rubrics fit; choose one with --rubric: dl-hw3, nlp-a5"):
        choose_rubric(None, replace(work, files=("attention.py",)), work.folder)


def test_a_rubric_among_the_students_files_is_refused(tmp_path: Path) -> None:
    inside, beside = tmp_path / "work" / "r.yaml", tmp_path / "workshop" / "r.yaml"
    inside.parent.mkdir()
    refuse_rubric_inside(beside, tmp_path / "work")
    with pytest.raises(UsageError, match="it lies inside what is graded"):
        refuse_rubric_inside(inside, tmp_path / "work")


@pytest.mark.parametrize("code", ["checks.py", "checks/more.py", "public.py", "probes.py"])
def test_checks_of_a_rubric_among_the_students_files_are_refused(
    tmp_path: Path, submission: MakeSubmission, code: str
) -> None:
    work = submission()
    rubric = write_rubric(tmp_path / "class", "", **{code: ""})
    for handed_in in (tmp_path / "class", tmp_path / "class" / "ann"):
        handed_in.mkdir(exist_ok=True)
        with pytest.raises(UsageError, match="it may be a student's"):
            choose_rubric(str(rubric), work, handed_in)
    elsewhere = write_rubric(tmp_path / "r", "", **{code: ""})
    assert choose_rubric(str(elsewhere), work, tmp_path / "class" / "ann") == elsewhere
    (tmp_path / "r" / "checks.py").unlink(missing_ok=True)
    (tmp_path / "r" / "checks.py").symlink_to(tmp_path / "class" / "ann" / "work.py")
    (tmp_path / "class" / "ann" / "work.py").touch()
    with pytest.raises(UsageError, match="it may be a student's"):
        choose_rubric(str(elsewhere), work, tmp_path / "class" / "ann")


def test_a_rubric_named_by_staff_is_refused_wherever_students_may_have_put_it(
    tmp_path: Path, submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = submission(**{"attention.py": "", "r.yaml": "", "checks.py": ""})
    monkeypatch.chdir(tmp_path)
    for handed_in, said in (
        (work.folder, "it lies inside what is graded"),
        (Path("work"), "it lies inside what is graded"),  # as it is typed
        (work.folder / "attention.py", "its checks.py lies beside what is graded"),
    ):
        with pytest.raises(UsageError, match=said):
            choose_rubric(str(work.folder / "r.yaml"), work, handed_in)
    (work.folder / "handed_in").mkdir()
    with pytest.raises(UsageError, match=r"its checks\.py lies beside what is graded"):
        choose_rubric(str(work.folder / "r.yaml"), work, work.folder / "handed_in")
    for sub in ("sub/r.yaml", "sub/checks.py"):
        (work.folder / sub).parent.mkdir(exist_ok=True)
        (work.folder / sub).write_text("")
    with pytest.raises(UsageError, match=r"its checks\.py lies beside what is graded"):
        choose_rubric(str(work.folder / "sub" / "r.yaml"), work, work.folder / "attention.py")
    other = choose_rubric(str(work.folder / "sub" / "r.yaml"), work, work.folder / "handed_in")
    assert other == work.folder / "sub" / "r.yaml", "a folder beside a folder is another's"
    beside = tmp_path / "course.yaml"
    beside.write_text("")
    (tmp_path / "checks.py").write_text("")
    assert choose_rubric(str(beside), work, work.folder / "handed_in") == beside, "its code lies in another folder"
    assert choose_rubric(str(beside), work, work.folder / "attention.py") == beside


def test_a_rubric_that_brings_no_code_may_lie_beside_what_is_graded(tmp_path: Path, submission: MakeSubmission) -> None:
    rubric, work = tmp_path / "r.yaml", submission(**{"attention.py": ""})
    rubric.write_text("")
    for handed_in in (tmp_path / "ann", tmp_path / "ann.zip"):
        handed_in.mkdir() if not handed_in.suffix else handed_in.touch()
        assert choose_rubric(str(rubric), work, handed_in) == rubric


def test_a_submission_names_no_file(submission: MakeSubmission) -> None:
    work = submission(**{"r.yaml": "rubric: r"})
    with pytest.raises(UsageError, match=r"^submission\.yaml: there is no rubric"):
        choose_rubric(None, replace(work, rubric=str(work.folder / "r.yaml")), work.folder)


def test_rubrics_are_listed_by_name_wherever_they_lie_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"r{number * 7 % 20:02}" for number in range(20)]
    for name in names:
        write_rubric(tmp_path / "many" / name, "")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(rubric_files, "entry_points", lambda group: [EntryPoint("own", "many", group)])
    assert list(rubric_files.rubric_choices()) == sorted(names)
