"""PDFs, damaged and read. The process that reads them may end; then it is replaced, as the grader takes a new one."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, rubric
from benchmarks.fuzz.material import REPOSITORY
from grader.answers.outline import Outline
from grader.answers.pdf_lines import pdf_lines
from grader.answers.pdf_sheet import cut_lines
from grader.errors import WrongKind
from grader.sandbox.pdf_process import PdfNotRead, PdfProcess

ENDED = multiprocessing.get_context("fork").Value("q", 0)  # how often that process ended before its time
_FILES_OF_A_PROCESS = 1_000  # far below its limit of processor time, if none of them hangs
_LARGEST = 40_000  # bytes; the stored ones are mostly fonts, so only the beginning and the end of larger ones is kept
_NUMBER = re.compile(rb"\d+")
_NAME = re.compile(rb"/[A-Z][A-Za-z]+")
_NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"4",
    b"65536",
    b"2147483647",
    b"4294967296",
    b"99999999999999999999",
    b"1e30",
    b"0.00001",
)
_TEXT = (
    *(b"BT", b"ET", b"Tj", b"TJ", b"Tf", b"Td", b"Tm", b"Tr", b"q", b"Q", b"cm", b"Do", b"re f", b"1 0 0 1 0 0 Tm"),
    *(b"3 Tr", b"1 1 1 rg", b"0 0 0 0 0 0 cm", b"1e9 0 0 1e9 0 0 cm", b"(\\377\\000)", b"<FEFF03B2>", b"["),
)


def _drawn(rows: Iterator[tuple[int, int, int, str]] | list[tuple[int, int, int, str]]) -> bytes:
    return b"".join(b"BT /F %d Tf %d %d Td (%s) Tj ET\n" % (size, x, y, text.encode()) for size, x, y, text in rows)


@cache
def _written() -> tuple[bytes, ...]:
    """Small PDFs without compression, so that damage reaches what they say."""
    pages = (
        _drawn(
            [(14, 72, 760, "1.b.i"), (11, 72, 740, "M = AA"), (7, 120, 745, "T"), (11, 72, 720, "because it projects")]
        ),
        _drawn([(11, 72, 760 - 14 * row, "(b) ii. q = t(k + k), row by row, as long as a pa-") for row in range(10)]),
        _drawn([(11, 80, 500, "1"), (11, 80, 484, "2"), (11, 60, 492, "q =")]) + b"78 497 10 0.4 re f\n",
    )
    made = []
    for count in (1, 2, 3):
        body = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
        kids = b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(count))
        body[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count)
        for page in range(count):
            about = b"/MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F 3 0 R >> >>" % (5 + 2 * page)
            body[4 + 2 * page] = b"<< /Type /Page /Parent 2 0 R %s >>" % about
            body[5 + 2 * page] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(pages[page]), pages[page])
        objects = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, text) for number, text in sorted(body.items()))
        made.append(b"%%PDF-1.7\n%strailer\n<< /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (objects, len(body) + 1))
    return tuple(made)  # without a table of objects: readers look for them


@cache
def _stored() -> tuple[bytes, ...]:
    found = sorted((REPOSITORY / "tests" / "answers" / "pdfs").glob("*.pdf"))
    return tuple(path.read_bytes() for path in found if path.stat().st_size <= _LARGEST)


def make(rng: Random) -> bytes:
    data = rng.choice(_written() if rng.random() < 0.8 else _stored())
    other = rng.choice((*_written(), *_stored()))
    for _ in range(rng.choice((0, 1, 2, 4))):
        pattern, instead = rng.choice(
            ((_NUMBER, _NUMBERS), (_NAME, (b"/Kids", b"/Parent", b"/XObject", b"/Type3", b"/Length")))
        )
        places = list(pattern.finditer(data))
        if places:
            chosen = rng.choice(places)
            data = data[: chosen.start()] + rng.choice(instead) + data[chosen.end() :]
    if rng.random() < 0.3:
        at = rng.randint(0, len(data))
        data = data[:at] + b" " + rng.choice(_TEXT) + b" " + data[at:]
    return damaged(data, rng, other) if rng.random() < 0.8 else data


class _Reader:
    """A process that is kept for many files, and replaced when it ends."""

    def __init__(self) -> None:
        self._process: PdfProcess | None = None
        self._files = 0

    def lines(self, content: bytes) -> Iterator[str]:
        if self._process is None or self._files >= _FILES_OF_A_PROCESS:
            self.close()
            self._process, self._files = PdfProcess(), 0
        self._files += 1
        try:
            glyphs = self._process.read(content)
        except PdfNotRead as why:
            if not self._process.alive:
                with ENDED.get_lock():
                    ENDED.value += 1
                self.close()
            raise WrongKind(f"answers.pdf {why}") from None
        answers = cut_lines(glyphs, pdf_lines(glyphs), "answers.pdf", Outline(rubric("nlp-a5").parts), {})
        yield from answers.notes
        yield from (f"page {place.page}" for answer in answers.parts.values() for place in answer.places)

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


_READER = _Reader()


def read(content: bytes, folder: Path) -> bool:
    return ends_well(lambda: _READER.lines(content))
