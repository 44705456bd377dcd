"""The command as people type it: its output and exit codes, in processes of its own where that is the question."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress, TaskID

from grader import __version__
from grader.cli import COMMANDS, Commands
from grader.commands import _progress
from grader.model import Check, Problem, Rubric, passed
from grader.progress_bar import progress_bar
from tests.conftest import REPOSITORY, write_rubric
from tests.in_process import command
from tests.schemas import REPORT
from tests.waiting import PATIENCE_SECONDS


def grader(*arguments: str | Path, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    started = [sys.executable, "-m", "grader", *map(str, arguments)]
    done = subprocess.run(started, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.slow
def test_run_grades_a_right_submission_and_prints_no_escape_codes_into_a_pipe() -> None:
    done = grader("run", "submissions/ada")
    assert done.returncode == 0, done.stderr
    assert "100 / 100" in done.stdout
    assert "\x1b" not in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def _part(report: dict[str, Any], wanted: str) -> dict[str, Any]:
    (found,) = (problem for problem in report["problems"] if problem["id"] == wanted)
    return dict(found)


@pytest.mark.slow
def test_json_keeps_its_contract_and_carries_the_feedback(tmp_path: Path) -> None:
    done = command("run", "submissions/ben", "--json", tmp_path / "ben.json")
    assert done.returncode == 0
    report = json.loads((tmp_path / "ben.json").read_text())
    REPORT.validate(report)
    assert (report["points"], report["max_points"], report["provisional"]) == (6, 100, False)
    assert "softargmax runs over the queries" in _part(report, "2.1")["checks"][2]["message"]


def test_json_to_stdout_is_nothing_but_json() -> None:
    done = command("run", "submissions/ada", "--part", "2.1", "--json", "-")
    report = json.loads(done.stdout)
    REPORT.validate(report)
    assert [problem["id"] for problem in report["problems"]] == ["2.1"]
    assert done.stderr == ""


@pytest.mark.slow
def test_json_that_cannot_be_written_loses_nothing() -> None:
    done = command("run", "submissions/ada", "--part", "2.1", "--json", "no/such/folder/a.json")
    assert done.returncode == 2
    assert "10 / 10" in done.stdout
    assert (
        done.stderr == "grader: no/such/folder/a.json: the JSON report cannot be written: No such file or directory\n"
    )


@pytest.mark.slow
def test_fail_under_is_an_exit_code() -> None:
    assert command("run", "submissions/ben", "--part", "2.1", "--part", "2.2", "--fail-under", "6").returncode == 0
    assert command("run", "submissions/ben", "--part", "2.1", "--part", "2.2", "--fail-under", "6.5").returncode == 1


RAISES = """
from grader.registry import check

@check
def raises(student, rng):
    "It holds."
    raise LookupError("no such table")
