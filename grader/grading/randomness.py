"""Where a grading draws its inputs from: a seed, the course's secret if there is one, and whether it is done at home.

A graded input is never one that students were given. A kit holds the right answers to its own inputs,
so what is asked at home comes from a stream of its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from grader.grading.secret import Secret, read_secret

NO_SECRET = "no course secret was set (GRADER_SECRET), so anybody who has this grader can draw the same inputs"


def place_of(rubric: str, problem: str, name: str) -> str:
    """What random numbers of a check follow from, next to seed and secret."""
    return f"{rubric}/{problem}/{name}"


@dataclass(frozen=True)
class Draw:
    seed: int
    secret: Secret | None
    at_home: bool = False  # a student's self-check, and the answers that a kit holds for it

    def questions(self, place: str) -> int:
        """What the inputs of the check at this place follow from."""
        text = f"{'at home' if self.at_home else 'questions'}/{self.seed}/{place}"
        return self.secret.number(text) if self.secret else _number(text)

    def student(self, rubric: str) -> int:
        """What random numbers in student code follow from. That code can read it, so it tells nothing of the inputs,
        and not which check is running."""
        return _number(f"student/{self.seed}/{rubric}")

    def per_student(self, rubric: str) -> str:
        """The key that students' own numbers follow from. It tells nothing of the secret, so a kit may hold it."""
        return f"{self.secret.number(f'per student/{rubric}'):x}" if self.secret else ""

    @property
    def fingerprint(self) -> str:
        return self.secret.fingerprint if self.secret else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers of a report should know about its inputs."""
        return () if self.secret or self.at_home else (NO_SECRET,)


def draw_for_grading(seed: int) -> Draw:
    """For work that counts: from the course's secret, as the environment gives it."""
    return Draw(seed, read_secret())


def draw_at_home(seed: int = 0) -> Draw:
    """For students' self-check: everybody may know these inputs."""
    return Draw(seed, None, at_home=True)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
