"""A class from beginning to end: find what was handed in, read it, rank the pairs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.batch.finding import HandedIn, find_submissions
from grader.batch.running import rubric_of
from grader.errors import StaffFault, UsageError
from grader.quoting import quote
from grader.rubric.choosing import refuse_rubric_inside
from grader.rubric.loading import find_rubric, load_rubric
from grader.similar.hand_ins import Reader, Taken
from grader.similar.pairs import SHARE, Findings, find_pairs

MOST = 50  # pairs on a page


@dataclass(frozen=True)
class Request:
    """What staff asked for on the command line."""

    submissions: Path
    rubric: str | None = None
    data: Path | None = None
    starters: tuple[Path, ...] = ()
    most: int = MOST
    share: float = SHARE


@dataclass(frozen=True)
class Comparison:
    rubric: str
    title: str
    names: tuple[str, ...]  # of each submission: the student's, or those of a group
    works: tuple[Taken, ...]
    findings: Findings
    not_compared: tuple[str, ...]  # a line for each, with its cause
    starter_files: int


Watch = Callable[[int, int], None]  # how many are read, of how many


def compare(request: Request, watch: Watch) -> Comparison:
    with tempfile.TemporaryDirectory(prefix="grader-similar-", ignore_cleanup_errors=True) as temporary:
        found = find_submissions(request.submissions, Path(temporary))
        not_compared = [*found.twice, *found.notes]
        if not found.submissions:
            raise UsageError(f"{quote(str(request.submissions))}: there is no submission to compare")
        rubric = load_rubric(_rubric(request, list(found.submissions)), request.data)
        reader = Reader(rubric, request.starters)
        groups = _by_hand_in(found.submissions)
        names, works = [], []
        for number, (path, those) in enumerate(groups.items(), start=1):
            name = ", ".join(one.student for one in those)
            try:
                if those[0].fault:
                    raise UsageError(those[0].fault)
                taken = reader.read(path)
            except StaffFault as fault:
                not_compared.append(f"{name}: {quote(str(fault))}")
            except Exception as fault:  # one student's files stop nobody else's
                not_compared.append(f"{name} cannot be read ({quote(f'{type(fault).__name__}: {fault}')})")
            else:
                names.append(name)
                works.append(taken)
                not_compared += [f"{name}: {note}" for note in taken.notes]
            watch(number, len(groups))
    findings = find_pairs([work.kinds for work in works], request.most, request.share)
    return Comparison(
        rubric.name, rubric.title, tuple(names), tuple(works), findings, tuple(not_compared), reader.starter_files
    )


def _rubric(request: Request, submissions: list[HandedIn]) -> Path:
    if request.rubric is None:
        return rubric_of(submissions)
    rubric = find_rubric(request.rubric)
    refuse_rubric_inside(rubric, request.submissions)
    return rubric


def _by_hand_in(submissions: tuple[HandedIn, ...]) -> dict[Path, list[HandedIn]]:
    """Students who handed in together have one submission, which is like itself and says nothing."""
    groups: dict[Path, list[HandedIn]] = {}
    for one in submissions:
        groups.setdefault(one.path, []).append(one)
    return groups
