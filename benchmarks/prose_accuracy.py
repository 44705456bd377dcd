"""How often the prose checks are right about an idea, on answers written for the purpose.

    python -m benchmarks.prose_accuracy [--mistakes]

Every answer of tests/prose names the ideas and wrong claims a careful reader finds in it. `tuned` answers were used
while the phrasings were written. `heldout` answers were written before them and only ever measured, yet by the same
hand, which remembered them. `later` answers were written last: they say most
about answers to come, though some phrasings of dl-hw3's 1.1 and 1.2.a were changed after their mistakes had been seen.
`kinds` are answers of the kinds that went wrong on real work, written before these were mended; `fresh` ones came
after that, and `traps`, of the same kinds, last. `sheets` are what ten later sheets brought out of band, each with its
contrary, and were mended. These four have a band: the points a fair TA gives for a part's prose.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from grader.answers.sheet import cut_into_parts
from grader.checks.prose import gives_the_ideas
from grader.model import Answer, Check, Piece
from grader.prose import Judgement, judge
from grader.rubric.loading import load_rubric
from grader.rubric.yaml_source import read

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = REPOSITORY / "tests" / "prose"
RUBRICS = ("nlp-a5", "dl-hw3")
GROUPS = ("tuned", "heldout", "later", "kinds", "fresh", "traps", "sheets")
BANDED = ("kinds", "fresh", "traps", "sheets")
_ROUNDED = 0.01  # points: two thirds are written 0.67
_UNUSED = np.random.default_rng(0)  # prose has nothing random


@dataclass(frozen=True)
class Decision:
    """One idea or wrong claim of one answer: there or not, found or not."""

    rubric: str
    group: str
    part: str
    what: str
    there: bool
    found: bool
    text: str

    @property
    def verdict(self) -> str:
        return "right" if self.there == self.found else "false found" if self.found else "false missed"


@cache
def checks_of(rubric: str) -> dict[str, list[Check]]:
    """The prose checks by part; of what may be answered in several ways, those of the written one."""
    found = {}
    for problem in load_rubric(REPOSITORY / "rubrics" / rubric / "rubric.yaml").problems:
        written = (check for one in problem.alternatives if one.name == "written" for check in one.checks)
        found[problem.id] = [check for check in (*written, *problem.checks) if "ideas" in check.parameters]
    return {part: checks for part, checks in found.items() if checks}


def answers_of(group: str, rubric: str) -> list[dict[str, Any]]:
    return list(read((CORPUS / f"{group}-{rubric}.yaml").read_text()).data["answers"])


def decisions(group: str, rubric: str) -> Iterator[Decision]:
    checks = checks_of(rubric)
    for answer in answers_of(group, rubric):
        part, text = str(answer["part"]), answer["text"]
        for check in checks[part]:
            ideas, claims = check.parameters["ideas"], check.parameters.get("wrong", [])
            made = judged(check, text)
            for idea in ideas:
                yield Decision(rubric, group, part, idea.id, idea.id in answer["ideas"], idea.id in made.found, text)
            for claim in claims:
                there = claim.id in answer.get("wrong", [])
                yield Decision(rubric, group, part, f"wrong:{claim.id}", there, claim.id in made.wrong, text)


def judged(check: Check, text: str) -> Judgement:
    """What a check finds in an answer of one paragraph."""
    given = {name: check.parameters[name] for name in ("wrong", "prompt", "index") if name in check.parameters}
    return judge((Piece("prose", text, 1),), check.parameters["ideas"], **given)


@dataclass(frozen=True)
class Sheet:
    """A student of whom only the answer counts."""

    answer: Answer


@dataclass(frozen=True)
class Graded:
    """The provisional points of one answer, and those that a fair TA gives."""

    part: str
    about: str
    points: float
    band: tuple[float, float]
    text: str

    @property
    def place(self) -> str:
        low, high = self.band
        return "too low" if self.points < low - _ROUNDED else "too high" if self.points > high + _ROUNDED else "in band"


def graded(group: str, rubric: str) -> Iterator[Graded]:
    """The answers that have a band, read as Markdown."""
    checks = checks_of(rubric)
    for one in answers_of(group, rubric):
        part, text = str(one["part"]), one["text"]
        sheet: Any = Sheet(cut_into_parts(f"## {part}\n\n{text}\n", "answers.md", list(checks)).parts[part])
        outcomes = [(gives_the_ideas(sheet, _UNUSED, **check.parameters), check.points) for check in checks[part]]
        points = sum(float(outcome.score * worth) for outcome, worth in outcomes)
        low, high = one["band"]
        yield Graded(part, one.get("about", ""), points, (low, high), text)


def main() -> None:
    made = [decision for group in GROUPS for rubric in RUBRICS for decision in decisions(group, rubric)]
    print(f"{'':<16}{'right':>12}{'false found':>13}{'false missed':>14}")
    for rubric in RUBRICS:
        for part in dict.fromkeys(decision.part for decision in made if decision.rubric == rubric):
            _print(f"{rubric} {part}", [d for d in made if (d.rubric, d.part) == (rubric, part)])
    for group in GROUPS:
        _print(group, [decision for decision in made if decision.group == group])
    _print("all", made)
    print(f"\n{'':<16}{'in band':>12}{'too high':>13}{'too low':>14}")
    for group in BANDED:
        points = [one for rubric in RUBRICS for one in graded(group, rubric)]
        for about in dict.fromkeys(one.about for one in points if one.about):
            _print_bands(f"{group} {about}", [one for one in points if one.about == about])
        _print_bands(group, points)
    if "--mistakes" in sys.argv:  # of the tuned half only: looking at the others would be tuning on them
        for decision in made:
            if decision.group == "tuned" and decision.verdict != "right":
                print(f"\n{decision.part} {decision.what}: {decision.verdict}\n  {decision.text}")


def _print(label: str, made: list[Decision]) -> None:
    verdicts = Counter(decision.verdict for decision in made)
    share = verdicts["right"] / len(made)
    right = f"{verdicts['right']}/{len(made)}"
    print(f"{label:<16}{right:>9} {share:>6.1%}{verdicts['false found']:>9}{verdicts['false missed']:>14}")


def _print_bands(label: str, made: list[Graded]) -> None:
    places = Counter(one.place for one in made)
    inside = f"{places['in band']}/{len(made)}"
    share = places["in band"] / len(made)
    print(f"{label:<16}{inside:>9} {share:>6.1%}{places['too high']:>9}{places['too low']:>14}")


if __name__ == "__main__":
    main()
