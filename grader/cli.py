"""The `grader` command. Reads arguments, calls the engine, prints; decides nothing about grades."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from grader import __version__
from grader.batch import commands as batch_commands
from grader.catalogue import known_checks
from grader.choosing import choose_rubric
from grader.choosing import only as narrowed
from grader.draw import draw_for_grading
from grader.engine import Progress as ProgressCallback
from grader.engine import grade
from grader.errors import RubricError, UsageError
from grader.exits import EXIT_BELOW, EXIT_UNGRADED, EXIT_USAGE, faults_in_one_line, ungraded_in_one_line
from grader.model import Check, Problem, Report, Rubric, Status
from grader.proving.listing import print_proof
from grader.proving.proof import load_proof
from grader.proving.prove import prove
from grader.release import commands as release_commands
from grader.report.exports.delivery import Format, Options, deliver, export
from grader.report.exports.gradescope_results import HiddenChecks
from grader.report.exports.gradescope_zip import Settings, gradescope_zip, write_zip
from grader.report.exports.moodle import FEEDBACK_COLUMN
from grader.report.json_report import as_data, to_json
from grader.report.listings import print_checks, print_diagnosis, print_rubric
from grader.report.points import shown
from grader.report.terminal import print_report
from grader.rubric import find_rubric, load_rubric
from grader.sandbox import BoxRunner
from grader.sandbox.doctor import diagnose
from grader.secret import Secret, read_secret
from grader.selfcheck import commands as selfcheck_commands
from grader.start import main as main  # installed scripts call it by this name
from grader.submission import open_submission

app = typer.Typer(
    help="Grades homework on attention and Transformers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
rubrics = typer.Typer(help="Look at rubrics and prove them right.", no_args_is_help=True)
app.add_typer(rubrics, name="rubric")
gradescope = typer.Typer(help="Grade on Gradescope.", no_args_is_help=True)
app.add_typer(gradescope, name="gradescope")

RubricOption = Annotated[
    str | None,
    typer.Option("--rubric", metavar="NAME|PATH", help="Default: the one the submission names or fits."),
]
DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Course data in place of the rubric's own.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Draws other inputs; the same seed gives the same report.")]
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", metavar="ID", help="Grade only this problem (2.1) or group (2).")
]
JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the JSON report here; - for stdout.")
]
HtmlOption = Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write the report as a web page here.")]
FailUnderOption = Annotated[float | None, typer.Option("--fail-under", metavar="POINTS", help="Exit 1 below this.")]
UnsafeOption = Annotated[
    bool, typer.Option("--unsafe", help="Run even where the box lacks layers. Only for your own code.")
]
HiddenOption = Annotated[
    HiddenChecks, typer.Option("--hidden", help="Gradescope: when students see hidden checks (and their total).")
]
LeaderboardOption = Annotated[
    bool, typer.Option("--leaderboard", help="Gradescope: list the points in open checks for all to see.")
]


@app.command()
def run(
    submission: Annotated[Path, typer.Argument(help="A folder, .zip, .tar.gz or .ipynb.")],
    rubric: RubricOption = None,
    data: DataOption = None,
    only: OnlyOption = None,
    seed: SeedOption = 0,
    json: JsonOption = None,
    html: HtmlOption = None,
    fail_under: FailUnderOption = None,
    unsafe: UnsafeOption = False,
) -> None:
    """Grade one submission."""
    with faults_in_one_line(), ungraded_in_one_line(submission), open_submission(submission) as opened:
        draw = draw_for_grading(seed)
        if data is not None and not data.is_dir():
            raise UsageError(f"{data}: there is no such folder of data")
        loaded = narrowed(load_rubric(choose_rubric(rubric, opened, submission), data), only or [])
        libraries = tuple(dict.fromkeys(name for problem in loaded.problems for name in problem.libraries))
        with BoxRunner(libraries, unsafe=unsafe) as runner, _progress(loaded) as progress:
            runner.start()
            report = grade(loaded, opened, runner, draw, notes=opened.notes, progress=progress)
        _deliver(report, json, html)
        _tell_staff(report)
        raise typer.Exit(_exit_code(report, fail_under))


@contextmanager
def _bar(total: int | None = None) -> Iterator[tuple[Progress, TaskID]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar, bar.add_task("starting", total=total)


@contextmanager
def _progress(rubric: Rubric) -> Iterator[ProgressCallback]:
    with _bar(sum(len(problem.checks) for problem in rubric.problems)) as (bar, task):
        done = -1

        def step(problem: Problem, check: Check) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done, description=f"{problem.id} {check.id}")

        yield step


def _deliver(report: Report, json: str | None, html: str | None) -> None:
    text = to_json(report)
    if json == "-":
        sys.stdout.buffer.write(text.encode())
    else:
        print_report(report, Console())
    if json is not None and json != "-":
        _write(json, text, "JSON report")
    if html is not None:
        from grader.report.html import student_page  # costs 0.1 s, and most runs draw no page

        _write(html, student_page(as_data(report)), "page")


def _write(file: str, text: str, what: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: the {what} cannot be written: {error.strerror}") from None


def _tell_staff(report: Report) -> None:
    """Our own faults never pass in silence: they go to stderr with their cause, whatever the report shows."""
    for problem in report.problems:
        for result in problem.checks:
            if result.fault:
                print(
                    f"grader: {problem.problem.id} {result.check.id} is ungraded: {result.fault}",
                    file=sys.stderr,
                )


def _exit_code(report: Report, fail_under: float | None) -> int:
    if any(problem.status is Status.UNGRADED for problem in report.problems):
        return EXIT_UNGRADED
    return EXIT_BELOW if fail_under is not None and report.points < fail_under else 0


@rubrics.command("lint")
def lint(names: Annotated[list[str], typer.Argument(metavar="NAME|PATH…", help="Rubrics to read.")]) -> None:
    """Say everything that is wrong with rubrics, each with its line."""
    with faults_in_one_line():
        problems: list[str] = []
        for name in names:
            try:
                loaded = load_rubric(find_rubric(name))
            except RubricError as error:
                problems += error.problems
            else:
                checks = sum(len(problem.every_check) for problem in loaded.problems)
                size = f"{len(loaded.problems)} problems, {checks} checks, {shown(loaded.points)} points"
                print(f"{loaded.path}: {size}; no mistakes")
        if problems:
            raise RubricError(problems)


@rubrics.command("show")
def show(name: Annotated[str, typer.Argument(metavar="NAME|PATH")]) -> None:
    """Print a rubric for a TA: every problem, check and point."""
    with faults_in_one_line():
        print_rubric(load_rubric(find_rubric(name)), Console())


@app.command("export")
def export_grades(
    grades: Annotated[Path, typer.Argument(help="A folder of JSON reports, or one report.")],
    to: Annotated[Format, typer.Option("--to", help="What to write.")],
    into: Annotated[Path | None, typer.Option(help="Canvas, Moodle: the file they exported, to be filled in.")] = None,
    column: Annotated[str, typer.Option(help="Canvas, Moodle: the column of the assignment.")] = "",
    feedback_column: Annotated[str, typer.Option(help="Moodle: the column for feedback.")] = FEEDBACK_COLUMN,
    match: Annotated[
        Path | None, typer.Option(help="Canvas, Moodle: a CSV file student,id of what they call each student.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file, or a folder for several. Default: stdout.")] = None,
    hidden: HiddenOption = HiddenChecks.NEVER,
    leaderboard: LeaderboardOption = False,
) -> None:
    """Write grades for another program."""
    with faults_in_one_line():
        exported = export(grades, to, Options(into, column, feedback_column, match, hidden, leaderboard))
        if out is not None:
            deliver(exported, out)
        elif len(exported.texts) == 1:
            sys.stdout.buffer.write(next(iter(exported.texts.values())).encode("utf-8", "replace"))
        else:
            raise UsageError(f"{len(exported.texts)} files are to be written; give --out a folder")
        for note in exported.notes:
            print(f"grader: {note}", file=sys.stderr)


@gradescope.command("build")
def build(
    name: Annotated[str, typer.Argument(metavar="RUBRIC", help="Its name or path.")],
    out: Annotated[Path, typer.Option(help="The zip to upload.")] = Path("autograder.zip"),
    data: DataOption = None,
    hidden: HiddenOption = HiddenChecks.NEVER,
    leaderboard: LeaderboardOption = False,
    unsafe: UnsafeOption = False,
) -> None:
    """Make the autograder zip for a rubric."""
    with faults_in_one_line():
        secret = read_secret()
        settings = Settings(data, hidden, leaderboard, unsafe, None if unsafe else secret)
        content = gradescope_zip(load_rubric(find_rubric(name), data), settings)
        write_zip(content, out)
        print(f"{out}: {len(content) >> 10} KiB; upload it as the autograder of a programming assignment")
        print(_about_the_secret(secret, unsafe))


def _about_the_secret(secret: Secret | None, unsafe: bool) -> str:
    if secret is None:
        return "it holds no secret, so anybody can draw the same inputs; set GRADER_SECRET and build it again"
    if unsafe:
        return "it holds no secret: with --unsafe student code could read it, so anybody can draw the same inputs"
    return f"it holds the course's secret ({secret.fingerprint}): keep it among staff"


@rubrics.command("test")
def prove_rubric(
    name: Annotated[str, typer.Argument(metavar="NAME|PATH")],
    data: DataOption = None,
    only: OnlyOption = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Try N mutants, always the same; default: all.")
    ] = None,
    unsafe: UnsafeOption = False,
) -> None:
    """Prove a rubric: gold gets everything, a stub nothing, every sample what it declares, every mutant less."""
    with faults_in_one_line():
        loaded = load_rubric(find_rubric(name), data)
        chosen = [problem.id for problem in narrowed(loaded, only or []).problems]
        with _bar() as (bar, task):
            proven = prove(
                loaded,
                load_proof(loaded),
                data=data,
                only=chosen,
                sample=sample,
                unsafe=unsafe,
                progress=lambda done, total: bar.update(task, completed=done, total=total, description="proving"),
            )
        print_proof(proven, Console())
        raise typer.Exit(0 if proven.holds else EXIT_BELOW)


@app.command()
def checks(rubric: RubricOption = None) -> None:
    """List the checks that rubrics can use, with their parameters."""
    with faults_in_one_line():
        print_checks(known_checks(find_rubric(rubric) if rubric else None), Console())


@app.command()
def doctor() -> None:
    """Say what isolation this machine gives student code, by trying it."""
    with faults_in_one_line():
        diagnosis = diagnose()
        print_diagnosis(diagnosis, Console())
        raise typer.Exit(0 if diagnosis.fit else EXIT_USAGE)


for command in (batch_commands.batch, batch_commands.override, batch_commands.rescore, release_commands.release):
    app.command()(faults_in_one_line()(command))

selfcheck_commands.register(app)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(f"attention-grader {__version__}")
        raise typer.Exit()
