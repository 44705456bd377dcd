"""What a text holds besides answers: mail that is quoted, a greeting, a signature, and tables of what there is to do.

It is blanked before the text is cut, so that the last answer does not go on into it. Every line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.answers.labels import read_label

_HEADER = re.compile(r"(?:from|to|cc|bcc|subject|date|sent|reply-to)\s*:\s*\S", re.IGNORECASE)
_GREETING = re.compile(r"(?:hi|hello|hey|dear|good (?:morning|evening|afternoon))\b[^.:;=]{0,40}[,!]?", re.IGNORECASE)
_WROTE = re.compile(r"(?:>\s*)*\S.{3,120}\bwrote\s*:", re.IGNORECASE)
_FORWARDED = re.compile(r"[-_*\s]*(?:original|forwarded) message[-_*\s]*|begin forwarded message:?", re.IGNORECASE)
_SIGNS_OFF = re.compile(
    r"(?:many |best |kind |warm )?(?:thanks|thank you)"
    r"(?:,? (?:a lot|so much|very much|in advance|again|(?:and|for)\b.{0,40}))?"
    r"|(?:with )?(?:best|kind|warm|kindest)?\s*(?:regards|wishes|greetings)|best|cheers|all the best"
    r"|sincerely(?: yours)?|yours(?: sincerely| truly| faithfully)?|sent from my .{1,20}"
    r"|have a (?:nice|good|great) \w+|--",
    re.IGNORECASE,
)
_TAIL_LINES, _TAIL_WORDS = 6, 8  # of a signature: name, number, course
_LABELS_BEFORE = 2  # with fewer above it, what is quoted may be the answers themselves
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*")
# Columns of a table that says what there is to do, and of one that says what was answered.
_TO_DO = re.compile(r"(?:max\.? )?(?:points?|pts\.?|marks?|score)|files?|hand in|deliverables?|status|done|due", re.I)
_ANSWERED = re.compile(r"answers?|solutions?|responses?|results?|reasons?|explanations?|why", re.I)


def without_besides(text: str) -> tuple[str, list[str]]:
    """The text without them, and notes that begin with a line's number."""
    lines = text.split("\n")
    notes = []
    if (quoted := _quoted_mail(lines)) is not None:
        notes.append(f"{quoted + 1}: what is quoted from another mail was not read")
        lines[quoted:] = [""] * (len(lines) - quoted)
    if (signed := _signature(lines)) is not None:
        lines[signed:] = [""] * (len(lines) - signed)
    for at in _head_of_a_mail(lines):
        lines[at] = ""
    for begins, ends in list(_tables_to_do(lines)):
        notes.append(f"{begins + 1}: a table of points or files is no answer")
        lines[begins:ends] = [""] * (ends - begins)
    return "\n".join(lines), notes


def _quoted_mail(lines: Sequence[str]) -> int | None:
    """Where mail that was answered begins, if nothing but that follows."""
    begins = next((at for at in range(len(lines)) if _begins_another(lines, at)), None)
    if begins is None or sum(_has_label(line) for line in lines[:begins]) < _LABELS_BEFORE:
        return None
    while begins and (lines[begins - 1].lstrip().startswith(">") or re.fullmatch(r"[\s_-]*", lines[begins - 1])):
        begins -= 1
    return begins


def _begins_another(lines: Sequence[str], at: int) -> bool:
    line = lines[at].strip()
    if _WROTE.fullmatch(line):
        return all(_is_quoted(one) for one in lines[at + 1 :])
    return bool(_FORWARDED.fullmatch(line)) or (_is_head(lines, at) and not _is_top(lines, at))


def _is_quoted(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(">")


def _is_head(lines: Sequence[str], at: int) -> bool:
    """From:, Sent:, To:, Subject: on lines that follow each other."""
    return lines[at].lower().startswith("from:") and sum(bool(_HEADER.match(one)) for one in lines[at : at + 4]) > 2


def _is_top(lines: Sequence[str], at: int) -> bool:
    return not any(_has_label(line) for line in lines[:at])


def _has_label(line: str) -> bool:
    return not line.lstrip().startswith(">") and read_label(line.strip()) is not None


def _signature(lines: Sequence[str]) -> int | None:
    written = [at for at, line in enumerate(lines) if line.strip()]
    for at in written[: -_TAIL_LINES - 2 : -1]:
        line = lines[at].strip()
        if _SIGNS_OFF.fullmatch(line.rstrip(",.!:) ")):
            return at
        if len(line.split()) > _TAIL_WORDS or "=" in line or line.startswith("#") or _has_label(line):
            return None
    return None


def _head_of_a_mail(lines: Sequence[str]) -> Iterator[int]:
    written = [at for at, line in enumerate(lines) if line.strip()]
    headers = 0
    while headers < len(written) and _HEADER.match(lines[written[headers]]):
        headers += 1
    headers = headers if headers > 1 else 0
    yield from written[:headers]
    yield from (at for at in written[headers : headers + 1] if _GREETING.fullmatch(lines[at].strip()))


def _tables_to_do(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    for at in range(1, len(lines)):
        if not _RULE.fullmatch(lines[at]) or "|" not in lines[at - 1]:
            continue
        columns = [cell.strip(" *_`") for cell in lines[at - 1].strip().strip("|").split("|")]
        if any(_TO_DO.fullmatch(one) for one in columns) and not any(_ANSWERED.search(one) for one in columns):
            end = at + 1
            while end < len(lines) and "|" in lines[end]:
                end += 1
            yield at - 1, end
