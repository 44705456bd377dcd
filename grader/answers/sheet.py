"""The answer sheet of a submission, cut into parts by the reader of its format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from grader.answers.numberings import Editions, Numberings
from grader.answers.outline import Outline
from grader.answers.readers import READERS, SheetFile, text_of
from grader.answers.sheet_files import find_sheet
from grader.answers.splitting import split
from grader.errors import ForAPerson, Missing
from grader.model import Answers, Submission
from grader.quoting import quote


def read_answers(
    submission: Submission, parts: Sequence[str], in_code: Iterable[str] = (), editions: Editions = MappingProxyType({})
) -> Answers:
    """The answer sheet of a submission, cut into the parts a rubric knows; those `in_code` are not on it."""
    from grader.answers.pdf_sheet import pdf_answers, pdfs_of  # where only code is graded, no sheet is read

    numberings = Numberings(parts, editions)

    def cut(file: SheetFile) -> Answers:
        return numberings.best(file.path, lambda outline: _cut(file, outline))

    pdfs = pdfs_of(submission)
    try:
        answers = find_sheet(submission, cut, in_code)
    except (Missing, ForAPerson) as nothing:
        instead = pdf_answers(submission, numberings) if nothing.code != "wrongly_declared" else None
        if instead is None:
            raise
        beside = (nothing.message,) if isinstance(nothing, ForAPerson) else ()
        return replace(instead, notes=(*instead.notes, *beside))
    if not answers.parts and (instead := pdf_answers(submission, numberings)) and instead.parts:
        return instead
    if pdfs and answers.parts:
        unread = f"{quote(pdfs[0], 80)} was not read, because text can be read more surely"
        return replace(answers, notes=(*answers.notes, unread))
    return answers


def cut_into_parts(text: str, file: str, parts: Sequence[str]) -> Answers:
    """A sheet cut into these parts; the file's name decides how it is read."""
    return _cut(SheetFile(file, text.encode("utf-8", "replace")), Outline(parts))


def _cut(file: SheetFile, outline: Outline) -> Answers:
    ending = file.path.lower().rpartition(".")[2]
    if ending in ("yaml", "yml"):
        from grader.answers.yaml_sheet import cut_yaml  # few sheets are

        text, notes = text_of(file)
        answers = cut_yaml(text, file.path, outline)
        return replace(answers, notes=(*notes, *answers.notes))
    written = READERS.get(ending, READERS["txt"])(file)
    answers = split(written.lines, file.path, outline)
    return replace(answers, notes=(*answers.notes, *written.notes))
