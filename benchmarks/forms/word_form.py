"""What a word processor makes its page of: headings, labels in bold, formulas as typed with super- and subscripts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from benchmarks.forms import typed_math
from benchmarks.forms.blocks import Block, blocks
from benchmarks.forms.corpus import Sheet, entries
from benchmarks.forms.pasted_form import is_question, label

_HEAD = '<html><head><meta charset="utf-8"></head><body style="font-family: Liberation Serif; font-size: 11pt">'


def word(sheet: Sheet) -> str:
    return "\n".join([_HEAD, *_lines(sheet), "</body></html>", ""])


def _lines(sheet: Sheet) -> Iterator[str]:
    for entry in entries(sheet):
        if entry.answer:
            first, *others = [_marked_up(block) for block in blocks(entry.answer.text)]
            yield f"<p><b>{label(entry)}</b> {first}</p>"
            yield from (f"<p>{other}</p>" for other in others)
        elif is_question(entry):
            yield f"<h2>{entry.id} {escape(entry.prompt.title)}</h2>"


def _marked_up(block: Block) -> str:
    text = "".join(typed_math.html(span.text) if span.is_math else escape(span.text) for span in block.spans)
    return f"• {text}" if block.kind == "item" else text
