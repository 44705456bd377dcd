"""Signs: operators, relations, brackets and bars, superscripts, and the numbers that stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from grader.formulas.lexing.cursor import labels_in
from grader.formulas.lexing.symbols import NameReader
from grader.formulas.lexing.tokens import MAX_DECIMAL_EXPONENT, MAX_DIGITS, Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation import spellings
from grader.quoting import quote

_SEPARATORS = re.compile(r"\{,\}|[_,]")
_DECIMAL_COMMA = re.compile(r"\d+,(?:\d{1,2}|\d{4,})")
_COLUMN = re.compile(r"\s*:\s*,\s*(\w)\s*\]")
_SPACED_BRACES = re.compile(r"[{}\s]")
_FACES = re.compile(r"\\(?:mathsf|mathrm|text|rm|textrm|mathbf|mathit|operatorname|sf|intercal(?=.)|,|!)")
_ONE_RAISED = re.compile(r"\s*([0-9]\d*|[A-Za-z])")
_INVERSE_TRANSPOSES = ("-T", "-top", "-\\top", "-\\intercal", "-⊤")
_EQUATES = re.compile(r"\s*(?:=|≈|:=)")
_IN_BRACKETS = re.compile(r"""["']?([a-z])["']?\]""")
_EUCLIDEAN = re.compile(r"\s*(?:2|\{\s*2\s*\})")
_CLOSING_CARET = re.compile(r"\^(?![\w{(])")
_PRIMES = ("'", "prime", "′")
_STARS = ("*", "ast", "star", "∗")


class SignReader(NameReader):
    """Reads what is neither a letter nor a command."""

    def __init__(self, text: str, vocabulary: Vocabulary, prose: bool) -> None:
        super().__init__(text, vocabulary, prose)
        self._bars: list[tuple[str, int]] = []  # which of | and ‖ are open, and how deep

    def _sign(self, sign: str, start: int) -> Iterator[Token]:
        match sign:
            case "~" if not self._prose:  # a space that does not break, in LaTeX
                pass
            case "*" if self._follows_a_name(start) and self._ahead(_EQUATES):  # q* = …, the best q
                yield Token("STAR", "*", start, self._at)
            case "[" if self._last_is("NAME") and (label := self._label()):  # k[a] and k["a"] are k_a
                yield Token("INDEX", (label,), start, self._at)
            case "^" | "**":
                yield from self._superscript(start)
            case "[" if self._last_is("NAME") and (column := self._take(_COLUMN)):  # A[:, i] is a_i
                yield Token("COLUMN", column[1], column.start(), column.end())
            case "(" | "[" | "{":
                self._open(start)
                yield Token("{" if sign == "{" else "(", sign, start, self._at)
            case ")" | "]" | "}":
                self._depth -= 1
                yield Token("}" if sign == "}" else ")", sign, start, self._at)
            case "⟨" | "⟩":
                yield Token(sign, sign, start, self._at)
            case "_":
                if self._last_is("FUNCTION", "SUM"):
                    yield Token("_", "_", start, self._at)
                elif self._last_is("NAME", "TRANSPOSE", "PRIME", "}"):
                    yield self._index(start)
                elif self._last_is("NORM_CLOSE") and self._take(_EUCLIDEAN):
                    pass  # the usual norm
                elif not self._prose:
                    raise Unreadable("'_' should stand after a letter", start)
            case "'" | "’" | "′" | "`" | "ʹ":
                if self._last is not None and self._last.end == start and self._last_is("NAME", ")", "}"):
                    yield Token("PRIME", "'", start, self._at)
            case "|" if self._prose:
                yield Token("BREAK", "|", start, self._at)
            case "|" | "‖" | "||":
                yield self._bar("|" if sign == "|" else "‖", start)
            case "∑":
                yield self._sum(start)
            case "∨":
                yield Token("WORD", "or", start, self._at)
            case "√":
                yield Token("SQRT", "√", start, self._at)
            case "∞":
                yield Token("CONSTANT", "∞", start, self._at)
            case "⊤" | "⊺" | "†":
                yield Token("DAGGER" if sign == "†" else "TRANSPOSE", sign, start, self._at)
            case "," | ";":
                yield Token("COMMA" if self._depth > 0 else "BREAK", sign, start, self._at)
            case "&":
                pass  # only says where lines are aligned
            case "." | ":" | "?" | "$" | '"' | "#" | "“" | "”":
                yield Token("BREAK", sign, start, self._at)
            case _ if sign in spellings.ELLIPSES:
                yield Token("ELLIPSIS", "…", start, self._at)
            case _ if sign in spellings.OPERATORS:
                yield self._operator(spellings.OPERATORS[sign], start)
            case _ if sign in spellings.RELATIONS:
                yield Token("RELATION", spellings.RELATIONS[sign], start, self._at)
            case _ if self._prose:
                yield Token("BREAK", sign, start, self._at)
            case _:
                raise Unreadable(f"the character '{quote(sign)}' has no meaning here", start)

    def _number(self, text: str, start: int) -> Token:
        text = text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else _SEPARATORS.sub("", text)
        if len(text) > MAX_DIGITS:
            raise Unreadable(f"a number of {len(text):,} digits; up to {MAX_DIGITS} are read", start)
        _, _, exponent = text.lower().partition("e")
        if exponent and abs(int(exponent)) > MAX_DECIMAL_EXPONENT:
            cause = f"the number {quote(text, 30)} is too large; exponents up to {MAX_DECIMAL_EXPONENT} are read"
            raise Unreadable(cause, start)
        return Token("NUMBER", Fraction(text), start, self._at)

    def _follows_a_name(self, start: int) -> bool:
        return self._last is not None and self._last.kind == "NAME" and self._last.end == start

    def _label(self) -> str:
        """The index in brackets of a letter that has such an index."""
        found = self._ahead(_IN_BRACKETS)
        name = self._last.value if self._last is not None else None
        if found is None or not isinstance(name, Symbol) or name.index:
            return ""
        if self._vocabulary.find(name.name, (found[1],)) is None:
            return ""
        self._at = found.end()
        return found[1]

    def _index(self, start: int) -> Token:
        """An index that does not follow its letter at once: k^T_a."""
        return Token("INDEX", labels_in(self._group()), start, self._at)

    def _operator(self, operator: str, start: int) -> Token:
        if operator == "±":
            raise Unreadable("'±' leaves open which sign is meant; write one", start)
        return Token(operator if operator in "+-/" else "OPERATOR", operator, start, self._at)

    def _bar(self, bar: str, start: int) -> Token:
        kind = "NORM" if bar == "‖" else "BAR"
        if self._bars and self._bars[-1] == (bar, self._depth):
            self._bars.pop()
            return Token(f"{kind}_CLOSE", bar, start, self._at)
        self._bars.append((bar, self._depth))
        return Token(f"{kind}_OPEN", bar, start, self._at)

    def _superscript(self, start: int) -> Iterator[Token]:
        before = self._at
        plain = _FACES.sub("", _SPACED_BRACES.sub("", self._group())).lstrip("\\")
        if self._prose and self._take(_CLOSING_CARET):  # A^T^, as some Markdown has it
            self._text = f"{self._text[: self._at - 1]} {self._text[self._at :]}"
        if plain in spellings.TRANSPOSES or plain in _PRIMES:
            yield Token("TRANSPOSE", "T", start, self._at)
        elif plain in spellings.DAGGERS:
            yield Token("DAGGER", "+", start, self._at)
        elif plain in _STARS:
            yield Token("STAR", "*", start, self._at)
        elif plain in _INVERSE_TRANSPOSES:
            yield Token("^", "^", start, self._at)
            yield from self._braced(Token("NUMBER", Fraction(-1), start, self._at))
            yield Token("TRANSPOSE", "T", start, self._at)
        else:
            self._at = before
            yield Token("^", "^", start, before)
            # One letter or number only: a^2b is a²b. Python's ** takes what comes.
            if self._text[start] != "*" and (raised := self._take(_ONE_RAISED)):
                read = self._number if raised[1].isdigit() else self._name_token
                yield from self._braced(read(raised[1], raised.start(1)))

    def _braced(self, token: Token) -> Iterator[Token]:
        yield Token("{", "{", token.start, token.start)
        yield token
        yield Token("}", "}", self._at, self._at)
