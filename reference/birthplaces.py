"""Birth places: reading the `.tsv` files and predictions, the London baseline, accuracy with its interval.

Equation    accuracy p̂ = right/n, with Wilson's 95 % interval
            (p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n),   z = 1.959964
Convention  a labelled line is `Where was NAME born?<TAB>PLACE`; an unlabelled line is the question alone;
            a prediction file holds one place per line, in the order of the questions.
Readings    * Wilson, not p̂ ± z√(p̂(1−p̂)/n): the latter has zero width at 0 of 500, where it matters most.
            * A prediction is right when it equals the place, spaces at both ends aside. Case counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

Z_95 = 1.959964  # the normal quantile that leaves 2.5 % on either side


@dataclass(frozen=True)
class Question:
    text: str
    place: str


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


def read_lines(path: Path) -> list[str]:
    """Lines without their ends; only the newline ends a line, so no exotic separator can shift the count."""
    text = path.read_text(encoding="utf-8")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def read_questions(path: Path) -> list[Question]:
    """The labelled questions of a `.tsv` file."""
    questions = []
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        if len(fields) != 2 or not all(fields):
            raise ValueError(f"{path.name}:{number}: expected question<TAB>place, found {line!r}")
        questions.append(Question(*fields))
    if not questions:
        raise ValueError(f"{path.name} holds no questions")
    return questions


def accuracy(predictions: Sequence[str], questions: Sequence[Question]) -> Accuracy:
    """How many predictions name the right place; both must have the same length."""
    if len(predictions) != len(questions) or not questions:
        raise ValueError(f"{len(predictions)} predictions cannot be held against {len(questions)} questions")
    pairs = zip(predictions, questions, strict=True)
    return Accuracy(sum(said.strip() == question.place for said, question in pairs), len(questions))


def constant_baseline(questions: Sequence[Question], place: str = "London") -> Accuracy:
    """What always giving the same answer scores."""
    return accuracy([place] * len(questions), questions)
