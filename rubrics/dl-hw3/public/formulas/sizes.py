"""Sizes of matrices as answers write them: d/h, h d_v, or letters of one's own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

# Numbers that keep all sizes apart: what fits with these fits always.
HEADS = 3
_SIZES = {"d": 12, "t": 18, "e": 30, "n": 7, "m": 5, "h": HEADS, "H": HEADS}
_ALSO = {"d_k": "d/h", "d_q": "d/h", "d_h": "d/h", "d_v": "t/h", "d_head": "d/h", "d_model": "e"}

_FACTOR = re.compile(r"\s*([*/()]|\\cdot|\d+|[^\W\d_](?:_\w+)?)")


@dataclass(frozen=True)
class Size:
    """A number times letters that only the answer has."""

    number: Fraction
    letters: tuple[str, ...] = ()

    def times(self, other: Size) -> Size:
        return Size(self.number * other.number, tuple(sorted((*self.letters, *other.letters))))

    @property
    def is_a_letter(self) -> bool:
        return self.number == 1 and len(self.letters) == 1


@dataclass
class Sizes:
    """What the letters of one answer stand for; those of its own are bound where they have to fit."""

    bound: dict[str, Size] = field(default_factory=dict)

    def of(self, side: str) -> Size | None:
        """The value of `d/h`, `h d_v` or `r`; None if it is not read."""
        side = re.sub(r"[{}\s]+", " ", side.replace("d_{", "d_").replace("·", "*")).strip()
        value, divides = Size(Fraction(1)), False
        at = 0
        while at < len(side):
            found = _FACTOR.match(side, at)
            if found is None:
                return None
            at = found.end()
            if found[1] in ("*", "\\cdot", "(", ")"):
                continue
            if found[1] == "/":
                divides = True
                continue
            factor = self._letter(found[1])
            if divides and (factor.letters or not factor.number):
                return None
            value = Size(value.number / factor.number, value.letters) if divides else value.times(factor)
            divides = False
        return value if side else None

    def _letter(self, text: str) -> Size:
        if text.isdigit():
            return Size(Fraction(int(text)))
        if text in self.bound:
            return self.bound[text]
        if text in _ALSO:
            over, under = _ALSO[text].split("/") if "/" in _ALSO[text] else (_ALSO[text], "")
            return Size(Fraction(_SIZES[over], _SIZES[under] if under else 1))
        return Size(Fraction(_SIZES[text])) if text in _SIZES else Size(Fraction(1), (text,))

    def agree(self, one: Size, other: Size) -> bool | None:
        """Whether two sizes are the same; None if that hangs on letters that nobody has set equal."""
        one, other = self._with_bound(one), self._with_bound(other)
        if one == other:
            return True
        for own, fixed in ((one, other), (other, one)):
            if own.is_a_letter and not fixed.letters:
                self.bound[own.letters[0]] = fixed
                return True
        return None if one.letters or other.letters else False

    def _with_bound(self, size: Size) -> Size:
        value = Size(size.number)
        for letter in size.letters:
            value = value.times(self.bound.get(letter, Size(Fraction(1), (letter,))))
        return value
