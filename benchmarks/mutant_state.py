"""What was asked about faults in the grader, and what became of it: a file that is only added to."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.areas import REPOSITORY, tests_of
from benchmarks.explained import reason
from benchmarks.trials import Tried
from grader.proving.mutants import Mutant


class State:
    """A fault is told by the whole changed file: it is another one as soon as its file is edited."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._asked[entry["key"]].append(entry)

    def known(self, mutant: Mutant) -> Tried | None:
        entry = self._last(mutant)
        if not entry or not (entry["noticed"] or reason(mutant) or (entry["slow"] and self._same_tests(mutant))):
            return None
        return Tried(mutant, entry["noticed"], entry["by"], entry["seconds"])

    def survives_quick_ones(self, mutant: Mutant) -> Tried | None:
        entry = self._last(mutant)
        if not entry or entry["slow"] or not self._same_tests(mutant):
            return None
        return Tried(mutant, False, "", entry["seconds"], slow=False)

    def last(self, mutant: Mutant) -> Tried | None:
        """What was said last, even by tests that have changed since."""
        entry = self._last(mutant)
        return Tried(mutant, entry["noticed"], entry["by"], entry["seconds"], entry["slow"]) if entry else None

    def noticed_at_first(self, mutant: Mutant) -> bool:
        """By the tests of its area as they were when they were first asked; by slow ones, if those were."""
        asked = self._asked[_key(mutant)]
        return any(entry["noticed"] for entry in asked if entry["tests"] == asked[0]["tests"])

    def add(self, tried: Tried) -> None:
        entry = {
            "key": _key(tried.mutant),
            "tests": tests_digest(tried.mutant.file),
            "place": f"{tried.mutant.file}:{tried.mutant.line}",
            "noticed": tried.noticed,
            "by": tried.by,
            "seconds": round(tried.seconds, 1),
            "slow": tried.slow,
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            self._asked[entry["key"]].append(entry)

    def _last(self, mutant: Mutant) -> dict[str, Any] | None:
        asked = self._asked.get(_key(mutant))
        return asked[-1] if asked else None

    def _same_tests(self, mutant: Mutant) -> bool:
        entry = self._last(mutant)
        return entry is not None and entry["tests"] == tests_digest(mutant.file)


def _key(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.text.encode()).hexdigest()


@cache
def tests_digest(file: str) -> str:
    """Of the tests that are asked about a file, with the data among them, as they are when this is first called."""
    digest = hashlib.sha256()
    for tests in tests_of(file):
        place = REPOSITORY / tests
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.read_bytes())
    return digest.hexdigest()
