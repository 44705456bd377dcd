"""LaTeX commands → tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from grader.formulas.lexing.cursor import labels_in
from grader.formulas.lexing.signs import SignReader
from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.notation import spellings
from grader.quoting import quote

_FACES_AND_BRACES = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec|mathrm)\b|[{}\s]")
_ONE_COMMAND = re.compile(r"\\([A-Za-z]+)")
_COMMANDS_AND_DOLLARS = re.compile(r"\\[A-Za-z]+|[$]")
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\s*([0-9])")
_BLACKBOARD_ONE = re.compile(r"\s*(?:\{\s*[1I]\s*\}|[1I])(?!\s*[_^(\[{])")
_COST = re.compile(r"\s*\\?(?:mathcal\s*\{?\s*)?[OΘ]\}?\s*(?:\\left\s*)?\(")
_SCRIPT = re.compile(r"\s*[_^]")


class LatexReader(SignReader):
    """Reads what begins with a backslash."""

    def _command(self, name: str, start: int) -> Iterator[Token]:
        unstarred = name.rstrip("*")
        if unstarred and unstarred != name and unstarred not in spellings.TEXT_COMMANDS | spellings.WITH_ARGUMENT:
            self._at -= 1
        name = unstarred or name
        if name in ("mathbb", "mathds") and self._take(_BLACKBOARD_ONE):
            yield Token("IDENTITY", "", start, self._at)
        elif name in spellings.SPACES or name in spellings.DECORATIONS or name in spellings.WITH_ARGUMENT:
            self._skip(name)
        elif name in spellings.MARKS:
            yield self._marked(name, start)
        elif name in spellings.TEXT_COMMANDS:
            yield from self._text_command(start)
        elif name in spellings.LETTERS:
            yield self._letter(spellings.LETTERS[name], start)
        elif name == "sqrt":
            yield Token("SQRT", name, start, self._at)
        elif name in spellings.FUNCTIONS and name != "identity":
            yield self._function(spellings.FUNCTIONS[name], start)
        elif name in ("frac", "tfrac", "dfrac", "cfrac", "nicefrac", "sfrac"):
            yield Token("FRACTION", name, start, self._at)
            yield from self._short_fraction()
        elif name in ("overset", "underset", "stackrel"):  # what stands above or below says nothing here
            self._group()
            self._take_off_braces()
        elif name == "sum":
            yield self._sum(start)
        elif name in ("begin", "end"):
            yield self._environment(name, start)
        elif name == "lim":
            self._skip_script()
            self._skip_script()
        elif name == "_":  # \_ of escaped Markdown
            if self._last_is("NAME"):
                yield self._index(start)
        elif name in ("(", ")", "[", "]"):
            raise Unreadable(f"'\\{name}' begins or ends mathematics, and stands inside it", start)
        elif name in ("*", "^", "-", "$", "+", "=", ".", "#", "&", "%", "'"):
            yield from self._sign(name, start)
        else:
            yield self._single(name, start)

    def _single(self, name: str, start: int) -> Token:
        """A command that is one token, whatever stands around it."""
        match name:
            case "infty":
                return Token("CONSTANT", "∞", start, self._at)
            case "|" | "Vert" | "lVert" | "rVert":
                return self._bar("‖", start)
            case "vert" | "lvert" | "rvert":
                return self._bar("|", start)
            case "{" | "lbrace" | "lbrack" | "lparen" | "langle":
                self._open(start)
                return Token("⟨" if name == "langle" else "(", name, start, self._at)
            case "}" | "rbrace" | "rbrack" | "rparen" | "rangle":
                self._depth -= 1
                return Token("⟩" if name == "rangle" else ")", name, start, self._at)
            case "top" | "intercal" | "dagger" | "prime":
                return Token("TRANSPOSE", name, start, self._at)
            case "R":
                return Token("WORD", name, start, self._at)
            case "lor" | "vee":
                return Token("WORD", "or", start, self._at)
            case "O" | "bigO":
                return Token("FUNCTION", name, start, self._at)
            case _ if name in spellings.BREAKS:
                return Token("BREAK", name, start, self._at)
            case _ if name in spellings.OPERATORS:
                return self._operator(spellings.OPERATORS[name], start)
            case _ if name in spellings.RELATIONS:
                return Token("RELATION", spellings.RELATIONS[name], start, self._at)
            case _ if name in spellings.ELLIPSES:
                return Token("ELLIPSIS", "…", start, self._at)
            case _ if name in self._vocabulary.words:  # macros students define for themselves: \ka
                return self._name_token(name, start)
        raise Unreadable(f"the command '\\{quote(name, 20)}' is not known here", start)

    def _skip(self, name: str) -> None:
        """What has no meaning here, with the argument that belongs to it."""
        after = self._text[self._at : self._at + 1]
        if name in spellings.WITH_ARGUMENT and after == "{":
            self._group()
            if name in ("color", "textcolor"):
                self._take_off_braces()
        elif name in ("left", "right") and after == ".":
            self._at += 1
        elif name in spellings.DECORATIONS:
            self._take_off_braces()

    def _letter(self, letter: str, start: int) -> Token:
        if letter == "Σ" and self._opens_big_sum():
            return self._sum(start)
        if letter in self._vocabulary.functions:
            return Token("FUNCTION", letter, start, self._at)
        return self._name_token(letter, start)

    def _marked(self, name: str, start: int) -> Token:
        letter = _FACES_AND_BRACES.sub("", self._group())
        if command := _ONE_COMMAND.fullmatch(letter):
            letter = spellings.LETTERS.get(command[1], command[1])
        base, _, below = letter.partition("_")
        if len(base) != 1:
            raise Unreadable(f"'\\{name}' should stand over one letter", start)
        if below:
            symbol = self._vocabulary.symbol(base, labels_in(below), spellings.MARKS[name])
            return Token("NAME", symbol, start, self._at)
        return self._finished_name(base, spellings.MARKS[name], start)

    def _text_command(self, start: int) -> Iterator[Token]:
        content = self._group().strip()
        words = _WORD.findall(_COMMANDS_AND_DOLLARS.sub(" ", content))
        if len(words) == 1 and content.strip("\\ ,.") == words[0] and (token := self._upright(words[0], start)):
            yield token
            return
        for word in words:
            yield Token("WORD", word, start, self._at)
        if not words and content:
            yield Token("BREAK", content, start, self._at)

    def _upright(self, word: str, start: int) -> Token | None:
        """A function or symbol set upright: \\operatorname{softmax}, A^{\\text{T}}."""
        if word in self._vocabulary.functions:
            return self._function(word, start)
        if (function := spellings.FUNCTIONS.get(word) or spellings.FUNCTIONS.get(word.lower())) and len(word) > 1:
            return self._function(function, start)
        if word in spellings.TRANSPOSES and self._last_is("^"):
            return Token("NAME", Symbol("T"), start, self._at)
        return self._name_token(word, start) if len(word) == 1 or word in self._vocabulary.recognised else None

    def _short_fraction(self) -> Iterator[Token]:
        """\\frac12 and \\frac 1{n}: digits that stand for themselves."""
        for _ in range(2):
            digit = self._take(_DIGIT)
            if not digit:
                return
            yield from self._braced(Token("NUMBER", Fraction(digit[1]), digit.start(1), digit.end()))

    def _environment(self, name: str, start: int) -> Token:
        environment = self._group()
        plain = environment.rstrip("*")
        if plain in spellings.DISPLAYS or (plain == "cases" and (name == "end" or self._arranges(environment))):
            if plain in ("array", "alignat") and self._text[self._at : self._at + 1] == "{":
                self._group()  # how many columns there are
            return Token("BREAK", environment, start, self._at)
        # A matrix or cases written out: one thing, which the grammar has no use for.
        closing = f"\\end{{{environment}}}"
        end = self._text.find(closing, self._at)
        self._at = len(self._text) if end < 0 else end + len(closing)
        return Token("OPAQUE", f"\\begin{{{quote(environment, 20)}}}", start, self._at)

    def _arranges(self, environment: str) -> bool:
        """Whether every row in this brace is an equation or a cost by itself, and not one of several values."""
        end = self._text.find(f"\\end{{{environment}}}", self._at)
        rows = [row for row in self._text[self._at : max(end, self._at)].split("\\\\") if row.strip()]
        equations = not self._last_is("RELATION") and all("=" in row.partition("&")[0] for row in rows)
        return bool(rows) and (equations or all(_COST.match(row) for row in rows))

    def _skip_script(self) -> None:
        if self._take(_SCRIPT):
            self._group()
