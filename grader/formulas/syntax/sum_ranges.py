"""What a sum runs over: `i=1`, `i`, `i \\neq a,b`, `i \\in \\{a,b\\}`, `1 \\le i \\le m`, `j=1, j \\ne a`."""

from __future__ import annotations

import re

from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import Domain
from grader.notation.faces import FACE
from grader.notation.letters import LETTERS
from grader.quoting import quote

_SIGNS = tuple(
    (re.compile(rf"\\{command}(?![A-Za-z])"), sign)
    for command, sign in (
        ("neq", "≠"),
        (r"not\s*=", "≠"),
        ("ne", "≠"),
        ("notin", "∉"),
        ("in", "∈"),
        ("leq", "≤"),
        ("le", "≤"),
    )
)
_WITHOUT_MEANING = re.compile(rf"{FACE.pattern}|\\(?:substack|limits|left|right|quad)\b|[{{}}\s$]|\\(?=[{{}},;! ])")
_LABEL = r"[A-Za-z0-9α-ωℓ]+(?:[+-]\d{1,2})?"
_NEAR = re.compile(r"\|([A-Za-zα-ωℓ])-([A-Za-zα-ωℓ])\|≤(\d)")
_RANGED = re.compile(rf"(\d+)[≤<]({_LABEL})[≤<]({_LABEL})")
_CHOSEN = re.compile(rf"({_LABEL})∈({_LABEL}(?:,{_LABEL})*)")
_FROM = re.compile(r"([A-Za-z0-9α-ωℓ]+)(?:=(-?\w+(?:[+-]\d{1,2})?))?")


def domain(low: str, high: str, place: int) -> Domain:
    """From what stands below a sum and above it."""
    text = _plain(low)
    end = re.sub(r"[{}()\s$\\]", "", high).replace("−", "-")
    end = LETTERS.get(end, end)
    if near := _NEAR.fullmatch(text):  # |l − j| ≤ 1
        return Domain(near[1], f"{near[2]}-{near[3]}", f"{near[2]}+{near[3]}")
    if ranged := _RANGED.fullmatch(text):
        return Domain(ranged[2], ranged[1], ranged[3])
    if chosen := _CHOSEN.fullmatch(text):
        labels = tuple(chosen[2].split(","))
        return Domain(chosen[1], only=labels) if len(labels) > 1 else Domain(chosen[1], high=labels[0])
    if not text and not end:
        return Domain("")
    begins = _FROM.match(text)
    without = _excluded(text[begins.end() :].lstrip(",;:"), begins[1]) if begins else None
    if begins is None or without is None:
        raise Unreadable(f"what the sum runs over ('{quote(low, 30)}') is not understood", place)
    return Domain(begins[1], begins[2] or "", end, without)


def _plain(low: str) -> str:
    for command, sign in _SIGNS:
        low = command.sub(sign, low)
    low = _WITHOUT_MEANING.sub("", low)
    low = re.sub(r"\\([A-Za-z]+)", lambda found: LETTERS.get(found[1], found[0]), low)
    low = re.sub(r"\\[lr]?vert(?![A-Za-z])", "|", low.replace("−", "-"))
    low = low.replace("!=", "≠").replace("\\", "").replace("<=", "≤")
    return re.sub(r"[∖\[\]]", "", low)


def _excluded(rest: str, index: str) -> tuple[str, ...] | None:
    """The labels left out, of `≠a,b` or `j≠a, j≠b`; None if that is not what stands there."""
    if not rest:
        return ()
    own = re.escape(index)
    found = re.fullmatch(rf"(?:{own})?(?:≠|∉)({_LABEL}(?:[,;]{_LABEL})*)((?:,{own}≠{_LABEL})*)", rest)
    if not found:
        return None
    labels = (*re.split("[,;]", found[1]), *re.findall(rf"≠({_LABEL})", found[2]))
    return tuple(label for label in labels if label != index)
