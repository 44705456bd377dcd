"""One's own work, opened: where it lies, and the rubric it is checked by.

At home a rubric may lie in the folder itself, `rubric/NAME/`, as in the kit that students get. It can bring code, so
`run` and `batch`, which grade what others hand in, never look there.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.errors import UsageError
from grader.grading.randomness import draw_at_home
from grader.model import Rubric
from grader.quoting import quote
from grader.rubric.choosing import choose_rubric
from grader.rubric.locating import RUBRIC, find_rubric, rubric_choices
from grader.submission.opening import OpenedSubmission, open_submission

KIT_FOLDER = "rubric"
_WINDOWS_PATH = re.compile(r"([A-Za-z]):[\\/]?(.*)", re.DOTALL)


@dataclass(frozen=True)
class OwnWork:
    submission: OpenedSubmission
    whole: Rubric
    rubric: Rubric  # the part of it that is checked at home


@dataclass(frozen=True)
class Order:
    """What is to be checked."""

    path: Path
    rubric: str | None = None
    data: Path | None = None
    parts: tuple[str, ...] = ()


@contextmanager
def open_own_work(path: Path, named: str | None = None, data: Path | None = None) -> Iterator[OwnWork]:
    with open_unchecked(Order(path, named, data)) as (opened, rubric):
        yield work_by(rubric, data, opened)


def work_by(rubric: Path, data: Path | None, opened: OpenedSubmission) -> OwnWork:
    from grader.rubric.loading import load_rubric  # here: with it come all libraries that check a rubric
    from grader.rubric.per_student import for_student
    from grader.selfcheck.home_rubric import at_home

    whole = for_student(load_rubric(rubric, data), opened.student or opened.name, draw_at_home())
    return OwnWork(opened, whole, at_home(whole))


@contextmanager
def open_unchecked(order: Order) -> Iterator[tuple[OpenedSubmission, Path]]:
    """One's own work and where its rubric lies; whether that can be loaded shows later."""
    path, named, data = order.path, order.rubric, order.data
    if data is not None and not data.is_dir():
        raise UsageError(f"{quote(str(data))}: there is no such folder of data")
    with open_submission(_existing(path)) as opened:
        if path.is_dir() and _kit(path):  # what the kit brings is not handed in: neither people nor code look at it
            files = tuple(file for file in opened.files if not file.startswith(f"{KIT_FOLDER}/"))
            shutil.rmtree(opened.folder / KIT_FOLDER, ignore_errors=True)  # a link was not copied
            opened = replace(opened, files=files)
        rubric = _named(path, named or opened.rubric, by_staff=named is not None)
        yield opened, rubric or _fitting(path, opened)


def rubric_at_home(path: Path, named: str | None) -> Rubric:
    """The whole rubric, found without a look at the work where that is possible."""
    from grader.rubric.loading import load_rubric

    rubric = _named(_existing(path), named, by_staff=True)
    if rubric is not None:
        return load_rubric(rubric)
    with open_own_work(path) as work:
        return work.whole


def _existing(path: Path) -> Path:
    drive = _WINDOWS_PATH.fullmatch(str(path))
    if drive and not path.exists():
        here = f"/mnt/{drive[1].lower()}/{drive[2]}".replace("\\", "/")
        cause = "is a path of Windows, and this is not Windows"
        raise UsageError(f"{quote(str(path))} {cause}; in WSL it is '{quote(here)}', with quotation marks")
    return path


def _kit(path: Path) -> dict[str, Path]:
    """The rubrics that lie beside one's own work."""
    folder = (path if path.is_dir() else path.parent) / KIT_FOLDER
    return {file.parent.name: file for file in sorted(folder.glob(f"*/{RUBRIC}"))}


def _named(path: Path, named: str | None, *, by_staff: bool) -> Path | None:
    """The rubric of this name, in the kit or among the grader's; without a name, the kit's only one."""
    kit = _kit(path)
    if named is None:
        return next(iter(kit.values())) if len(kit) == 1 else None
    if named in kit:
        return kit[named]
    try:
        return find_rubric(named, by_staff=by_staff)
    except UsageError as error:
        said = str(error) if by_staff else f"submission.yaml: {error}"
        raise UsageError(said if kit or "; " in said else f"{said}{_where_the_kit_is(path, named)}") from None


def _where_the_kit_is(path: Path, named: str) -> str:
    fix = "check" if path.is_dir() else "put it into"
    rubric = f"--rubric KIT/{KIT_FOLDER}/{quote(named, 60)}/"
    return f" beside {quote(str(path))}; {fix} the folder of your kit, or say {rubric}"


def _fitting(path: Path, opened: OpenedSubmission) -> Path:
    try:
        return choose_rubric(None, opened, path)
    except UsageError as error:
        choices = ", ".join(rubric_choices())
        choose = f"; or choose one with --rubric: {choices}" if choices else ""
        folder = path if path.is_dir() else path.parent
        below = sorted(entry for entry in folder.iterdir() if entry.is_dir())
        near = [entry for entry in (*below, folder.resolve().parent) if _is_homework(entry)]
        where = quote(str(path))
        if near:
            kit = quote(str(near[0]))
            raise UsageError(f"{where} holds no homework, but {kit} does: `grader check {kit}`{choose}") from None
        if "no rubric fits" not in str(error):
            raise
        fix = "go to the folder with your answers and code, or name it: `grader check FOLDER`"
        raise UsageError(f"{where} holds no homework: {fix}{choose}") from None


def _is_homework(folder: Path) -> bool:
    return bool(_kit(folder)) or (folder / "submission.yaml").is_file()
