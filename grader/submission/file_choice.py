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
from pathlib import Path, PurePosixPath

from grader.sandbox.box.reading.source_text import IMPORTED, blocks, code_of, is_idle

_RANKS = {"absent": 0, "stub": 1, "written": 2}
_ANY = ""  # stands for "does anything at all" where no name is asked for

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
    kept = [path for at, path in enumerate(paths) if not any(_same(folder, path, other) for other in paths[:at])]
    if len(kept) > 1 and file.endswith(".py"):
        ranks = {path: _ranks(folder / path, names) for path in kept}
        kept = [path for path in kept if not any(_surpasses(ranks[other], ranks[path]) for other in kept)]
        kept = [path for path in kept if not any(_hands_on(folder, other, path, names) for other in kept)]
    return [path for path in kept if not _is_set_aside(path)] or kept


def where_the_rest_lies(paths: Sequence[str], rest: Iterable[str]) -> list[str]:
    """Of files that differ, the one in a folder where others lie that were asked for, if only one does; where none
    does, the one that shares most folders with one of those."""
    folders = [PurePosixPath(path).parent.parts for path in rest]
    beside = [path for path in paths if PurePosixPath(path).parent.parts in folders]
    if not beside:
        shared = {
            path: max((_shared(PurePosixPath(path).parts, parts) for parts in folders), default=0) for path in paths
        }
        beside = [path for path in paths if shared[path] == max(shared.values())]
    return beside if len(beside) == 1 else list(paths)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _hands_on(folder: Path, door: str, path: str, names: Collection[str]) -> bool:
    """Whether one file does nothing about these names but import them from the other: then both are one work."""
    code = code_of(folder / door) if door != path else None
    if code is None or not names:
        return False
    parts, handed_on = PurePosixPath(path).with_suffix("").parts, set()
    for imported in IMPORTED.finditer(code):
        module = [part for part in imported[1].split(".") if part]
        if module and list(parts[-len(module) :]) == module:
            handed_on |= _imported_names(imported)
    return handed_on >= set(names)


def _imported_names(imported: re.Match[str]) -> set[str]:
    return set(re.findall(r"(\w+)[ \t]*(?:,|\n|$)", imported[2] or imported[3] or ""))


def _is_set_aside(path: str) -> bool:
    return any(map(_SET_ASIDE.search, path.split("/")[:-1]))


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


def _plain(folder: str) -> str:
    return re.sub(r"[\s_.-]", "", folder).casefold()


def _same(folder: Path, one: str, other: str) -> bool:
    return filecmp.cmp(folder / one, folder / other, shallow=False)


def _ranks(path: Path, names: Collection[str]) -> Mapping[str, int] | None:
    if names:
        found = states(path, names)
        return {name: _RANKS[state] for name, state in found.items()} if found else None
    code = code_of(path)
    return None if code is None else {_ANY: int(not is_idle(code.splitlines()))}


def _surpasses(one: Mapping[str, int] | None, other: Mapping[str, int] | None) -> bool:
    """Of what could not be read nothing is known, so it neither wins nor loses."""
    if one is None or other is None:
        return False
    return one != other and all(one[name] >= other[name] for name in other)
