"""Why a check did not pass, without what is one student's own: numbers, places, names in quotes, the formula itself.

Two answers with the same cause fail for the same reason; and an item made of it may be given to anybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grader.model import Status

_PLACE = re.compile(r"^[\w./@+-]+\.\w+(?::\d+)?: ")  # `answers.md:12: `, `vanilla.dev.predictions: `
_AT = re.compile(r",? (?:at|in) [\w./@+-]+\.(?:py|ipynb)(?::\d+)?")
_BRACKETS = re.compile(r" ?\([^()]*\d[^()]*\)")
_QUOTED = re.compile(r"“[^”]*”|'[^']{3,}'|`[^`]*`")
# One of its own, not within a name, an index or the id of a part.
_NUMBER = re.compile(r"(?<![\w.\[])[-−]?\d+(?:[.,×/–]\d+)*(?: ?%)?(?![\w\]]|\.\w)")
_TIER = re.compile(r"it reaches (?:no tier|the tier from [^,;]+, worth [^;.]+)")  # of predictions: the rubric's numbers
_NEXT_SENTENCE = re.compile(r"\. (?=[A-Z])")
_NEXT_CLAUSE = re.compile(r"; (?![^(]*\))")


def cause_of(check: Mapping[str, Any]) -> str:
    if tier := _TIER.search(check["message"]):
        return tier[0]
    message = _NEXT_SENTENCE.split(_PLACE.sub("", check["message"]))[0]
    # Behind the first colon stands what the student wrote; a crash says there which exception it was, and behind it
    # what was drawn for it.
    before, _, behind = message.partition(": ")
    crashed = check["status"] == Status.CRASHED and behind
    kept = f"{before}: {_NEXT_CLAUSE.split(behind.split(': ')[0])[0]}" if crashed else before
    for pattern, instead in ((_AT, ""), (_BRACKETS, ""), (_QUOTED, "…"), (_NUMBER, "…")):
        kept = pattern.sub(instead, kept)
    return " ".join(kept.split()).strip(" .;,")
