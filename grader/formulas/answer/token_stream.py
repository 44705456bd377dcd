"""The pieces of an answer → one stream of tokens, row by row, with breaks where one formula cannot go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from grader.formulas.answer.assignments import assigned
from grader.formulas.answer.clauses import Stream
from grader.formulas.answer.implicit_equations import with_implicit_equations
from grader.formulas.answer.remarks import begins_equation, remarks_apart, without_numbers
from grader.formulas.lexing.lexer import read_tokens
from grader.formulas.lexing.tokens import Token, Unclosed, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary
from grader.model import Answer, Piece
from grader.notation.letters import LETTERS

_WRITTEN_OUT = re.compile(r"\\begin\{(\w*matrix|cases|array)\}.*?(?:\\end\{\1\}|\Z)", re.DOTALL)
_END_OF_ROW = re.compile(r"\\\\(?:\[[^\]]{0,40}\])?")  # \\ and \\[2pt]
_ESCAPED_TWICE = re.compile(rf"(?<!\\)\\\\(?=(?:frac|sum|top|cdot|{'|'.join(LETTERS)})(?![A-Za-z]))")
_END_OF_SENTENCE = re.compile(r"\n|(?<=[a-z)])\.\s+(?=[A-Z])")
# What Python does not compute. An apostrophe after a letter or bracket transposes; k["a"] is k_a.
_NOT_COMPUTED = re.compile(
    r'''\["\w+"\]|"""(?:.|\n)*?(?:"""|\Z)|(?<!\[)"[^"\n]*"|(?<![\w)\]}.'\[])'[^'\n]*'|\#[^\n]*''',
)
_GOES_ON = ("+", "-", "OPERATOR", "(")
_UNFINISHED = ("RELATION", "OPERATOR", "+", "-", "(", "/")


@dataclass(frozen=True)
class UnreadRow:
    """A row that has no tokens, and the letters that were being defined where it went wrong."""

    piece: Piece
    text: str
    cause: str
    place: int  # in the piece
    defines: frozenset[Symbol]


def tokens_of(answer: Answer, vocabulary: Vocabulary) -> tuple[Stream, list[UnreadRow]]:
    stream: Stream = []
    unread: list[UnreadRow] = []
    earlier: dict[Symbol, list[Token]] = {}
    for piece in answer.pieces:
        tokens: list[Token] = []
        for start, text in _rows(piece):
            try:
                row = read_tokens(without_numbers(text), vocabulary, prose=piece.kind == "prose")
                row = remarks_apart(row, text, vocabulary, piece.kind == "prose")
            except Unreadable as fault:
                defines = _defined_in(text[: fault.place], vocabulary)
                if isinstance(fault, Unclosed):
                    fault = fault.within(piece.text, start + fault.place)
                unread.append(UnreadRow(piece, text, fault.cause, start + fault.place, defines))
                continue
            if (tokens or start) and not _goes_on(tokens, row):
                tokens.append(Token("ROW", "", start, start))
            placed = [replace(one, start=one.start + start, end=one.end + start) for one in row]
            tokens.extend(assigned(placed, earlier) if piece.kind == "code" else placed)
        formula = piece.kind != "prose" and any(one.kind == "RELATION" for one in tokens)
        if formula and stream and stream[-1][0].kind == "/" and begins_equation(tokens, vocabulary):
            stream[-1] = (replace(stream[-1][0], kind="WORD", value="or"), stream[-1][1])
        if (stream and _begins_anew(piece, stream)) or (formula and not _awaits_more(stream)):
            stream.append((Token("BREAK", "", 0, 0), piece))
        stream.extend((token, piece) for token in tokens)
        if formula:
            stream.append((Token("BREAK", "soft", 0, 0), piece))
    return with_implicit_equations(stream, vocabulary), unread


def _rows(piece: Piece) -> Iterator[tuple[int, str]]:
    """Rows of a display, lines and sentences of prose: what is wrong in one does not spoil the others."""
    pattern = _END_OF_ROW if piece.kind == "math" else _END_OF_SENTENCE
    text = piece.text
    if piece.kind == "code":
        text = _NOT_COMPUTED.sub(_blank, text)
    elif piece.kind == "math":
        text = _ESCAPED_TWICE.sub(r" \\", text)
    whole = [found.span() for found in _WRITTEN_OUT.finditer(text)]
    start = 0
    for found in pattern.finditer(text):
        if any(begin < found.start() < end for begin, end in whole):
            continue
        if found[0] == "\n" and _is_open(text[start : found.start()], text[found.end() :].partition("\n")[0]):
            continue
        yield start, text[start : found.start()]
        start = found.end()
    yield start, text[start:]


def _is_open(row: str, following: str) -> bool:
    """Whether a line ends within a bracket of its formula that the next one closes: `y = c(u −` and `w)`."""
    _, equals, formula = row.rpartition("=")
    opened = formula.count("(") - formula.count(")")
    closing = following.partition(")")
    return bool(equals) and opened == 1 and bool(closing[1]) and "(" not in closing[0] and "=" not in closing[0]


def _blank(found: re.Match[str]) -> str:
    """As many blanks, on as many lines, so that every place stays where it was."""
    return found[0] if found[0].startswith("[") else re.sub(r"[^\n]", " ", found[0])


def _goes_on(tokens: Sequence[Token], row: Sequence[Token]) -> bool:
    """Whether a row begins in the middle of the formula before it: `+ cw`, or `(u − w)` after `y = c`."""
    if not tokens or not row or tokens[-1].kind in ("BREAK", "WORD", "ROW") or row[0].kind not in _GOES_ON:
        return False
    if any(one.kind in ("RELATION", "WORD") for one in row):
        return False
    return row[0].kind != "(" or (tokens[-1].kind == "NAME" and any(one.kind == "NAME" for one in row))


def _begins_anew(piece: Piece, stream: Stream) -> bool:
    """Whether a piece stands apart from the one before: two formulas in a row, or another line."""
    before = stream[-1][1]
    both_are_formulas = piece.kind != "prose" and before.kind != "prose"
    return both_are_formulas or piece.line > before.line + before.text.count("\n")


def _awaits_more(stream: Stream) -> bool:
    """Whether what stands before ends in the middle of a formula: `y =` and then the mathematics."""
    return bool(stream) and stream[-1][0].kind in _UNFINISHED


def _defined_in(text: str, vocabulary: Vocabulary) -> frozenset[Symbol]:
    try:
        tokens = read_tokens(text, vocabulary)
    except Unreadable:
        return frozenset()
    return frozenset(one.value for one, after in pairwise(tokens) if one.kind == "NAME" and after.value == "=")
