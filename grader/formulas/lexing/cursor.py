"""A place in the text that moves on, and the groups in braces it can take whole."""

from __future__ import annotations

import re

from grader.formulas.lexing.tokens import MAX_DEPTH, Token, Unreadable
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation import spellings

_ONE_THING = re.compile(r"\\[A-Za-z]+(?:\s*\{[^{}]*\})?|\d+|[^\W\d_]|.", re.DOTALL)
_OPENING_BRACE = re.compile(r"\s*\{")
_FACES = re.compile(r"\\(?:text|textrm|mathrm|mathbf|mathit|rm|bf|boldsymbol|mathsf|operatorname)\b")
_LETTER_COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
_GROUPING = re.compile(r"[{}\s$\\]")


class Cursor:
    """The state all readers share: the text, how far it is read, and what was read last."""

    def __init__(self, text: str, vocabulary: Vocabulary, prose: bool) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._prose = prose
        self._at = 0
        self._depth = 0  # of brackets
        self._last: Token | None = None
        self._closing = _partners(text, "{", "}") | _partners(text, "(", ")")

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What the pattern finds here; the place moves past it."""
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _ahead(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What the pattern finds here; the place stays."""
        return pattern.match(self._text, self._at)

    def _last_is(self, *kinds: str) -> bool:
        return self._last is not None and self._last.kind in kinds

    def _open(self, start: int) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable(f"brackets are nested more than {MAX_DEPTH} deep", start)

    def _group(self) -> str:
        """The raw text of a braced group, or of one letter, command or number; the place moves past it."""
        while self._at < len(self._text) and self._text[self._at] in " \t\n":
            self._at += 1
        if self._at >= len(self._text):
            raise Unreadable("something should stand here, but the formula ends", max(0, self._at - 1))
        opened, sign = self._at, self._text[self._at]
        if sign == "{" or (sign == "(" and self._text[opened - 1] in "_^"):
            if opened not in self._closing:
                raise Unreadable(f"the bracket '{sign}' is never closed", opened)
            self._at = self._closing[opened] + 1
            return self._text[opened + 1 : self._at - 1]
        found = self._take(_ONE_THING)
        assert found is not None  # its last alternative takes any character
        return found[0]

    def _take_off_braces(self) -> None:
        """\\mathbf{k}_a is k_a: the braces only say how far the boldness goes. Blanks keep every place where it was."""
        opened = self._ahead(_OPENING_BRACE)
        if opened and (close := self._closing.get(opened.end() - 1)):
            inner = self._text[opened.end() : close]
            self._text = f"{self._text[: opened.end() - 1]} {inner} {self._text[close + 1 :]}"


def labels_in(raw: str) -> tuple[str, ...]:
    """The indices that a group below a letter holds: `i,j`, `\\text{rows}`, `\\alpha`."""
    raw = _FACES.sub("", raw)
    raw = _LETTER_COMMAND.sub(lambda found: spellings.LETTERS.get(found[1], found[1]), raw)
    raw = _GROUPING.sub("", raw)
    return tuple(spellings.LETTERS.get(label, label) for label in raw.split(",") if label)


def _partners(text: str, opening: str, closing: str) -> dict[int, int]:
    """Where each bracket of a kind is closed; found once, so that nested groups cost no more than flat ones."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for at, letter in enumerate(text):
        if letter == opening:
            opened.append(at)
        elif letter == closing and opened:
            found[opened.pop()] = at
    return found
