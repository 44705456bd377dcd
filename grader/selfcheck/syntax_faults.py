"""Files of code that Python cannot read: each with its line, and a caret below what it stumbled over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from grader.errors import StudentFault
from grader.model import Rubric, is_code
from grader.quoting import quote, visible
from grader.sandbox.box.loading.notebook_part import is_part
from grader.sandbox.box.loading.student_loader import parse
from grader.selfcheck.code_needed import code_needed
from grader.submission.opening import OpenedSubmission

_WIDTH = 64  # characters of a line that is shown
_INDENT = "    "


@dataclass(frozen=True)
class SyntaxFault:
    file: str
    line: int
    cause: str
    excerpt: str = ""  # the line, and a caret below it
    imported: bool = False  # by a file that is asked for: it may do without

    def __str__(self) -> str:
        return f"{quote(self.file, 80)}, line {self.line}: {self.cause}"


def syntax_faults(submission: OpenedSubmission, rubric: Rubric) -> dict[SyntaxFault, list[str]]:
    """With the parts that cannot be checked because of each."""
    found: dict[SyntaxFault, list[str]] = {}
    for problem in rubric.problems:
        for file in replace(rubric, problems=(problem,)).files_asked:
            for fault in _faults_behind(file, submission):
                if problem.id not in found.setdefault(fault, []):
                    found[fault].append(problem.id)
    return found


def _faults_behind(file: str, submission: OpenedSubmission) -> Iterator[SyntaxFault]:
    """In the file itself, and in what it imports of the student's own."""
    try:
        place = submission.find(file)
    except StudentFault:
        return
    if is_code(place) and not is_part(place):  # of a notebook's cells its own notes tell
        for needed in sorted(code_needed(place, submission.folder, submission.files)):
            if fault := _fault_in(needed, submission):
                yield replace(fault, imported=needed != place)


def _fault_in(place: str, submission: OpenedSubmission) -> SyntaxFault | None:
    try:
        parse(str(submission.folder / place))
    except SyntaxError as error:
        return _told(place, error)
    except ValueError as error:  # a null byte
        return SyntaxFault(place, 1, quote(str(error)))
    except (OSError, RecursionError, MemoryError):  # running it says what is wrong with it
        return None
    return None


def _told(place: str, error: SyntaxError) -> SyntaxFault:
    text, column = visible((error.text or "").rstrip().replace("\t", " ")), max((error.offset or 1) - 1, 0)
    left = max(len(text) - len(text.lstrip()), column - _WIDTH + 1)
    excerpt = f"{_INDENT}{text[left : left + _WIDTH]}\n{_INDENT}{' ' * max(column - left, 0)}^" if text.strip() else ""
    return SyntaxFault(place, error.lineno or 1, quote(error.msg or "it is no Python"), excerpt)
