"""A reader for each format: a file → lines, each with its place, and notes. What the lines say is cut in splitting.py.

A reader decides nothing about parts: it tells headings, items of lists, formulas and words apart, and numbers what its
format numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.answers.besides import without_besides
from grader.answers.latex_files import whole_text
from grader.answers.lines import Line
from grader.answers.unseen import seen
from grader.errors import WrongKind
from grader.quoting import quote

# Ten times the longest sheet we have seen, and read within a second whatever it holds.
MAX_CHARACTERS = 2**17
MAX_LINES = 4_000
_MAX_ABSENT = 3


def _alone(path: str) -> bytes | None:
    return None


@dataclass(frozen=True)
class SheetFile:
    path: str  # relative to the submission
    content: bytes
    beside: Callable[[str], bytes | None] = _alone  # another file of the submission, by its path


@dataclass(frozen=True)
class Written:
    """A file as its reader sees it."""

    lines: Sequence[Line]
    notes: tuple[str, ...] = ()  # complete lines, with the file's name


Reader = Callable[[SheetFile], Written]


def text_of(file: SheetFile) -> tuple[str, tuple[str, ...]]:
    """Its text, and a note where that is a guess."""
    notes: tuple[str, ...] = ()
    try:
        utf16 = file.content.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = file.content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = file.content.decode("latin-1")
        notes = (f"{quote(file.path)} is not UTF-8 text; it was read as Latin-1",)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    for size, most, unit in ((len(text), MAX_CHARACTERS, "characters"), (text.count("\n"), MAX_LINES, "lines")):
        if size > most:
            fix = "hand in the written answers only"
            message = f"{quote(file.path)} is longer than {most} {unit}, so it was not read; {fix}"
            raise WrongKind(message, code="sheet_too_long")
    return text, notes


def _markdown(file: SheetFile) -> Written:
    from grader.answers.markdown_sheet import markdown_lines  # with a library that takes longer to load than a sheet

    text, notes = text_of(file)
    visible = seen(text)
    answers, besides = without_besides(visible.text)
    lines = markdown_lines(answers, pasted=file.path.lower().endswith(".txt"))
    return Written(list(lines), (*notes, *_left_out(file, [*visible.notes, *besides])))


def _latex(file: SheetFile) -> Written:
    """With the files it takes in. What is hidden is hidden in each file by itself: a forgotten brace ends with it."""
    from grader.answers.latex_sheet import latex_lines  # most sheets are Markdown

    hidden: list[str] = []

    def visible_text(one: SheetFile, text: str) -> str:
        visible = seen(text, latex=True)
        hidden.extend(_left_out(one, visible.notes))
        return visible.text

    def beside(path: str) -> str | None:
        content = file.beside(path)
        if content is None:
            return None
        one = SheetFile(path, content)
        return visible_text(one, text_of(one)[0])

    text, notes = text_of(file)
    whole = whole_text(file.path, visible_text(file, text), beside)
    if len(whole.text) > MAX_CHARACTERS or len(whole.places) > MAX_LINES:
        message = f"{quote(file.path)} is too long with all that it takes in, so it was not read"
        raise WrongKind(message, code="sheet_too_long")
    absent = [
        f"{quote(path, 80)}:{line}: '{quote(name, 60)}', which it takes in, was not handed in"
        for path, line, name in whole.absent[:_MAX_ABSENT]
    ]
    lines = [whole.placed(line) for line in latex_lines(whole.text)]
    return Written(lines, (*notes, *hidden, *absent))


def _left_out(file: SheetFile, notes: Sequence[str]) -> list[str]:
    return [f"{quote(file.path, 80)}:{note}" for note in notes]


READERS: dict[str, Reader] = {"md": _markdown, "markdown": _markdown, "txt": _markdown, "tex": _latex}
