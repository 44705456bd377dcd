"""How long a PDF takes to become lines: the process that reads it, what it reads, and how rows are made of that.

    python -m benchmarks.pdf_speed
    python -m benchmarks.pdf_speed FILE.pdf …

Without files, pages of our own making with 3,000 letters each, indices among them. All in processor seconds, those of
the process that reads included. `python -m benchmarks.reading_stages` has all stages down to the verdict.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.reading_stages import processor_seconds
from grader.answers.pdf.process import read_pdf
from grader.answers.pdf_lines import pdf_lines
from tests.hostile_pdfs import pages

_PAGES = (1, 5, 20, 40)
_ROW = "the weights of row {0} add up to one, so that k and q, both of length d, give"


def _page() -> bytes:
    """Forty rows as long as the page is wide, each with an index."""
    rows = []
    for row in range(40):
        y = 780 - 18 * row
        rows.append(b"BT /F 10 Tf 60 %d Td (%s) Tj ET\n" % (y, _ROW.format(row).encode()))
        rows.append(b"BT /F 10 Tf 430 %d Td (q = t\\(k) Tj ET BT /F 7 Tf 461 %d Td (a) Tj ET\n" % (y, y - 2))
    return b"".join(rows)


def _given(files: list[Path]) -> Iterator[tuple[str, bytes]]:
    if files:
        yield from ((path.name, path.read_bytes()) for path in files)
    else:
        yield from ((f"{count} pages", pages([_page()] * count)) for count in _PAGES)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.pdf_speed", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    table = Table("file", "pages", "letters", "read", "made into lines", "in all", "per page")
    for name, content in _given(parser.parse_args().files):
        began = processor_seconds()
        glyphs = read_pdf(content)
        was_read = processor_seconds() - began
        began = time.process_time()
        pdf_lines(glyphs)
        laid_out = time.process_time() - began
        letters, whole = sum(len(page.text) for page in glyphs.pages), was_read + laid_out
        seconds = (f"{one:.2f} s" for one in (was_read, laid_out, whole, whole / max(1, len(glyphs.pages))))
        table.add_row(name, str(glyphs.page_count), f"{letters:,}", *seconds)
    Console().print(table)


if __name__ == "__main__":
    main()
