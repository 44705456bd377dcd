"""One part's answer for a check, or why there is none: what concerns the whole sheet is said once, in the notes."""

from __future__ import annotations

from collections.abc import Sequence

from grader.errors import ForAPerson, Missing, StudentFault
from grader.grading.pdf_caution import answer_in, unplaced
from grader.model import Answer, Answers, Problem, Status
from grader.quoting import quote


def answer_to(problem: Problem, sheet: Answers | StudentFault) -> Answer:
    """What was written for a problem. An optional one is not switched on by text that may mean another."""
    nothing = Missing(f"there is no answer to {problem.id}", code="no_answer_given")
    if isinstance(sheet, StudentFault):
        if problem.optional or sheet.status is Status.MISSING:
            raise nothing
        why = "a person has to look at the answer sheet; the notes say why"
        raise ForAPerson(why, code=sheet.code) from sheet
    if sheet.pdf:
        return answer_in(sheet, problem)
    if problem.id in sheet.parts:
        return sheet.parts[problem.id]
    place = sheet.unplaced.get(problem.id)
    if place is None or problem.optional:
        raise nothing
    raise unplaced(place, problem)


def about(sheet: Answers | StudentFault, parts: Sequence[str]) -> tuple[str, ...]:
    """What there is to say about the sheet as a whole: which file was read, what it answers, what has no place."""
    if isinstance(sheet, StudentFault):
        return (sheet.message,)
    if not sheet.files:
        return sheet.notes
    files = " and ".join(quote(file.partition("#")[0], 80) for file in sheet.files)
    return (
        f"written answers were read from {files}: {_ranges(list(sheet.parts), parts or list(sheet.parts))}",
        *sheet.notes,
    )


def _ranges(found: Sequence[str], parts: Sequence[str]) -> str:
    """1.a.i, 1.a.ii, 1.a.iii → 1.a.i–1.a.iii, in the order of the assignment."""
    runs: list[list[str]] = []
    for at, part in enumerate(parts):
        if part in found:
            if runs and at and runs[-1][-1] == parts[at - 1]:
                runs[-1].append(part)
            else:
                runs.append([part])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}{'–' if len(run) > 2 else ', '}{run[-1]}" for run in runs)
