"""Where the command begins: on which Python, from which folders, and how it ends before a command has begun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, sampled
from tests.waiting import PATIENCE_SECONDS


def _python(
    program: str, *options: str, cwd: Path = REPOSITORY, **environment: str
) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environment}
    command = [sys.executable, *options, "-c", program]
    return subprocess.run(
        command, cwd=cwd, env=own, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


def _loading(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, stopped by this code while it loads its first library."""
    (folder / "typer.py").write_text(code)
    path = f"{folder}{os.pathsep}{REPOSITORY}"
    return _python("from grader.start import main; main()", cwd=folder, PYTHONPATH=path, **environment)


def test_an_older_python_is_told_in_one_line() -> None:
    done = _python("import sys; sys.version_info = (3, 9, 7, 'final', 0); import grader")
    assert done.returncode == 1
    assert done.stderr.startswith("grader: Python 3.11 or newer is needed, and this is 3.9; make an environment")


def test_whoever_ends_it_is_obeyed_with_the_exit_code_of_the_signal(tmp_path: Path) -> None:
    done = _loading(tmp_path, "import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(9)\n")
    assert (done.returncode, done.stderr) == (143, "")
    done = _loading(tmp_path, "raise KeyboardInterrupt\n")
    assert (done.returncode, done.stderr) == (130, "grader: stopped\n")


def test_processes_beside_it_import_nothing_from_where_one_stands(tmp_path: Path) -> None:
    done = _loading(tmp_path, "import os\nprint(os.environ['PYTHONSAFEPATH'])\nraise KeyboardInterrupt\n")
    assert done.stdout == "1\n"


def test_a_letter_that_the_terminal_lacks_is_a_question_mark(tmp_path: Path) -> None:
    code = "import sys\nprint('α')\nprint('β', file=sys.stderr)\nraise KeyboardInterrupt\n"
    done = _loading(tmp_path, code, PYTHONIOENCODING="ascii:strict")
    assert (done.stdout, done.stderr) == ("?\n", "?\ngrader: stopped\n")


def test_a_fault_of_ours_is_a_plain_traceback() -> None:
    broken = "import sys; from grader import cli, start; cli.COMMANDS['run'] = ('nowhere', ''); "
    done = _python(f"{broken}sys.argv = ['grader', 'run']; start.main()")
    assert done.stderr.startswith("Traceback (most recent call last):")


@pytest.mark.parametrize(
    ("first", "cwd", "options", "stays"),
    sampled(
        [
            ("{folder}", "{folder}", [], False),
            ("{folder}", "{own}", [], False),
            ("", "{folder}", [], False),
            ("{own}", "{folder}", [], True),
            ("", "{own}", [], True),
            ("{link}", "{folder}", [], True),
            ("{folder}", "{folder}", ["-P"], True),
        ],
        3,
    ),
)
def test_the_folder_one_stands_in_is_no_place_to_import_from(
    tmp_path: Path, first: str, cwd: str, options: list[str], stays: bool
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(REPOSITORY)
    places = {"folder": tmp_path / "folder", "link": tmp_path / "link", "own": REPOSITORY}
    begun = first.format(**places)
    program = f"""
import runpy, sys
sys.argv = ["grader", "--version"]
sys.path[:0] = [{begun!r}, "next"]
try:
    runpy.run_module("grader", run_name="__main__")
except SystemExit:
    print(sys.path[0])
"""
    done = _python(program, *options, cwd=Path(cwd.format(**places)))
    assert done.stdout.splitlines()[-1] == (begun if stays else "next"), done.stderr


@pytest.mark.slow
def test_a_command_loads_what_it_uses_and_starts_the_fork_server_first() -> None:
    """Start-up is a matter of what is imported, and when; seconds would depend on the machine."""
    program = """
import sys
from grader.sandbox.host import loading_process
from grader.sandbox.host import runner
from grader import start
begun, told, processes = loading_process._begun, runner.BoxRunner.start, []
def beginning():
    print("before it begins:", *sorted({"typer", "pydantic", "yaml", "numpy"} & set(sys.modules)))
    processes.append(begun())
    return processes[-1]
def telling(self):
    if not self._servers:
        later = {"grader.rubric.loading", "grader.grading.engine", "rich.console", "numpy"}
        print("before it is told:", *sorted(later & set(sys.modules)))
    told(self)
loading_process._begun, runner.BoxRunner.start = beginning, telling
sys.argv = ["grader", "run", "submissions/ada", "--rubric", "dl-hw3", "--part", "2.1"]
try:
    start.main()
except SystemExit:
    unused = {"torch", "sympy", "markdown_it", "snowballstemmer", "jinja2", "grader.checks.predictions.alignment"}
    print("begun:", len(processes), "ended as told:", processes[0].process.returncode)
    print("loaded:", *sorted(unused & set(sys.modules)))
    raise
"""
    done = _python(program, GRADER_SECRET="0123456789abcdef0123")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert [line for line in lines if line.startswith(("before it", "begun:", "loaded:"))] == [
        "before it begins:",
        "before it is told:",
        "begun: 1 ended as told: 0",
        "loaded:",
    ]


@pytest.mark.parametrize("typed", [', "--no-such-option"', ""])
def test_what_was_begun_ahead_and_never_needed_is_ended(typed: str) -> None:
    program = """
import sys
from grader import start
from grader.sandbox.host import loading_process
end = loading_process._end_what_nobody_took
def ending():
    begun = list(loading_process._ahead)
    end()
    print("ended:", [one.process.wait() for one in begun])
loading_process._end_what_nobody_took = ending
sys.argv = ["grader", "run"]
start.main()
"""
    done = _python(program.replace('"run"]', f'"run"{typed}]'))
    assert (done.returncode, done.stdout) == (2, "ended: [-9]\n"), done.stderr


@pytest.mark.slow
def test_a_rubric_loads_no_checks_that_it_does_not_name() -> None:
    program = """
import sys
from pathlib import Path
from grader.rubric.loading import load_rubric
load_rubric(Path("tests/rubrics/torch-blocks/rubric.yaml"))
print(*sorted({"lark", "torch", "grader.checks.prose", "grader.checks.formulas.queries"} & set(sys.modules)))
"""
    done = _python(program)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr


def test_a_command_that_ends_well_has_printed_all_and_says_zero() -> None:
    done = _python("import sys; sys.argv = ['grader', '--version']; from grader.start import main; main()")
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "attention-grader", "")


def test_what_is_said_last_is_not_lost() -> None:
    last = "atexit.register(print, 'last words'); atexit.register(print, 'and others', file=sys.stderr)"
    done = _python(
        f"import atexit, sys; from grader import cli, start\ndef app(): {last}; sys.exit(7)\n"
        "cli.app = app; sys.stderr.reconfigure(line_buffering=False, write_through=False); start.main()",
        PYTHONUNBUFFERED="",
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "last words\n", "and others\n")
