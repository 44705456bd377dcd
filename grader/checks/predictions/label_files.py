"""Labels: which answer is right in each line of a prediction file, and how many lines are.

A labelled line is `question<TAB>label`, an unlabelled line the question alone. Accuracy p̂ = right/n has Wilson's 95 %
interval, (p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n): that of p̂ ± z√(p̂(1−p̂)/n) has no width at 0 of 500.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from operator import eq
from pathlib import Path

Z_95 = 1.959964  # the normal quantile that leaves 2.5 % on either side
UNKNOWN = "\n"  # the label of a question that comes without one; no line of a file is this


@dataclass(frozen=True)
class Accuracy:
    right: int
    total: int

    @property
    def rate(self) -> float:
        return self.right / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval, inside [0, 1]."""
        n, p, z = self.total, self.rate, Z_95
        centre = p + z * z / (2 * n)
        spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.right}/{self.total} = {100 * self.rate:.1f} % (95 %: {100 * low:.1f}–{100 * high:.1f} %)"


@dataclass(frozen=True)
class Question:
    text: str
    label: str


@dataclass(frozen=True)
class Split:
    """Questions of one split with labels in the form they are compared in."""

    name: str
    questions: list[Question]

    @classmethod
    def read(cls, path: str) -> Split:
        name, questions = Path(path).name, []
        for number, line in enumerate(read_lines(Path(path)), start=1):
            fields = line.split("\t")
            if len(fields) != 2 or not all(fields):
                raise ValueError(f"{name}:{number}: expected question<TAB>label, found {line!r}")
            questions.append(Question(fields[0], normal(fields[1].strip())))
        if not questions:
            raise ValueError(f"{name} holds no questions")
        return cls(name, questions)

    @classmethod
    def read_questions(cls, path: str) -> Split:
        """The same without labels, where students have only the questions: lines can be counted, hits cannot."""
        lines = read_lines(Path(path))
        if any("\t" in line for line in lines):
            return cls.read(path)
        return cls(Path(path).name, [Question(line, UNKNOWN) for line in lines])

    @cached_property
    def labels(self) -> list[str]:
        return [question.label for question in self.questions]

    def right(self, predictions: Sequence[str]) -> Accuracy:
        """Spaces at both ends aside. Case counts."""
        pairs = zip(predictions, self.labels, strict=True)
        return Accuracy(sum(normal(prediction).strip() == label for prediction, label in pairs), len(self.questions))

    def nearly_right(self, predictions: Sequence[str]) -> int:
        """How many are right but for case, punctuation, spaces and the form of letters."""
        return sum(map(eq, map(_letters, predictions), map(_letters, self.labels)))


def normal(label: str) -> str:
    return unicodedata.normalize("NFC", label)


def _letters(label: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", label).casefold()))


def read_lines(path: Path) -> list[str]:
    """Lines without their ends; only the newline ends a line, so no exotic separator can shift the count."""
    text = path.read_text(encoding="utf-8")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