"""


def test_a_fault_of_our_own_is_told_to_staff_with_its_cause_and_ends_in_three(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(RAISES)
    problem = "{id: 1.a, title: One, points: 1, checks: [{check: raises, points: 1}]}"
    (tmp_path / "own.yaml").write_text(f"rubric: own\ntitle: Own\npoints: 1\nproblems:\n  - {problem}\n")
    page = tmp_path / "page.html"
    done = command("run", "submissions/ada", "--rubric", tmp_path / "own.yaml", "--html", page)
    assert done.returncode == 3
    assert done.stderr.startswith("grader: 1.a raises is ungraded: ")
    assert "LookupError" in done.stderr
    assert "no such table" not in done.stdout
    assert "1.a" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "submissions/adda"], "submissions/adda: there is no such submission; submissions holds ada"),
        (["run", "submissions/ada/attention.py"], "is a file; give the folder it is in (submissions/ada)"),
        (["run", "submissions/ada", "--rubric", "dl-hw4"], "there is no rubric 'dl-hw4'; did you mean 'dl-hw3'?"),
        (["run", "submissions/ada", "--rubric", "x/y.yaml"], "x/y.yaml: there is no such rubric file"),
        (["run", "submissions/ada", "--part", "2.9"], "dl-hw3 has no part '2.9'; it has 1.1.a, 1.1.b, "),
        (["run", "submissions/ada", "--data", "no/such"], "no/such: there is no such folder of data"),
        (["run", "grader/report"], "no rubric fits what was handed in; choose one with --rubric: dl-hw3"),
    ],
)
def test_a_wrong_command_is_answered_in_one_line(arguments: list[str], said: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.slow
def test_an_empty_folder_is_graded_as_missing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = command("run", tmp_path / "empty", "--rubric", "dl-hw3")
    assert done.returncode == 0
    assert "attention.py was not handed in" in done.stdout
    assert "nothing was handed in: it is empty" in done.stdout
    assert "0 / 100" in done.stdout


@pytest.mark.slow
def test_the_rubric_that_fits_is_found_without_being_named(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "submissions" / "ada", tmp_path / "hers" / "hw" / "src")
    (tmp_path / "hers" / "hw" / "src" / "submission.yaml").unlink()
    assert "100 / 100" in command("run", tmp_path / "hers").stdout


BROKEN = {
    "syntax error": (
        "def attention(Q, K, V, beta)\n",
        "attention.py cannot be imported: SyntaxError at attention.py:1",
    ),
    "missing function": ("def attend(): pass\n", "attention.py defines no 'attention': it defines attend"),
    "wrong signature": ("def attention(Q, K):\n    return Q @ K\n", "is defined as (Q, K) and cannot be called so"),
    "prints at import": ("print('hello')\nfrom good import attention\n", ""),
    "reads input at import": (
        "n = int(input())\ndef attention(Q, K, V, beta):\n    return n * V\n",
        "EOFError at attention.py:1 (it asks for input",
    ),
    "exits at import": ("n = exit()\ndef attention(Q, K, V, beta):\n    return n * V\n", "cannot be imported"),
    "exits when nobody needs it": ("from good import attention\nexit()\n", ""),
    "not text": ("\x00\x01", "cannot be imported"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_one_broken_file_is_explained_and_the_other_still_graded(tmp_path: Path, kind: str) -> None:
    code, said = BROKEN[kind]
    right = REPOSITORY / "submissions" / "ada"
    shutil.copy(right / "attention.py", tmp_path / "good.py")
    (tmp_path / "attention.py").write_text(code)
    (tmp_path / "multihead.py").write_text((right / "multihead.py").read_text().replace("from attention", "from good"))
    done = command(
        "run", tmp_path, "--rubric", "dl-hw3", "--part", "2.1", "--part", "2.2", "--json", tmp_path / "report.json"
    )
    report = json.loads((tmp_path / "report.json").read_text())
    attention, multihead = _part(report, "2.1"), _part(report, "2.2")
    assert multihead["points"] == 10
    if said:
        assert attention["points"] == 0
        assert said in " ".join(done.stdout.split())
    else:
        assert attention["points"] == 10


@pytest.fixture
def hers(tmp_path: Path) -> Path:
    """A student's folder that brings rubrics with code, and modules called as the grader's own and its libraries."""
    hers = tmp_path / "class" / "hers"
    escapes = f"open({str(tmp_path / 'escaped')!r}, 'w')\n"
    rubric = (REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml").read_text()
    for folder in (hers, hers / "rubrics" / "dl-hw3"):
        write_rubric(folder, rubric, **{"checks.py": f"{escapes}def attention(): pass\n"})  # a name that is looked up
    for name in ("yaml", "numpy", "reference", "typer", "checks", "sitecustomize", "typing", "pathlib", "signal"):
        (hers / f"{name}.py").write_text(escapes)
    entry = hers / "evil-1.dist-info"
    entry.mkdir()
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    (entry / "entry_points.txt").write_text("[grader.checks]\nevil = checks\n")
    for name in ("attention.py", "multihead.py"):  # together they fit one rubric only
        (hers / name).write_text("")
    cell = {"cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": [], "execution_count": None}
    (hers / "hw3.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}))
    return hers


GRADED = "attention.py defines no 'attention'"
REFUSED = "so it may be a student's"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["run", "."], GRADED),
        (["run", ".", "--rubric", "dl-hw3"], GRADED),
        (["run", "hw3.ipynb", "--rubric", "dl-hw3"], "attention.py was not handed in"),
        (["run", ".", "--rubric", "./rubric.yaml"], REFUSED),
        (["run", ".", "--rubric", "rubrics/dl-hw3/rubric.yaml"], REFUSED),
        (["run", "hw3.ipynb", "--rubric", "rubrics/dl-hw3/rubric.yaml"], REFUSED),
        (["run", "hw3.ipynb", "--rubric", "../hers/rubric.yaml"], REFUSED),
        (["run", "rubrics", "--rubric", "rubric.yaml"], REFUSED),
        (["batch", "..", "--out", "../../out", "--rubric", "rubrics/dl-hw3/rubric.yaml"], REFUSED),
        (
            ["batch", "..", "--out", "../../out", "--rubric", "dl-hw3", "--part", "2.1"],
            "1 of 1 submissions: 1 graded",
        ),
    ],
)
def test_code_of_a_submission_never_runs_outside_the_box(hers: Path, asked: list[str], said: str) -> None:
    done = grader(*asked, cwd=hers)
    assert not (hers.parent.parent / "escaped").exists()
    assert said in " ".join((done.stdout + done.stderr).split())


@pytest.mark.slow
def test_a_submission_cannot_name_a_rubric_by_path(hers: Path) -> None:
    (hers / "submission.yaml").write_text(f"rubric: {hers / 'rubric.yaml'}\n")
    assert "there is no rubric" in grader("run", ".", cwd=hers).stderr
    assert not (hers.parent.parent / "escaped").exists()


def test_a_broken_rubric_stops_with_every_line(tmp_path: Path) -> None:
    text = (REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml").read_text().replace("points: 4", "pionts: 4")
    (tmp_path / "mine.yaml").write_text(text)
    done = command("run", "submissions/ada", "--rubric", tmp_path / "mine.yaml")
    assert done.returncode == 2
    assert "matches_reference takes no 'pionts'" in done.stderr
    assert command("rubric", "lint", tmp_path / "mine.yaml", "dl-hw3").returncode == 2


def test_rubrics_and_checks_can_be_looked_at() -> None:
    assert "27 problems, 66 checks, 100 points; no faults" in command("rubric", "lint", "dl-hw3").stdout
    shown = command("rubric", "show", "dl-hw3").stdout
    assert "Multi-head attention with a mask (10 points)" in shown
    listed = command("checks").stdout
    assert "matches_reference" in listed
    assert "rtol: float, default 0.0001" in listed


@pytest.mark.slow
def test_doctor_says_what_this_machine_gives() -> None:
    done = grader("doctor")
    assert done.returncode == 0
    assert "Verdict: fit for student code" in done.stdout
    assert "Tried in a box: open a network socket: refused" in done.stdout


@pytest.mark.slow
def test_a_rubric_without_torch_never_loads_it(tmp_path: Path) -> None:
    """Neither in the grader nor in its boxes: the student looks, and the grader's own imports are listed."""
    (tmp_path / "attention.py").write_text(
        "import sys\ndef attention(Q, K, V, beta):\n    found = 'torch' if 'torch' in sys.modules else 'none'\n"
        "    raise ValueError(found)\n"
    )
    done = grader("run", tmp_path, "--rubric", "dl-hw3", "--part", "2.1")
    assert "raised ValueError at attention.py:4" in " ".join(done.stdout.split())
    started = [sys.executable, "-X", "importtime", "-m", "grader", "run", "submissions/ada"]
    traced = subprocess.run(
        started, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    imported = {
        line.rpartition("|")[2].strip() for line in traced.stderr.splitlines() if line.startswith("import time:")
    }
    assert "numpy" in imported
    assert not {name for name in imported if name.split(".")[0] in ("torch", "sympy")}


@pytest.mark.parametrize("name", ["run", "batch", "check"])
@pytest.mark.parametrize("what", ["path", "rubric"])
def test_a_name_too_long_for_any_file_is_told_in_one_line(name: str, what: str, tmp_path: Path) -> None:
    long = "n" * 300
    options = ["--out", str(tmp_path / "out")] if name == "batch" else []
    work = "submissions" if name == "batch" else "submissions/ada"
    asked = [long] if what == "path" else [work, "--rubric", f"{long}.yaml"]
    done = command(name, *asked, *options)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_help_says_of_every_command_how_its_own_help_begins() -> None:
    """The list is kept by hand, so that `grader --help` loads nothing."""
    told = command("--help").stdout
    for name, (_, line) in COMMANDS.items():
        own: Any = Commands().get_command(None, name)
        beginning = line.removesuffix(".")
        assert (own.help or "").replace("\n", " ").startswith(beginning.split(",")[0]), name
        assert f"{name} " in told
        assert line in " ".join(told.split())


def test_help_is_plain_text_and_says_what_every_option_takes() -> None:
    told = " ".join(command("run", "--help").stdout.split())
    for option in ("--rubric NAME|PATH", "--data DIR", "--part ID", "--json FILE", "--fail-under POINTS Exit 1"):
        assert option in told
    of_batch = " ".join(command("batch", "--help").stdout.split())
    assert "--student NAME Only this student." in of_batch
    assert "--dask ADDRESS A Dask cluster" in of_batch
    assert not any(word in f"{told} {command('--help').stdout}" for word in ("╭", "--install-completion"))
    for name in COMMANDS:
        own: Any = Commands().get_command(None, name)
        assert all(option.help for option in own.params if option.name != "help"), name


def test_a_mistyped_command_is_guessed() -> None:
    assert "Did you mean 'run'?" in grader("rnu").stderr


def test_help_loads_no_room() -> None:
    program = "import sys\nfrom grader.cli import app\ntry:\n    app(['--help'])\nfinally:\n    print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert "Grade one submission" in said.stdout
    assert not {"numpy", "pydantic", "grader.grading.engine", "grader.batch.commands"} & set(said.stdout.split())


def test_the_version_is_all_that_is_printed() -> None:
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"attention-grader {__version__}\n", "")


def test_the_bar_counts_checks_that_are_done_and_not_those_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Progress] = []

    @contextmanager
    def seen(total: int) -> Iterator[tuple[Progress, TaskID]]:
        with progress_bar(total) as (bar, task):
            bars.append(bar)
            yield bar, task

    monkeypatch.setattr("grader.progress_bar.progress_bar", seen)
    checks = tuple(Check(name, lambda student, rng: passed("done"), {}, "", Fraction(1)) for name in ("one", "two"))
    problem = Problem("1.a", "One", Fraction(2), checks)
    done = []
    with _progress(Rubric("r", "R", Fraction(2), (problem,), Path("r.yaml"), "0" * 64, ("1.a",))) as step:
        for check in checks:
            step(problem, check)
            (task,) = bars[0].tasks
            done.append((task.completed, task.total, task.description))
    assert done == [(0, 2, "1.a one"), (1, 2, "1.a two")]
