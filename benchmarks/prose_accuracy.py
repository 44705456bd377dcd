"""How often the prose checks are right about an idea, on answers written for the purpose.

    python -m benchmarks.prose_accuracy [--mistakes]

Every answer of tests/prose names the ideas and wrong claims a careful reader finds in it. `tuned` answers were used
while the phrasings were written. `heldout` answers were written before them and only ever measured, yet by the same
hand, which remembered them. `later` answers were written last: they say most
about answers to come, though some phrasings of dl-hw3's 1.1 and 1.2.a were changed after their mistakes had been seen.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.model import Check, Piece
from grader.prose import judge
from grader.rubric import load_rubric
from grader.yaml_source import read

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = REPOSITORY / "tests" / "prose"
RUBRICS = ("nlp-a5", "dl-hw3")
GROUPS = ("tuned", "heldout", "later")


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


def checks_of(rubric: str) -> dict[str, list[Check]]:
    """The prose checks by part; of what may be answered in several ways, those of the written one."""
    found = {}
    for problem in load_rubric(REPOSITORY / "rubrics" / f"{rubric}.yaml").problems:
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
            judged = judge((Piece("prose", text, 1),), ideas, claims, check.parameters.get("prompt", ""))
            for idea in ideas:
                yield Decision(rubric, group, part, idea.id, idea.id in answer["ideas"], idea.id in judged.found, text)
            for claim in claims:
                there = claim.id in answer.get("wrong", [])
                yield Decision(rubric, group, part, f"wrong:{claim.id}", there, claim.id in judged.wrong, text)


def main() -> None:
    made = [decision for group in GROUPS for rubric in RUBRICS for decision in decisions(group, rubric)]
    print(f"{'':<16}{'right':>12}{'false found':>13}{'false missed':>14}")
    for rubric in RUBRICS:
        for part in dict.fromkeys(decision.part for decision in made if decision.rubric == rubric):
            _print(f"{rubric} {part}", [d for d in made if (d.rubric, d.part) == (rubric, part)])
    for group in GROUPS:
        _print(group, [decision for decision in made if decision.group == group])
    _print("all", made)
    if "--mistakes" in sys.argv:  # of the tuned half only: looking at the others would be tuning on them
        for decision in made:
            if decision.group == "tuned" and decision.verdict != "right":
                print(f"\n{decision.part} {decision.what}: {decision.verdict}\n  {decision.text}")


def _print(label: str, made: list[Decision]) -> None:
    verdicts = Counter(decision.verdict for decision in made)
    share = verdicts["right"] / len(made)
    right = f"{verdicts['right']}/{len(made)}"
    print(f"{label:<16}{right:>9} {share:>6.1%}{verdicts['false found']:>9}{verdicts['false missed']:>14}")


if __name__ == "__main__":
    main()
