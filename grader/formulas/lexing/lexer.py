"""Text → tokens: LaTeX, plain, unicode and numpy spellings of the same thing give the same tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from grader.formulas.lexing.characters import written_out
from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.derivatives import derivatives_joined
from grader.formulas.lexing.latex_commands import read_command
from grader.formulas.lexing.numerals import read_number
from grader.formulas.lexing.numpy_calls import read_attribute, read_dotted, read_swap
from grader.formulas.lexing.plain_words import articles_apart, scales_below, scales_in_words
from grader.formulas.lexing.signs import read_sign
from grader.formulas.lexing.symbols import read_word
from grader.formulas.lexing.tokens import MAX_CHARACTERS, MAX_TOKENS, Token, Unreadable
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.letters import FRACTIONS

__all__ = ["Token", "Unreadable", "read_tokens"]

_PIECE = re.compile(
    rf"(?P<fraction>[{''.join(FRACTIONS)}])"
    r"""
  | (?P<product>%\*%)                          # R's
  | (?P<comment>(?<!\\)%[^\n]*)
  | (?P<space>[ \t\n\r\f\v]+)
  | (?P<number>
        \d+(?:\{,\}\d{3})+(?:\.\d+)?          # 10{,}000 as LaTeX wants it
      | \d{1,3}(?:,\d{3})+(?![\d,])           # 10,000
      | \d+(?:_\d{3})+                        # 10_000
      | \d+,(?:\d{1,2}|\d{4,})(?=\s*\()       # 1,5 (u - 2 w): a decimal comma, where no list can be meant
      | (?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+   # 1e6
      | \d+\.\d+ | \.\d+ | \d+
    )
  | (?P<swapped>\.(?:transpose|swapaxes|swapdims)\(\s*(-?\d)\s*,\s*(-?\d)\s*\))
  | (?P<call>\.(?:T|mT|transpose|dot|t|matmul|mm|inverse|pinverse|softmax|exp|sum|max)\b(?:\(\))?)
  | (?P<dotted>(?:[A-Za-z]\w*+\.){1,8}[A-Za-z]\w*)  # np.linalg.pinv, A.T
  | (?P<command>\\(?:[A-Za-z]+\*?|.))
  | (?P<word>[^\W\d_]+)
  | (?P<sign>(?<=\s)<-(?=\s)|>>>|<<<|>>|<<|->|=>|:=|==|!=|<=|>=|\.\.\.|\*\*|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)


def read_tokens(text: str, vocabulary: Vocabulary, *, prose: bool = False) -> list[Token]:
    """All tokens of a text. In prose, words that name nothing become WORD tokens, which end a formula."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"it is {len(text):,} characters long; formulas are read up to {MAX_CHARACTERS:,}", 0)
    source = written_out(text)
    tokens: list[Token] = []
    for token in _tokens(Cursor(source.text, prose), vocabulary):
        tokens.append(replace(token, start=source.places[token.start], end=source.places[token.end]))
        if len(tokens) > MAX_TOKENS:
            raise Unreadable(f"it has more than {MAX_TOKENS:,} symbols", tokens[-1].start)
    tokens = derivatives_joined(tokens, vocabulary, prose)
    return scales_below(scales_in_words(articles_apart(tokens) if prose else tokens, prose))


def _tokens(cursor: Cursor, vocabulary: Vocabulary) -> Iterator[Token]:
    while not cursor.ended:
        for token in _next(cursor, vocabulary):
            cursor.last = token
            yield token


def _next(cursor: Cursor, vocabulary: Vocabulary) -> Iterator[Token]:
    """Takes one piece and gives it to the reader of its kind."""
    start = cursor.at
    piece = cursor.take(_PIECE)
    assert piece is not None  # the last alternative takes any character
    text = piece[0]
    match piece.lastgroup:
        case "space" if text.count("\n") > 1:  # an empty line
            yield cursor.token("BREAK", "\n", start)
        case "product":
            yield cursor.token("OPERATOR", "@", start)
        case "fraction":
            yield cursor.token("NUMBER", Fraction(*FRACTIONS[text]), start)
        case "number":
            yield read_number(cursor, text, start)
        case "swapped":
            yield read_swap(cursor, text, start)
        case "call":
            yield read_attribute(cursor, text, start)
        case "dotted":
            yield from read_dotted(cursor, vocabulary, text, start)
        case "command":
            yield from read_command(cursor, vocabulary, text[1:], start)
        case "word":
            yield from read_word(cursor, vocabulary, text, start)
        case "sign":
            yield from read_sign(cursor, vocabulary, text, start)
