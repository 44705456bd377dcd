"""What is wrong with the form of a submission, before anything is judged: each in one line, with its fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.answers.sheet_files import ENDINGS
from grader.errors import Ambiguous, Missing, StudentFault
from grader.model import Answers, Check, Problem, Rubric, Submission, is_code
from grader.quoting import quote
from grader.registry import OneLineForEach, defined
from grader.selfcheck.own_runner import how_to_install, is_installed
from grader.selfcheck.playground import why_unread
from grader.selfcheck.syntax_faults import syntax_faults
from grader.submission.alternatives import is_there, on_the_sheet, sheet_of
from grader.submission.declaration import DECLARATION
from grader.submission.opening import OpenedSubmission

_PARTS_NAMED = 8
_NEEDED = ("numpy", "torch")  # to check at all; other libraries of a rubric are those that code may use


def faults_of_form(submission: OpenedSubmission, rubric: Rubric, whole: Rubric) -> Iterator[str]:
    """`rubric` is what is checked at home; `whole` may know more, such as how long a file should be."""
    submission = submission.for_rubric(rubric)
    yield from _syntax(submission, rubric)
    yield from submission.notes
    if rubric.per_student.ranges and not submission.student:
        fix = f"write 'student: YOUR-ID' into {DECLARATION}"
        yield f"some numbers are each student's own, and it is not said whose this is; {fix}"
    yield from _libraries(submission, rubric)
    yield from _files(submission, rubric)
    yield from _line_counts(submission, whole, {problem.id for problem in rubric.problems})
    yield from _sheet(submission, rubric)


def _syntax(submission: OpenedSubmission, rubric: Rubric) -> Iterator[str]:
    """First, since nothing else can be said about such a file. The line it stands in, and a caret, come below it."""
    for fault, parts in syntax_faults(submission, rubric).items():
        those = _named(parts)
        told = f"{fault}; {those} imports it" if fault.imported else f"{fault}; mend it, or {those} cannot be checked"
        yield f"{told}\n{fault.excerpt}" if fault.excerpt else told


def missing_libraries(problem: Problem) -> list[str]:
    return [name for name in problem.libraries if name in _NEEDED and not is_installed(name)]


def _libraries(submission: Submission, rubric: Rubric) -> Iterator[str]:
    for library in dict.fromkeys(name for problem in rubric.problems for name in missing_libraries(problem)):
        parts = [problem.id for problem in rubric.problems if library in missing_libraries(problem)]
        yield f"{library} is not installed, so {_named(parts)} cannot be checked; `{how_to_install(library)}`"
    allowed = dict.fromkeys(name for problem in rubric.problems for name in problem.libraries if name not in _NEEDED)
    for library in allowed:
        if not is_installed(library) and _mention(library, submission):
            there = "is not installed on this machine, but where this is graded it is"
            yield f"{library} {there}; `{how_to_install(library)}`"


def _mention(library: str, submission: Submission) -> bool:
    files = (path for ending in ("py", "ipynb") for path in submission.folder.rglob(f"*.{ending}"))
    return any(library.encode() in path.read_bytes() for path in files if path.is_file())


def files_asked(rubric: Rubric) -> dict[str, list[str]]:
    """Every file to be handed in, with the problems that ask for it. Of alternatives one is enough, so none is here."""
    asked: dict[str, list[str]] = {}
    for problem in rubric.problems:
        if not problem.optional:
            for file in (*(file for check in problem.checks for file in check.files), *problem.later.files):
                asked.setdefault(file, []).append(problem.id)
    return {file: list(dict.fromkeys(parts)) for file, parts in asked.items()}


def _files(submission: Submission, rubric: Rubric) -> Iterator[str]:
    for file, parts in files_asked(rubric).items():
        try:
            submission.find(file)
        except Missing as fault:
            stated = fault.code == "wrongly_declared"
            how = "correct it there" if stated else "put it anywhere in the folder you check"
            yield f"{fault.message if stated else f'{file} is missing'} ({_named(parts)}); {how}"
        except Ambiguous as fault:
            yield fault.message


def _line_counts(submission: Submission, whole: Rubric, parts: set[str]) -> Iterator[str]:
    told = set()
    for problem in whole.problems:
        for check in problem.every_check if problem.id in parts else ():
            for file, wanted in _lengths(check):
                found = _lines(submission, file, wanted)
                if found != wanted and file not in told:
                    told.add(file)
                    called = check.parameters.get("called", "label")
                    how = f"write one {called} per line, in the order of the questions"
                    yield f"{file} has {found} lines, and {wanted} are asked for ({problem.id}); {how}"


def _lengths(check: Check) -> Iterator[tuple[str, int]]:
    """Files of predictions, and how many lines the questions have."""
    labels = check.parameters.get(defined(check).marked(OneLineForEach))
    if isinstance(labels, str) and Path(labels).is_file():
        wanted = len(Path(labels).read_bytes().splitlines())
        yield from ((file, wanted) for file in check.files if not is_code(file))


def _lines(submission: Submission, file: str, wanted: int) -> int:
    """Blank lines at the end count as far as they are asked for; a file that is not there is told elsewhere."""
    try:
        lines = submission.read(file).splitlines()
    except StudentFault:
        return wanted
    while len(lines) > wanted and not lines[-1].strip():
        lines.pop()
    return len(lines)


def _sheet(submission: Submission, rubric: Rubric) -> Iterator[str]:
    asked = [one for one in rubric.problems if on_the_sheet(one) and not one.optional]
    written = [one for one in asked if not _is_code(one, submission)]
    if not written and not _has_sheet(submission):
        return
    try:
        answers = sheet_of(submission, rubric)
    except StudentFault as fault:
        parts = _named([problem.id for problem in written])
        yield f"{fault.message} ({parts})" if parts else fault.message
        return
    empty = [part for part in rubric.parts if any(note.endswith(f": {part} is empty") for note in answers.notes)]
    yield from (note for note in answers.notes if not note.endswith(" is empty"))
    absent = [problem.id for problem in written if problem.id not in answers.parts]
    if headed := [part for part in absent if part in empty]:
        yield f"nothing is written for {_named(headed)}; write each answer below its heading"
    if absent := [part for part in absent if part not in empty]:
        yield f"there is no answer to {_named(absent)}; write a heading above each, such as '## {absent[0]}'"
    for problem in rubric.problems:
        yield from _unread(problem, answers)


def _is_code(problem: Problem, submission: Submission) -> bool:
    """Whether it is handed in as code instead."""
    return any(is_there(file, submission) for one in problem.alternatives for file in one.files)


def _has_sheet(submission: Submission) -> bool:
    return any(is_there(f"answers.{ending}", submission) for ending in ENDINGS)


def _unread(problem: Problem, answers: Answers) -> Iterator[str]:
    answer = answers.parts.get(problem.id)
    if answer is not None and any(letter.isalnum() for piece in answer.pieces for letter in piece.text):
        for check in problem.checks:
            if cause := why_unread(check, answer):
                yield f"{problem.id}: {cause}; `grader formula` shows how a formula is read"


def _named(parts: Iterable[str]) -> str:
    listed = [quote(part, 20) for part in parts]
    more = f" and {len(listed) - _PARTS_NAMED} more" if len(listed) > _PARTS_NAMED else ""
    return ", ".join(listed[:_PARTS_NAMED]) + more
