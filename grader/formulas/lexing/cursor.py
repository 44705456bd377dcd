"""A place in a text that moves on, with what is open and what was read last: all that the readers share."""

from __future__ import annotations

import re
from typing import Any

from grader.formulas.lexing.tokens import MAX_DEPTH, Token, Unclosed, Unreadable

_ONE_THING = re.compile(r"\\[A-Za-z]+(?:\s*\{[^{}]*\})?|\d+|[^\W\d_]|.", re.DOTALL)
_SPACES = re.compile(r"[ \t\n]*")
_OPENING_BRACE = re.compile(r"\s*\{")


class Cursor:
    """How far a text is read. In prose, what names nothing is a word or a break; elsewhere it cannot be read."""

    def __init__(self, text: str, prose: bool) -> None:
        self.text = text
        self.prose = prose
        self.at = 0
        self.last: Token | None = None
        self.depth = 0  # of brackets
        self._bars: list[tuple[str, int]] = []  # which of | and ‖ are open, and how deep
        self._closing = _partners(text, "{", "}") | _partners(text, "(", ")")

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What the pattern finds here; the place moves past it."""
        found = self.ahead(pattern)
        if found:
            self.at = found.end()
        return found

    def ahead(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What the pattern finds here; the place stays."""
        return pattern.match(self.text, self.at)

    def next_is(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def last_is(self, *kinds: str) -> bool:
        return self.last is not None and self.last.kind in kinds

    def touches(self, start: int) -> bool:
        """Whether nothing stands between what was read last and this place."""
        return self.last is not None and self.last.end == start

    def token(self, kind: str, value: Any, start: int) -> Token:
        """A token from this start up to where the text is read."""
        return Token(kind, value, start, self.at)

    def open(self, start: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"brackets are nested more than {MAX_DEPTH} deep", start)

    def close(self) -> None:
        self.depth -= 1

    def closes_bar(self, bar: str) -> bool:
        """Whether a bar closes one of its kind; else it opens one."""
        here = (bar, self.depth)
        if self._bars[-1:] == [here]:
            self._bars.pop()
            return True
        self._bars.append(here)
        return False

    def group(self) -> str:
        """The raw text of a braced group, or of one letter, command or number; the place moves past it."""
        self.take(_SPACES)
        if self.ended:
            raise Unreadable("something should stand here, but the formula ends", max(0, self.at - 1))
        opened, sign = self.at, self.text[self.at]
        if sign == "{" or (sign == "(" and self.text[opened - 1] in "_^"):
            if opened not in self._closing:
                raise Unclosed(sign, opened)
            self.at = self._closing[opened] + 1
            return self.text[opened + 1 : self.at - 1]
        found = self.take(_ONE_THING)
        assert found is not None  # its last alternative takes any character
        return found[0]

    def take_off_braces(self) -> None:
        """\\mathbf{k}_a is k_a: the braces only say how far the boldness goes."""
        opened = self.ahead(_OPENING_BRACE)
        if opened and (close := self._closing.get(opened.end() - 1)):
            self.blank(opened.end() - 1)
            self.blank(close)

    def blank(self, place: int) -> None:
        """Makes a character a space, which keeps every place where it was."""
        self.text = f"{self.text[:place]} {self.text[place + 1 :]}"


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
