"""Words → symbols: runs of letters taken apart, indices, functions and sums by name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.formulas.lexing.cursor import Cursor, labels_in
from grader.formulas.lexing.tokens import MAX_NAME, Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.syntax.sum_ranges import domain
from grader.notation import spellings
from grader.quoting import quote

_DIGITS = re.compile(r"\d+")
_EQUALS_SIGN = re.compile(r"\s*=")
_MORE_WORDS = re.compile(r"(?:_[A-Za-z]{2,})+")
_BELOW = re.compile(r"\s*_")
_TWO_INDICES = re.compile(r"[a-z]{2}(?![A-Za-z_])")
_APPLIED = re.compile(r"\s*(?:\\left\s*)?[(\[]")
_ARGUMENT = re.compile(r"\s*(?:[({\[\\]|\Z)")
_OVER = re.compile(r"\s*_\s*\{?\s*(?:\\text(?:rm)?\s*\{)?\s*(row|col)\w*\s*\}*")
_BOUND = re.compile(r"\s*(?:\\limits\s*)?([_^])")
_AFTER_SUM = re.compile(r"\s*[_({]")
_LABELLED_SIGMA = re.compile(r"\s*_\s*\{?\s*([^\W\d_])\s*\}?(?!\s*=)")
_BIG_SUM = re.compile(r"\s*(?:\^|_\s*\{[^{}]*(?:=|≠|∈|\\ne|\\in)|_\s*\w\s*\^)")

_FIRST_IDEOGRAPH = "\u2e80"  # from here on letters are words of languages that write without spaces
# Letters that name nothing may stand in a run of known ones (2βk), but few: more of them are a word.
_LOOSE_LETTERS, _LOOSE_LETTERS_IN_PROSE, _LONGEST_LOOSE_RUN = 2, 1, 3


class NameReader(Cursor):
    """Reads what begins with a letter."""

    def _word(self, word: str, start: int) -> Iterator[Token]:
        """One or several symbols, a function, or a word of prose."""
        if len(word) > MAX_NAME:
            raise Unreadable(f"'{quote(word, 20)}' is no name of a symbol", start)
        if self._text[self._at : self._at + 2] == "__" or self._text[max(0, start - 2) : start] == "__":
            raise Unreadable(f"'{quote(self._text[max(0, start - 2) : self._at + 2], 30)}' is not mathematics", start)
        if word in ("sum", "Sum", "Σ", "summation") and self._opens_a_sum(word):
            yield self._sum(start)
            return
        if word in spellings.KEYWORDS and self._ahead(_EQUALS_SIGN):
            yield Token("NAME", Symbol(word), start, self._at)
            return
        if self._prose and word[0] >= _FIRST_IDEOGRAPH:
            yield Token("WORD", word, start, self._at)
            return
        if word in spellings.INFINITIES:
            yield Token("CONSTANT", "∞", start, self._at)
            return
        digits = self._ahead(_DIGITS)
        if digits and word + digits[0] in self._vocabulary.words:  # q1, k2
            self._at = digits.end()
            yield self._finished_name(word + digits[0], "", start)
            return
        pieces = self._split(word)
        if pieces is None:
            longer = self._take(_MORE_WORDS)  # large_number
            yield Token("WORD", word + (longer[0] if longer else ""), start, self._at)
            return
        for piece in pieces[:-1]:
            after, self._at = self._at, start + len(piece)
            yield self._name_token(piece, start)
            start, self._at = start + len(piece), after  # only the last letter of a run carries an index
        yield self._last_of_run(pieces[-1], start)

    def _split(self, word: str) -> list[str] | None:
        """The fewest symbols a run of letters is made of; None if it is a word of prose."""
        known = self._vocabulary.recognised
        if self._prose and word.lower() in spellings.SHORT_WORDS and word not in known:
            return None
        if word == "or" and self._stands_apart(word):  # `$M = A^\top or AA^\top$`
            return None
        if len(word) == 1 or word in known:
            return [word]
        best: list[list[str] | None] = [[]] + [None] * len(word)
        for end in range(1, len(word) + 1):
            for begin in range(end):
                earlier, piece = best[begin], word[begin:end]
                single = len(piece) == 1 and (not self._prose or not piece.isascii() or piece.isupper())
                if earlier is not None and (single or piece in known):
                    current = best[end]
                    if current is None or len(earlier) + 1 < len(current):
                        best[end] = [*earlier, piece]
        found = best[-1]
        if found is None:
            return None
        loose = sum(piece not in known for piece in found)
        allowed = _LOOSE_LETTERS_IN_PROSE if self._prose else _LOOSE_LETTERS
        if loose > allowed or (loose and len(word) > _LONGEST_LOOSE_RUN):
            return None
        return found

    def _stands_apart(self, word: str) -> bool:
        """Whether blanks stand around the word that was just taken."""
        begins = self._at - len(word)
        return self._text[max(0, begins - 1) : begins].isspace() and self._text[self._at : self._at + 1].isspace()

    def _last_of_run(self, piece: str, start: int) -> Token:
        after_a_letter = start > 0 and self._text[start - 1].isalpha() and self._last_is("NAME")
        if piece == "T" and after_a_letter and self._vocabulary.find("T") is None:
            return Token("TRANSPOSE", "T", start, self._at)  # AAT
        if piece in self._vocabulary.functions and self._ahead(_ARGUMENT):
            return Token("FUNCTION", piece, start, self._at)
        if piece in spellings.FUNCTIONS and piece not in self._vocabulary.words:
            return self._function(spellings.FUNCTIONS[piece], start)
        return self._name_token(piece, start)

    def _function(self, name: str, start: int) -> Token:
        """softmax_{rows} says over what, softmax_β with which scale."""
        if name == "identity" and not self._ahead(_APPLIED):  # the identity matrix
            return Token("IDENTITY", "", start, self._at)
        if name == "softmax" and (below := self._take(_OVER)):
            name = "softmax over rows" if below[1] == "row" else "softmax over columns"
        return Token("FUNCTION", name, start, self._at)

    def _name_token(self, piece: str, start: int) -> Token:
        applied = self._ahead(_APPLIED)
        if piece in ("σ", "sigma") and applied and self._vocabulary.find("σ") is None:
            return Token("FUNCTION", "σ", start, self._at)
        if piece == "t" and applied and "%*%" in self._text:  # R's t(A)
            return Token("FUNCTION", "transpose", start, self._at)
        if piece == "E" and applied and self._vocabulary.means:
            return Token("FUNCTION", "E", start, self._at)
        mark = ""
        while self._at < len(self._text) and self._text[self._at] in spellings.COMBINING:
            mark += self._text[self._at]
            self._at += 1
        return self._finished_name(piece, mark, start)

    def _finished_name(self, piece: str, mark: str, start: int) -> Token:
        index = self._indices(piece)
        if not index and piece in self._vocabulary.words:
            name, index = self._vocabulary.words[piece]
        else:
            name = spellings.LETTERS.get(piece, piece)
        if name == "I" and self._vocabulary.find(name, index) is None:
            return Token("IDENTITY", "".join(index).partition("×")[0], start, self._at)
        return Token("NAME", self._vocabulary.symbol(name, index, mark), start, self._at)

    def _indices(self, name: str) -> tuple[str, ...]:
        """What stands below a name."""
        found: tuple[str, ...] = ()
        carries_two = any(name in one.spellings and len(one.runs_to) == 2 for one in self._vocabulary.declared)
        while self._take(_BELOW):
            if carries_two and (pair := self._take(_TWO_INDICES)):  # a_ij without braces
                found = (*found, pair[0])
            else:
                found = (*found, *labels_in(self._group()))
        return found

    # ---- sums ----

    def _opens_a_sum(self, word: str) -> bool:
        if word != "Σ":
            return self._ahead(_AFTER_SUM) is not None or not self._prose
        labelled = self._ahead(_LABELLED_SIGMA)
        known = {label for one in self._vocabulary.declared for label in one.labels}
        return not (labelled and labelled[1] in known) or self._opens_big_sum()

    def _opens_big_sum(self) -> bool:
        """\\Sigma is a covariance unless it has bounds."""
        return self._ahead(_BIG_SUM) is not None

    def _sum(self, start: int) -> Token:
        """\\sum with its bounds, or `sum_i`, `Σ_{i=1}^m`."""
        bounds = {"_": "", "^": ""}
        for _ in range(2):
            if sign := self._take(_BOUND):
                bounds[sign[1]] = self._group()
        return Token("SUM", domain(bounds["_"], bounds["^"], start), start, self._at)
