"""Text → tokens: LaTeX, plain, unicode and numpy spellings of the same thing give the same tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from grader.formulas import spelling
from grader.formulas.expressions import Domain, Symbol
from grader.formulas.vocabulary import Vocabulary
from grader.quoting import quote

# Far beyond any honest answer, and small enough that nothing below becomes slow.
MAX_CHARACTERS = 20_000
MAX_TOKENS = 4_000
MAX_DIGITS = 40
MAX_DEPTH = 40
MAX_NAME = 40

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0e\ufe0f\u2061\u2062\u2063\u2064")


class Unreadable(Exception):
    """What is written cannot be read; `place` is the character where it goes wrong."""

    def __init__(self, cause: str, place: int = 0) -> None:
        super().__init__(cause)
        self.cause = cause
        self.place = place


@dataclass(frozen=True)
class Token:
    """`kind` is what the grammar sees; `value` the symbol, number, function or relation it stands for."""

    kind: str
    value: Any
    start: int
    end: int


_PIECE = re.compile(
    r"""
    (?P<comment>(?<!\\)%[^\n]*)
  | (?P<space>[ \t\n\r\f\v]+)
  | (?P<fraction>[½⅓⅔¼¾⅛⅕])
  | (?P<number>\d+(?:\{,\}\d{3})+(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:_\d{3})+|\d+\.?\d*[eE][+-]?\d+|\d*\.\d+[eE][+-]?\d+|\d+\.\d+|\.\d+|\d+)
  | (?P<call>\.(?:T|mT|transpose|dot|t|matmul|mm|inverse|pinverse|softmax|exp)\b(?:\(\))?)
  | (?P<dotted>(?:[A-Za-z]\w*\.)+[A-Za-z]\w*)
  | (?P<command>\\(?:[A-Za-z]+\*?|.))
  | (?P<word>[^\W\d_]+)
  | (?P<relation>>>>|<<<|>>|<<|->|=>|:=|==|!=|<=|>=|\.\.\.|\*\*|\|\|)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _Source:
    """The text with super- and subscript letters written out, and where each character came from."""

    text: str
    places: list[int]


def _written_out(text: str) -> _Source:
    letters: list[str] = []
    places: list[int] = []

    def put(piece: str, place: int) -> None:
        letters.extend(piece)
        places.extend([place] * len(piece))

    inside = ""  # the table of the run of small letters that is open
    for place, letter in enumerate(text):
        if letter in _BIDI:
            raise Unreadable("it holds a character that turns the direction of writing round; type it anew", place)
        if letter in _INVISIBLE:
            continue
        above, below = spelling.SUPERSCRIPTS.get(letter), spelling.SUBSCRIPTS.get(letter)
        kind = "^" if above else "_" if below else ""
        if inside and kind != inside:
            put("}", place)
        if kind and kind != inside:
            put(kind + "{", place)
        inside = kind
        if above or below:
            put(above or below or "", place)
        elif letter in spelling.COMBINING or not unicodedata.combining(letter):
            put(_plain(letter), place)
    if inside:
        put("}", len(text))
    return _sums_written_out("".join(letters), [*places, len(text)])


_COMPREHENSION = re.compile(
    r"\bsum\(\s*\[?(?P<body>[^\n]{1,300}?)\s+for\s+(?P<index>\w)\s+in\s+range\((?P<range>[^()]*)\)\s*\]?\s*\)"
)


def _sums_written_out(text: str, places: list[int]) -> _Source:
    """Python's `sum(f(i) for i in range(m))` as a sum with bounds."""
    found = _COMPREHENSION.search(text)
    if not found:
        return _Source(text, places)
    end = found["range"].split(",")[-1].replace("+1", "").replace("+ 1", "").strip()
    lead = f"\\sum_{{{found['index']}=1}}^{{{end}}}("
    start, stop = found.span("body")
    written = text[: found.start()] + lead + text[start:stop] + ")" + text[found.end() :]
    moved = [*places[: found.start()], *[places[found.start()]] * len(lead), *places[start:stop]]
    return _Source(written, [*moved, places[stop], *places[found.end() :]])


def _plain(letter: str) -> str:
    if "\U0001d400" <= letter <= "\U0001d7ff" or "\uff01" <= letter <= "\uff5e":  # 𝐀, 𝜷, ＋: another face
        letter = unicodedata.normalize("NFKC", letter)
    if unicodedata.category(letter) in ("Zs", "Zl", "Zp"):
        return " "
    return spelling.SAME_LETTER.get(letter, letter)


