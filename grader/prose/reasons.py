"""Reasons that are told apart. A cause and its effect are one: "it spreads false facts, so people lose trust"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from grader.notation.denials import CONSEQUENCES
from grader.notation.word_lists import words
from grader.prose.phrasings import Found, Reading
from grader.prose.word_tokens import FormsOf

_LINKS = FormsOf(CONSEQUENCES | words("consequence result because cause lead since then thereby"))
_EXAMPLES = FormsOf(words("example instance eg"))  # what stands in an example of a reason is no other reason
_NEXT = FormsOf(words("two second secondly another also furthermore moreover addition besides finally other third"))


def distinct_reasons(places: Mapping[str, Sequence[Found]], reading: Reading) -> list[str]:
    """The most ideas of which no two are told only as cause and effect; of several such choices, the first."""
    names = list(places)
    for size in range(len(names), 1, -1):
        for chosen in combinations(names, size):
            if all(_told_apart(places[one], places[other], reading) for one, other in combinations(chosen, 2)):
                return list(chosen)
    return names[:1]


def _told_apart(one: Sequence[Found], other: Sequence[Found], reading: Reading) -> bool:
    pairs = ((a, b) if a.first <= b.first else (b, a) for a in one for b in other)
    return any(not _linked(earlier, later, reading) for earlier, later in pairs)


def _linked(earlier: Found, later: Found, reading: Reading) -> bool:
    """Whether a word of cause or effect joins them, within a sentence or at the beginning of the next."""
    between = reading.tokens[earlier.first : later.last + 1]
    if later.sentence - earlier.sentence > 1 or any(token.form in _NEXT for token in between):
        return False
    joint = [token for token in between if token.sentence == later.sentence]
    behind = max(
        (n for n, token in enumerate(joint) if token.form == "and"), default=-1
    )  # "rumours, e.g. …, and trust"
    # "rumours, e.g. about a singer, and trust" are two
    is_example = any(token.form in _EXAMPLES for token in joint[behind + 1 :])
    return later.first <= earlier.last or is_example or any(token.form in _LINKS for token in joint)
