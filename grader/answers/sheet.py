"""The answer sheet of a submission: which file it is, as text, by the reader of its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.answers.latex_sheet import latex_lines
from grader.answers.markdown_sheet import markdown_lines
from grader.answers.outline import Outline
from grader.answers.splitting import split
from grader.answers.unseen import seen
from grader.answers.yaml_sheet import cut_yaml
from grader.errors import Ambiguous, Missing, WrongKind
from grader.model import Answers, Submission
from grader.quoting import quote

ENDINGS = ("md", "tex", "yaml", "yml", "markdown", "txt")
# Ten times the longest sheet we have seen, and read within a second whatever it holds.
MAX_CHARACTERS = 2**17
MAX_LINES = 4_000


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
    content = submission.read(file)
    try:
        return cut_into_parts(_decoded(content), path, parts)
    except UnicodeDecodeError:
        answers = cut_into_parts(content.decode("latin-1"), path, parts)
        return replace(answers, notes=(f"{quote(path)} is not UTF-8 text; it was read as Latin-1", *answers.notes))


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")


def cut_into_parts(text: str, file: str, parts: Sequence[str]) -> Answers:
    """A sheet cut into these parts; the file's name decides how it is read."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    for size, most, unit in ((len(text), MAX_CHARACTERS, "characters"), (text.count("\n"), MAX_LINES, "lines")):
        if size > most:
            fix = "hand in the written answers only"
            raise WrongKind(f"{quote(file)} is longer than {most} {unit}, so it was not read; {fix}")
    outline = Outline(parts)
    ending = file.lower().rpartition(".")[2]
    if ending in ("yaml", "yml"):
        return cut_yaml(text, file, outline)
    is_latex = ending == "tex"
    visible = seen(text, latex=is_latex)
    answers = split(latex_lines(visible.text) if is_latex else markdown_lines(visible.text), file, outline)
    return replace(answers, notes=(*answers.notes, *(f"{quote(file, 80)}:{note}" for note in visible.notes)))
