"""`grader rubric lint`, `show` and `test`: what they are asked, and what they print."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from grader.errors import RubricError, UsageError
from grader.exits import EXIT_BELOW, EXIT_UNGRADED
from grader.options import DataOption, PartOption, UnsafeOption, room_of_commands
from grader.plugins import Plugin
from grader.progress_bar import progress_bar
from grader.proving.listing import print_proof, print_written
from grader.proving.proof import load_proof
from grader.proving.prove import prove
from grader.proving.reference_trial import failing_references
from grader.proving.writing import write_samples
from grader.report.listings import print_rubric
from grader.report.points import shown
from grader.rubric.catalogue import known_checks
from grader.rubric.choosing import only as narrowed
from grader.rubric.loading import find_rubric, load_rubric

NameArgument = Annotated[str, typer.Argument(metavar="NAME|PATH")]


def lint(names: Annotated[list[str], typer.Argument(metavar="NAME|PATH…", help="Rubrics to read.")]) -> None:
    """Say everything that is wrong with rubrics, each with its line."""
    problems: list[str] = []
    for name in names:
        try:
            loaded = load_rubric(find_rubric(name))
            known_checks(Plugin(loaded.folder))  # code that no problem uses is read too
        except RubricError as error:
            problems += error.problems
        else:
            if failing := failing_references(loaded):
                problems += failing
                continue
            checks = sum(len(problem.every_check) for problem in loaded.problems)
            size = f"{len(loaded.problems)} problems, {checks} checks, {shown(loaded.points)} points"
            print(f"{loaded.path}: {size}; no faults")
    if problems:
        raise RubricError(problems)


def show(name: NameArgument) -> None:
    """Print a rubric for a TA: every problem, check and point."""
    print_rubric(load_rubric(find_rubric(name)), Console())


def prove_rubric(
    name: NameArgument,
    data: DataOption = None,
    part: PartOption = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Try N mutants, always the same; default: all.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write down what every sample gets, to be read and kept; prove nothing.")
    ] = False,
    unsafe: UnsafeOption = False,
) -> None:
    """Prove a rubric: gold gets everything, a stub nothing, every sample what it declares, every mutant less."""
    loaded = load_rubric(find_rubric(name), data)
    proof = load_proof(loaded)
    chosen = [problem.id for problem in narrowed(loaded, part or []).problems]
    if write and (part or sample):
        raise UsageError("--write grades whole samples and tries no mutants; leave out --part and --sample")
    with progress_bar() as (bar, task):

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description="grading samples" if write else "proving")

        if write:
            written = write_samples(loaded, proof, data=data, unsafe=unsafe, progress=progress)
        else:
            proven = prove(loaded, proof, data=data, only=chosen, sample=sample, unsafe=unsafe, progress=progress)
    if write:
        print_written(written, Console())
        raise typer.Exit(EXIT_UNGRADED if any(one.ungraded for one in written) else 0)
    print_proof(proven, Console())
    raise typer.Exit(0 if proven.holds else EXIT_BELOW)


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME|PATH]", help="With the checks of this rubric's own, too.")
    ] = None,
) -> None:
    """Print a JSON Schema of rubrics, for completion in editors."""
    from grader.authoring.rubric_schema import schema_text  # it loads every check, and only this command needs them

    print(schema_text(find_rubric(name) if name else None), end="")


app = room_of_commands()
rubric = room_of_commands(lint, show, schema, test=prove_rubric)
app.add_typer(rubric, name="rubric", help="Look at rubrics and prove them right.", no_args_is_help=True)
