"""Who handed in what, and when, as Gradescope's download says it in `submission_metadata.yml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.yaml_source import YamlError, read

METADATA = "submission_metadata.yml"

_ENTRY = re.compile(r"([^\s:#'\"-][^:]*):\s*")
_SUBMITTERS = re.compile(r"(\s*):submitters:\s*")
_CREATED = re.compile(r"(\s*):created_at:\s*(\S.*?)\s*")


@dataclass(frozen=True)
class Submitted:
    people: tuple[tuple[str, str], ...]  # (id, name); the id is the student number, else the e-mail address
    came: str  # when, as the file says it; empty if it does not


def submitters(path: Path) -> dict[str, Submitted]:
    """By folder, who handed it in and when.

    The file also holds every result of every attempt, megabytes of it: only the few lines asked for are read as YAML.
    """
    found: dict[str, Submitted] = {}
    for folder, lines, came in _blocks(path):
        try:
            people = read("\n".join(lines)).data
        except YamlError as error:
            raise UsageError(f"{path.name}: the submitters of {quote(folder)} cannot be read: {error.cause}") from None
        named = []
        for person in people if isinstance(people, list) else []:
            if isinstance(person, dict):
                number, email, name = (_text(person.get(key)) for key in (":sid", ":email", ":name"))
                named.append((number or email or name or folder, name))
        if named:
            found[folder] = Submitted(tuple(dict.fromkeys(named)), came)
    return found


def _text(value: object) -> str:
    return "" if value is None else str(getattr(value, "text", value)).strip()


def _blocks(path: Path) -> Iterator[tuple[str, list[str], str]]:
    """The lines that name people of each folder, and its time. Earlier attempts have times of their own, deeper in."""
    folder, margin, lines, times = "", "", list[str](), dict[str, str]()
    inside = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if entry := _ENTRY.fullmatch(line):
            if lines:
                yield folder, lines, times.get(margin, "")
            folder, inside, lines, times = entry[1], False, [], {}
        elif (opening := _SUBMITTERS.fullmatch(line)) and folder and not lines:
            margin, inside = opening[1], True
        elif inside and line.startswith((f"{margin}-", f"{margin} ")):
            lines.append(line)
        else:
            inside = False
            if created := _CREATED.fullmatch(line):
                times.setdefault(created[1], created[2].strip("'\""))
    if lines:
        yield folder, lines, times.get(margin, "")
