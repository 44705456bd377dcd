"""Searches a kit for what must not be in it: by content, whatever files are called, archives opened. A seat belt: a kit
is made of what is public. The wheel in it is not searched; what the harness holds, everybody has."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader.release.withheld import Withheld, grams, runs_in, squeezed, words

WHEELS = "wheel"


@dataclass(frozen=True)
class Leak:
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def leaks_in(kit: Path, kept: Withheld) -> list[Leak]:
    """One of each kind in each file."""
    found: dict[Leak, None] = {}
    for path in sorted(path for path in kit.rglob("*") if path.is_file() and path.parent != kit / WHEELS):
        for where, text in texts_of(path.relative_to(kit).as_posix(), path.read_bytes()):
            found |= dict.fromkeys(Leak(where, what) for what in found_in(text, kept))
    return list(found)


def found_in(text: str, kept: Withheld) -> Iterator[str]:
    yield from (f"{kept.runs[run]}: {' '.join(run)}" for run in runs_in(words(text), kept.runs))
    formulas, code = squeezed(text), grams(text)
    yield from (what for formula, what in kept.formulas.items() if formula in formulas)
    yield from (f"code of {file}" for file, hashes in kept.code.items() if np.isin(code, hashes).any())


def texts_of(where: str, content: bytes) -> Iterator[tuple[str, str]]:
    """A file's name and its text; of an archive those of what is in it; of JSON, a notebook say, its strings too."""
    yield where, where
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from texts_of(f"{where}/{name}", archive.read(name))
        return
    text = content.decode("utf-8", errors="replace")
    yield where, text
    if text.lstrip().startswith(("{", "[")):
        try:
            yield where, "".join(_strings(json.loads(text)))
        except ValueError:
            return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
            yield "\n"
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, str):
        yield value
