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
_NUMBER = re.compile(r"(?<![\w.\[])[-−]?\d+(?:[.,×/–]\d+)*(?: ?%)?(?![\w\]:]|\.\w)")


def cause_of(check: Mapping[str, Any]) -> str:
    message = _PLACE.sub("", check["message"])
    pieces = message.split(": ")
    # Behind the first colon stands what the student wrote; a crash says there which exception it was, before what was
    # drawn for it.
    kept = ": ".join(pieces[:2]).split("; ")[0] if check["status"] == Status.CRASHED else pieces[0]
    for pattern, instead in ((_AT, ""), (_BRACKETS, ""), (_QUOTED, "…"), (_NUMBER, "…")):
        kept = pattern.sub(instead, kept)
    return " ".join(kept.split()).strip(" .;,")
