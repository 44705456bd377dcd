"""`grader run`, `checks` and `doctor`: what they are asked, and what they print.

Whatever takes long to load is imported where it is used, after the fork server has been started.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.exits import EXIT_USAGE, exit_code, extra_needed, ungraded_in_one_line, write_text
from grader.grading.randomness import draw_for_grading
from grader.model import Report, Rubric
from grader.options import (
    DaskOption,
    DataOption,
    FailUnderOption,
    JsonOption,
    PartOption,
    RubricOption,
    UnsafeOption,
    room_of_commands,
)
from grader.plugins import Plugin
from grader.rubric.choosing import choose_rubric
from grader.rubric.choosing import only as narrowed
from grader.rubric.locating import find_rubric, glimpse
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission

if TYPE_CHECKING:
    from grader.grading.engine import Progress


def run(
    submission: Annotated[Path, typer.Argument(help="A folder, .zip, .tar.gz or .ipynb.")],
    rubric: RubricOption = None,
    data: DataOption = None,
    part: PartOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Draws other inputs; the same seed gives the same report.")] = 0,
    json: JsonOption = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write the report as a web page.")] = None,
    fail_under: FailUnderOption = None,
    unsafe: UnsafeOption = False,
) -> None:
    """Grade one submission."""
    with ungraded_in_one_line(submission), open_submission(submission) as opened:
        draw = draw_for_grading(seed)
        place, parts = choose_rubric(rubric, opened, submission), part or []
        guessed = glimpse(place, parts).libraries
        with ExitStack() as stack:
            runner = stack.enter_context(BoxRunner(guessed, unsafe=unsafe))
            runner.start()  # libraries load in a process beside this one, which loads what judges meanwhile
            from grader.grading.engine import grade
            from grader.rubric.loading import load_rubric
            from grader.rubric.per_student import for_student
            from grader.submission.wrong_assignment import foresee_other_assignment, with_other_assignment

            loaded = narrowed(load_rubric(place, data), parts)
            if loaded.libraries != guessed:
                runner = stack.enter_context(BoxRunner(loaded.libraries, unsafe=unsafe))
            foresee_other_assignment(loaded, opened)
            asked = for_student(loaded, opened.name, draw)
            with _progress(loaded) as progress:
                report = grade(asked, opened, runner, draw, notes=opened.notes, progress=progress)
            report = with_other_assignment(report, opened)
            runner.hang_up()  # it gives back its memory while the report is written
            _deliver(report, json, html)
        _tell_staff(report)
        raise typer.Exit(exit_code(report, fail_under))


@contextmanager
def _progress(rubric: Rubric) -> Iterator[Progress]:
    from grader.progress_bar import progress_bar

    with progress_bar(sum(len(problem.checks) for problem in rubric.problems)) as (bar, task):
        done = itertools.count()
        yield lambda problem, check: bar.update(task, completed=next(done), description=f"{problem.id} {check.id}")


def _deliver(report: Report, json: str | None, html: str | None) -> None:
    from grader.report.json_report import as_data, to_json

    text = to_json(report)
    if json == "-":
        sys.stdout.buffer.write(text.encode())
    else:
        from rich.console import Console

        from grader.report.terminal import print_report

        print_report(report, Console())
        if json is not None:
            write_text(json, text, "the JSON report")
    if html is not None:
        from grader.report.html import student_page  # costs 0.1 s, and most runs draw no page

        write_text(html, student_page(as_data(report)), "the page")


def _tell_staff(report: Report) -> None:
    """Our own faults never pass in silence: they go to stderr with their cause, whatever the report shows."""
    for problem in report.problems:
        for result in problem.checks:
            if result.fault:
                place = f"{problem.problem.id} {result.check.id}"
                print(f"grader: {place} is ungraded: {result.fault}", file=sys.stderr)


def checks(
    rubric: Annotated[
        str | None, typer.Option("--rubric", metavar="NAME|PATH", help="List the checks beside this rubric, too.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference page, with every key of a rubric.")
    ] = False,
) -> None:
    """List the checks that rubrics can use, with their parameters."""
    from rich.console import Console

    from grader.report.listings import print_checks
    from grader.rubric.catalogue import known_checks

    if markdown:
        from grader.authoring.checks_page import checks_page

        print(checks_page(known_checks()), end="")
        return
    print_checks(known_checks(Plugin(find_rubric(rubric).parent) if rubric else None), Console())


def doctor(dask: DaskOption = None) -> None:
    """Say what isolation this machine, or every worker of a cluster, gives student code, by trying it."""
    from rich.console import Console

    if dask is not None:
        with extra_needed("dask", "--dask"):
            from grader.batch.cluster.cluster_doctor import diagnose_cluster
        raise typer.Exit(0 if diagnose_cluster(dask, Console()) else EXIT_USAGE)

    from grader.report.listings import print_diagnosis
    from grader.sandbox.host.doctor import diagnose

    diagnosis = diagnose()
    print_diagnosis(diagnosis, Console())
    raise typer.Exit(0 if diagnosis.fit else EXIT_USAGE)


app = room_of_commands(run, checks, doctor)
