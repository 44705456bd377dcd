"""Of several files that fit a name, those that may count: source is scanned for what it defines, never run or parsed.

Course material goes first, then copies, then what another one surpasses: every name that is asked for is at least as
far along there, and one is further; then what another one imports; then what was set aside, in a folder called backup,
say. What is no code counts where the rest of the work lies.
"""

from __future__ import annotations

import filecmp
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from pathlib import Path, PurePosixPath

from grader.errors import Ambiguous, StudentFault
from grader.model import Submission
from grader.sandbox.box.reading.source_text import IMPORTED, blocks, code_of, is_idle

_RANKS = {"absent": 0, "stub": 1, "written": 2}

_ASSIGNED = re.compile(r"(\w+)[ \t]*(?::[^=\n]*)?=(?!=)")
_SET_ASIDE = re.compile(
    r"(?:^|[\W_])(?:old|backup|bak|archived?|previous|prev|copy|deprecated|trash|tmp|temp|draft)s?(?:$|[\W\d_])",
    re.IGNORECASE,
)
_ADDED = re.compile(r"[ _]?\(\d+\)|[ _-]+copy(?=\.|$)", re.IGNORECASE)  # by a browser, to a name that was taken


def names_of_folders(names: list[str]) -> list[str]:
    """A validator: what lies in such a folder is found by its name alone, so a path would find nothing."""
    for name in names:
        if not re.fullmatch(r"[^/\\]*\w[^/\\]*", name):
            raise ValueError(f"names folders, and '{name}' is no name of a folder")
    return names


def is_course_material(path: str, folders: Collection[str]) -> bool:
    """Whether it lies in one of these folders, in whatever case and with whatever between the words."""
    if not folders or "/" not in path:
        return False
    given = {_plain(folder) for folder in folders}
    return any(_plain(part) in given for part in PurePosixPath(path).parts[:-1])


@lru_cache(maxsize=4096)  # in a class the same names come again
def is_nearly(path: str, file: str) -> bool:
    """Whether a file was meant to have this name: `dev (1).predictions`, `dev_predictions`, `dev.predictions.txt`."""
    name = _ADDED.sub("", PurePosixPath(path).name)
    if not file.endswith(".py"):
        name = name.removesuffix(".txt")
    return _plain(name) == _plain(file) and name.endswith(".py") == file.endswith(".py")


def remaining(file: str, paths: Sequence[str], names: Collection[str], folder: Path) -> list[str]:
    """Those that may count, best place first; more than one if a person has to decide."""
    if len(paths) < 2:
        return list(paths)
    paths = sorted(paths, key=lambda path: (path.count("/"), path))
    kept: list[str] = []
    for path in paths:
        if not any(filecmp.cmp(folder / path, folder / other, shallow=False) for other in kept):
            kept.append(path)
    if len(kept) > 1 and file.endswith(".py"):
        ranks = {path: _ranks(folder / path, names) for path in kept}
        kept = [path for path in kept if not any(_surpasses(ranks[other], ranks[path]) for other in kept)]
        kept = [path for path in kept if not any(_hands_on(folder, other, path, names) for other in kept)]
    return [path for path in kept if not any(map(_SET_ASIDE.search, path.split("/")[:-1]))] or kept


def where_the_rest_lies(paths: Sequence[str], rest: Iterable[str]) -> list[str]:
    """Of files that differ, the one in a folder where others lie that were asked for, if only one does; where none
    does, the one that shares most folders with one of those."""
    others = [PurePosixPath(path) for path in rest]

    def closeness(path: str) -> float:
        own = PurePosixPath(path)
        shared = [inf if own.parent == one.parent else len({*own.parents} & {*one.parents}) for one in others]
        return max(shared, default=0)

    closest = max(map(closeness, paths))
    nearest = [path for path in paths if closeness(path) == closest]
    return nearest if len(nearest) == 1 else list(paths)


def _hands_on(folder: Path, door: str, path: str, names: Collection[str]) -> bool:
    """Whether one file does nothing about these names but import them from the other: then both are one work."""
    handed_on: set[str] = set()
    for imported in IMPORTED.finditer(code_of(folder / door) or "") if door != path else ():
        module = imported[1].strip(".").replace(".", "/")
        if module and f"/{path}".endswith(f"/{module}.py"):
            handed_on |= _imported_names(imported)
    return bool(names) and handed_on >= set(names)


def _imported_names(imported: re.Match[str]) -> set[str]:
    return set(re.findall(r"(\w+)[ \t]*(?:,|\n|$)", imported[2] or imported[3] or ""))


def states(path: Path, names: Collection[str]) -> dict[str, str]:
    """'absent', 'stub' or 'written' for each name that a source file, or a part of a notebook, may define."""
    found = dict.fromkeys(names, "absent")
    code = code_of(path)
    if code is None:
        return {}
    for imported in IMPORTED.finditer(code):
        found |= dict.fromkeys(_imported_names(imported) & found.keys(), "written")
    for block, name, is_stub in blocks(code):
        if name in found:
            found[name] = "stub" if is_stub else "written"
        elif (assigned := _ASSIGNED.match(block)) and assigned[1] in found:
            found[assigned[1]] = "written"
    return found


def paths_of(file: str, submission: Submission) -> Sequence[str]:
    """What goes by this name: one file, none, or several of which the TA decides."""
    try:
        return (submission.find(file),)
    except Ambiguous as several:
        return several.paths
    except StudentFault:
        return ()


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name).casefold()


def _ranks(path: Path, names: Collection[str]) -> Mapping[str, int]:
    """How far each name is; where none is asked for, whether it does anything at all. Of what cannot be read nothing
    is known."""
    if names:
        return {name: _RANKS[state] for name, state in states(path, names).items()}
    code = code_of(path)
    return {} if code is None else {"": int(not is_idle(code.splitlines()))}


def _surpasses(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return bool(one and other) and one != other and all(one[name] >= other[name] for name in other)
