"""Which answers may be accepted together, of which a person reads only some.

An answer in which every idea was found may still be a list of the words that are looked for. Sentences hold many small
words: more than a quarter in 138 of 140 answers of the samples, and hardly any in lists made of phrasings.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from grader.batch.deciding.class_status import acceptable
from grader.batch.gradebook import Gradebook
from grader.batch.rulings import PartState

FEWEST_WORDS = 8
WORDS_PER_SMALL_WORD = 4  # at most, in sentences
_SMALL_WORDS = """
an and are as at be because been but by can do does for from has have how if in into is it its of on or so than that the
their them then there these they this to was we were what when where which while who will with would you
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_FORMULA_OR_CODE = re.compile(r"```.*?```|\$\$.*?\$\$|\$.*?\$|`.*?`|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]{2,}")
_ANSWERS = """
SELECT r.student, problem.value FROM (SELECT MAX(id) AS id FROM results GROUP BY student) latest
JOIN results r ON r.id = latest.id, json_each(r.report, '$.problems') problem
WHERE json_extract(problem.value, '$.id') = ?
"""


class Bulk(NamedTuple):
    ready: list[PartState]  # these can be accepted together
    excluded: Counter[str]  # why others cannot, although every idea was found, and how many


def why_read_alone(answer: str) -> str:
    """Why an answer has to be read by itself; empty if it may be accepted together with others."""
    words = [word.lower() for word in _WORD.findall(_FORMULA_OR_CODE.sub(" ", answer))]
    if len(words) < FEWEST_WORDS:
        return f"fewer than {FEWEST_WORDS} words outside formulas"
    if sum(word in _SMALL for word in words) * WORDS_PER_SMALL_WORD < len(words):
        return "a list of keywords: few small words such as 'the', 'is' or 'because'"
    return ""


def bulk_of(gradebook: Gradebook, states: Sequence[PartState], part: str) -> Bulk:
    found = acceptable(states)
    answers = _answers(gradebook, part) if found else {}
    why = {state.student: why_read_alone(answers.get(state.student, "")) for state in found}
    return Bulk([state for state in found if not why[state.student]], Counter(filter(None, why.values())))


def _answers(gradebook: Gradebook, part: str) -> dict[str, str]:
    """By student, all that was written for this part."""
    rows = gradebook.file.base.execute(_ANSWERS, (part,))
    pieces = {student: json.loads(problem).get("judged", {}).get("pieces", ()) for student, problem in rows}
    return {student: "\n".join(piece.get("text", "") for piece in own) for student, own in pieces.items()}
