"""`grader check`, `answer`, `parameters` and `pack`: what they are asked, and how they end.

Whatever takes long to load is imported where it is used.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.errors import UsageError
from grader.exits import exit_code, write_text
from grader.grading.randomness import draw_for_grading
from grader.model import Report
from grader.options import (
    DataOption,
    FailUnderOption,
    JsonOption,
    PartOption,
    RubricOption,
    StudentOption,
    room_of_commands,
)
from grader.quoting import quote
from grader.rubric.choosing import only
from grader.rubric.locating import find_rubric, glimpse
from grader.selfcheck.heading import print_heading
from grader.selfcheck.own_runner import is_installed, own_runner
from grader.selfcheck.own_work import Order, open_own_work, open_unchecked, rubric_at_home, work_by

_OWN_ENDINGS = (".py", ".ipynb", ".predictions")

PathArgument = Annotated[Path, typer.Argument(help="Your folder, or a .zip, .tar.gz or .ipynb.")]


def check(
    path: PathArgument = Path(),
    part: PartOption = None,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever you save; Ctrl-C ends.")] = False,
    rubric: RubricOption = None,
    data: DataOption = None,
    json: JsonOption = None,
    markdown: Annotated[str | None, typer.Option("--markdown", metavar="FILE", help="Also as Markdown.")] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Also as a page with your work beside it, opened in the browser.")
    ] = False,
    fail_under: FailUnderOption = None,
) -> None:
    """Check your own work: the public checks, before the deadline. For the work of others there is `run`."""
    order = Order(path, rubric, data, tuple(part or ()))
    if watch:
        from grader.selfcheck.watching import watch_own_work

        if html:
            raise UsageError("--html shows one check; leave out --watch")
        watch_own_work(order, Console())
        return
    report = _checked(order, silent=json == "-")
    if json is not None:
        from grader.report.json_report import to_json

        if json == "-":
            sys.stdout.buffer.write(to_json(report).encode())
        else:
            _write(json, to_json(report))
    if markdown is not None:
        from grader.selfcheck.showing import as_markdown

        _write(markdown, as_markdown(report))
    if html:
        from grader.selfcheck.own_page import show_page

        print(show_page(report), file=sys.stderr if json == "-" else sys.stdout)
    raise typer.Exit(exit_code(report, fail_under))


def _checked(order: Order, *, silent: bool) -> Report:
    """What is quick comes first: whose work this is, and the start of the fork server, which loads meanwhile."""
    with open_unchecked(order) as (opened, place), ExitStack() as stack:
        seen, console = glimpse(place, order.parts), Console()
        if not silent and seen.title:
            print_heading(console, opened.name, seen.title)
        guessed = tuple(filter(is_installed, seen.libraries))
        runner = stack.enter_context(own_runner(guessed))
        runner.start()
        from grader.selfcheck.checking import check_own_work, libraries_of
        from grader.selfcheck.showing import SilentListener, TerminalListener

        work = work_by(place, order.data, opened)
        if (libraries := libraries_of(only(work.rubric, list(order.parts)))) != guessed:
            runner = stack.enter_context(own_runner(libraries))
        listener = SilentListener() if silent else TerminalListener(console, headed=bool(seen.title))
        return check_own_work(work, order.parts, runner, listener)


def _write(file: str, text: str) -> None:
    _spare_own_work(Path(file))
    write_text(file, text, "it")


def _spare_own_work(target: Path) -> None:
    """A typo such as `--out answers.md` must not cost a student the answers."""
    from grader.selfcheck.packing import SHEETS

    if target.is_file() and (target.suffix in _OWN_ENDINGS or target.name in SHEETS):
        raise UsageError(f"{quote(str(target))} is your work and would be lost; give another name")


def answer(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="In quotation marks: 'W = 2 U V^\\top'.")],
    part: Annotated[str, typer.Option("--part", metavar="ID", help="The part it answers, such as 1.b.ii.")],
    path: Annotated[Path, typer.Option("--in", metavar="DIR", help="Your folder.")] = Path(),
    rubric: RubricOption = None,
    student: Annotated[str | None, typer.Option("--student", metavar="NAME", help="Whose numbers count.")] = None,
    stages: Annotated[bool, typer.Option("--stages", help="Every stage of reading, from text to verdict.")] = False,
) -> None:
    """Show how a formula, a number, a choice or prose is read, and what it earns as far as that is public."""
    from grader.rubric.per_student import for_student
    from grader.selfcheck.playground import try_answer
    from grader.selfcheck.showing_formulas import print_stages, print_trials

    whole = rubric_at_home(path, rubric)
    if student:
        whole = for_student(whole, student, draw_for_grading(0))
    problem, *others = only(whole, [part]).problems
    if others:
        raise UsageError(f"{part} has several parts; say which: {', '.join(one.id for one in (problem, *others))}")
    show = print_stages if stages else print_trials
    show(text, problem, try_answer(text, problem.id, whole), Console())


def parameters(
    path: PathArgument = Path(),
    student: StudentOption = None,
    rubric: RubricOption = None,
) -> None:
    """Show the numbers that are a student's own: yours, or with --student those of others."""
    from grader.rubric.loading import load_rubric
    from grader.rubric.per_student import numbers_of

    if student and rubric:  # staff, who need no submission
        whole, students = load_rubric(find_rubric(rubric)), student
    else:
        with open_unchecked(Order(path, rubric)) as (opened, place):
            whole, students = load_rubric(place), student or [opened.student]
    if not whole.per_student.ranges:
        raise UsageError(f"{whole.name} asks all students for the same numbers")
    if not all(students):
        raise UsageError("whose? write 'student: YOUR-ID' into submission.yaml, or say --student YOUR-ID")
    draw = draw_for_grading(0)
    if not whole.per_student.key and draw.secret is None:
        print("grader: GRADER_SECRET is not set; with it, these numbers are others", file=sys.stderr)
    for one in students:
        drawn = numbers_of(one, whole, draw)
        print(f"{quote(one, 80)}: {', '.join(f'{name} = {value}' for name, value in drawn.items())}")


def pack(
    path: PathArgument = Path(),
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: FOLDER-RUBRIC.zip here.")] = None,
    rubric: RubricOption = None,
    data: DataOption = None,
) -> None:
    """Make the archive to hand in: what is asked for, and a manifest with what the self-check found."""
    from grader.selfcheck.checking import check_own_work, libraries_of
    from grader.selfcheck.packing import pack_own_work
    from grader.selfcheck.showing import SilentListener

    with open_own_work(path, rubric, data) as work, own_runner(libraries_of(work.rubric)) as runner:
        report = check_own_work(work, (), runner, SilentListener())
        packed = pack_own_work(work, report)
    target = out or Path(f"{work.submission.name}-{work.whole.name}.zip")
    _spare_own_work(target)
    try:
        target.write_bytes(packed.content)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None
    for line in packed.missing:
        print(f"missing: {line}")
    if packed.not_started:
        print(f"not started: {', '.join(packed.not_started)}")
    if packed.untouched:
        print(f"untouched, as the kit brought it: {', '.join(packed.untouched)}")
    print(f"{target}: {len(packed.files)} files, sha256 {packed.sha256[:16]}; hand in this file")


app = room_of_commands(check, answer, pack, parameters, formula=answer)
