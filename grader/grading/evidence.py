"""What of a submission a problem's verdict depends on: shown to whoever decides, and hashed, so that a decision stands
while that is the same and is open again when it changed.

It follows from the rubric and the files alone, not from what checks did: a mended check asks nobody to decide again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any

from grader.answers import answer_to
from grader.errors import Ambiguous, ForAPerson, Missing, StudentFault
from grader.grading.pdf_caution import places_of, shown_places
from grader.model import Answer, Answers, Check, Piece, Problem, Submission, is_code
from grader.sandbox.box.reading.source_text import LONG_STRING, NEXT_STATEMENT, text_of

# All answers and definitions of a whole sample have some 12,000 characters; a class has some hundred reports.
MAX_CHARACTERS = 20_000  # of one piece; what is beyond them is counted, and hashed all the same
MAX_PIECES = 12  # of one problem: no rubric asks for more files and names

_LINE_BYTES = 1 << 20  # read at once: a file of 1 GiB may be a single line
_IMPORT = re.compile(r"(?m)^[ \t]*(?:from|import)[ \t]([^\n]{1,500})")
_QUOTED_NAME = re.compile(r"""["'](?:[\w.-]+/)*([A-Za-z_]\w*)(?:\.py)?["']""")
_CLOSING = tuple(".,;:!?)")  # readers strip pieces, and nobody writes a blank before these
_MARKS = {"prose": "", "math": "$", "code": "`"}

_Entry = dict[str, Any]


class Evidence:
    """One submission while its problems are described."""

    def __init__(self, submission: Submission, sheet: Callable[[], Answers | StudentFault]) -> None:
        self._submission = submission
        self._sheet = sheet
        self._digest_of = cache(self._take_digest)  # beside what is asked for may lie gigabytes of weights

    def of(self, problem: Problem, chosen: str) -> _Entry:
        """What the verdict on a problem rests on; `chosen` is the alternative that was handed in. Places are shown and
        not hashed: an answer that moved down the page is the same answer."""
        files, in_writing = _asked_for(problem, chosen)
        kind = "code" if any(map(is_code, files)) else "files" if files else "answer"
        try:
            hashed, pieces = self._written(problem) if in_writing else ([], [])
            for file, names in files.items():
                for path in self._paths(file):
                    if is_code(file):
                        hashed.append(["code", *sorted(map(self._digest_of, self._used_by(path)))])
                        pieces += _definitions(self._source(path), _shown(path), names)
                    else:
                        hashed.append(["file", file, self._digest_of(path)])
                        pieces.append(self._file(path))
        except Exception:  # a sheet that is there twice, or cannot be read: whoever decides has to look at everything
            hashed, pieces = [[path, self._digest_of(path)] for path in self._files], []
        digest = _digest([chosen, hashed, *_own_numbers(problem)])
        return {"sha256": digest, "kind": kind, "pieces": pieces[:MAX_PIECES]}

    def _written(self, problem: Problem) -> tuple[list[Any], list[_Entry]]:
        """The answer. Where a person has to look for it, or it may have been read wrongly, the whole sheet counts."""
        sheet = self._sheet()
        try:
            found = answer_to(problem, sheet)
        except Missing:
            return [], []
        except ForAPerson:
            if isinstance(sheet, StudentFault) or not (files := sheet.files or tuple(filter(None, [sheet.pdf]))):
                raise
            pages = [{"page": place.page} for place in places_of(sheet, problem.id)]
            entries = [{"kind": "answer", "file": _shown(file), **page} for file in files for page in pages or [{}]]
            return self._whole(files), entries
        pieces = [[piece.kind, " ".join(piece.text.split())] for piece in found.pieces]
        return [["answer", pieces], *self._whole((found.file,) if found.doubt else ())], [_as_written(found)]

    def _whole(self, files: Sequence[str]) -> list[Any]:
        return [["sheet", self._digest_of(file)] for file in files]

    def _paths(self, file: str) -> tuple[str, ...]:
        """Where a file lies; all of them, where a person has to say which one counts."""
        try:
            return (self._submission.find(file),)
        except Missing:
            return ()
        except Ambiguous as several:
            return tuple(sorted(several.paths))

    @cached_property
    def _files(self) -> list[str]:
        folder = self._submission.folder
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    @cached_property
    def _codes(self) -> dict[str, list[str]]:
        """Files of code by the name that an import has for them."""
        by_name: dict[str, list[str]] = {}
        for path in self._files:
            if is_code(path) and "#" not in path:
                by_name.setdefault(path.rpartition("/")[2].removesuffix(".py"), []).append(path)
        return by_name

    def _take_digest(self, path: str) -> str:
        with (self._submission.folder / path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def _used_by(self, path: str) -> set[str]:
        """A file of code and those of the submission that it names in imports or in quotes, and what these name."""
        used, waiting = {path}, [path]
        while waiting:
            source = self._source(waiting.pop())
            words = {word for line in _IMPORT.findall(source) for word in re.findall(r"\w+", line)}
            for name in words | set(_QUOTED_NAME.findall(source)):
                new = [other for other in self._codes.get(name, ()) if other not in used]
                used.update(new)
                waiting += new
        return used

    def _source(self, path: str) -> str:
        return text_of(self._submission.folder / path) or ""  # of a longer one, only the hash is taken

    def _file(self, path: str) -> _Entry:
        with (self._submission.folder / path).open("rb") as stream:
            lines, line = 0, b"\n"
            for line in iter(lambda: stream.readline(_LINE_BYTES), b""):
                lines += line.endswith(b"\n")
        lines += not line.endswith(b"\n")  # as an editor counts: a last line needs no line end
        return {"kind": "file", "file": _shown(path), "sha256": self._digest_of(path), "lines": lines}


def _asked_for(problem: Problem, chosen: str) -> tuple[dict[str, list[str]], bool]:
    """The files that a problem asks students for, with the names they should define, and whether it asks for a written
    answer. By the alternative that was chosen and the checks beside it; where none was, by all of them."""
    alternatives = [one for one in problem.alternatives if chosen in (one.name, "")]
    checks: list[Check] = [*(check for one in alternatives for check in one.checks), *problem.checks]
    asked = [(file, one.defines) for one in alternatives for file in one.files]
    asked += [(file, check.names) for check in checks for file in check.files]
    asked += [(file, ()) for one in alternatives for file in one.beside]
    files: dict[str, list[str]] = {}
    for file, names in asked:
        files[file] = list(dict.fromkeys([*files.get(file, ()), *names]))
    # A check that names no file reads the answer, or the files beside an alternative.
    return files, any(not check.files for check in checks) and not any(one.beside for one in alternatives)


def _own_numbers(problem: Problem) -> list[Any]:
    """What was drawn for this student: a decision about other numbers does not stand."""
    personal = [check for check in problem.every_check if check.personal]
    assert all(check.drawn for check in personal), f"{problem.id} asks for numbers of this student, and none were drawn"
    return [["numbers", sorted(check.drawn.items())] for check in personal]


def _as_written(answer: Answer) -> _Entry:
    """An answer as it was written: formulas between $, code between `, a line for each line."""
    entry: _Entry = {"kind": "answer", "file": _shown(answer.file), "line": answer.line}
    if answer.places:  # of a PDF, where lines are counted on each page
        entry["page"] = answer.places[0].page
        entry["places"] = shown_places(answer.places)
    if answer.doubt:
        entry["doubt"] = answer.doubt
    return {**entry, **_capped("".join(_with_breaks(answer.pieces)).strip())}


def _with_breaks(pieces: tuple[Piece, ...]) -> Iterator[str]:
    line = 0
    for piece in pieces:
        if line:
            yield "\n" if piece.line != line else "" if piece.text.startswith(_CLOSING) else " "
        line = piece.line + piece.text.count("\n")
        mark = _MARKS[piece.kind]
        yield f"{mark}{piece.text}{mark}"


def _definitions(source: str, shown: str, names: list[str]) -> list[_Entry]:
    """The functions and classes asked for, as they stand in the file; the file, if it defines none of them."""
    found = [entry for name in names if (entry := _definition(source, name))]
    entries = found or [{"line": 1, "text": source}]
    return [{"kind": "code", "file": shown, **entry, **_capped(entry["text"])} for entry in entries]


def _definition(source: str, name: str) -> _Entry | None:
    """Found by scanning: student code is neither run nor parsed outside the box."""
    plain = LONG_STRING.sub(lambda text: re.sub(r"[^\n]", " ", text[0]), source)
    heads = list(re.finditer(rf"(?m)^(?:async[ \t]+)?(?:def|class)[ \t]+{re.escape(name)}\b", plain))
    if not heads:
        return None
    start = heads[-1].start()  # of two, Python takes the last
    while (above := plain.rfind("\n", 0, max(start - 1, 0)) + 1) < start and plain[above] == "@":
        start = above
    ending = NEXT_STATEMENT.search(plain, heads[-1].end())
    text = source[start : ending.start() if ending else None].rstrip()
    return {"name": name, "line": source.count("\n", 0, start) + 1, "text": text}


def _capped(text: str) -> _Entry:
    if len(text) <= MAX_CHARACTERS:
        return {"text": text}
    return {"text": text[:MAX_CHARACTERS], "left_out": len(text) - MAX_CHARACTERS}


def _shown(path: str) -> str:
    """A part of a notebook goes by the notebook's name."""
    return re.sub(r"(?<=\.ipynb)#.*", "", path)


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()
