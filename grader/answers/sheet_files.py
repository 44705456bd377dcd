"""Which files of a submission are its answer sheet: what answers parts, whatever it is called.

A sheet called answers.* counts before others. Of several files that answer the same parts, the one that answers most
counts, and the report says so; files that answer different parts are one sheet. What course material says is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from grader.answers.answer_keys import KEY, is_answer_key, written_in
from grader.answers.latex_files import names_taken_in
from grader.answers.readers import MAX_CHARACTERS, SheetFile
from grader.errors import Ambiguous, ForAPerson, Missing, StudentFault, WrongKind
from grader.model import Answers, Submission
from grader.quoting import quote
from grader.submission.file_choice import remaining

ENDINGS = ("md", "tex", "yaml", "yml", "markdown", "txt")
NOT_READ = ("docx", "doc", "odt", "rtf", "pages")  # students write sheets in these; they are no text
_LOOKED_AT = ("md", "tex", "markdown", "txt")
_MAX_LOOKED_AT = 40  # files of text: more are data
_WRITTEN_WORK = re.compile(
    r"(?<![a-z])(?:ans(?:wer)?s?|sol(?:ution|n)?s?|written|write-?up|report|theory|homework|submission)(?![a-z])",
    re.IGNORECASE,
)
_IN_A_NOTEBOOK = "#answers.md"
_FORMATS = "answers.md (answers.tex and answers.yaml are read too)"

Cut = Callable[[SheetFile], Answers]


@dataclass(frozen=True)
class _Candidate:
    path: str
    answers: Answers
    counted: frozenset[str]  # the parts it answers, of those that are answered in writing
    named: bool  # it is called answers.*

    @cached_property
    def is_key(self) -> bool:
        return is_answer_key(written_in(self.answers))

    @property
    def qualifies(self) -> bool:
        """A README may well have a section 3 with a part (a); two parts that are plainly named are no accident."""
        if self.is_key:
            return False
        if self.named:
            return bool(self.counted)
        return len(self.sure) >= (1 if self.likely else 2)

    @property
    def likely(self) -> bool:
        """LaTeX, or by its name what somebody wrote for the course."""
        name = PurePosixPath(self.path.partition("#")[0]).stem
        return self.path.lower().endswith(".tex") or bool(_WRITTEN_WORK.search(name))

    @property
    def sure(self) -> frozenset[str]:
        return self.counted - self.answers.guessed


def find_sheet(submission: Submission, cut: Cut, in_code: Iterable[str] = ()) -> Answers:
    """The answers of a submission; `in_code` are parts that are not answered in writing."""
    named = _named(submission)
    code = frozenset(in_code)
    candidates = []
    for path in (*named, *_others(submission, named)):
        try:
            answers = cut(_file(submission, path))
        except StudentFault:
            if path in named and len(named) == 1:
                raise
            continue
        candidates.append(_Candidate(path, answers, frozenset(answers.parts) - code, path in named))
    worthy = _different([one for one in candidates if one.qualifies], submission)
    if worthy:
        return _chosen(worthy, submission)
    if keys := [one.path for one in candidates if one.is_key and one.counted]:
        why = f"{_listed(keys)} {KEY}, so a person has to look whose work it is"
        raise ForAPerson(why, code="answer_key")
    if len(named) > 1:
        raise Ambiguous(f"there are several answer sheets: {_listed(named)}; keep one", code="several_sheets")
    if named:
        return next(one.answers for one in candidates if one.named)
    raise _nothing(submission, candidates)


def _named(submission: Submission) -> list[str]:
    """Those called answers.*, or the one that submission.yaml names."""
    found: list[str] = []
    for ending in ENDINGS:
        try:
            found.append(submission.find(f"answers.{ending}"))
        except Missing as missing:
            if missing.code == "wrongly_declared":
                raise
        except Ambiguous as several:
            found += several.paths
    return [path for path in dict.fromkeys(found) if not path.endswith(_IN_A_NOTEBOOK)]


def _others(submission: Submission, named: Sequence[str]) -> list[str]:
    """Text that may be a sheet, under any name; what a LaTeX file takes in is a part of that file."""
    paths = [
        path
        for path in submission.own_files
        if path not in named
        and (path.lower().endswith(tuple(f".{ending}" for ending in _LOOKED_AT)) or path.endswith(_IN_A_NOTEBOOK))
        and (submission.folder / path).stat().st_size <= MAX_CHARACTERS
    ]
    paths = sorted(paths, key=lambda path: (path.count("/"), path))[:_MAX_LOOKED_AT]
    latex = [path for path in paths if path.lower().endswith(".tex")]
    taken = {name for path in latex for name in _taken_in(submission, path)}
    return [path for path in paths if path not in latex or PurePosixPath(path).with_suffix("").name not in taken]


def _taken_in(submission: Submission, path: str) -> set[str]:
    text = (submission.folder / path).read_bytes().decode("utf-8", "replace")
    own = PurePosixPath(path).with_suffix("").name
    names = {PurePosixPath(name).name.removesuffix(".tex") for name in names_taken_in(text)}
    return names - {own}


def _file(submission: Submission, path: str) -> SheetFile:
    def content(other: str) -> bytes | None:
        if other not in submission.own_files:
            return None
        found = submission.folder / other
        return found.read_bytes() if found.stat().st_size <= MAX_CHARACTERS else None

    size = (submission.folder / path).stat().st_size
    if size > 4 * MAX_CHARACTERS:  # a character takes up to four bytes
        message = f"{quote(path)} is longer than {MAX_CHARACTERS} characters, so it was not read"
        raise WrongKind(message, code="sheet_too_long")
    return SheetFile(path, (submission.folder / path).read_bytes(), content)


def _different(candidates: list[_Candidate], submission: Submission) -> list[_Candidate]:
    """Without copies, and without what was set aside."""
    kept = remaining("answers", [one.path for one in candidates], (), submission.folder)
    return [one for one in candidates if one.path in kept]


def _chosen(candidates: list[_Candidate], submission: Submission) -> Answers:
    candidates = sorted(candidates, key=lambda one: (not one.named, -len(one.sure), one.path.count("/"), one.path))
    best = max(candidates, key=lambda one: (3 if one.named else 1) * len(one.sure))
    sheet, used, left = best.answers, [best], []
    for one in candidates:
        if one is best:
            continue
        if not one.counted & {part for used_one in used for part in used_one.counted}:
            used.append(one)
            parts = {**one.answers.parts, **sheet.parts}
            sheet = replace(sheet, parts=parts, notes=(*sheet.notes, *one.answers.notes))
        elif one.named == best.named and (one.named or len(one.sure) == len(best.sure)):
            raise Ambiguous(
                f"there are several answer sheets: {_listed(sorted((best.path, one.path)))}; keep one",
                paths=(best.path, one.path),
                code="several_sheets",
            )
        else:
            left.append(one.path)
    passed_over = (f"{_listed(left)} answer parts too, but fewer; {quote(best.path, 80)} counts",) if left else ()
    order = [part for one in used for part in one.answers.parts]
    parts = {part: sheet.parts[part] for part in order if part in sheet.parts}
    return replace(sheet, parts=parts, notes=(*sheet.notes, *passed_over), files=tuple(one.path for one in used))


def _nothing(submission: Submission, candidates: Sequence[_Candidate]) -> StudentFault:
    """Text that is there and cannot be placed is for a person; where there is none, nothing was handed in."""
    unread = [path for path in submission.own_files if path.lower().endswith(tuple(f".{one}" for one in NOT_READ))]
    if unread:
        fix = "hand in the answers as Markdown, LaTeX or PDF"
        why = f"{_listed(unread)} cannot be read here, so a person has to; {fix}"
        return ForAPerson(why, code="sheet_unreadable")
    looked = [one for one in candidates if one.answers.unplaced or one.answers.parts]
    if likely := [one.path for one in looked if one.likely]:
        fix = "write above each answer which part it is"
        why = f"{_listed(likely)} names no part of this assignment, so a person has to read it; {fix}"
        return ForAPerson(why, code="unplaced_answer")
    seen = f"; {_listed([one.path for one in looked])} names no part" if looked else ""
    told = next((f"; {note}" for one in candidates if one.likely for note in one.answers.notes), "")
    return Missing(f"no answers were handed in; write them in {_FORMATS}{seen}{told}", code="sheet_missing")


def _listed(paths: Sequence[str]) -> str:
    named = [quote(re.sub(r"(?<=\.ipynb)#.*", "", path), 80) for path in paths[:3]]
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return (" and ".join(named) if len(named) < 3 and not more else ", ".join(named)) + more
