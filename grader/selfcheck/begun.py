"""What was begun: files that are no longer as the kit brought them, and parts for which there is anything at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from grader.errors import Missing, StudentFault
from grader.model import Answers, Problem, Rubric, is_code
from grader.release.handout import starter_folder
from grader.submission.alternatives import is_there, sheet_of
from grader.submission.opening import OpenedSubmission

# Beside a kit's rubric: what the files of code were when they were given out. Copies of them would be found as a second
# attention.py in what is handed in, by those who hand in the whole folder.
DIGESTS = "starter.json"


def as_digests(files: Mapping[str, bytes]) -> str:
    return json.dumps({name: _digest(content) for name, content in files.items()}, indent=1) + "\n"


def _digest(content: bytes) -> str:
    """Without what editors change by themselves at the ends of lines."""
    return hashlib.sha256(b"\n".join(line.rstrip() for line in content.splitlines())).hexdigest()


class Begun:
    """`rubric` is what is checked at home; beside it stands what students began with."""

    def __init__(self, submission: OpenedSubmission, rubric: Rubric) -> None:
        self._submission = submission.for_rubric(rubric)
        self._rubric = rubric

    @cached_property
    def untouched(self) -> list[str]:
        """Files of code that are still as they came, wherever they were moved to."""
        code = [file for file in self._submission.files if is_code(file)]
        return [file for file in code if _digest((self._submission.folder / file).read_bytes()) in self._given(file)]

    def _given(self, file: str) -> set[str]:
        """Digests of what was given out under this name: a kit has them, a rubric of the staff's the files."""
        name, beside = PurePosixPath(file).name, self._rubric.folder
        try:
            digests = json.loads((beside / DIGESTS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            files = starter_folder(self._rubric).rglob("*.py")
            return {_digest(path.read_bytes()) for path in files if path.name == name}
        return {digest for path, digest in digests.items() if PurePosixPath(path).name == name}

    def has_begun(self, problem: Problem) -> bool:
        """A part that is judged later: whether it is on the sheet, or in a file it asks for, or, where it is not said
        here which, may be in any code that no other part asks for."""
        answers = self._answers
        if problem.id in answers.parts or problem.id in answers.unplaced or answers.pdf or answers.unread:
            return True
        if files := problem.later.files:
            untouched = {PurePosixPath(file).name for file in self.untouched}
            return any(is_there(file, self._submission) for file in files if file not in untouched)
        asked = set(self._rubric.files_asked)
        own = [file for file in self._submission.files if is_code(file) or file.endswith(".ipynb")]
        return any(file not in self.untouched and PurePosixPath(file).name not in asked for file in own)

    def asked_by(self, file: str) -> list[str]:
        """The parts that a file is known to be handed in for."""
        alone = {problem.id: replace(self._rubric, problems=(problem,)) for problem in self._rubric.problems}
        return [part for part, rubric in alone.items() if PurePosixPath(file).name in rubric.files_asked]

    @cached_property
    def _answers(self) -> Answers:
        try:
            return sheet_of(self._submission, self._rubric)
        except Missing:
            return Answers({})
        except StudentFault as fault:  # a person has to look
            return Answers({}, unread=fault.message)