def read_tokens(text: str, vocabulary: Vocabulary, *, prose: bool = False) -> list[Token]:
    """All tokens of a text. In prose, words that name nothing become WORD tokens, which end a formula."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"it is {len(text):,} characters long; formulas are read up to {MAX_CHARACTERS:,}", 0)
    source = _written_out(text)
    tokens: list[Token] = []
    for token in _Lexer(source.text, vocabulary, prose).tokens():
        tokens.append(replace(token, start=source.places[token.start], end=source.places[token.end]))
        if len(tokens) > MAX_TOKENS:
            raise Unreadable(f"it has more than {MAX_TOKENS:,} symbols", tokens[-1].start)
    return _scales_in_words(_articles_apart(tokens) if prose else tokens, prose)


class _Lexer:
    def __init__(self, text: str, vocabulary: Vocabulary, prose: bool) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._prose = prose
        self._at = 0
        self._depth = 0
        self._bars: list[tuple[str, int]] = []  # which of | and ‖ are open, and how deep
        self._last: Token | None = None

    def tokens(self) -> Iterator[Token]:
        while self._at < len(self._text):
            for token in self._next():
                self._last = token
                yield token

    def _next(self) -> Iterator[Token]:
        match = _PIECE.match(self._text, self._at)
        assert match is not None  # the last alternative takes any character
        start, text = self._at, match[0]
        self._at = match.end()
        match match.lastgroup:
            case "space":
                if "\n" in text and re.search(r"\n\s*\n", text):
                    yield Token("BREAK", "\n", start, self._at)
            case "fraction":
                yield Token("NUMBER", Fraction(*spelling.FRACTIONS[text]), start, self._at)
            case "number":
                yield self._number(text, start)
            case "call":
                yield from self._attribute(text, start)
            case "dotted":
                yield from self._dotted(text, start)
            case "command":
                yield from self._command(text[1:], start)
            case "word":
                yield from self._word(text, start)
            case "relation":
                yield from self._sign(text, start)
            case "other":
                yield from self._sign(text, start)

    # ---- numbers and names ----

    def _number(self, text: str, start: int) -> Token:
        text = text.replace("{,}", "").replace("_", "").replace(",", "")
        if len(text) > MAX_DIGITS:
            raise Unreadable(f"a number of {len(text):,} digits; up to {MAX_DIGITS} are read", start)
        mantissa, _, exponent = text.lower().partition("e")
        if exponent and abs(int(exponent)) > 300:
            raise Unreadable(f"the number {quote(text, 30)} is too large; exponents up to 300 are read", start)
        return Token("NUMBER", Fraction(text), start, self._at)

    def _word(self, word: str, start: int) -> Iterator[Token]:
        """One or several symbols, a function, or a word of prose."""
        if len(word) > MAX_NAME:
            raise Unreadable(f"'{quote(word, 20)}' is no name of a symbol", start)
        if self._text[self._at : self._at + 2] == "__" or self._text[max(0, start - 2) : start] == "__":
            raise Unreadable(f"'{quote(self._text[max(0, start - 2) : self._at + 2], 30)}' is not mathematics", start)
        if word in ("sum", "Sum", "Σ", "summation") and self._opens_a_sum(word):
            yield self._sum(start)
            return
        if word in ("axis", "dim", "keepdims") and re.match(r"\s*=", self._text[self._at :]):
            yield Token("NAME", Symbol(word), start, self._at)
            return
        digits = re.compile(r"\d+").match(self._text, self._at)
        if digits and word + digits[0] in self._vocabulary.words:  # q1, k2
            self._at = digits.end()
            yield self._finished_name(word + digits[0], "", start)
            return
        pieces = self._split(word)
        if pieces is None:
            longer = re.match(r"(?:_[A-Za-z]{2,})+", self._text[self._at :])  # large_number
            if longer:
                self._at += longer.end()
                word += longer[0]
            yield Token("WORD", word, start, self._at)
            return
        place = start
        for number, piece in enumerate(pieces):
            end = place + len(piece)
            yield from self._named(piece, place, end, last=number == len(pieces) - 1)
            place = end

    def _opens_a_sum(self, word: str) -> bool:
        after = self._text[self._at :].lstrip()
        if word == "Σ":
            labelled = re.match(r"_\s*\{?\s*([^\W\d_])\s*\}?(?!\s*=)", after)
            known = {label for one in self._vocabulary.declared for label in one.labels}
            return not (labelled and labelled[1] in known and not self._opens_big_sum())
        return after.startswith(("_", "(", "{")) or not self._prose

    def _split(self, word: str) -> list[str] | None:
        """The symbols a run of letters is made of; None if it is a word of prose."""
        known = self._known
        if len(word) == 1 or known(word):
            return [word]
        best: list[list[str] | None] = [[]] + [None] * len(word)
        for end in range(1, len(word) + 1):
            for begin in range(max(0, end - MAX_NAME), end):
                earlier, piece = best[begin], word[begin:end]
                single = len(piece) == 1 and (not self._prose or known(piece) or not piece.isascii() or piece.isupper())
                if earlier is not None and (single or (len(piece) > 1 and known(piece))):
                    candidate = [*earlier, piece]
                    current = best[end]
                    if current is None or len(candidate) < len(current):
                        best[end] = candidate
        found = best[-1]
        if found is None:
            return None
        loose = sum(len(piece) == 1 and not known(piece) for piece in found)
        if loose > (1 if self._prose else 2) or (loose and len(word) > 3):
            return None
        return found

    def _known(self, piece: str) -> bool:
        if piece in ("T", "I") and len(piece) == 1:
            return True
        return (
            piece in self._vocabulary.words
            or piece in self._vocabulary.functions
            or (len(piece) > 1 and piece in spelling.FUNCTIONS)
            or (len(piece) > 1 and piece in spelling.LETTERS)
            or any(piece in one.spellings for one in self._vocabulary.declared)
            or piece in spelling.LETTERS.values()
        )

    def _named(self, piece: str, start: int, end: int, last: bool) -> Iterator[Token]:
        if not last:
            at, self._at = self._at, end  # nothing but the last letter of a run carries an index
            yield self._name_token(piece, start)
            self._at = at
            return
        if piece == "T" and self._after_a_letter(start) and self._vocabulary.find("T") is None:
            yield Token("TRANSPOSE", "T", start, end)  # AAT
            return
        if piece in self._vocabulary.functions and self._text[end:].lstrip()[:1] in "({[\\":
            yield Token("FUNCTION", piece, start, end)
            return
        if piece in spelling.FUNCTIONS and piece not in self._vocabulary.words:
            yield self._function(spelling.FUNCTIONS[piece], start)
            return
        yield self._name_token(piece, start)

    def _after_a_letter(self, start: int) -> bool:
        return start > 0 and self._text[start - 1].isalpha() and self._last is not None and self._last.kind == "NAME"

    def _function(self, name: str, start: int) -> Token:
        """softmax_{rows} says over what, softmax_β with which scale."""
        below = re.compile(r"\s*_\s*\{?\s*(?:\\text(?:rm)?\s*\{)?\s*(row|col)\w*\s*\}*").match(self._text, self._at)
        if name == "softmax" and below:
            self._at = below.end()
            name = "softmax over rows" if below[1] == "row" else "softmax over columns"
        return Token("FUNCTION", name, start, self._at)

    def _name_token(self, piece: str, start: int) -> Token:
        applied = re.compile(r"\s*(?:\\left\s*)?[(\[]").match(self._text, self._at)
        if piece in ("σ", "sigma") and applied and self._vocabulary.find("σ") is None:
            return Token("FUNCTION", "σ", start, self._at)
        if piece == "E" and applied and self._vocabulary.means:
            return Token("FUNCTION", "E", start, self._at)
        mark = ""
        while self._at < len(self._text) and self._text[self._at] in spelling.COMBINING:
            mark += self._text[self._at]
            self._at += 1
        return self._finished_name(piece, mark, start)

    def _finished_name(self, piece: str, mark: str, start: int) -> Token:
        index, mark = self._indices(mark, piece)
        if not index and piece in self._vocabulary.words:
            name, index = self._vocabulary.words[piece]
        else:
            name = spelling.LETTERS.get(piece, piece)
        known = self._vocabulary.find(name, index)
        symbol = self._vocabulary.symbol(name, index, mark)
        if name == "I" and known is None:
            return Token("IDENTITY", "".join(index).partition("×")[0], start, self._at)
        return Token("NAME", symbol, start, self._at)

    def _indices(self, mark: str, name: str) -> tuple[tuple[str, ...], str]:
        """What stands below a name, also when a transpose stands between; primes are a mark."""
        found: tuple[str, ...] = ()
        while True:
            ahead = re.compile(r"\s*_").match(self._text, self._at)
            if not ahead:
                return found, mark
            self._at = ahead.end()
            pair = re.compile(r"[a-z]{2}(?![A-Za-z_])").match(self._text, self._at)
            if pair and any(name in one.spellings and len(one.runs_to) == 2 for one in self._vocabulary.declared):
                self._at = pair.end()  # a_ij without braces
                found = (*found, pair[0])
            else:
                found = (*found, *self._labels(self._group()))

    def _labels(self, raw: str) -> tuple[str, ...]:
        raw = re.sub(r"\\(?:text|textrm|mathrm|mathbf|mathit|rm|bf|boldsymbol|mathsf|operatorname)\b", "", raw)
        raw = re.sub(r"\\([A-Za-z]+)\s*", lambda found: spelling.LETTERS.get(found[1], found[1]), raw)
        raw = re.sub(r"[{}\s$\\]", "", raw)
        return tuple(spelling.LETTERS.get(label, label) for label in raw.split(",") if label)

    def _group(self) -> str:
        """The raw text of a braced group, or of one letter, command or number; the place moves past it."""
        while self._at < len(self._text) and self._text[self._at] in " \t\n":
            self._at += 1
        if self._at >= len(self._text):
            raise Unreadable("something should stand here, but the formula ends", max(0, self._at - 1))
        opened = self._at
        if self._text[self._at] in "{(" and (self._text[self._at] == "{" or self._text[opened - 1] in "_^"):
            close = {"{": "}", "(": ")"}[self._text[self._at]]
            depth = 0
            for at in range(opened, len(self._text)):
                if self._text[at] == self._text[opened]:
                    depth += 1
                elif self._text[at] == close:
                    depth -= 1
                    if depth == 0:
                        self._at = at + 1
                        return self._text[opened + 1 : at]
            raise Unreadable(f"the bracket '{self._text[opened]}' is never closed", opened)
        match = re.compile(r"\\[A-Za-z]+(?:\s*\{[^{}]*\})?|\d+|[^\W\d_]|.", re.DOTALL).match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return match[0]

    # ---- numpy ----

    def _attribute(self, text: str, start: int) -> Iterator[Token]:
        name = text[1:].removesuffix("()")
        if name in ("T", "mT", "t", "transpose"):
            yield Token("TRANSPOSE", "T", start, self._at)
        elif name in ("dot", "matmul", "mm"):
            yield Token("OPERATOR", "@", start, self._at)
        else:
            raise Unreadable(f"'{quote(text, 20)}' is not known here", start)

    def _dotted(self, text: str, start: int) -> Iterator[Token]:
        *path, name = text.split(".")
        if set(path) <= spelling.MODULES and name in spelling.FUNCTIONS:
            yield self._function(spelling.FUNCTIONS[name], start)
        elif set(path) <= spelling.MODULES and name in ("e", "pi", "inf"):
            yield Token("CONSTANT", {"e": "e", "pi": "π", "inf": "∞"}[name], start, self._at)
        elif len(path) == 1 and name in ("T", "mT", "dot", "transpose", "t", "matmul"):
            self._at = start + len(path[0])  # the rest is read as an attribute
            yield from self._word(path[0], start) if path[0].isalpha() else self._plain_name(path[0], start)
        elif self._prose:  # i.e., and the end of a sentence without a space after it
            self._at = start + len(path[0])
            yield Token("WORD", path[0], start, self._at)
        elif not (self._known(path[0]) and self._known(name)):
            raise Unreadable(f"'{quote(text, 30)}' is not known here", start)
        else:
            self._at = start + len(path[0])
            yield from self._word(path[0], start) if path[0].isalpha() else self._plain_name(path[0], start)

    def _plain_name(self, text: str, start: int) -> Iterator[Token]:
        """`k_a` of `k_a.T`, where the underscore was taken as a part of a word."""
        name, _, _ = text.partition("_")
        self._at = start + len(name)
        yield from self._word(name, start)

    # ---- LaTeX ----

    def _command(self, name: str, start: int) -> Iterator[Token]:
        starred = name.rstrip("*")
        if starred != name and starred not in spelling.TEXT_COMMANDS:
            self._at -= 1
        name = starred or name
        if name in spelling.SPACES or name in spelling.DECORATIONS or name in spelling.WITH_ARGUMENT:
            if name in spelling.WITH_ARGUMENT and self._text[self._at : self._at + 1] == "{":
                self._group()
            elif name in ("left", "right") and self._text[self._at : self._at + 1] == ".":
                self._at += 1
            elif name in spelling.DECORATIONS:
                self._take_off_braces()
        elif name in spelling.BREAKS:
            yield Token("BREAK", name, start, self._at)
        elif name in spelling.MARKS:
            yield from self._marked(name, start)
        elif name in spelling.TEXT_COMMANDS:
            yield from self._text_command(start)
        elif name in spelling.LETTERS:
            letter = spelling.LETTERS[name]
            if letter == "Σ" and self._opens_big_sum():
                yield self._sum(start)
            elif letter in self._vocabulary.functions:
                yield Token("FUNCTION", letter, start, self._at)
            else:
                yield self._name_token(letter, start)
        elif name in spelling.FUNCTIONS and name not in ("dot", "identity"):
            yield (
                Token("SQRT", name, start, self._at)
                if name == "sqrt"
                else self._function(spelling.FUNCTIONS[name], start)
            )
        elif name in ("frac", "tfrac", "dfrac", "cfrac", "nicefrac", "sfrac"):
            yield Token("FRACTION", name, start, self._at)
            yield from self._short_fraction()
        elif name == "sum":
            yield self._sum(start)
        elif name == "infty":
            yield Token("CONSTANT", "∞", start, self._at)
        elif name in ("begin", "end"):
            environment = self._group()
            if environment.rstrip("*") in (
                "align",
                "aligned",
                "equation",
                "gather",
                "gathered",
                "split",
                "multline",
                "array",
                "eqnarray",
                "alignat",
                "displaymath",
                "math",
                "flalign",
                "center",
                "itemize",
                "enumerate",
            ):
                if environment.rstrip("*") in ("array", "alignat") and self._text[self._at : self._at + 1] == "{":
                    self._group()
                yield Token("BREAK", environment, start, self._at)
            else:
                self._skip_environment(environment)
                yield Token("OPAQUE", f"\\begin{{{quote(environment, 20)}}}", start, self._at)
        elif name == "lim":
            self._skip_script()
            self._skip_script()
        elif name in ("mathcal",):
            pass
        elif name in ("|", "Vert", "lVert", "rVert"):
            yield self._bar("‖", start)
        elif name in ("vert", "lvert", "rvert"):
            yield self._bar("|", start)
        elif name in ("{", "lbrace", "lbrack", "lparen", "langle"):
            self._open(start)
            yield Token("⟨" if name == "langle" else "(", name, start, self._at)
        elif name in ("}", "rbrace", "rbrack", "rparen", "rangle"):
            self._depth -= 1
            yield Token("⟩" if name == "rangle" else ")", name, start, self._at)
        elif name in ("_",):  # \_ of escaped Markdown
            self._at = start + 2
            if self._last is not None and self._last.kind == "NAME":
                yield from self._late_index(start)
        elif name in ("*", "^", "-", "(", ")", "[", "]", "$", "+", "=", ".", "#", "&", "%", "'"):
            if name in "()[]":
                raise Unreadable(f"'\\{name}' begins or ends mathematics, and stands inside it", start)
            yield from self._sign(name, start)
        elif name in spelling.OPERATORS:
            yield self._operator(spelling.OPERATORS[name], start)
        elif name in spelling.RELATIONS:
            yield Token("RELATION", spelling.RELATIONS[name], start, self._at)
        elif name in spelling.ELLIPSES:
            yield Token("ELLIPSIS", "…", start, self._at)
        elif name in ("top", "intercal", "dagger", "prime", "transpose"):
            yield Token("TRANSPOSE", name, start, self._at)
        elif name in ("mathbb", "R"):
            yield Token("WORD", name, start, self._at)
        elif name in ("O", "bigO", "softmax"):
            yield Token("FUNCTION", name, start, self._at)
        elif name in self._vocabulary.words:  # macros students define for themselves: \ka
            yield self._name_token(name, start)
        else:
            raise Unreadable(f"the command '\\{quote(name, 20)}' is not known here", start)

    def _take_off_braces(self) -> None:
        """\\mathbf{k}_a is k_a: the braces only say how far the boldness goes."""
        opened = re.compile(r"\s*\{").match(self._text, self._at)
        if not opened:
            return
        depth = 0
        for at in range(opened.end() - 1, len(self._text)):
            depth += {"{": 1, "}": -1}.get(self._text[at], 0)
            if depth == 0:
                inner = self._text[opened.end() : at]
                self._text = f"{self._text[: opened.end() - 1]} {inner} {self._text[at + 1 :]}"
                return

    def _late_index(self, start: int) -> Iterator[Token]:
        last = self._last
        assert last is not None
        yield Token("INDEX", self._labels(self._group()), start, self._at)

    def _marked(self, name: str, start: int) -> Iterator[Token]:
        inner = re.sub(r"\\(?:mathbf|boldsymbol|bm|vec|mathrm)\b|[{}\s]", "", self._group())
        letter = re.sub(r"^\\([A-Za-z]+)$", lambda found: spelling.LETTERS.get(found[1], found[1]), inner)
        base, _, below = letter.partition("_")
        if len(base) != 1:
            raise Unreadable(f"'\\{name}' should stand over one letter", start)
        if below:
            symbol = self._vocabulary.symbol(base, self._labels(below), spelling.MARKS[name])
            yield Token("NAME", symbol, start, self._at)
        else:
            yield self._finished_name(base, spelling.MARKS[name], start)

    def _text_command(self, start: int) -> Iterator[Token]:
        raw = self._group()
        words = re.findall(r"[^\W\d_]+", re.sub(r"\\[A-Za-z]+|[$]", " ", raw))
        content = raw.strip()
        if len(words) == 1 and content.strip("\\ ,.") == words[0]:
            word = words[0]
            if word in spelling.FUNCTIONS or word in self._vocabulary.functions:
                yield self._function(word if word in self._vocabulary.functions else spelling.FUNCTIONS[word], start)
                return
            if word in spelling.TRANSPOSES and self._last is not None and self._last.kind == "^":
                yield Token("NAME", Symbol("T"), start, self._at)
                return
            if len(word) == 1 or self._known(word):
                yield self._name_token(word, start)
                return
        for word in words:
            yield Token("WORD", word, start, self._at)
        if not words and content and not content.isspace():
            yield Token("BREAK", content, start, self._at)

    def _short_fraction(self) -> Iterator[Token]:
        """\\frac12 and \\frac 1{n}: digits that stand for themselves."""
        for _ in range(2):
            match = re.compile(r"\s*([0-9])").match(self._text, self._at)
            if not match:
                return
            self._at = match.end()
            yield Token("{", "{", match.start(1), match.start(1))
            yield Token("NUMBER", Fraction(match[1]), match.start(1), match.end())
            yield Token("}", "}", match.end(), match.end())

    def _skip_environment(self, environment: str) -> None:
        """A matrix or cases written out: one thing, which the grammar has no use for."""
        end = self._text.find(f"\\end{{{environment}}}", self._at)
        self._at = len(self._text) if end < 0 else end + len(f"\\end{{{environment}}}")

    def _opens_big_sum(self) -> bool:
        """\\Sigma is a covariance unless it has bounds."""
        return bool(re.match(r"\s*(?:\^|_\s*\{[^{}]*(?:=|≠|∈|\\ne|\\in)|_\s*\w\s*\^)", self._text[self._at :]))

    def _skip_script(self) -> None:
        match = re.compile(r"\s*[_^]").match(self._text, self._at)
        if match:
            self._at = match.end()
            self._group()

    def _sum(self, start: int) -> Token:
        """\\sum with its bounds, or `sum_i`, `Σ_{i=1}^m`."""
        low = high = ""
        for _ in range(2):
            match = re.compile(r"\s*(?:\\limits\s*)?([_^])").match(self._text, self._at)
            if match:
                self._at = match.end()
                if match[1] == "_":
                    low = self._group()
                else:
                    high = self._group()
        return Token("SUM", _domain(low, high, start), start, self._at)

    # ---- everything else ----

    def _sign(self, sign: str, start: int) -> Iterator[Token]:
        match sign:
            case "^" | "**":
                yield from self._superscript(start)
            case "[" if (column := self._numpy_column()) is not None:
                yield column
            case "(" | "[" | "{":
                self._open(start)
                yield Token("{" if sign == "{" else "(", sign, start, self._at)
            case ")" | "]" | "}":
                self._depth -= 1
                yield Token("}" if sign == "}" else ")", sign, start, self._at)
            case "⟨" | "⟩":
                yield Token(sign, sign, start, self._at)
            case "_":
                if self._last is not None and self._last.kind in ("FUNCTION", "SUM"):
                    yield Token("_", "_", start, self._at)
                elif self._last is not None and self._last.kind in ("NAME", "TRANSPOSE", "PRIME", "}"):
                    yield Token("INDEX", self._labels(self._group()), start, self._at)
                elif not self._prose:
                    raise Unreadable("'_' should stand after a letter", start)
            case "'" | "’" | "′" | "`" | "ʹ":
                if self._last is not None and self._last.end == start and self._last.kind in ("NAME", ")", "}"):
                    yield Token("PRIME", "'", start, self._at)
            case "|" if self._prose:
                yield Token("BREAK", "|", start, self._at)
            case "|" | "‖" | "||":
                yield self._bar("|" if sign == "|" else "‖", start)
            case "∑":
                yield self._sum(start)
            case "√":
                yield Token("SQRT", "√", start, self._at)
            case "∞":
                yield Token("CONSTANT", "∞", start, self._at)
            case "⊤" | "⊺" | "†":
                yield Token("DAGGER" if sign == "†" else "TRANSPOSE", sign, start, self._at)
            case "," | ";":
                yield Token("COMMA" if self._depth > 0 else "BREAK", sign, start, self._at)
            case "&":
                pass
            case "." | ":" | "?" | "$" | '"' | "#" | "“" | "”":
                yield Token("BREAK", sign, start, self._at)
            case _ if sign in spelling.ELLIPSES:
                yield Token("ELLIPSIS", "…", start, self._at)
            case _ if sign in spelling.OPERATORS:
                yield self._operator(spelling.OPERATORS[sign], start)
            case _ if sign in spelling.RELATIONS:
                yield Token("RELATION", spelling.RELATIONS[sign], start, self._at)
            case "~":
                pass
            case _ if self._prose:
                yield Token("BREAK", sign, start, self._at)
            case _:
                raise Unreadable(f"the character '{quote(sign)}' has no meaning here", start)

    def _numpy_column(self) -> Token | None:
        """A[:, i] is a_i: the index that turns a matrix just read into its column."""
        found = re.compile(r"\s*:\s*,\s*(\w)\s*\]").match(self._text, self._at)
        if not found or self._last is None or self._last.kind != "NAME":
            return None
        self._at = found.end()
        return Token("COLUMN", found[1], found.start(), found.end())

    def _operator(self, operator: str, start: int) -> Token:
        if operator in "+-":
            return Token(operator, operator, start, self._at)
        if operator == "/":
            return Token("/", "/", start, self._at)
        if operator == "±":
            raise Unreadable("'±' leaves open which sign is meant; write one", start)
        return Token("OPERATOR", operator, start, self._at)

    def _superscript(self, start: int) -> Iterator[Token]:
        before = self._at
        raw = re.sub(r"[{}\s]", "", self._group())
        plain = re.sub(r"\\(?:mathsf|mathrm|text|rm|textrm|mathbf|mathit|operatorname|sf|intercal(?=.)|,|!)", "", raw)
        plain = plain.lstrip("\\")
        if plain in spelling.TRANSPOSES or plain in ("'", "prime", "′"):
            yield Token("TRANSPOSE", "T", start, self._at)
        elif plain in spelling.DAGGERS:
            yield Token("DAGGER", "+", start, self._at)
        elif plain in ("*", "ast", "star", "∗"):
            yield Token("STAR", "*", start, self._at)
        elif plain in ("-T", "-top", "-\\top", "-\\intercal", "-⊤"):
            yield Token("^", "^", start, self._at)
            yield Token("{", "{", start, self._at)
            yield Token("NUMBER", Fraction(-1), start, self._at)
            yield Token("}", "}", start, self._at)
            yield Token("TRANSPOSE", "T", start, self._at)
        else:
            self._at = before
            yield Token("^", "^", start, before)
            ahead = re.compile(r"\s*([A-Za-z0-9])").match(self._text, self._at)
            if ahead and self._text[start] != "*":  # one letter or digit only: a^2b is a²b
                digits = re.compile(r"\s*(\d+|[A-Za-z])").match(self._text, self._at)
                assert digits is not None
                self._at = digits.end()
                yield Token("{", "{", digits.start(1), digits.start(1))
                if digits[1].isdigit():
                    yield self._number(digits[1], digits.start(1))
                else:
                    yield self._name_token(digits[1], digits.start(1))
                yield Token("}", "}", self._at, self._at)

    def _bar(self, bar: str, start: int) -> Token:
        kind = "NORM" if bar == "‖" else "BAR"
        if self._bars and self._bars[-1] == (bar, self._depth):
            self._bars.pop()
            return Token(f"{kind}_CLOSE", bar, start, self._at)
        self._bars.append((bar, self._depth))
        return Token(f"{kind}_OPEN", bar, start, self._at)

    def _open(self, start: int) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable(f"brackets are nested more than {MAX_DEPTH} deep", start)


_DOMAIN_SIGNS = (("neq", "≠"), ("not\\s*=", "≠"), ("ne", "≠"), ("notin", "∉"), ("in", "∈"), ("leq", "≤"), ("le", "≤"))
_SUM_LABEL = r"[A-Za-z0-9α-ωℓ]+"


def _domain(low: str, high: str, place: int) -> Domain:
    """`i=1`, `i`, `i \\neq a,b`, `i \\in \\{a,b\\}`, `1 \\le i \\le m`, `j=1, j \\ne a`."""
    text = low
    for command, sign in _DOMAIN_SIGNS:
        text = re.sub(rf"\\{command}(?![A-Za-z])", sign, text)
    text = re.sub(r"\\(?:text|mathrm|substack|limits|left|right|quad)\b|[{}\s$]|\\(?=[{},;! ])", "", text)
    text = (
        text.replace("!=", "≠").replace("\\", "").replace("<=", "≤").replace("∖", "").replace("[", "").replace("]", "")
    )
    end = re.sub(r"[{}\s$\\]", "", high)
    end = spelling.LETTERS.get(end, end)
    ranged = re.fullmatch(rf"(\d+)[≤<]({_SUM_LABEL})[≤<]({_SUM_LABEL})", text)
    if ranged:
        return Domain(ranged[2], ranged[1], ranged[3])
    chosen = re.fullmatch(rf"({_SUM_LABEL})∈({_SUM_LABEL}(?:,{_SUM_LABEL})*)", text)
    if chosen:
        labels = tuple(chosen[2].split(","))
        return Domain(chosen[1], only=labels) if len(labels) > 1 else Domain(chosen[1], high=labels[0])
    match = re.match(rf"({_SUM_LABEL})(?:=(-?\w+))?", text)
    if not match:
        if not text and not end:
            return Domain("")
        raise Unreadable(f"what the sum runs over ('{quote(low, 30)}') is not understood", place)
    index, first = match[1], match[2] or ""
    without: tuple[str, ...] = ()
    rest = text[match.end() :].lstrip(",;:")
    excluded = re.fullmatch(
        rf"(?:{re.escape(index)})?(?:≠|∉)({_SUM_LABEL}(?:[,;]{_SUM_LABEL})*)((?:,{re.escape(index)}≠{_SUM_LABEL})*)",
        rest,
    )
    if excluded:
        more = re.findall(rf"≠({_SUM_LABEL})", excluded[2])
        without = (*re.split("[,;]", excluded[1]), *more)
        without = tuple(label for label in without if label != index)
    elif rest:
        raise Unreadable(f"what the sum runs over ('{quote(low, 30)}') is not understood", place)
    return Domain(index, first, end, without)


def _articles_apart(tokens: list[Token]) -> list[Token]:
    """In prose `a` and `I` before a word are words themselves."""
    found = []
    for token, after in zip(tokens, [*tokens[1:], None][: len(tokens)], strict=True):
        alone = token.kind in ("NAME", "IDENTITY") and token.end - token.start == 1
        letter = "I" if token.kind == "IDENTITY" else str(token.value)
        if alone and letter in ("a", "A", "I") and after is not None and after.kind == "WORD":
            token = Token("WORD", letter, token.start, token.end)
        found.append(token)
    return found


def _scales_in_words(tokens: list[Token], prose: bool) -> list[Token]:
    """`scale * (k_a + k_b)`, `a large number times (…)`: words where a factor stands are a scale."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].kind != "WORD":
            found.append(tokens[at])
            at += 1
            continue
        end = at
        while end < len(tokens) and tokens[end].kind == "WORD":
            end += 1
        words = [str(token.value).lower() for token in tokens[at:end]]
        before = found[-1] if found else None
        after = tokens[end] if end < len(tokens) else None
        opens = before is None or before.kind in ("RELATION", "OPERATOR", "+", "-", "(", "{", "BREAK", "/")
        if words[-1] in ("times", "multiplied") and len(words) > 1:
            words.pop()
        multiplied = after is not None and (
            after.kind in ("OPERATOR", "(", "^") or (len(words) < end - at and after.kind in ("NAME", "{"))
        )
        leads = before.kind != "BREAK" if before is not None else not prose
        if opens and multiplied and leads and _is_a_scale(words):
            name = words[0] if len(words) == 1 else "scale"
            found.append(Token("NAME", Symbol(name), tokens[at].start, tokens[end - 1].end))
        elif words == ["times"] and before is not None and after is not None:
            found.append(Token("OPERATOR", "·", tokens[at].start, tokens[at].end))
        else:
            found.extend(tokens[at:end])
        at = end
    return found


def _is_a_scale(words: list[str]) -> bool:
    parts = [part for word in words for part in word.split("_")]
    meant = [word for word in parts if word in spelling.SCALE_WORDS]
    return bool(meant) and all(word in spelling.SCALE_WORDS | spelling.FILLER_WORDS for word in parts)
