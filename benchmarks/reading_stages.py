"""How long each stage of a written answer takes: find the sheet, read it, cut it into parts, read formulas, judge.

    python -m benchmarks.reading_stages

One sheet of our own with fourteen answers, as Markdown, LaTeX, pasted text and PDF of 1, 5 and 20 pages, each graded
three times; the table has the medians in milliseconds of processor time, children that read a PDF included. What
otherwise runs in a child that can be killed runs here, and the rubric and sympy are loaded before.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.forms.corpus import Sheet, sheet
from benchmarks.forms.every_form import FORMS, MARKDOWN, Form
from benchmarks.forms.judged import Judge, judge
from grader.answers import pdf_lines, pdf_sheet, readers, sheet_files, splitting
from grader.answers.pdf import process as pdf_process
from grader.formulas import outcomes
from grader.formulas.answer import clauses, token_stream
from grader.formulas.syntax import parser
from grader.formulas.typing import shapes
from grader.formulas.warm_up import warm_up
from grader.prose import judge as judge_prose
from tests.hostile_pdfs import pages, text_page

_TIMES = 3
_RECURSION = 20_000  # as in the child
_ROWS, _WIDTH = 36, 92  # of a page
_FILLER = "The weights of all positions add up to one, and each of them says how much of a value comes through."
# Each stage's own time: what a stage calls belongs to the stage that is called.
_STAGES: dict[str, list[Any]] = {
    "find": [sheet_files.find_sheet, pdf_sheet.pdf_answers],
    "PDF process": [pdf_process.read_pdf],
    "lines": [pdf_lines.pdf_lines],  # and the readers of text
    "parts": [splitting.split],
    "tokens": [token_stream.tokens_of],
    "trees": [clauses.clauses_in, parser.parse],
    "types": [shapes.typed],
    "verdicts": [],  # what else the judges of formulas do
    "prose": [judge_prose],
    "rest": [],  # opening the submission, the engine
}


class _Clock:
    """Which stage is at work, and how long each was."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(_STAGES, 0.0)
        self._at = ["rest"]
        self._since = processor_seconds()

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            self._switch()
            self._at.append(stage)
            try:
                return function(*args, **named)
            finally:
                self._switch()
                self._at.pop()

        return run

    def _switch(self) -> None:
        now = processor_seconds()
        self.spent[self._at[-1]] += now - self._since
        self._since = now

    def taken(self) -> dict[str, float]:
        self._switch()
        spent, self.spent = self.spent, dict.fromkeys(_STAGES, 0.0)
        return spent


def processor_seconds() -> float:
    """Of this process, and of the children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


@contextmanager
def _stages_timed(clock: _Clock) -> Iterator[None]:
    """Every module of the grader sees the timed functions in place of its own."""

    def here(function: Callable[..., Any], *args: Any, cpu_seconds: float = 0) -> Any:
        return clock.timed("lines" if function is pdf_lines.pdf_lines else "verdicts", function)(*args)

    instead = {id(one): clock.timed(stage, one) for stage, functions in _STAGES.items() for one in functions}
    instead[id(outcomes.in_killable_child)] = here
    changed = []
    for name, module in list(sys.modules.items()):
        if name.startswith("grader."):
            changed += [(module, key, value) for key, value in vars(module).items() if id(value) in instead]
    for module, key, value in changed:
        setattr(module, key, instead[id(value)])
    kept = dict(readers.READERS)
    readers.READERS.update({ending: clock.timed("lines", reader) for ending, reader in kept.items()})
    try:
        yield
    finally:
        readers.READERS.update(kept)
        for module, key, value in changed:
            setattr(module, key, value)


def _as_pdf(count: int) -> Form:
    """Its answers over so many pages, with sentences between them."""

    def content(of: Sheet) -> bytes:
        text = FORMS["pasted"].content(of).decode().encode("ascii", "replace").decode()
        answers = [textwrap.wrap(part, _WIDTH) for part in text.split("\n\n")]
        filler = textwrap.wrap(" ".join([_FILLER] * 2), _WIDTH)
        free = count * _ROWS - sum(map(len, answers))
        each = max(0, free // len(answers))
        rows = [row for part in answers for row in (*part, *(filler * each)[:each])][: count * _ROWS]
        cut = (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))
        return pages(
            [
                text_page(*(row.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for row in one))
                for one in cut
            ]
        )

    return Form("pdf", content)


def _medians(graded: Judge, of: Sheet, form: Form, clock: _Clock) -> dict[str, float]:
    runs = []
    for _ in range(_TIMES):
        clock.taken()
        graded(of, form)
        runs.append(clock.taken())
    return {stage: median(run[stage] for run in runs) for stage in _STAGES}


def main() -> None:
    sys.setrecursionlimit(_RECURSION)
    warm_up()
    of, clock = sheet("nlp_a5_first"), _Clock()
    forms = {"Markdown": MARKDOWN, "LaTeX": FORMS["latex sections"], "pasted text": FORMS["pasted"]}
    forms |= {f"PDF, {count} page{'s' * (count > 1)}": _as_pdf(count) for count in (1, 5, 20)}
    forms["PDF by LaTeX"] = FORMS["pdf latex"]
    table = Table("ms", *_STAGES, "in all", title="processor time of each stage", title_justify="left")
    with judge() as graded, _stages_timed(clock):
        graded(of, MARKDOWN)  # what is loaded when it is first needed
        for name, form in forms.items():
            spent = _medians(graded, of, form, clock)
            times = (f"{1000 * one:.0f}" for one in (*spent.values(), sum(spent.values())))
            table.add_row(name, *times)
    Console(width=None if sys.stdout.isatty() else 130).print(table)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = str(Path(folder))
        main()
