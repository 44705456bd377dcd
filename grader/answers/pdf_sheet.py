"""A PDF → what was written for each part, with its page and place. What cannot be read is for a person, and said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from grader.answers.answer_keys import KEY, is_answer_key, written_in
from grader.answers.lines import Line
from grader.answers.numberings import Numberings
from grader.answers.outline import Outline
from grader.answers.pdf.process import PdfGlyphs, PdfNotRead, read_pdf
from grader.answers.pdf_lines import PdfLines, pdf_lines
from grader.answers.splitting import split
from grader.formulas.killable_child import TookTooLong, in_killable_child
from grader.model import Answer, Answers, Place, Submission
from grader.quoting import quote

ENDING = ".pdf"
MAX_BYTES = 64 * 2**20  # scans by phone have some megabytes a page
_LAYOUT_SECONDS = 10.0  # of processor time; twenty pages take half a second
_TRIED = 6  # PDFs of one submission that are looked into: one is the sheet, and the others papers and handouts
_DOUBT = "its formulas are set in a way that may have been put together wrongly"
_AMONG_QUESTIONS = "the questions stand on the same pages"
QUESTIONS = "holds the questions of an assignment, and perhaps answers among them"
_MANY_POINTS = 8  # handouts of five courses have 11 to 34 such marks, and a student's own pages at most two
_POINTS = re.compile(r"[\[(]\s*\d+(?:\.\d+)?\s*(?:points?|pts?|marks?)\b", re.IGNORECASE)
_TO_A_READER = re.compile(r"\byour?\b", re.IGNORECASE)
_SHEET_NAME = re.compile(r"answer|solution|submission|written|write-?up|report|response", re.IGNORECASE)
_EMPTY = re.compile(r", page (\d+): (\S+) is empty$")
_NAMED = 6  # pages in a note
_TITLE_LINES = 3

Pages = Mapping[str, tuple[int, ...]]


def pdf_answers(submission: Submission, numberings: Numberings) -> Answers | None:
    """What the PDF that answers most says; None where there is no PDF."""
    paths = pdfs_of(submission)
    if not paths:
        return None
    tried = [(path, _cut(submission, path, numberings)) for path in paths[:_TRIED]]
    path, best = _chosen(tried)
    others = [quote(one, 80) for one in paths if one != path]
    if not others:
        return best
    named = ", ".join(others[:_NAMED])
    note = f"of the PDFs, {quote(path, 80)} counts, because it answers most, and not {named}"
    return replace(best, notes=(*best.notes, note))


def _chosen(tried: Sequence[tuple[str, Answers]]) -> tuple[str, Answers]:
    """What is called answers counts, unless it holds the questions and other pages answer as much without them."""
    path, best = max(tried, key=lambda one: (_is_named_so(one[0]), bool(one[1].parts), *_worth(one[1])))
    if any(answer.doubt == _AMONG_QUESTIONS for answer in best.parts.values()):
        own = [
            (other, answers)
            for other, answers in tried
            if 2 * len(answers.parts) >= len(best.parts)
            and not any(answer.doubt == _AMONG_QUESTIONS for answer in answers.parts.values())
        ]
        return max(own, key=lambda one: _worth(one[1]), default=(path, best))
    return path, best


def pdfs_of(submission: Submission) -> list[str]:
    """Those nearest to the top first."""
    found = [path for path in submission.own_files if path.lower().endswith(ENDING)]
    return sorted(found, key=lambda path: (not path.lower().endswith("answers.pdf"), path.count("/"), path))


def _worth(answers: Answers) -> tuple[bool, int, int]:
    """The assignment itself comes last, whatever its questions look like."""
    return answers.unread not in (QUESTIONS, KEY), len(answers.parts), len(written_in(answers).split())


def _is_named_so(path: str) -> bool:
    return bool(_SHEET_NAME.search(PurePosixPath(path).name))


def _holds_questions(lines: Sequence[Line]) -> bool:
    """Handouts speak to their reader and say how many points a question is worth; answers do neither."""
    text = " ".join(line.text for line in lines)
    return len(_POINTS.findall(text)) >= _MANY_POINTS and len(_TO_A_READER.findall(text)) >= _MANY_POINTS


def _cut(submission: Submission, path: str, numberings: Numberings) -> Answers:
    found = submission.folder / path
    if found.stat().st_size > MAX_BYTES:
        why = f"is larger than {MAX_BYTES >> 20} MiB, so it was not read"
        return _not_read(path, why, numberings, submission.pages)
    return cut_pdf(found.read_bytes(), path, numberings, submission.pages)


def cut_pdf(content: bytes, file: str, numberings: Numberings, pages: Pages) -> Answers:
    try:
        glyphs = read_pdf(content)
        found: PdfLines = in_killable_child(pdf_lines, glyphs, cpu_seconds=_LAYOUT_SECONDS)
    except PdfNotRead as fault:
        return _not_read(file, str(fault), numberings, pages)
    except TookTooLong:
        why = "has letters in so many places that no lines can be made of them"
        return _not_read(file, why, numberings, pages)
    return numberings.best(file, lambda outline: cut_lines(glyphs, found, file, outline, pages))


def _not_read(file: str, why: str, numberings: Numberings, pages: Pages) -> Answers:
    return numberings.best(file, lambda outline: _by_hand(file, why, *_placed(pages, outline)))


def cut_lines(glyphs: PdfGlyphs, found: PdfLines, file: str, outline: Outline, pages: Pages) -> Answers:
    placed, notes = _placed(pages, outline)
    if not found.lines:
        count = f"{glyphs.page_count} page{'s' * (glyphs.page_count != 1)}"
        return _by_hand(file, f"is a scan without text ({count})", placed, notes)
    questions = _holds_questions(found.lines)
    if questions and not _is_named_so(file):
        return _by_hand(file, QUESTIONS, placed, notes)
    answers = split(found.lines, file, outline)
    title = " ".join(line.text for line in found.lines[:_TITLE_LINES])
    if is_answer_key(f"{title} {written_in(answers)}"):
        return _by_hand(file, KEY, placed, notes)
    parts = {part: _with_places(answer, found) for part, answer in answers.parts.items()}
    if questions:
        parts = {part: replace(answer, doubt=_AMONG_QUESTIONS) for part, answer in parts.items()}
    empty = {part: (int(page),) for note in answers.notes for page, part in _EMPTY.findall(note)}
    told = [note for note in answers.notes if not _EMPTY.search(note)]  # they are for a person, who is told the page
    notes = [*told, *notes, *_about_pages(glyphs, found, quote(file, 80))]
    return replace(answers, parts=parts, notes=tuple(notes), files=(file,), pdf=file, pages={**empty, **placed})


def _by_hand(file: str, why: str, pages: Pages, notes: Sequence[str]) -> Answers:
    hint = "" if pages else "; 'pages: {1.b: 2}' in submission.yaml says on which page a part is"
    return Answers({}, (f"{quote(file, 80)} {why}: a person reads it{hint}", *notes), pdf=file, unread=why, pages=pages)


def _placed(pages: Pages, outline: Outline) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Pages for each part that there is: what is said of 1.b holds for 1.b.i and 1.b.ii."""
    placed: dict[str, tuple[int, ...]] = {}
    notes = []
    for name, numbers in sorted(pages.items(), key=lambda one: len(one[0])):
        node = tuple(name.split("."))
        under = [outline.leaves[leaf] for leaf in outline.leaves_under(node)]
        placed |= dict.fromkeys(under, numbers)
        if not under:
            notes.append(f"submission.yaml: 'pages' names '{quote(name, 40)}', which is no part of this assignment")
    return placed, notes


