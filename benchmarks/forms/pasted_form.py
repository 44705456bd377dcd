"""Text pasted into a plain file: labels where lines begin, formulas as typed, with or without blank lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from benchmarks.forms.blocks import Block, blocks
from benchmarks.forms.corpus import Entry, Sheet, entries
from benchmarks.forms.typed_math import plain

_COLUMNS = 90
_TOGETHER = "\N{NO-BREAK SPACE}"


def pasted(sheet: Sheet) -> str:
    """Every paragraph is one long line, as an editor pastes it; blank lines between paragraphs."""
    return "\n\n".join(_paragraphs(sheet)) + "\n"


def crammed(sheet: Sheet) -> str:
    """Lines of even length, as a page is copied; no blank line anywhere. No line ends inside a formula."""
    return _wrapped(_paragraphs(sheet, _TOGETHER))


def nested(sheet: Sheet) -> str:
    """The same, with each label said once: `b)` above `i)` and `ii)`."""
    return _wrapped(_paragraphs(sheet, _TOGETHER, every_label=False))


def _wrapped(paragraphs: Iterator[str]) -> str:
    lines = [line for paragraph in paragraphs for line in textwrap.wrap(paragraph, _COLUMNS)]
    return "\n".join(lines).replace(_TOGETHER, " ") + "\n"


def _paragraphs(sheet: Sheet, blank: str = " ", every_label: bool = True) -> Iterator[str]:
    for entry in entries(sheet):
        if entry.answer:
            first, *others = [_typed(block, blank) for block in blocks(entry.answer.text)]
            yield f"{label(entry) if every_label else _last_label(entry)} {first}"
            yield from others
        elif is_question(entry):
            yield f"{entry.id}. {entry.prompt.title}" if entry.id.isdigit() else f"{entry.id} {entry.prompt.title}"
        elif not every_label:
            yield _last_label(entry)


def _last_label(entry: Entry) -> str:
    return f"{entry.labels[-1]})"


def is_question(entry: Entry) -> bool:
    """A heading above labelled parts: the questions of nlp-a5, the numbered sections of dl-hw3."""
    return all(label.isdigit() for label in entry.labels)


def label(entry: Entry) -> str:
    """`(b) ii.` or `(b)`: what stands below the question's number."""
    first, *below = [one for one in entry.labels if not one.isdigit()]
    return " ".join([f"({first})", *(f"{one}." for one in below)])


def _typed(block: Block, blank: str) -> str:
    text = "".join(plain(span.text).replace(" ", blank) if span.is_math else span.text for span in block.spans)
    return f"- {text}" if block.kind == "item" else text
