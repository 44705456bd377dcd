"""The answer sheet of a submission, cut into parts by the reader of its format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from grader.answers.outline import Outline
from grader.answers.readers import READERS, SheetFile, text_of
from grader.answers.sheet_files import find_sheet
from grader.answers.splitting import split
from grader.answers.yaml_sheet import cut_yaml
from grader.model import Answers, Submission


def read_answers(submission: Submission, parts: Sequence[str], in_code: Iterable[str] = ()) -> Answers:
    """The answer sheet of a submission, cut into the parts a rubric knows; those `in_code` are not on it."""
    outline = Outline(parts)
    return find_sheet(submission, lambda file: _cut(file, outline), in_code)


def cut_into_parts(text: str, file: str, parts: Sequence[str]) -> Answers:
    """A sheet cut into these parts; the file's name decides how it is read."""
    return _cut(SheetFile(file, text.encode("utf-8", "replace")), Outline(parts))


def _cut(file: SheetFile, outline: Outline) -> Answers:
    ending = file.path.lower().rpartition(".")[2]
    if ending in ("yaml", "yml"):
        text, notes = text_of(file)
        answers = cut_yaml(text, file.path, outline)
        return replace(answers, notes=(*notes, *answers.notes))
    written = READERS.get(ending, READERS["txt"])(file)
    answers = split(written.lines, file.path, outline)
    return replace(answers, notes=(*answers.notes, *written.notes))
