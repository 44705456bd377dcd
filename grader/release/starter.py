"""What a student begins with: a page to read, a sheet with every part to answer, and files of code to fill in."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from jinja2 import Environment, PackageLoader, StrictUndefined

from grader.answers.unseen import QUESTION
from grader.model import Problem, Rubric, is_code
from grader.registry import options_of, question_of
from grader.release.decisions import data_files
from grader.report.points import shown
from grader.rubric.per_student import with_names
from grader.selfcheck.own_runner import how_to_install
from grader.submission.starter_code import starter_folder

_SHEET = "answers.md"


def pages(rubric: Rubric, points: Fraction, wheel: str) -> Iterator[tuple[str, str]]:
    """README, declaration and, if some part is answered in writing, the answer sheet with its questions."""
    templates = Environment(
        loader=PackageLoader("grader.release"), trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    questions = {problem.id: _remark(problem) for problem in rubric.problems if is_written(problem)}
    facts = {
        "rubric": rubric,
        "name": rubric.folder.resolve().name,  # as submission.yaml says it
        "wheel": wheel,
        "here": shown(points),
        "questions": questions,
        "own_numbers": [f"`{name}`" for name in rubric.per_student.ranges],
        "with_torch": [problem.id for problem in rubric.problems if "torch" in problem.libraries],
        "install_torch": how_to_install,
        "shown": shown,
        "files": _files,
        "unseen": QUESTION,
    }
    for page in ("README.md", "submission.yaml", *([_SHEET] if questions else [])):
        yield page, templates.get_template(page).render(facts)


def is_written(problem: Problem) -> bool:
    """Whether some check of it reads the answer sheet: it judges no file, be it the student's or one with labels."""
    return any(not check.files and not data_files(check) for check in problem.every_check)


def _remark(problem: Problem) -> str:
    """Title and questions."""
    asked = [problem.title + " (optional)" * problem.optional]
    for check in problem.every_check:
        options = (f"({label}) {text}" for label, text in options_of(check).items())
        asked.append(with_names(" ".join([question_of(check), *options]).strip()))
    return ". ".join(filter(None, dict.fromkeys(asked)))


def _files(problem: Problem) -> list[str]:
    """What to submit for it."""
    asked = [_SHEET] if is_written(problem) else []
    asked += dict.fromkeys(file for check in problem.checks for file in check.files)
    for one in problem.alternatives:
        files = dict.fromkeys([*one.files[:1], *one.beside, *(file for check in one.checks for file in check.files)])
        asked += [f"{one.name}: {', '.join(files)}"] if files else []
    return asked


def without_a_starter(rubric: Rubric) -> list[str]:
    """Files of code that are asked for and that students have to begin from nothing."""
    asked = {file for problem in rubric.problems for check in problem.every_check for file in check.files}
    return sorted(file for file in asked if is_code(file) and not any(starter_folder(rubric).rglob(file)))
