"""PDFs, damaged and read. The process that reads them may end; then it is replaced, as the grader takes a new one.

No letter may be lost without a word: whatever a reader would see stands in a line, or its page is named in a note, and
whatever stands in a line belongs to a part, or a note says something.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.fuzz import pdf_seeds
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, rubric
from benchmarks.fuzz.pdf_damage import harmless, misbuilt
from grader.answers.numberings import Numberings
from grader.answers.outline import Outline
from grader.answers.pdf.process import CPU_SECONDS, PdfGlyphs, PdfNotRead, PdfProcess
from grader.answers.pdf_lines import PdfLines, pdf_lines
from grader.answers.pdf_sheet import cut_lines, cut_pdf
from grader.errors import WrongKind
from grader.model import Answers

ENDED = multiprocessing.get_context("fork").Value("q", 0)  # how often that process ended before its time
LONGEST = multiprocessing.get_context("fork").Value("d", 0.0)  # seconds of processor time that it took for one file
_SECONDS_OF_A_PROCESS = CPU_SECONDS / 2  # then it is replaced, so that a file meets the limit by its own time
_SLOW_SECONDS = 5.0  # of processor time for a file of this size: a hang
_WHOLE_WAY = 500  # one file of so many is read as the grader reads it, in a process of its own
_FEW_LETTERS = 8  # a page with fewer is a page number, and margins are left out
_FEW_WORDS = 40  # names and titles before the first part belong to none
_FILE = "answers.pdf"


class Lost(Exception):
    """Something that a reader would see is neither read nor mentioned."""


@dataclass(frozen=True)
class Damaged:
    data: bytes
    says: str = ""  # what it must say all the same
    whole_way: bool = False


def make(rng: Random) -> Damaged:
    whole_way = rng.randrange(_WHOLE_WAY) == 0
    if rng.random() < 0.05:
        return Damaged(harmless(rng.choice(pdf_seeds.built()), rng), pdf_seeds.SAYS, whole_way)
    data = rng.choice(pdf_seeds.built() if rng.random() < 0.9 else pdf_seeds.stored())
    how = rng.random()
    if how < 0.75:
        data = misbuilt(data, rng)
    if how > 0.5:
        data = damaged(data, rng, rng.choice((*pdf_seeds.built(), *pdf_seeds.stored())))
    return Damaged(data, whole_way=whole_way)


class _Reader:
    """A process that is kept for many files, and replaced when it ends."""

    def __init__(self) -> None:
        self._process: PdfProcess | None = None

    def lines(self, given: Damaged) -> Iterator[str]:
        parts = rubric("nlp-a5").parts
        answers = self._answers(given, Outline(parts))
        if given.whole_way:
            alone = cut_pdf(given.data, _FILE, Numberings(parts), {})
            if alone != answers:
                raise Lost("a process of its own reads it otherwise than one that has read others")
        if answers.unread:
            raise WrongKind(answers.notes[0])
        yield from answers.notes
        yield from (f"page {place.page}" for answer in answers.parts.values() for place in answer.places)

    def _answers(self, given: Damaged, outline: Outline) -> Answers:
        try:
            glyphs = self._glyphs(given.data)
        except PdfNotRead as why:
            if given.says:
                raise Lost(f"harmless damage: {why}") from None
            note = (
                f"{_FILE} {why}: a person reads it; 'pages: {{1.b: 2}}' in submission.yaml says on which page a part is"
            )
            return Answers({}, (note,), pdf=_FILE, unread=str(why))
        found = pdf_lines(glyphs)
        answers = cut_lines(glyphs, found, _FILE, outline, {})
        _nothing_is_lost(glyphs, found, answers)
        if given.says and given.says not in " ".join(line.text for line in found.lines):
            raise Lost("harmless damage changed what is read")
        return answers

    def _glyphs(self, data: bytes) -> PdfGlyphs:
        if self._process is None or self._process.cpu_seconds > _SECONDS_OF_A_PROCESS:
            self.close()
            self._process = PdfProcess()
        began = self._process.cpu_seconds
        try:
            glyphs = self._process.read(data)
        except PdfNotRead:
            if not self._process.alive:
                with ENDED.get_lock():
                    ENDED.value += 1
                self.close()
            raise
        finally:
            if self._process is not None:
                self._took(self._process.cpu_seconds - began)
        return glyphs

    def _took(self, seconds: float) -> None:
        with LONGEST.get_lock():
            LONGEST.value = max(LONGEST.value, seconds)
        if seconds > _SLOW_SECONDS:
            raise TimeoutError(f"{seconds:.0f} s of processor time for a small file")

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def _nothing_is_lost(glyphs: PdfGlyphs, found: PdfLines, answers: Answers) -> None:
    spoken_of = {*found.unread, *found.unseen, *(line.page for line in found.lines)}
    for number, page in enumerate(glyphs.pages, start=1):
        letters = sum(letter.isalnum() for letter in page.text)
        if letters > _FEW_LETTERS and number not in spoken_of:
            raise Lost(f"{letters} letters of a page are in no line and in no note")
    written = sum(len(line.text.split()) for line in found.lines)
    placed = sum(len(piece.text.split()) for answer in answers.parts.values() for piece in answer.pieces)
    if written - placed > _FEW_WORDS and not answers.notes:
        raise Lost(f"{written - placed} words belong to no part, and nothing is said")


_READER = _Reader()


def read(given: Damaged, folder: Path) -> bool:
    return ends_well(lambda: _READER.lines(given))
