"""Text → tokens: LaTeX, plain, unicode and numpy spellings of the same thing give the same tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from grader.formulas.lexing.characters import written_out
from grader.formulas.lexing.latex_commands import LatexReader
from grader.formulas.lexing.plain_words import articles_apart, scales_in_words
from grader.formulas.lexing.tokens import MAX_CHARACTERS, MAX_TOKENS, Token, Unreadable
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation import spellings
from grader.quoting import quote

__all__ = ["Token", "Unreadable", "read_tokens"]

_PIECE = re.compile(
    r"""
    (?P<product>%\*%)                          # R's
  | (?P<comment>(?<!\\)%[^\n]*)
  | (?P<space>[ \t\n\r\f\v]+)
  | (?P<fraction>[½⅓⅔¼¾⅛⅕])
  | (?P<number>
        \d+(?:\{,\}\d{3})+(?:\.\d+)?          # 10{,}000 as LaTeX wants it
      | \d{1,3}(?:,\d{3})+(?![\d,])           # 10,000
      | \d+(?:_\d{3})+                        # 10_000
      | \d+,(?:\d{1,2}|\d{4,})(?=\s*\()       # 1,5 (k_a + k_b): a decimal comma, where no list can be meant
      | (?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+   # 1e6
      | \d+\.\d+ | \.\d+ | \d+
    )
  | (?P<call>\.(?:T|mT|transpose|dot|t|matmul|mm|inverse|pinverse|softmax|exp)\b(?:\(\))?)
  | (?P<dotted>(?:[A-Za-z]\w*+\.){1,8}[A-Za-z]\w*)  # np.linalg.pinv, A.T
  | (?P<command>\\(?:[A-Za-z]+\*?|.))
  | (?P<word>[^\W\d_]+)
  | (?P<sign>(?<=\s)<-(?=\s)|>>>|<<<|>>|<<|->|=>|:=|==|!=|<=|>=|\.\.\.|\*\*|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TRANSPOSED = ("T", "mT", "t", "transpose")
_MULTIPLIED = ("dot", "matmul", "mm")
_NUMPY_CONSTANTS = {"e": "e", "pi": "π", "inf": "∞"}


def read_tokens(text: str, vocabulary: Vocabulary, *, prose: bool = False) -> list[Token]:
    """All tokens of a text. In prose, words that name nothing become WORD tokens, which end a formula."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"it is {len(text):,} characters long; formulas are read up to {MAX_CHARACTERS:,}", 0)
    source = written_out(text)
    tokens: list[Token] = []
    for token in _Lexer(source.text, vocabulary, prose).tokens():
        tokens.append(replace(token, start=source.places[token.start], end=source.places[token.end]))
        if len(tokens) > MAX_TOKENS:
            raise Unreadable(f"it has more than {MAX_TOKENS:,} symbols", tokens[-1].start)
    return scales_in_words(articles_apart(tokens) if prose else tokens, prose)


class _Lexer(LatexReader):
    """Takes one piece after the other and gives it to the reader of its kind."""

    def tokens(self) -> Iterator[Token]:
        while self._at < len(self._text):
            for token in self._next():
                self._last = token
                yield token

    def _next(self) -> Iterator[Token]:
        start = self._at
        piece = self._take(_PIECE)
        assert piece is not None  # the last alternative takes any character
        text = piece[0]
        match piece.lastgroup:
            case "space" if text.count("\n") > 1:  # an empty line
                yield Token("BREAK", "\n", start, self._at)
            case "product":
                yield Token("OPERATOR", "@", start, self._at)
            case "fraction":
                yield Token("NUMBER", Fraction(*spellings.FRACTIONS[text]), start, self._at)
            case "number":
                yield self._number(text, start)
            case "call":
                yield self._attribute(text, start)
            case "dotted":
                yield from self._dotted(text, start)
            case "command":
                yield from self._command(text[1:], start)
            case "word":
                yield from self._word(text, start)
            case "sign":
                yield from self._sign(text, start)

    # ---- numpy ----

    def _attribute(self, text: str, start: int) -> Token:
        name = text[1:].removesuffix("()")
        if name in _TRANSPOSED:
            return Token("TRANSPOSE", "T", start, self._at)
        if name in _MULTIPLIED:
            return Token("OPERATOR", "@", start, self._at)
        raise Unreadable(f"'{quote(text, 20)}' is not known here", start)

    def _dotted(self, text: str, start: int) -> Iterator[Token]:
        """`np.exp`, `A.T`, or the end of a sentence without a space after it."""
        *path, name = text.split(".")
        of_a_module = set(path) <= spellings.MODULES
        if of_a_module and name in spellings.FUNCTIONS:
            yield self._function(spellings.FUNCTIONS[name], start)
            return
        if of_a_module and name in _NUMPY_CONSTANTS:
            yield Token("CONSTANT", _NUMPY_CONSTANTS[name], start, self._at)
            return
        # What follows the first dot is read as a piece of its own.
        is_attribute = len(path) == 1 and name in (*_TRANSPOSED, "dot", "matmul")
        if not is_attribute and self._prose:
            self._at = start + len(path[0])
            yield Token("WORD", path[0], start, self._at)
            return
        if not is_attribute and not {path[0], name} <= self._vocabulary.recognised:
            raise Unreadable(f"'{quote(text, 30)}' is not known here", start)
        word = path[0] if path[0].isalpha() else path[0].partition("_")[0]  # k_a.T: the index is read with its letter
        self._at = start + len(word)
        yield from self._word(word, start)
