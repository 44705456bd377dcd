"""`grader similar`: what it is asked, and what it prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.errors import UsageError
from grader.exits import write_text
from grader.options import DataOption, RubricOption, room_of_commands
from grader.progress_bar import progress_bar
from grader.quoting import quote
from grader.similar.comparing import MOST, Comparison, Request, compare
from grader.similar.page import similar_page
from grader.similar.pair_listing import pair_listing
from grader.similar.pairs import SHARE

_PAGE = "similar.html"
_NAMED = 20  # submissions that could not be compared


def similar(
    submissions: Annotated[Path, typer.Argument(help="A folder of submissions, or a bulk download (.zip).")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help=f"Where the page goes ({_PAGE}).")],
    rubric: RubricOption = None,
    data: DataOption = None,
    starter: Annotated[
        list[Path] | None,
        typer.Option("--starter", metavar="DIR", help="Course code beside the rubric's own; several may be given."),
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", min=1, max=1000, help="List so many pairs.")] = MOST,
    share: Annotated[
        str, typer.Option("--share", metavar="PERCENT", help="Leave out what more of the class have.")
    ] = f"{100 * SHARE:g}%",
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the pairs here; - for stdout.")
    ] = None,
) -> None:
    """Point staff to submissions that share what hardly anyone else has. It runs no student code and proves nothing."""
    _prepare(out)
    request = Request(submissions, rubric, data, tuple(starter or ()), most, _share(share))
    with progress_bar() as (bar, task):
        comparison = compare(
            request, lambda done, total: bar.update(task, total=total, completed=done, description="reading")
        )
    for line in comparison.not_compared[:_NAMED]:
        print(f"grader: {line}", file=sys.stderr)
    if len(comparison.not_compared) > _NAMED:
        print(f"grader: and {len(comparison.not_compared) - _NAMED} more; the page names them", file=sys.stderr)
    write_text(str(out / _PAGE), similar_page(comparison), "the page")
    if json_file is not None:
        text = json.dumps(pair_listing(comparison), ensure_ascii=False, indent=2) + "\n"
        if json_file == "-":
            print(text, end="")
            return
        write_text(json_file, text, "the list of pairs")
    print(_summary(comparison, out))


def _share(text: str) -> float:
    """`10%`, or `10`."""
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0.1 <= percent <= 100:
        raise UsageError(f"--share takes a share of the class, 0.1% to 100%, such as 10%, not '{quote(text, 20)}'")
    return percent / 100


def _prepare(out: Path) -> None:
    try:
        out.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{quote(str(out))}: no page can be written here: {error.strerror}") from None


def _summary(comparison: Comparison, out: Path) -> str:
    listed, more = len(comparison.findings.pointers), comparison.findings.more
    pairs = f"{listed} pair{'s' * (listed != 1)}" + (f", and {more} weaker ones that are not listed" if more else "")
    return f"{len(comparison.names)} submissions: {pairs}. Pointers, never verdicts. {out / _PAGE}"


app = room_of_commands(similar)
