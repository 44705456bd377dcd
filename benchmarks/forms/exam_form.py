"""The exam class's template with its questions left in; answers stand in `solution` below each."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.forms.corpus import Entry, Sheet, entries
from benchmarks.forms.latex_forms import document, latex_lines

_ITEMS = ("question", "part", "subpart")


def exam(sheet: Sheet) -> str:
    return document("exam", [*_preamble(sheet)], [*_body(sheet)])


def _preamble(sheet: Sheet) -> Iterator[str]:
    yield "\\printanswers"
    if sheet.rubric == "dl-hw3":  # its questions are the sections 1.1 to 1.5
        yield "\\renewcommand{\\thequestion}{1.\\arabic{question}}"


def _body(sheet: Sheet) -> Iterator[str]:
    depth = 0
    for entry in entries(sheet, with_code=True):
        level = _level(entry, sheet)
        if not level:
            continue
        for closed in range(depth, level, -1):
            yield f"\\end{{{_ITEMS[closed - 1]}s}}"
        if level > depth:
            yield f"\\begin{{{_ITEMS[level - 1]}s}}"
        title = f"\\textbf{{{entry.prompt.title}.}} " if level == 1 else ""
        yield f"\\{_ITEMS[level - 1]} {title}{prompted(entry)}"
        if entry.answer:
            yield from ("\\begin{solution}", *latex_lines(entry.answer.text), "\\end{solution}")
        depth = level
    for closed in range(depth, 0, -1):
        yield f"\\end{{{_ITEMS[closed - 1]}s}}"


def prompted(entry: Entry) -> str:
    return " ".join(latex_lines(entry.prompt.text))


def _level(entry: Entry, sheet: Sheet) -> int:
    return len(entry.labels) - (sheet.rubric == "dl-hw3")
