"""What a student begins with: a page to read, a sheet with every part to answer, and files of code to fill in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.answers.unseen import QUESTION
from grader.model import Problem, Rubric, is_code
from grader.registry import options_of, question_of
from grader.release.decisions import data_files
from grader.release.handout import starter_files
from grader.report.points import shown
from grader.rubric.per_student import with_names
from grader.selfcheck.own_runner import how_to_install

_FORMULAS = """\
Write under each heading; what stands in remarks like this one is not read. Leave the headings as they are.

Formulas stand between dollars, $W = 2 U V^\\top$, or between double dollars on lines of their own; LaTeX,
`W = 2 * U @ V.T` and W = 2UVᵀ are all read. Where a name is asked for, write an equation with that name on its left
side; the last one counts, and between two side by side ("W = … or W = …") a person has to choose. Say what your own
letters are: "for large t", "with s > 0". How a formula is read:
    grader formula 'W = 2 U V^\\top' --part ID
"""


def answer_sheet(rubric: Rubric) -> str:
    """A heading for every part that is answered in writing, with its question where the rubric has it; nothing, if no
    part is."""
    if not any(is_written(problem) for problem in rubric.problems):
        return ""
    lines = [f"# {rubric.title}", "", f"{QUESTION}\n{_FORMULAS}-->", ""]
    for problem in rubric.problems:
        if is_written(problem):
            optional = " (optional)" if problem.optional else ""
            # The title is a remark, too: "A = I" in a heading would be read as an answer.
            remark = [f"{problem.title}{optional}", *dict.fromkeys(map(with_names, _questions(problem)))]
            lines += [f"## {problem.id}", "", f"{QUESTION} {'. '.join(remark)} -->", ""]
    return "\n".join(lines)


def name_of(rubric: Rubric) -> str:
    """What it goes by in a kit, and in `submission.yaml`."""
    return rubric.folder.resolve().name


def declaration(rubric: Rubric) -> str:
    """`submission.yaml`. Who has numbers of their own is known by an id."""
    who = "student: ''  # write the id here that your course knows you by\n" if rubric.per_student.ranges else ""
    return f"rubric: {name_of(rubric)}\n{who}"


def is_written(problem: Problem) -> bool:
    """Whether some check of it reads the answer sheet: it judges no file, be it the student's or one with labels."""
    return any(not check.files and not any(data_files(check)) for check in problem.every_check)


def _questions(problem: Problem) -> Iterator[str]:
    for check in problem.every_check:
        options = [f"({label}) {text}" for label, text in options_of(check).items()]
        if question := " ".join([question_of(check), *options]).strip():
            yield question


def readme(rubric: Rubric, public: Rubric, wheel: str) -> str:
    """Two commands, and what is here."""
    here = sum((problem.points for problem in public.problems if not problem.optional), start=0 * rubric.points)
    written = any(is_written(problem) for problem in rubric.problems)
    people = ", and people read what you wrote" if written else ""
    lines = [
        f"# {rubric.title}",
        "",
        *_how_to_install(rubric, wheel),
        f"{shown(here)} of {shown(rubric.points)} points are checked here; the rest after the deadline{people}.",
        "So what passes here is no grade yet.",
        "Only your own code is run, and nothing leaves your machine.",
        "",
        *_own_numbers(rubric),
        *(
            ["`answers.md` has a heading for every part to answer in writing, and says how to write formulas."]
            * written
        ),
        "Files of code are there to be filled in; a helper of your own may stand beside them.",
        f"`rubric/` holds what the checks need, and data under `rubric/{name_of(rubric)}/data/`; leave it as it is.",
        "",
        "| part | | points | hand in |",
        "|---|---|---|---|",
        *(_row(problem) for problem in rubric.problems),
    ]
    return "\n".join(lines) + "\n"


def _own_numbers(rubric: Rubric) -> list[str]:
    if not rubric.per_student.ranges:
        return []
    names = " and ".join(f"`{name}`" for name in rubric.per_student.ranges)
    return [
        f"Your {names} {'is' if len(rubric.per_student.ranges) == 1 else 'are'} your own: write your id into "
        "`submission.yaml` and run `grader parameters`.",
        "",
    ]


def _how_to_install(rubric: Rubric, wheel: str) -> list[str]:
    lines = [
        "Needs Python 3.11 or newer. Install the checker once, in an environment of its own; it takes a minute.",
        "On Linux and macOS:",
        "",
        "    python3 -m venv .venv && source .venv/bin/activate",
        f"    pip install wheel/{wheel}",
        "",
        "On Windows, in PowerShell:",
        "",
        "    py -m venv .venv; .venv\\Scripts\\Activate.ps1",
        f"    pip install wheel/{wheel}",
        "",
        "With uv, `uv venv` makes the environment, and `uv pip install` is what `pip install` is here.",
        "Then check your work as often as you like:",
        "",
        "    grader check .",
        "",
    ]
    if parts := [problem.id for problem in rubric.problems if "torch" in problem.libraries]:
        lines += [
            f"Only for {', '.join(parts)} torch is needed, too. Its build for processors is enough; what pip finds on",
            "Linux by itself brings gigabytes for a GPU:",
            "",
            f"    {how_to_install('torch', 'linux')}    # Linux",
            f"    {how_to_install('torch', 'darwin')}    # macOS, Windows",
            "",
        ]
    return lines


def _row(problem: Problem) -> str:
    asked = ["answers.md"] if is_written(problem) else []
    asked += dict.fromkeys(file for check in problem.checks for file in check.files)
    for one in problem.alternatives:
        files = dict.fromkeys([*one.files[:1], *one.beside, *(file for check in one.checks for file in check.files)])
        asked += [f"{one.name}: {', '.join(files)}"] if files else []
    points = f"+{shown(problem.points)}" if problem.optional else shown(problem.points)
    return f"| {problem.id} | {problem.title} | {points} | {'; '.join(asked)} |"


def without_a_starter(rubric: Rubric) -> list[str]:
    """Files of code that are asked for and that students have to begin from nothing."""
    there = {Path(name).name for name in starter_files(rubric)}
    asked = {file for problem in rubric.problems for check in problem.every_check for file in check.files}
    return sorted(file for file in asked - there if is_code(file))
