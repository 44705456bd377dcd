"""Finds each student's work: in a folder of submissions, or in what Gradescope, Canvas and Moodle give for download.

These name files after students in ways of their own; the names are read back into ids, and nothing is renamed on disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.batch.course.lateness import moment
from grader.batch.course.person import Person
from grader.batch.gradescope_download import METADATA, Submitted, submitters
from grader.errors import UsageError
from grader.quoting import quote
from grader.submission.archives import ENDINGS, Bounds, members

# A bulk download is staff's own file, but what is in it was made by students.
_MAX_FILES = 500_000
_MAX_BYTES = 64 * 2**30
_LITTER = ("__MACOSX",)
# Faults of one file's name or place. A full disk is none of these, and stops the batch.
_OF_ONE_FILE = (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EILSEQ)
_ID_CHARACTERS = 80

# Canvas: doejane_LATE_4711_815_attention-1.py: sorted name, lateness, the id of the user, that of the file, and the
# file's name with the number of the attempt. Text typed into Canvas has no id of a file.
_CANVAS = re.compile(r"(?P<name>[^_]+)(?:_(?P<late>LATE))?_(?P<id>\d+)_(?:(?P<number>\d+)_(?P<file>.+)|text\.html)")
_ANONYMOUS = re.compile(r"(?P<name>anon)_(?:(?P<late>LATE)_)?(?P<id>\w+?)_(?P<number>\d+)_(?P<file>.+)")
_ATTEMPT = re.compile(r"-\d+(?=\.[^.]+$|\.tar\.gz$)")
# Moodle: a folder called Jane Doe_4711_assignsubmission_file_ for each student.
_MOODLE = re.compile(r"(?P<name>[^_]+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?")

_NOTEBOOK = ".ipynb"  # a submission by itself


@dataclass(frozen=True)
class HandedIn:
    """One student's work before it is opened."""

    student: str  # the id: what the gradebook, files and overrides go by
    path: Path
    name: str = ""  # a person's name, where the source has one
    late: bool = False
    fault: str = ""  # why it cannot even be tried; a person looks at it
    members: tuple[Person, ...] = ()  # everybody who handed it in, where the source says it
    came: str = ""  # when, where the source says it


@dataclass(frozen=True)
class Found:
    submissions: tuple[HandedIn, ...]
    twice: tuple[str, ...]  # a line for each id that several hand-ins claim; none of these is in `submissions`
    notes: tuple[str, ...]
    claimed_twice: tuple[str, ...] = ()  # the ids that `twice` is about


def find_submissions(place: Path, workspace: Path) -> Found:
    """Everything handed in under a folder or in a bulk download. What has to be unpacked goes to `workspace`."""
    if not os.path.exists(place):  # Path's own raises where a name is too long
        raise UsageError(f"{quote(str(place))}: there is no such folder of submissions")
    broken: dict[Path, str] = {}
    if place.is_file():
        if not place.name.lower().endswith(ENDINGS):
            raise UsageError(f"{quote(str(place))} is neither a folder of submissions nor a .zip or .tar.gz of them")
        place, broken = _unpacked(place, workspace / "download")
    notes: list[str] = []
    read = (_with_fault(one, broken) for one in _read(_descend(place), workspace, notes))
    found = sorted(_apart(list(read)), key=lambda one: (one.student, str(one.path)))
    notes += [f"{quote(path.name)} {why}" for path, why in broken.items()]
    count = Counter(one.student for one in found)
    claimed_twice = tuple(student for student, often in count.items() if often > 1)
    twice = []
    for student in claimed_twice:
        places = " and ".join(quote(one.path.name) for one in found if one.student == student)
        twice.append(f"{student} is there more than once ({places}), so none of them is graded; keep one")
    alone = tuple(one for one in found if count[one.student] == 1)
    return Found(alone, tuple(twice), tuple(notes), claimed_twice)


def _read(folder: Path, workspace: Path, notes: list[str]) -> Iterator[HandedIn]:
    named = submitters(folder / METADATA) if (folder / METADATA).is_file() else {}
    attached: dict[str, list[tuple[Path, re.Match[str]]]] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith(".") or entry.name in (*_LITTER, METADATA):
            continue
        canvas = _CANVAS.fullmatch(entry.name) or _ANONYMOUS.fullmatch(entry.name)
        if entry.is_symlink():
            notes.append(f"{quote(entry.name)} is a link and was left out")
        elif entry.name in named:
            yield _submitted(entry, named[entry.name])
        elif entry.is_dir():
            moodle = _MOODLE.fullmatch(entry.name)
            who = HandedIn(_id(entry.name), entry)
            yield replace(who, student=moodle["id"], name=quote(moodle["name"], _ID_CHARACTERS)) if moodle else who
        elif canvas:
            attached.setdefault(canvas["id"], []).append((entry, canvas))
        elif entry.name.lower().endswith((*ENDINGS, _NOTEBOOK)):
            yield HandedIn(_id(_without_ending(entry.name)), entry)
        else:
            notes.append(f"{quote(entry.name)} is no folder, archive or notebook and was left out")
    for student, files in attached.items():
        late, name = any(match["late"] for _, match in files), files[0][1]["name"]
        who = HandedIn(_id(student), files[0][0], quote(name, _ID_CHARACTERS), late)
        try:
            yield replace(who, path=_together(files, workspace / "attached" / student))
        except OSError as error:  # a name too long for this disk, say: one student's files stop nobody else
            yield replace(who, fault=f"its files cannot be copied ({error.strerror})")