def _with_places(answer: Answer, found: PdfLines) -> Answer:
    """A piece of words may go on over several rows."""
    numbers = sorted({
        number for piece in answer.pieces for number in range(piece.line, piece.line + piece.text.count("\n") + 1)
        if number in found.places
    } | ({answer.line} & found.places.keys()))  # fmt: skip
    boxes: dict[int, list[tuple[float, float, float, float]]] = {}
    for number in numbers:
        place = found.places[number]
        if place.box is not None:
            boxes.setdefault(place.page, []).append(place.box)
    places = tuple(
        Place(page, (min(b[0] for b in on), min(b[1] for b in on), max(b[2] for b in on), max(b[3] for b in on)))
        for page, on in sorted(boxes.items())
    )
    return replace(answer, places=places, doubt=_DOUBT if found.doubtful.intersection(numbers) else "")


def _about_pages(glyphs: PdfGlyphs, found: PdfLines, file: str) -> list[str]:
    notes = []
    if glyphs.cut:
        notes.append(
            f"{file} has {glyphs.page_count} pages; only the beginning was read, as far as page {len(glyphs.pages)}"
        )
    if found.unread:
        notes.append(f"{file}: there is no text on {_pages(found.unread)}; a person looks there")
    if found.unseen:
        text = "struck-out, white or otherwise unseen text was left out; only what readers see counts"
        notes.append(f"{file}, {_pages(found.unseen)}: {text}")
    return notes


def _pages(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED])) + (" and more" if len(numbers) > _NAMED else "")
    return f"page{'s' * (len(numbers) > 1)} {named}"
