"""A template of nested lists in which each question is followed by a switch for its answer."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.forms.corpus import Sheet, entries
from benchmarks.forms.exam_form import prompted
from benchmarks.forms.latex_forms import document, latex_lines, list_labels

_PREAMBLE = ("\\usepackage{xcolor}", "\\newif\\ifans", "\\anstrue")


def template(sheet: Sheet) -> str:
    labels = [f"\\setlist[enumerate,{level}]{{label={form}}}" for level, form in enumerate(list_labels(sheet), 1)]
    return document("article", [*_PREAMBLE, *labels], [*_body(sheet)])


def _body(sheet: Sheet) -> Iterator[str]:
    depth = 0
    for entry in entries(sheet, with_code=True):
        level = len(entry.labels)
        yield from ["\\end{enumerate}"] * (depth - level)
        if level > depth:
            yield "\\begin{enumerate}"
        title = "" if entry.answer or entry.prompt.is_code else f"\\textbf{{{entry.prompt.title}}} "
        yield f"\\item {title}{prompted(entry)}"
        if entry.answer:
            yield from ("", "\\ifans", "{\\color{blue}", *latex_lines(entry.answer.text), "}", "\\fi")
        depth = level
    yield from ["\\end{enumerate}"] * depth
