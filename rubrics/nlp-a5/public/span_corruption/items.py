"""Items of a character data set as they come out of the sandbox: validated, and read back as text."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from grader import Array, Crashed, Killed, NotImportable, Student, StudentFault, TimedOut, WrongKind, quote

from ...probes import draw_items
from .span_columns import Spans, spans_at_the_beginning
from .spans import MASK, PAD, UNKNOWN, Span, measured

Entries = tuple[tuple[Any, Any], ...]  # of a vocabulary's table, as it came out of the sandbox
LONG_TENSOR = "Tensor torch.int64"
# No character twice in short documents but the blank: a piece has one place.
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;éü"
_SHOWN = 80  # of a document; any other of its length does as well
_MOST_LETTERS = 1000  # in a vocabulary; the documents hold fewer than a hundred
_WIDEST = 4096  # ids in one item; ten times the longest document that is asked about


@dataclass(frozen=True)
class Question:
    """One document of a data set, and how often to draw it. The text ends with a newline, as text files do."""

    documents: tuple[str, ...]
    block: int
    idx: int = 0
    times: int = 1
    copies: bool = False  # the document stands there as often as it is drawn, and each copy is drawn once
    after: int = 0  # draws that were made of it before: these are others
    in_turn_with: tuple[int, ...] = ()  # other documents of the data set, each drawn as often

    @property
    def document(self) -> str:
        return self.documents[self.idx]

    @property
    def data(self) -> str:
        return "\n".join([self.document] * self.times if self.copies else self.documents) + "\n"

    @property
    def items(self) -> list[int]:
        return list(range(self.times)) if self.copies else [self.idx, *self.in_turn_with]

    @property
    def stream(self) -> int:
        """Which of the code's random numbers its draws are made with: other ones for every question."""
        return zlib.crc32(repr((self.data, self.block, self.items, self.times, self.after)).encode())

    @property
    def label(self) -> str:
        n = len(self.document)
        size = "an empty document" if n == 0 else f"a document of {n} character{'s' * (n > 1)}"
        return f"{size}, block {self.block}"

    @property
    def shown(self) -> str:
        return f"the document is '{quote(self.document, _SHOWN)}'"


def questions(
    rng: np.random.Generator, lengths: tuple[int, ...], block: int, times: int, solid: tuple[int, ...] = ()
) -> list[Question]:
    """One question about each of the documents of these lengths in one data set.

    The pieces of these `solid` lengths end with a letter: stripped or not, they are as long.
    """
    documents = tuple(_document(rng, length, solid) for length in lengths)
    return [Question(documents, block, idx, times) for idx in range(len(documents))]


