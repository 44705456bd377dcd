"""`grader export` and `gradescope build`: what they are asked, and what they print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.batch.current_reports import reports_in
from grader.errors import UsageError
from grader.grading.secret import Secret, read_secret
from grader.options import DataOption, UnsafeOption, room_of_commands
from grader.quoting import quote
from grader.report.exports.delivery import Format, Options, deliver
from grader.report.exports.delivery import export as exported_as
from grader.report.exports.gradescope_results import HiddenChecks
from grader.report.exports.gradescope_zip import Settings, gradescope_zip, write_zip
from grader.report.exports.moodle import FEEDBACK_COLUMN
from grader.report.exports.reports import capped, listed, not_final, open_parts
from grader.rubric.loading import find_rubric, load_rubric

HiddenOption = Annotated[
    HiddenChecks, typer.Option("--hidden", help="Gradescope: when students see hidden checks (and their total).")
]
AfterPublishedOption = Annotated[
    list[str] | None,
    typer.Option("--after-published", metavar="PART:CHECK", help="Gradescope: show this check only after publishing."),
]
LeaderboardOption = Annotated[
    bool, typer.Option("--leaderboard", help="Gradescope: list the points in public checks for all to see.")
]


def export(
    grades: Annotated[Path, typer.Argument(help="A folder of JSON reports, or one report.")],
    to: Annotated[Format, typer.Option("--to", help="What to write.")],
    into: Annotated[Path | None, typer.Option(help="Canvas, Moodle: the file they exported, to be filled in.")] = None,
    column: Annotated[str, typer.Option(help="Canvas, Moodle: the column of the assignment.")] = "",
    feedback_column: Annotated[str, typer.Option(help="Moodle: the column for feedback.")] = FEEDBACK_COLUMN,
    match: Annotated[
        Path | None, typer.Option(help="Canvas, Moodle: a CSV file student,id with their id of each student.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file, or a folder for several. Default: stdout.")] = None,
    hidden: HiddenOption = HiddenChecks.NEVER,
    after_published: AfterPublishedOption = None,
    leaderboard: LeaderboardOption = False,
    cap: Annotated[bool, typer.Option("--cap", help="Nobody gets more than the maximum, whatever bonus adds.")] = False,
    final_only: Annotated[bool, typer.Option("--final-only", help="Refuse while a part waits for a person.")] = False,
) -> None:
    """Write grades for another program, as the gradebook stands now."""
    reports, notes = reports_in(grades)
    waiting = sum(len(open_parts(report)) for report in reports.values())
    unsettled = f"{waiting} parts are not final: {listed(not_final(reports))}" if waiting else ""
    not_graded = [student for student, report in reports.items() if "not_graded_yet" in report]
    if final_only and (not_graded or waiting):
        why = "; ".join(filter(None, (f"not graded yet: {listed(not_graded)}" if not_graded else "", unsettled)))
        raise UsageError(f"{why}; `grader status` says what to do, and without --final-only they are exported")
    if cap:
        reports, about_cap = capped(reports)
        notes = (*notes, about_cap)
    if wrong := [check for check in after_published or () if ":" not in check]:
        raise UsageError(f"--after-published {quote(wrong[0])}: write PART:CHECK, such as 1.a:{quote(wrong[0])}")
    later = frozenset(after_published or ())
    options = Options(into, column, feedback_column, match, hidden, leaderboard, later)
    exported = exported_as(reports, to, options)
    if out is not None:
        deliver(exported, out)
    elif len(exported.texts) == 1:
        sys.stdout.buffer.write(next(iter(exported.texts.values())).encode("utf-8", "replace"))
    else:
        raise UsageError(f"{len(exported.texts)} files are to be written; give --out a folder")
    for note in (*notes, *exported.notes, *filter(None, (unsettled,))):
        print(f"grader: {note}", file=sys.stderr)


def build(
    name: Annotated[str, typer.Argument(metavar="RUBRIC", help="Its name or path.")],
    out: Annotated[Path, typer.Option(help="The zip to upload.")] = Path("autograder.zip"),
    data: DataOption = None,
    hidden: HiddenOption = HiddenChecks.NEVER,
    show_withheld: Annotated[
        bool, typer.Option("--show-withheld", help="Show at each upload what a kit withholds, though it gives answers.")
    ] = False,
    leaderboard: LeaderboardOption = False,
    unsafe: UnsafeOption = False,
) -> None:
    """Make the autograder zip for a rubric."""
    from grader.release.kit import withheld_checks

    secret = read_secret()
    rubric = load_rubric(find_rubric(name), data)
    withheld = () if show_withheld else withheld_checks(rubric)
    settings = Settings(data, hidden, leaderboard, unsafe, withheld, None if unsafe else secret)
    content = gradescope_zip(rubric, settings)
    write_zip(content, out)
    print(f"{out}: {len(content) >> 10} KiB; HOW_TO_UPLOAD.md in it says what to set on Gradescope")
    print(_about_the_secret(secret, unsafe))
    if withheld:
        print(f"checks that a kit withholds, shown only after grades are published: {len(withheld)}")


def _about_the_secret(secret: Secret | None, unsafe: bool) -> str:
    if secret is None:
        return "it holds no secret, so anybody can draw the same inputs; set GRADER_SECRET and build it again"
    if unsafe:
        return "it holds no secret: with --unsafe student code could read it, so anybody can draw the same inputs"
    return f"it holds the course's secret ({secret.fingerprint}): keep it among staff"


app = room_of_commands(export)
app.add_typer(room_of_commands(build), name="gradescope", help="Grade on Gradescope.", no_args_is_help=True)
