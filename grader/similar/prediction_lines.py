"""Prediction files → their wrong lines. What is right says only that a model works.

A fixed seed in the starter gives everyone who changes nothing the same file, so equal files are no sign of anything by
themselves; the page says so beside them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from grader.checks.predictions.label_files import Split
from grader.model import Rubric, is_code
from grader.similar.material import Collected, Material

_MOST_LINES = 20_000
_LONGEST_LINE = 200  # characters: no label has as many


class Predictions:
    """Which files a rubric asks for, and what would be right in each."""

    def __init__(self, rubric: Rubric) -> None:
        self.files: list[str] = []
        self._right: dict[str, list[str]] = {}
        every = [check for problem in rubric.problems for check in problem.every_check]
        alternatives = [one for problem in rubric.problems for one in problem.alternatives]
        for file in (
            *(file for check in every for file in check.files),
            *(f for one in alternatives for f in one.beside),
        ):
            if not is_code(file) and file not in self.files:
                self.files.append(file)
        read: dict[str, list[str]] = {}
        for check in every:
            if labels := check.parameters.get("labels"):
                path = str(labels)
                if path not in read:
                    read[path] = [_plain(label) for label in Split.read(path).labels]
                self._right |= {file: read[path] for file in check.files if not is_code(file)}
        self._by_length = {len(labels): labels for labels in read.values()}

    def material(self, handed_in: Mapping[str, bytes]) -> Material:
        found = Collected()
        for file, content in handed_in.items():
            lines = content.decode("utf-8", "replace").splitlines()[:_MOST_LINES]
            shown = [line[:_LONGEST_LINE] for line in lines]
            right = self._right_in(file, lines)
            found.begin(file, "\n".join(shown))
            for number, line in enumerate(shown, start=1):
                label = _plain(line)
                if not label or (number <= len(right) and label == right[number - 1]):
                    found.wall()
                else:
                    found.add([f"{file} {number} {label}"], [number])
        return found.done()

    def _right_in(self, file: str, lines: Sequence[str]) -> Sequence[str]:
        """Where no check says which labels a file has, those of its length."""
        return self._right[file] if file in self._right else self._by_length.get(len(lines), [])


def _plain(label: str) -> str:
    return unicodedata.normalize("NFC", label).strip().casefold()
