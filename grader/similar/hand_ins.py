"""Opens what was handed in and takes from it what is compared. Nothing is run, and what is too large is passed over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.errors import StudentFault, UsageError
from grader.model import Rubric, is_code
from grader.quoting import quote
from grader.similar.material import Material
from grader.similar.normalised_tokens import code_material
from grader.similar.prediction_lines import Predictions
from grader.similar.prose_shingles import prose_material, questions_material
from grader.similar.winnowing import Grain, course_grams, given_in
from grader.submission.alternatives import sheet_of
from grader.submission.opening import OpenedSubmission, open_submission
from grader.submission.starter_code import starter_folder

MAX_FILE_BYTES = 256 * 2**10  # of one file of code: twenty times what the longest has that a person wrote
MAX_CODE_BYTES = 2**20  # of all code of one submission
MAX_PREDICTIONS_BYTES = 2**20
# Tokens in a row that make them the course's: words, tokens with their names, and tokens in which names are all alike.
_GIVEN_WORDS, _GIVEN_NAMED, _GIVEN_SHAPED = 4, 6, 12
_TEXTS = (".md", ".tex", ".txt", ".markdown")

CODE, PROSE, PREDICTIONS = "code", "prose", "predictions"
GRAINS = {
    # Some three statements: each alone is anybody's, and what stands beside it is not. Between 16 and 24 tokens the
    # planted pairs of `python -m benchmarks.similar_work` rank alike; with 12, honest pairs come before them.
    CODE: Grain(length=20, window=4, least=20),
    PROSE: Grain(length=5, window=2, least=8),
    PREDICTIONS: Grain(length=1, window=1, least=1),
}


@dataclass(frozen=True)
class Taken:
    """What one submission has of each kind, and what was passed over."""

    kinds: dict[str, Material]
    notes: tuple[str, ...] = ()


class Reader:
    """Reads submissions for one rubric, without what the course gave."""

    def __init__(self, rubric: Rubric, starters: Iterable[Path] = ()) -> None:
        self._rubric = rubric
        self._predictions = Predictions(rubric)
        own = starter_folder(rubric)
        given = [*([own] if own.is_dir() else []), *starters]
        code: dict[str, str] = {}
        texts: list[str] = []
        for number, folder in enumerate(given):
            with open_submission(folder) as opened:
                files, notes = _code(opened)
                if notes:
                    raise UsageError(f"{quote(str(folder))}: {notes[0]}; leave it out of the starter")
                code |= {f"{number}/{file}": text for file, text in files.items()}
                texts += _texts(opened)
        normal, written = code_material(code)
        self.starter_files = len(code)
        self._normal = course_grams(normal.tokens, _GIVEN_SHAPED)
        self._written = course_grams(written.tokens, _GIVEN_NAMED)
        self._asked = course_grams(questions_material(rubric, texts).tokens, _GIVEN_WORDS)

    def read(self, path: Path) -> Taken:
        """UsageError where it cannot be opened."""
        with open_submission(path) as opened:
            submission = opened.for_rubric(self._rubric)
            files, notes = _code(submission)
            normal, written = code_material(files)
            given = (
                (_GIVEN_SHAPED, given_in(normal.tokens, _GIVEN_SHAPED, self._normal)),
                (_GIVEN_NAMED, given_in(written.tokens, _GIVEN_NAMED, self._written)),
            )
            predictions = self._predictions.material(self._prediction_files(submission))
            kinds = {CODE: normal.without(given), PROSE: self._prose(submission), PREDICTIONS: predictions}
            return Taken(kinds, tuple(notes))

    def _prose(self, submission: OpenedSubmission) -> Material:
        try:
            parts = sheet_of(submission, self._rubric).parts.values()
        except StudentFault:  # no sheet, or none that can be read: the report of its grading says why
            return prose_material(())
        found = prose_material(parts)
        return found.without([(_GIVEN_WORDS, given_in(found.tokens, _GIVEN_WORDS, self._asked))])

    def _prediction_files(self, submission: OpenedSubmission) -> dict[str, bytes]:
        found = {}
        for file in self._predictions.files:
            try:
                content = submission.read(file)
            except StudentFault:  # missing, there twice, or far too large
                continue
            if len(content) <= MAX_PREDICTIONS_BYTES:
                found[file] = content
        return found


def _code(submission: OpenedSubmission) -> tuple[dict[str, str], list[str]]:
    """Its files of code and the cells of its notebooks; of copies one."""
    found: dict[str, str] = {}
    notes: list[str] = []
    size = 0
    for file in submission.own_files:
        if is_code(file.lower()) and ".ipynb#" not in file:
            place = submission.folder / file
            length = place.stat().st_size
            size += length if length <= MAX_FILE_BYTES else 0
            if length > MAX_FILE_BYTES or size > MAX_CODE_BYTES:
                notes.append(f"{quote(file)} is too long to be compared")
                continue
            found[file] = place.read_bytes().decode("utf-8", "replace")
    for notebook in submission.notebooks:
        if notebook.path in submission.own_files:
            cells = "\n".join(f"# cell {cell.number}\n{cell.source}" for cell in notebook.cells)
            found[notebook.path] = cells
    unique = {text: file for file, text in reversed(found.items())}
    return {file: text for file, text in found.items() if unique[text] == file}, notes


def _texts(submission: OpenedSubmission) -> list[str]:
    paths = [submission.folder / file for file in submission.files if file.lower().endswith(_TEXTS)]
    return [path.read_text("utf-8", "replace") for path in paths if path.stat().st_size <= MAX_FILE_BYTES]
