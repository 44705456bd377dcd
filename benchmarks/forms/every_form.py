"""The forms by name: what a sheet is called in each, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.forms.corpus import FOLDER, Sheet
from benchmarks.forms.exam_form import exam
from benchmarks.forms.latex_forms import enumerated, sections, starred
from benchmarks.forms.markdown_form import markdown
from benchmarks.forms.pasted_form import crammed, nested, pasted
from benchmarks.forms.template_form import template

PDFS = FOLDER / "pdf"


@dataclass(frozen=True)
class Form:
    """One way to hand a sheet in."""

    ending: str
    content: Callable[[Sheet], bytes]

    @property
    def is_pdf(self) -> bool:
        return self.ending == "pdf"


def _text(ending: str, render: Callable[[Sheet], str]) -> Form:
    return Form(ending, lambda sheet: render(sheet).encode())


def _stored(form: str) -> Form:
    return Form("pdf", lambda sheet: (PDFS / f"{sheet.name}_{form}.pdf").read_bytes())


MARKDOWN = _text("md", markdown)
FORMS = {
    "latex sections": _text("tex", sections),
    "latex enumerate": _text("tex", enumerated),
    "latex starred": _text("tex", starred),
    "latex exam": _text("tex", exam),
    "latex template": _text("tex", template),
    "pasted": _text("txt", pasted),
    "pasted crammed": _text("txt", crammed),
    "pasted nested": _text("txt", nested),
    "pdf latex": _stored("sections"),
    "pdf exam": _stored("exam"),
    "pdf word": _stored("word"),
}
