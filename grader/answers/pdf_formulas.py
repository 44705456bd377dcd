"""Which words of a PDF's rows are formulas. A formula that a row breaks goes on in the next row of its paragraph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.answers.labels import read_label
from grader.answers.pdf_layout.row_text import Word
from grader.model import Piece
from grader.notation.function_names import FUNCTIONS
from grader.notation.operators import OPERATORS, RELATIONS

_NEUTRAL = re.compile(r"[\d.,;:()\[\]{}|'!%/+\-−–*=<>·×…]+")
_SIGNS = frozenset(one for one in (*OPERATORS, *RELATIONS) if not one.isalpha())
_NO_OPERATORS = frozenset("'!.,;:|…")
_BULLETS = _NO_OPERATORS | frozenset("-–—•·◦∗*/")  # a row that begins with one does not go on with a formula
_ASCII_FORMULA = re.compile(r"\w[_^][{(]?\w|\w=\S|\S=\w")
_LETTERS = re.compile(r"[A-Za-z]{1,2}|[^\W\d_a-zA-Z]")
_CALLED = "|".join(sorted(map(re.escape, FUNCTIONS), key=len, reverse=True))
_TERM = rf"(?:(?:{_CALLED})(?=\()|[A-Za-z]{{1,2}}(?![A-Za-z])|[^\W\d_a-zA-Z]|\d+(?:\.\d+)?)"
# Nothing but short names, numbers, brackets and operators: `1000·(xu`, `UVᵀ`, `exp(βs)`; "is" and "of", too.
_TERMS = re.compile(rf"[(\[{{|]*{_TERM}(?:[·×*/+−^_()\[\]{{}}|'-]*{_TERM})*[)\]}}|']*[.,;:]*")
_NO_WORD = re.compile(r"[·×*^_(\[]|[^\W\d_a-zA-Z]|[A-Za-z]\d")
_FACTOR = re.compile(r"(?![AI]\b)[A-Z][)\]]*[.,;:]*")
_VECTOR = re.compile(r"[b-hj-z][)\]]*[.,;:]*")  # after a transposed one; "a" may be a word
_TRANSPOSED = re.compile(r"(?:[ᵀ⊤]|\^\{?[T⊤]\}?)$")
# A letter that makes a word: the i-th, d-dimensional.
_COUNTS = re.compile(r"[(\[]*[^\W\d_](?:_\{?\w{1,5}\}?)?[-‐‑–](?:th|st|nd|rd|[a-z]{4,})[)\].,;:]*")
_OPEN, _CLOSED = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


@dataclass
class Cut:
    """The words of a row that are left to it, and what each is; those that went to the row before."""

    words: list[Word]
    kinds: list[bool]  # of a formula or not
    taken: list[Word] = field(default_factory=list)  # from the next row: its formula's end
    moved: list[Word] = field(default_factory=list)  # to the row before

    def pieces(self, number: int) -> list[Piece]:
        """Formulas and words in turn. A formula ends before the mark that ends its sentence."""
        words, kinds = [*self.words, *self.taken], [*self.kinds, *[True] * len(self.taken)]
        pieces: list[Piece] = []
        at = 0
        while at < len(words):
            end = at
            while end < len(words) and kinds[end] == kinds[at]:
                end += 1
            text = " ".join(word.text for word in words[at:end])
            if kinds[at]:
                formula = text.rstrip(".,;:")
                pieces.append(Piece("math", formula, number))
                if formula != text:
                    pieces.append(Piece("prose", text[len(formula) :], number))
            elif pieces and pieces[-1].kind == "prose":
                pieces[-1] = Piece("prose", f"{pieces[-1].text} {text}", number)
            else:
                pieces.append(Piece("prose", text, number))
            at = end
        return pieces


def cut_rows(rows: Sequence[Sequence[Word]], goes_on: Sequence[bool]) -> list[Cut]:
    """For each row its words. `goes_on` says which rows go on with the paragraph of the one before."""
    cuts: list[Cut] = []
    at = 0
    while at < len(rows):
        end = at + 1
        while end < len(rows) and goes_on[end] and rows[end]:
            end += 1
        cuts += _cut_paragraph(rows[at:end])
        at = end
    return cuts


def _cut_paragraph(rows: Sequence[Sequence[Word]]) -> list[Cut]:
    words = [word for row in rows for word in row]
    starts, labels, at = [], set(), 0
    for row in rows:
        starts.append(at)
        if row and read_label(row[0].text) is not None:
            labels.add(at)
        at += len(row)
    kinds = _kinds(words, labels, set(starts[1:]))
    cuts = [Cut(list(row), kinds[start : start + len(row)]) for row, start in zip(rows, starts, strict=True)]
    for index in range(len(cuts) - 1, 0, -1):
        _join(cuts[index - 1], cuts[index])
    return cuts


def _join(cut: Cut, following: Cut) -> None:
    """The end of a formula goes to the row where it began."""
    if not cut.words or not following.words or not cut.kinds[-1] or not following.kinds[0]:
        return
    run = len(cut.words)
    while run and cut.kinds[run - 1]:
        run -= 1
    last, first = cut.words[-1].text, following.words[0].text
    if not (_is_open([word.text for word in cut.words[run:]]) or _runs_on(last, first)):
        return
    count = next((at for at, kind in enumerate(following.kinds) if not kind), len(following.kinds))
    whole = count == len(following.kinds)
    following.moved = following.words[:count]
    cut.taken = [*following.moved, *(following.taken if whole else ())]
    following.words, following.kinds = following.words[count:], following.kinds[count:]
    if whole:
        following.taken = []


def _runs_on(last: str, first: str) -> bool:
    """Whether a row's last word and the next row's first belong to one formula: a sign stands between them."""
    if last[-1] in _SIGNS and last[-1] not in _NO_OPERATORS:
        return True
    return first[0] in _SIGNS and first[0] not in _BULLETS and not last.endswith((".", ",", ";", ":"))


def _is_open(texts: Sequence[str]) -> bool:
    text = " ".join(texts)
    return len(_OPEN.findall(text)) > len(_CLOSED.findall(text))


def _kinds(words: Sequence[Word], labels: set[int], starts: set[int]) -> list[bool]:
    """Which words belong to formulas: by font, by indices, and by what stands between such words."""
    kinds = [
        at not in labels
        and not _COUNTS.fullmatch(word.text)
        and ((word.is_math and bool(word.text.strip("-–—•·◦∗*"))) or bool(_ASCII_FORMULA.search(word.text)))
        for at, word in enumerate(words)
    ]
    signs = [word.text in _SIGNS and at not in labels for at, word in enumerate(words)]
    for index, word in enumerate(words):  # q = …, with q in the font of the text
        beside = any(0 <= near < len(words) and signs[near] for near in (index - 1, index + 1))
        if beside and index not in labels and (_LETTERS.fullmatch(word.text.strip("(),.")) or _is_no_word(word.text)):
            kinds[index] = True
    for _ in range(2):
        for step in (1, -1):
            for index in range(len(words)) if step == 1 else range(len(words) - 1, -1, -1):
                near = index - step
                if kinds[index] or index in labels or not 0 <= near < len(words) or not kinds[near]:
                    continue
                if (later := max(index, near)) in starts and not _runs_on(words[later - 1].text, words[later].text):
                    continue
                kinds[index] = not _ends(words, near, step) and _goes_with(words, index, near, step)
        _close_brackets(words, kinds, labels)
    return kinds


def _is_no_word(text: str) -> bool:
    return bool(_TERMS.fullmatch(text) and _NO_WORD.search(text.strip("([])")))


def _goes_with(words: Sequence[Word], index: int, near: int, step: int) -> bool:
    """Whether a word belongs to the formula beside it."""
    text, beside = words[index].text, words[near].text
    if _NEUTRAL.fullmatch(text) or text.strip("([,.") in FUNCTIONS:
        return True
    if text.endswith(",") if step == -1 else beside.endswith((",", ":")):
        return False
    if _is_no_word(text):
        return True
    if step == -1:
        return False
    return bool(_FACTOR.fullmatch(text) or (_TRANSPOSED.search(beside) and _VECTOR.fullmatch(text)))


def _close_brackets(words: Sequence[Word], kinds: list[bool], labels: set[int]) -> None:
    """What stands between a formula's bracket and its end belongs to it, if it may be part of a formula."""
    index = 0
    while index < len(words):
        start = index
        while index < len(words) and kinds[index]:
            index += 1
        if index == start:
            index += 1
            continue
        texts = [word.text for word in words[start:index]]
        end = index
        while end < len(words) and end not in labels and _is_open(texts):
            text = words[end].text
            if not (kinds[end] or _NEUTRAL.fullmatch(text) or _TERMS.fullmatch(text)):
                break
            texts.append(text)
            end += 1
        if end > index and not _is_open(texts):
            kinds[index:end] = [True] * (end - index)
            index = end


def _ends(words: Sequence[Word], near: int, step: int) -> bool:
    """Whether a sentence ends between a word and the one before it."""
    return words[near].text.endswith((".", ";")) if step == 1 else words[near - 1].text.endswith((".", ";"))