def _document(rng: np.random.Generator, length: int, solid: tuple[int, ...]) -> str:
    """Words of three to nine letters, with one blank in between; the first has seven and more, as names do."""
    rounds = -(-length // len(_LETTERS))
    text = [str(letter) for _ in range(rounds) for letter in rng.permutation(list(_LETTERS))][:length]
    place = int(rng.integers(7, 10))
    while place < length - 3:
        if place + 1 not in solid:
            text[place] = " "
        place += 1 + int(rng.integers(3, 10))
    return "".join(text)


@dataclass(frozen=True)
class Side:
    """What was drawn of x, or of y: codes of characters, one draw behind the other, and how long each is."""

    codes: Array
    lengths: Array

    @cached_property
    def texts(self) -> list[str]:
        spelt = self.codes.tobytes().decode("utf-32-le", "replace")
        ends = np.concatenate([[0], np.cumsum(self.lengths)]).tolist()
        return [spelt[start:stop] for start, stop in pairwise(ends)]

    @cached_property
    def rows(self) -> Array | None:
        """A row for each draw, if all are as long."""
        if not len(self.lengths) or not self.lengths[0] or np.ptp(self.lengths):
            return None
        return self.codes.reshape(len(self.lengths), -1)

    def every(self, step: int, start: int) -> Side:
        """Of draws that are as long as each other, every so many from there on."""
        assert self.rows is not None
        rows = self.rows[start::step]
        return Side(rows.reshape(-1), self.lengths[start::step])


_NOTHING = Side(np.zeros(0, "<u4"), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Draws:
    """What the box gave: x and y of each draw; `strays` are draws that gave none.

    Its question may hold shorter documents than were sent: those that the items are made of.
    """

    question: Question
    length: int | None
    vocab_size: int | None
    stoi: Entries | None
    itos: Entries | None
    kinds: tuple[str, ...] = ()
    sides: tuple[Side, Side] = (_NOTHING, _NOTHING)
    strays: tuple[str, ...] = ()

    @property
    def x(self) -> list[str]:
        return self.sides[0].texts

    @property
    def y(self) -> list[str]:
        return self.sides[1].texts

    def __len__(self) -> int:
        return len(self.sides[0].lengths)

    @cached_property
    def whole(self) -> Array | None:
        """The codes of the string behind each pair, if all are as long and y is x moved by one."""
        x, y = (side.rows for side in self.sides)
        if x is None or y is None or x.shape != y.shape or not np.array_equal(x[:, 1:], y[:, :-1]):
            return None
        return np.concatenate([x, y[:, -1:]], axis=1)

    @cached_property
    def texts(self) -> list[str]:
        """The string behind each pair. Where y is not x moved by one, x is all there is to go by."""
        if self.whole is not None:
            return Side(self.whole, np.full(len(self), self.whole.shape[1])).texts
        return [whole_text(x, y) for x, y in zip(self.x, self.y, strict=True)]

    @property
    def stays_the_same(self) -> bool:
        """Whether all draws are one item."""
        if self.whole is not None:
            return bool((self.whole == self.whole[0]).all())
        return len(set(self.texts)) == 1

    @cached_property
    def _at_the_beginning(self) -> tuple[Spans, Array]:
        """Spans, and of which draws: what can be read at once."""
        if self.whole is None:
            return Spans.of([Span(0, 0, 0)] * len(self)), np.zeros(len(self), bool)
        return spans_at_the_beginning(self.whole, self.question.document)

    @property
    def unread(self) -> list[str]:
        """The texts that have to be looked at one by one. All others are a beginning of the document, as asked for."""
        _, read = self._at_the_beginning
        return [] if read.all() else [self.texts[row] for row in np.flatnonzero(~read).tolist()]

    @cached_property
    def spans(self) -> Spans:
        """The draws that have three pieces."""
        found, read = self._at_the_beginning
        if read.all():
            return found
        others = [measured(text, self.question.document) for text in self.unread]
        rows = np.flatnonzero(~read)[[other is not None for other in others]]
        has_pieces = read.copy()
        has_pieces[rows] = True
        return found.with_rows(rows, [other for other in others if other is not None])[has_pieces]


def whole_text(x: str, y: str) -> str:
    if x[1:] == y[:-1]:
        return x + y[-1:]
    return y + x[-1:] if y[1:] == x[:-1] else x


def draw(student: Student, file: str, name: str, question: Question) -> Draws:
    """Ask the box. Faults say with which document they happened; what is not two rows of ids is one."""
    request = {"name": name, "data": question.data, "block_size": question.block, "stream": question.stream}
    try:
        answer = student.probe(draw_items, file, **request, items=question.items, times=question.times)
    except NotImportable:
        raise
    except Crashed as fault:
        raise _placed(fault, question) from None
    match answer:
        case {"kinds": list(kinds), "stoi": stoi, "itos": itos, "vocab_size": size, "length": length}:
            pass
        case _:
            raise Crashed(f"{name} gave no items", code="malformed_reply")
    drawn = Draws(
        question,
        length if isinstance(length, int) else None,
        size if isinstance(size, int) else None,
        entries_of(stoi),
        entries_of(itos),
        tuple(quote(str(kind), 60) for kind in kinds[:3]),
    )
    if not question.times:
        return drawn
    strays = tuple(quote(str(stray), 120) for stray in answer.get("strays") or ())
    whole = question.times - len(strays)
    rows = {side: _rows(answer.get(side), answer.get(f"{side}_lengths"), whole) for side in ("x", "y")}
    if any(row is None for row in rows.values()):
        found = f"it gives {', '.join(drawn.kinds)}" if drawn.kinds else ""
        message = f"{name} should give a pair (x, y) of Long tensors, one row of ids each"
        raise WrongKind(message, found, code="not_long_tensors")
    table = _letters(drawn)
    x, y = (_side(*row, table) for row in rows.values() if row is not None)
    beyond = [ord(letter) for letter in _beyond_ascii(question)]
    occur = any((side.codes == letter).any() for side in (x, y) for letter in beyond)
    read = question if occur else _without_letters_beyond_ascii(question)
    return replace(drawn, question=read, sides=(x, y), strays=strays)


def draw_each(student: Student, file: str, name: str, asked: Sequence[Question]) -> Iterator[Draws]:
    """Draws of several documents of one data set, each as often. They are asked for at once; one by one where anything
    is odd, so that it is known with which document it happened."""
    first, *others = asked
    at_once = replace(first, times=first.times * len(asked), in_turn_with=tuple(one.idx for one in others))
    try:
        drawn = draw(student, file, name, at_once)
    except (NotImportable, TimedOut, Killed):
        raise
    except StudentFault:
        drawn = None
    for number, question in enumerate(asked):
        if drawn is None or drawn.whole is None or drawn.strays:
            yield draw(student, file, name, question)
        else:
            x, y = (side.every(len(asked), number) for side in drawn.sides)
            read = replace(drawn.question, idx=question.idx, times=question.times, in_turn_with=())
            yield replace(drawn, question=read, sides=(x, y))


def draw_by_chance(ask: Callable[[Question], Draws], question: Question, drawn: Draws | None = None) -> Draws:
    """What is drawn. An item that stays the same, which costs elsewhere, is drawn from copies of its document."""
    drawn = drawn or ask(question)
    if question.times == 1 or not drawn.stays_the_same:
        return drawn
    copied = ask(replace(question, copies=True))
    return drawn if copied.stays_the_same else copied


def _beyond_ascii(question: Question) -> set[str]:
    documents = (question.documents[idx] for idx in (question.idx, *question.in_turn_with))
    return {letter for document in documents for letter in document if not letter.isascii()}


def _without_letters_beyond_ascii(question: Question) -> Question:
    """The question as a data set sees it that leaves such letters out, as the course's own code does with names.

    Where they were left out by chance alone this is right as well: a piece without them is a piece of both.
    """
    return replace(question, documents=tuple(without_letters_beyond_ascii(text) for text in question.documents))


def _placed(fault: StudentFault, question: Question) -> StudentFault:
    detail = "; ".join(part for part in (fault.detail, question.shown) if part)
    return type(fault)(f"{fault.message}, with {question.label}", detail, code=fault.code)


def _rows(ids: Any, lengths: Any, times: int) -> tuple[Array, Array] | None:
    for array, dtypes in ((ids, (np.int16, np.int64)), (lengths, (np.int64,))):
        if not isinstance(array, np.ndarray) or array.dtype not in dtypes or array.ndim != 1:
            return None
    if not len(lengths) == times > 0 or (lengths < 0).any() or (lengths > _WIDEST).any() or lengths.sum() != len(ids):
        return None
    return ids, lengths


def _letters(drawn: Draws) -> dict[int, str]:
    """Ids to characters by the data set's own tables, right or wrong; without tables, by the assignment's.

    stoi comes first, for with it items are made. Whatever stands for pad and mask is read as such: that it is another
    character is for the vocabulary's check to say.
    """
    pairs = tuple((index, letter) for letter, index in drawn.stoi or ()) or drawn.itos or ()
    letters = {index: letter for index, letter in pairs if isinstance(index, int) and isinstance(letter, str)}
    for index, letter in enumerate((PAD, MASK)):
        if letter not in letters.values() and letters.get(index) not in set(drawn.question.data):
            letters[index] = letter
    return letters if len(letters) > 2 else dict(enumerate(right_vocabularies(drawn.question.data)[0]))


def _side(ids: Array, lengths: Array, letters: dict[int, str]) -> Side:
    codes = np.full(_MOST_LETTERS + 1, ord(UNKNOWN), "<u4")
    for index, letter in letters.items():
        if 0 <= index < _MOST_LETTERS and len(letter) == 1:
            codes[index] = ord(letter)
    known = ids if not len(ids) or (ids.min() >= 0 and ids.max() < _MOST_LETTERS) else _within(ids)
    return Side(codes[known], lengths)


def _within(ids: Array) -> Array:
    return np.where((ids >= 0) & (ids < _MOST_LETTERS), ids, _MOST_LETTERS)


def entries_of(table: Any) -> Entries | None:
    if not isinstance(table, list) or not all(isinstance(entry, list) and len(entry) == 2 for entry in table):
        return None
    if not all(isinstance(value, int | str | None) for entry in table for value in entry):
        return None
    return tuple((one, other) for one, other in table)


def right_vocabularies(data: str) -> tuple[list[str], list[str]]:
    """□, ⁇ and the sorted characters of the data, where the newline between documents may or may not be one."""
    special, letters = [PAD, MASK], sorted(set(data))
    return [*special, *letters], [*special, *(letter for letter in letters if letter != "\n")]


def without_letters_beyond_ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()
