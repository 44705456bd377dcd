"""The answer sheet of a submission: which file it is, as text, by the reader of its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.answers.outline import Outline
from grader.answers.readers import READERS, SheetFile, text_of
from grader.answers.splitting import split
from grader.answers.yaml_sheet import cut_yaml
from grader.errors import Ambiguous, Missing
from grader.model import Answers, Submission
from grader.quoting import quote

ENDINGS = ("md", "tex", "yaml", "yml", "markdown", "txt")


def read_answers(submission: Submission, parts: Sequence[str]) -> Answers:
    """The answer sheet of a submission, cut into the parts a rubric knows."""
    found = []
    for ending in ENDINGS:
        try:
            found.append((f"answers.{ending}", submission.find(f"answers.{ending}")))
        except Missing as missing:
            if "submission.yaml" in missing.message:  # it says where the sheet is, and is wrong
                raise
    if not found:
        raise Missing("no answers were handed in; write them in answers.md (answers.tex and answers.yaml are read too)")
    if len(found) > 1:
        named = " and ".join(quote(path) for _, path in found)
        raise Ambiguous(f"there are several answer sheets: {named}; keep one")
    file, path = found[0]
    return _cut(SheetFile(path, submission.read(file)), parts)


def cut_into_parts(text: str, file: str, parts: Sequence[str]) -> Answers:
    """A sheet cut into these parts; the file's name decides how it is read."""
    return _cut(SheetFile(file, text.encode("utf-8", "replace")), parts)


def _cut(file: SheetFile, parts: Sequence[str]) -> Answers:
    outline = Outline(parts)
    ending = file.path.lower().rpartition(".")[2]
    if ending in ("yaml", "yml"):
        text, notes = text_of(file)
        answers = cut_yaml(text, file.path, outline)
        return replace(answers, notes=(*notes, *answers.notes))
    written = READERS.get(ending, READERS["txt"])(file)
    answers = split(written.lines, file.path, outline)
    return replace(answers, notes=(*answers.notes, *written.notes))
