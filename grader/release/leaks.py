"""Searches a kit for what must not be in it: by content, whatever files are called, archives opened."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.release.code_similarity import Index, shapes_in
from grader.release.withheld import Withheld, one_line, squeezed, words


@dataclass(frozen=True)
class Leak:
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def leaks_in(kit: Path, kept: Withheld) -> list[Leak]:
    """At most one of each kind in each file."""
    runs, code = _Runs(kept.runs), Index(kept.code)
    found: dict[Leak, None] = {}
    for where, text in _texts(kit):
        found |= dict.fromkeys(Leak(where, what) for what in runs.found_in(words(text)))
        flat, formulas = one_line(text), squeezed(text)
        # In its own module a check's name says nothing: it stands there for every rubric, whether used or not.
        cut = {one: what for one, what in kept.texts.items() if not where.endswith(kept.at_home.get(one, "\n"))}
        found |= dict.fromkeys(Leak(where, f"{what}: {one}") for one, what in cut.items() if one in flat)
        found |= dict.fromkeys(Leak(where, what) for one, what in kept.formulas.items() if one in formulas)
        for function in shapes_in(text):
            if (same := code.found_in(function)) is not None:
                found[Leak(where, f"{function.name}() is {same.name}() of the reference or the gold, renamed")] = None
    return list(found)


class _Runs:
    """Many runs of words, looked for in one pass."""

    def __init__(self, runs: Mapping[tuple[str, ...], str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for run, what in runs.items():
            self._by_first.setdefault(run[0], []).append((run, what))

    def found_in(self, said: list[str]) -> set[str]:
        return {
            what
            for at, word in enumerate(said)
            for run, what in self._by_first.get(word, ())
            if tuple(said[at : at + len(run)]) == run
        }


def _texts(kit: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for path in kit.rglob("*") if path.is_file()):
        yield from _texts_of(path.relative_to(kit).as_posix(), path.read_bytes())


def _texts_of(where: str, content: bytes) -> Iterator[tuple[str, str]]:
    """A file's name and its text; of an archive those of what is in it; of JSON, a notebook say, its strings too."""
    yield where, where
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from _texts_of(f"{where}/{name}", archive.read(name))
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
