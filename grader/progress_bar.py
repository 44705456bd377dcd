"""The bar that long work shows at a terminal, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn


@contextmanager
def progress_bar(total: int | None = None, *more: ProgressColumn) -> Iterator[tuple[Progress, TaskID]]:
    """What is done of `total`, and the time it has taken; `more` columns follow, in which a student may be named."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *more,
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar, bar.add_task("starting", total=total, rate="", left="", at_work="")