def _submitted(folder: Path, said: Submitted) -> HandedIn:
    """One hand-in, however many people it is of. It goes by the first of their ids, the same in any download."""
    members = sorted((Person(_id(student), quote(name, _ID_CHARACTERS)) for student, name in said.people), key=_by_id)
    return HandedIn(members[0].student, folder, members[0].name, members=tuple(members), came=_time(said.came))


def _time(text: str) -> str:
    """As it stands there, if it is one; else nobody knows."""
    with contextlib.suppress(UsageError):
        moment(text)
        return text
    return ""


def _by_id(person: Person) -> str:
    return person.student


def _apart(found: list[HandedIn]) -> list[HandedIn]:
    """A group whose first member is behind another hand-in, too, goes by another member, else by its folder."""
    count = Counter(one.student for one in found)
    for place, one in enumerate(found):
        if len(one.members) > 1 and count[one.student] > 1:
            free = [member for member in one.members if not count[member.student]]
            own = free[0] if free else Person(_id(one.path.name))
            count.update({one.student: -1, own.student: 1})
            found[place] = replace(one, student=own.student, name=own.name)
    return found


def _together(files: list[tuple[Path, re.Match[str]]], target: Path) -> Path:
    """One archive stands for itself; files that were attached one by one lie together under their own names."""
    if len(files) == 1 and files[0][0].name.lower().endswith(ENDINGS):
        return files[0][0]
    target.mkdir(parents=True)
    original = [match["file"] or "text.html" for _, match in files]
    plain = [_ATTEMPT.sub("", name) for name in original]
    for (path, _), given, name in zip(files, original, plain, strict=True):
        own = name if plain.count(name) == 1 else given  # a.py and a-1.py in one attempt are two files
        if own in (".", "..") or (target / own).exists():
            own = path.name
        shutil.copyfile(path, target / own)
    return target


def _id(name: str) -> str:
    return quote(name, _ID_CHARACTERS)


def _without_ending(name: str) -> str:
    for ending in (*ENDINGS, _NOTEBOOK):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def _descend(folder: Path) -> Path:
    """Downloads come in a folder of their own; step into it. A folder with files in it is somebody's work."""
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".") and entry.name not in _LITTER]
    if len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink():
        inner = entries[0]
        inside = [entry for entry in inner.iterdir() if not entry.name.startswith(".")]
        a_class = (inner / METADATA).is_file() or (inside and all(_stands_for_a_student(entry) for entry in inside))
        return inner if a_class else folder
    return folder


def _stands_for_a_student(entry: Path) -> bool:
    return entry.is_dir() or entry.name.lower().endswith(ENDINGS) or bool(_CANVAS.fullmatch(entry.name))


def _with_fault(one: HandedIn, broken: Mapping[Path, str]) -> HandedIn:
    """A hand-in that could not be unpacked completely is not graded: a person looks at it."""
    why = [f"{quote(path.name)} {why}" for path, why in broken.items() if path == one.path or one.path in path.parents]
    return replace(one, fault=why[0]) if why else one


def _unpacked(archive: Path, target: Path) -> tuple[Path, dict[Path, str]]:
    """The download's files under `target`, and why some could not be unpacked: they cost only their own student.
    Names that would lead outside stop everything: no learning platform writes them."""
    count = size = 0
    too_much = UsageError(f"{quote(str(archive))}: more than {_MAX_FILES} files or {_MAX_BYTES >> 30} GiB; split it")
    broken: dict[Path, str] = {}
    shown = quote(str(archive))
    try:
        for member in members(archive, Bounds(_MAX_FILES, _MAX_BYTES)):
            place = PurePosixPath(member.name.replace("\\", "/"))
            if place.is_absolute() or ".." in place.parts or "\0" in member.name or not place.parts:
                raise UsageError(f"{shown}: refused, because '{quote(member.name)}' points outside the archive")
            if not member.is_file or set(_LITTER) & set(place.parts):
                continue
            count += 1
            copy = target / place
            try:
                copy.parent.mkdir(parents=True, exist_ok=True)
                with copy.open("xb") as stream:
                    content = member.open()
                    while chunk := content.read(1 << 20):
                        size += len(chunk)
                        if size > _MAX_BYTES or count > _MAX_FILES:
                            raise too_much
                        stream.write(chunk)
            except OSError as error:
                if error.errno not in _OF_ONE_FILE:
                    raise
                broken[copy] = f"cannot be unpacked ({os.strerror(error.errno)})"
    except UsageError:
        raise
    except Exception as error:  # zlib, struct, unicode, a full disk: decoders raise all kinds of things
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise UsageError(f"{shown}: the download cannot be unpacked ({quote(reason)})") from None
    target.mkdir(parents=True, exist_ok=True)
    return target, broken
