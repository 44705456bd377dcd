"""What happens to prediction files: lines of another program, blank lines, a part that is there twice, running text.

Each takes lines out only where their number is that of the surplus, so that which line answers what stays beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from grader.quoting import quote

_STRAYS_QUOTED = 2
_QUOTED_CHARACTERS = 60
_SHORTEST_BLOCK = 5  # lines: by chance, fewer may follow each other twice
_TEXT_IS_LIKELY = 0.5  # of the lines: a finetuned model leaves some answers unfinished
# What programs print: a bare number, a number with a sign that no label has, or a word about results and a number.
_REPORT = re.compile(
    r"[-+]?\d+(?:[.,]\d+)?(?:e-?\d+)?\s*%?"
    r"|.*\d\s*%.*"
    r"|.*\d+\s*(?:it\b|it/s|s/it).*"
    r"|.*\b(?:accuracy|acc|correct|loss|epoch|score|parameters|characters|unique|out of|warning|error)\b.*\d.*"
    r"|.*\d.*\b(?:correct|accuracy|parameters|characters|unique)\b.*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE_WORDS = "and at by for from in is of on or that the to was were where which who with"
_BEGINS_A_CLAUSE = frozenset(_CLAUSE_WORDS.split())


def are_reports(line: str, known: Collection[str]) -> bool:
    """Whether a program printed this about its work: no label, unless it is a known one."""
    return line.strip() not in known and bool(_REPORT.fullmatch(line.strip()[:300]))


def stray_lines(
    lines: Sequence[str], asked: int, known: Collection[str], one_called: str, many_called: str
) -> tuple[list[int], str]:
    """Numbers of the lines that are no predictions, if they are all that is too much; and what they are, in words."""
    surplus = len(lines) - asked
    kinds: dict[str, Callable[[str], bool]] = {"report": lambda line: are_reports(line, known), "blank": _is_blank}
    for kind, odd in kinds.items():
        found = [number for number, line in enumerate(lines, start=1) if odd(line)]
        if 0 < surplus == len(found):
            one = len(found) == 1
            if kind == "blank":
                return found, f"{'is' if one else 'are'} blank; leave {'it' if one else 'them'} out"
            quoted = ", ".join(f"'{quote(lines[n - 1].strip(), _QUOTED_CHARACTERS)}'" for n in found[:_STRAYS_QUOTED])
            return found, f"{f'is no {one_called}' if one else f'are no {many_called}'}: {quoted}"
    return [], ""


def _is_blank(line: str) -> bool:
    return not line.strip()


def repeated(lines: Sequence[str], asked: int) -> tuple[int, int] | None:
    """Where a block begins that only repeats the lines before it and is all that is too much, and where it ends."""
    surplus = len(lines) - asked
    if surplus < _SHORTEST_BLOCK:
        return None
    for start in range(surplus, len(lines) - surplus + 1):
        block = lines[start : start + surplus]
        if block == lines[start - surplus : start] and len(set(block)) >= _SHORTEST_BLOCK:
            return start, start + surplus
    return None


def running_text(predictions: Sequence[str], known: Collection[str], special: str) -> str:
    """How many lines are what a language model writes that was not finetuned, if most are; with one of them. `special`
    are the characters of its vocabulary that belong to no text."""
    found = [
        number
        for number, said in enumerate(predictions, start=1)
        if said not in known and (not set(special).isdisjoint(said) or _is_clause(said))
    ]
    if len(found) < _TEXT_IS_LIKELY * len(predictions):
        return ""
    first = quote(predictions[found[0] - 1], _QUOTED_CHARACTERS)
    lines = f"{len(found)} of {len(predictions)} lines read like those of a model before finetuning"
    return f"{lines} (line {found[0]}: '{first}')"


def _is_clause(said: str) -> bool:
    """Words in small letters with one that begins a clause among them: labels are names, or single words."""
    words = _WORD.findall(said)
    if len(words) < 2:
        return False
    if words[0] in _BEGINS_A_CLAUSE or (words[-1] in _BEGINS_A_CLAUSE and len(words) > 2):
        return True
    return sum(word.islower() for word in words) >= 3 and any(word in _BEGINS_A_CLAUSE for word in words)
