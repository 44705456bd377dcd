"""The command: a table of what became of the inputs, every failure with what replays it, and 1 if there was any."""

from __future__ import annotations

import argparse
import faulthandler
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import benchmarks.fuzz
from benchmarks.fuzz import pdf_files
from benchmarks.fuzz.kinds import KINDS, shared_out
from benchmarks.fuzz.watching import HANG_SECONDS, Failure, Tally, fuzz, made

_REPLAYS_NAMED = 5  # of one cause


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.fuzz", description=benchmarks.fuzz.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20_000, help="inputs in all; of one kind, with --kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS), help="only this one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--replay", metavar="KIND:SEED:INDEX", help="one input, shown and read here")
    arguments = parser.parse_args()
    if arguments.replay:
        return _replay(parser, arguments.replay)
    if arguments.count < 1 or arguments.jobs < 1:
        parser.error("--count and --jobs are at least 1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of the end of every process that was started
    counts = {arguments.kind: arguments.count} if arguments.kind else shared_out(arguments.count)
    began = time.monotonic()
    tallies = _fuzz_with_a_bar(counts, arguments.seed, arguments.jobs)
    _print(tallies, arguments.seed, arguments.jobs, time.monotonic() - began)
    return 1 if any(tally.failures for tally in tallies.values()) else 0


def _fuzz_with_a_bar(counts: dict[str, int], seed: int, jobs: int) -> dict[str, Tally]:
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
        *(TextColumn("left"), TimeRemainingColumn()),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("0 failures", total=sum(counts.values()))

        def told(tallies: dict[str, Tally]) -> None:
            failures = sum(len(tally.failures) for tally in tallies.values())
            done = sum(tally.inputs for tally in tallies.values())
            bar.update(task, completed=done, description=f"{failures} failures")

        return fuzz(counts, seed, jobs, told)


def _print(tallies: dict[str, Tally], seed: int, jobs: int, seconds: float) -> None:
    inputs = sum(tally.inputs for tally in tallies.values())
    table = Table(title=f"{inputs:,} inputs, seed {seed}, {jobs} processes, {seconds:.0f} s", title_justify="left")
    table.add_column("kind")
    for heading in ("inputs", "read", "refused", "tracebacks", "hangs", "deaths", "slowest", "a second of processor"):
        table.add_column(heading, justify="right")
    for kind, tally in tallies.items():
        failed = [str(tally.failed(sort)) for sort in ("traceback", "hang", "death")]
        counted = [f"{number:,}" for number in (tally.inputs, tally.read, tally.refused)]
        rate = f"{tally.inputs / tally.seconds:,.0f}" if tally.seconds else ""
        table.add_row(kind, *counted, *failed, f"{tally.slowest:.2f} s ({tally.slowest_index})", rate)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    if pdf_files.LONGEST.value:
        ended = f"ended {pdf_files.ENDED.value} times and was replaced"
        print(f"the process that reads PDFs {ended}; it took at most {pdf_files.LONGEST.value:.2f} s for one")
    for line in _causes(failure for tally in tallies.values() for failure in tally.failures):
        print(line)


def _causes(failures: Iterable[Failure]) -> list[str]:
    """One line for each cause, the most frequent first, with inputs that show it."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        found.setdefault((failure.kind, failure.sort, failure.cause), []).append(failure.replay)
    lines = []
    for (kind, sort, cause), replays in sorted(found.items(), key=lambda item: -len(item[1])):
        more = f" and {len(replays) - _REPLAYS_NAMED} more" if len(replays) > _REPLAYS_NAMED else ""
        lines.append(f"{kind}: {sort}: {cause}\n  --replay {', '.join(replays[:_REPLAYS_NAMED])}{more}")
    return lines


def _replay(parser: argparse.ArgumentParser, named: str) -> int:
    """Read one input in this process, with its traceback where it raises and where it hangs."""
    kind, _, place = named.partition(":")
    seed, _, index = place.partition(":")
    if kind not in KINDS or not index.isdecimal() or not seed.removeprefix("-").isdecimal():
        parser.error(f"--replay {named}: give KIND:SEED:INDEX, such as wire:13:4711")
    one = made(KINDS[kind], int(seed), int(index))
    print(ascii(one))
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        was_read = KINDS[kind].read(one, Path(folder))
    print("read" if was_read else "refused in one line")
    return 0


if __name__ == "__main__":
    sys.exit(main())
