"""Who handed in what, as Gradescope's download says it in `submission_metadata.yml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grader.errors import UsageError
from grader.quoting import quote
from grader.yaml_source import YamlError, read

METADATA = "submission_metadata.yml"

_ENTRY = re.compile(r"([^\s:#'\"-][^:]*):\s*")
_SUBMITTERS = re.compile(r"(\s*):submitters:\s*")


def submitters(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Folder → (id, name) of everyone who handed it in. The id is the student number, else the e-mail address.

    The file also holds every result of every attempt, megabytes of it: only the few lines asked for are read as YAML.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for folder, lines in _blocks(path):
        try:
            people = read("\n".join(lines)).data
        except YamlError as error:
            raise UsageError(f"{path.name}: the submitters of {quote(folder)} cannot be read: {error.cause}") from None
        for person in people if isinstance(people, list) else []:
            if isinstance(person, dict):
                number, email, name = (_text(person.get(key)) for key in (":sid", ":email", ":name"))
                found.setdefault(folder, []).append((number or email or name or folder, name))
    return found


def _text(value: object) -> str:
    return "" if value is None else str(getattr(value, "text", value)).strip()


def _blocks(path: Path) -> Iterator[tuple[str, list[str]]]:
    folder, margin, lines = "", "", list[str]()
    inside = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if entry := _ENTRY.fullmatch(line):
            if lines:
                yield folder, lines
            folder, inside, lines = entry[1], False, []
        elif (opening := _SUBMITTERS.fullmatch(line)) and folder and not lines:
            margin, inside = opening[1], True
        elif inside:
            if line.startswith((f"{margin}-", f"{margin} ")):
                lines.append(line)
            else:
                inside = False
    if lines:
        yield folder, lines
