"""Whether a text is the course's own solutions: staff write about points and students, students about the matter."""

from __future__ import annotations

import re

from grader.model import Answers

KEY = "reads like the course's own solutions"
_LEAST_KINDS = 2  # one remark of a kind may be a student's: "I hope for full credit"

# Each kind is something that is said to graders, and not by who hands in.
_KINDS = tuple(
    re.compile(rf"\b(?:{kind})\b", re.IGNORECASE)
    for kind in (
        r"(?:sample|official|model|staff|instructors?'?s?|reference) (?:solutions?|answers?)|(?:answer|solution) key",
        r"do not (?:re)?(?:distribute|share|post|circulate)|not for distribution|staff only|instructors? only",
        r"full (?:credit|marks|points)|partial credit|no credit|grading (?:notes?|rubric|guide\w*|scheme)|"
        r"(?:deduct|subtract|take off|award|give|grant) (?:\w+ ){0,2}(?:points?|marks?|pts?)",
        r"students (?:should|often|are expected|need to|who)|(?:we|also) accept(?:ed)? (?:any|all|other|answers)|"
        r"answers (?:will|may) vary|any (?:reasonable|valid|sensible) (?:answer|explanation|response|reason)|"
        r"common (?:mistakes|errors)",
    )
)


def is_answer_key(text: str) -> bool:
    words = re.sub(r"\s+", " ", text)
    return sum(bool(kind.search(words)) for kind in _KINDS) >= _LEAST_KINDS


def written_in(answers: Answers) -> str:
    """All that was written for parts; what a handout says to its readers stands in none."""
    return " ".join(piece.text for answer in answers.parts.values() for piece in answer.pieces)
