"""`grader batch` and `rescore`: what they are asked, and what they print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TextColumn

from grader import __version__
from grader.batch import fingerprints
from grader.batch.files import write_files
from grader.batch.finding import Found
from grader.batch.gradebook import Gradebook
from grader.batch.rescoring import NeedsGrading, rescored
from grader.batch.running import Order, Tally, Watch, run_batch
from grader.batch.stored_report import result_of
from grader.errors import UsageError
from grader.exits import EXIT_STOPPED, EXIT_UNGRADED
from grader.options import (
    DaskOption,
    DataOption,
    HandedInOption,
    PartOption,
    RosterOption,
    RubricOption,
    StudentOption,
    UnsafeOption,
    room_of_commands,
)
from grader.progress_bar import progress_bar
from grader.quoting import quote
from grader.rubric.loading import find_rubric, load_rubric

_FAULTS_SHOWN = 20


GradesArgument = Annotated[Path, typer.Argument(metavar="GRADES", help="The folder that `grader batch` wrote.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the gradebook and its files go.")]


def batch(
    submissions: Annotated[Path, typer.Argument(help="A folder of submissions, or a bulk download (.zip).")],
    out: OutOption,
    rubric: RubricOption = None,
    data: DataOption = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="How many at once. Default: one per core.")] = None,
    student: StudentOption = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", metavar="NAME", help="Leave this student out.")] = None,
    part: PartOption = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Draws other inputs. Default: 0.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last batch, as it was begun.")] = False,
    roster: RosterOption = None,
    handed_in: HandedInOption = None,
    unsafe: UnsafeOption = False,
    dask: DaskOption = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="With --dask: workers see the submissions under the same path.")
    ] = False,
) -> None:
    """Grade a whole class. What has not changed since the last time is not graded again."""
    if dask is not None and jobs is not None:
        raise UsageError("--jobs counts processes of this machine, and --dask has a worker for each; give one of them")
    order = Order(
        submissions,
        out,
        jobs or len(os.sched_getaffinity(0)),
        rubric=rubric,
        data=data,
        problems=tuple(part or ()),
        students=tuple(student or ()),
        without=tuple(skip or ()),
        seed=seed,
        resume=resume,
        unsafe=unsafe,
        roster=roster,
        handed_in=handed_in,
        dask=dask,
        shared=shared,
    )
    twice: list[str] = []

    def found(everything: Found) -> None:
        twice.extend(everything.twice)
        for line in (*everything.twice, *everything.notes):
            print(f"grader: {line}", file=sys.stderr)

    with _progress() as (watch, written):
        tally = run_batch(order, found, watch, written)
    for line in tally.faults[:_FAULTS_SHOWN]:
        print(f"grader: {line}", file=sys.stderr)
    if len(tally.faults) > _FAULTS_SHOWN:
        print(f"grader: and {len(tally.faults) - _FAULTS_SHOWN} more", file=sys.stderr)
    for line in tally.notes:
        print(f"grader: {line}", file=sys.stderr)
    print(_summary(tally, out))
    if tally.stopped:
        raise typer.Exit(EXIT_UNGRADED if tally.cut_short else EXIT_STOPPED)
    raise typer.Exit(EXIT_UNGRADED if tally.ungraded or twice else 0)


def _summary(tally: Tally, out: Path) -> str:
    counts = ", ".join(f"{often} {how}" for how, often in sorted(tally.how.items())) or "none"
    ungraded = f"; {tally.ungraded} ungraded in some part: run it again" if tally.ungraded else ""
    rest = f"; stopped with {tally.total - tally.done} to go: the same command goes on" if tally.stopped else ""
    return f"{tally.done} of {tally.total} submissions: {counts}{ungraded}{rest}. {out / 'gradebook.csv'}"


@contextmanager
def _progress() -> Iterator[tuple[Watch, Callable[[], None]]]:
    with progress_bar(None, *(TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in _TOLD)) as (bar, task):

        def watch(tally: Tally) -> None:
            bar.update(task, total=tally.total, completed=tally.done, **_told(tally))

        def written() -> None:
            if bar.tasks[task].description != _WRITING:
                bar.reset(task, total=None, description=_WRITING, **_nothing_told())
            bar.advance(task)

        yield watch, written


_WRITING = "writing pages"
_TOLD = ("rate", "left", "at_work")
_NAMED = 2  # students at work; a machine may have more cores than a line has room


def _nothing_told() -> dict[str, Any]:
    return dict.fromkeys(_TOLD, "")


def _told(tally: Tally) -> dict[str, Any]:
    """What the bar says of a batch."""
    failed = tally.how["not opened"] + tally.how["given up"]
    left, rate = tally.seconds_left, tally.pace.per_second
    named = [quote(student, 24) for student in tally.at_work[:_NAMED]]
    more = [f"{len(tally.at_work) - _NAMED} more"] if len(tally.at_work) > _NAMED else []
    return {
        "description": f"{failed} failed, {tally.ungraded} ungraded",
        "rate": f"{rate:.1f}/s" if rate else "",
        "left": "" if left is None else f"{timedelta(seconds=round(left))} left",
        "at_work": ", ".join((*named, *more)),
    }


def rescore(
    out: GradesArgument,
    rubric: Annotated[
        str | None,
        typer.Option("--rubric", metavar="NAME|PATH", help="With the new points. Default: as graded."),
    ] = None,
    data: DataOption = None,
) -> None:
    """Give new points for what was found before, without running student code. All or nothing."""
    with Gradebook(out) as gradebook:
        before = gradebook.last_run()
        if before is None:
            raise UsageError(f"{out}: nothing has been graded here")
        path = find_rubric(rubric or before.rubric_path)
        folder = data or (Path(before.data) if before.data else None)
        loaded = load_rubric(path, folder)
        conditions = fingerprints.of_conditions(loaded, before.seed, before.secret)
        students = 0
        for result in gradebook.everyone():  # all of them, before any is changed
            if (graded_with := result.report["rubric"]) != loaded.name:
                raise UsageError(f"{out} was graded with {graded_with}; {loaded.name} is another assignment")
            try:
                if result.conditions_sha256 != conditions:
                    raise NeedsGrading("the data, the grader, the secret or the choice of parts has changed")
                rescored(result, loaded)
            except NeedsGrading as cause:
                raise UsageError(f"this change needs grading again: {result.student}, {cause}") from None
            students += 1
        place = str(folder.resolve()) if folder else None
        run = replace(before, rubric_path=str(path.resolve()), data=place)
        number = gradebook.begin_run(run, loaded.name, __version__)
        for result in gradebook.everyone():
            report = rescored(result, loaded)
            made = result_of(
                report,
                name=result.name,
                how="rescored",
                submission_sha256=result.submission_sha256,
                conditions_sha256=conditions,
            )
            gradebook.add(number, made)
        write_files(gradebook, out)
    print(f"{students} submissions rescored. {out / 'gradebook.csv'}")


app = room_of_commands(batch, rescore)
