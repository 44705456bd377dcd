"""Stated dimensions of projection matrices, held against the products they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from grader.formulas.answer.explaining import NotRead, Read, Reading
from grader.model import Answer, Outcome, Status, Student, failed, passed
from grader.notation.faces import FACES, TEXT_COMMANDS, any_of
from grader.quoting import quote
from grader.registry import check, read_by

# A matrix W with what stands below and above it, in either order: W_Q^i, W^{(i)}_K, W_{V,i}.
_SCRIPT = r"\s*[_^]\s*(?:\{[^{}]*\}|\([^()]*\)|[A-Za-z0-9])"
_MATRIX = rf"W(?:{_SCRIPT})+"
_MEMBER = re.compile(
    rf"(?P<names>{_MATRIX}(?:\s*(?:,|and|;|&)\s*{_MATRIX})*)\s*(?:\\in|∈|is|of size|:)\s*"
    r"(?:\\mathbb\s*\{?\s*R\s*\}?|ℝ|R)?\s*\^?\s*(?P<shape>\{(?:[^{}]|\{[^{}]*\})*\}|\(?[\w/]+\s*(?:×|x|\\times)\s*[\w/]+\)?)"
)
_BY = re.compile(r"\\times|×|(?<=[\w\s}])x(?=[\w\s{\\])|\\cdot|,")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
# All but the blackboard's, which tells ℝ.
_PLAIN_FACES = any_of((FACES | TEXT_COMMANDS) - {"mathbb", "mathds"})
_FACES = re.compile(rf"\\(?:{_PLAIN_FACES}|left|right|,|;|!|quad|displaystyle)(?![A-Za-z])")
_LETTERS = {"q": "Q", "k": "K", "v": "V", "o": "O", "0": "O", "out": "O"}

# Numbers that keep all sizes apart: what fits with these fits always.
_HEADS = 3
_SIZES = {"d": 12, "t": 18, "e": 30, "n": 7, "m": 5, "h": _HEADS, "H": _HEADS}
_ALSO = {"d_k": "d/h", "d_q": "d/h", "d_h": "d/h", "d_v": "t/h", "d_{head}": "d/h", "d_{model}": "e"}

_NONE_FOUND = "no dimensions of projection matrices were found"
_FOR_EXAMPLE = "write for example W_Q^i ∈ ℝ^{rows × columns}"


@dataclass(frozen=True)
class _Stated:
    """One matrix as the answer describes it."""

    written: str
    role: str
    rows: Fraction
    columns: Fraction
    shape: str


def _as_read(answer: Answer, **_: object) -> list[Reading]:
    stated = [
        Read(one.written, f"{one.written} ∈ {one.shape}", "", "×".join(_sides(one.shape)))
        for one in _stated(_plain(answer))
    ]
    return [*stated] or [NotRead(f"{_NONE_FOUND}; {_FOR_EXAMPLE}")]


@read_by(_as_read, alone=False)
@check
def dimensions_fit(
    student: Student, rng: np.random.Generator, *, operands: dict[str, list[str]], features: dict[str, str]
) -> Outcome:
    """The dimensions stated for the projections fit the products they stand in."""
    text = _plain(student.answer)
    stated = list(_stated(text))
    if not stated:
        return Outcome(Status.REVIEW, Fraction(0), _NONE_FOUND, _FOR_EXAMPLE)
    for one in stated:
        if one.role == "O":
            continue
        letters = "|".join(re.escape(letter) for letter in operands[one.role])
        scripted = rf"W(?:{_SCRIPT})*\s*[_^]\s*\{{?\(?[^{{}}()\s]*{one.role}[^{{}}()\s]*\)?\}}?(?:{_SCRIPT})*"
        before = re.search(rf"{scripted}\s*(?:\\cdot|@|\*)?\s*(?P<operand>{letters})(?![A-Za-z])", text, re.IGNORECASE)
        after = re.search(rf"(?<![A-Za-z])(?P<operand>{letters})\s*(?:\\cdot|@|\*)?\s*{scripted}", text, re.IGNORECASE)
        product = before or after
        if product is None:  # nothing says from which side it multiplies
            continue
        operand = next(letter for letter in operands[one.role] if letter.lower() == product["operand"].lower())
        inner = _value(features[operand])
        if (one.columns if before else one.rows) != inner:
            where = f"{quote(one.written, 20)} {operand}" if before else f"{operand} {quote(one.written, 20)}"
            return failed(
                "the stated dimensions do not fit the products they stand in",
                f"{quote(one.written, 20)} is {quote(one.shape, 30)}, but in {where} it meets {features[operand]}",
            )
    return passed("the stated dimensions fit", evidence={"matrices": len(stated)})


def _plain(answer: Answer) -> str:
    text = "\n".join(piece.text for piece in answer.pieces)
    return _FRACTION.sub(r"\1/\2", _FACES.sub(" ", text))[:20_000]


def _stated(text: str) -> Iterator[_Stated]:
    for found in _MEMBER.finditer(text):
        shape = found["shape"].strip("{}()")
        sides = _sides(shape)
        if len(sides) != 2:
            continue
        rows, columns = (_value(side) for side in sides)
        if rows is None or columns is None:
            continue
        for name in re.findall(_MATRIX, found["names"]):
            role = _role(name)
            if role:
                yield _Stated(name, role, rows, columns, shape)


def _sides(shape: str) -> list[str]:
    return [side.strip() for side in _BY.split(shape) if side.strip()]


def _role(name: str) -> str:
    for script in re.findall(r"[A-Za-z0-9]+", name[1:]):
        if script.lower() in _LETTERS:
            return _LETTERS[script.lower()]
    return ""


def _value(side: str) -> Fraction | None:
    """A size with numbers put in: d/h is 4."""
    side = re.sub(r"\s|[()]", "", side)
    side = _ALSO.get(side, side)
    over, _, under = side.partition("/")
    top, bottom = (_SIZES.get(part.strip("{}")) for part in (over, under or "1"))
    if under in ("", "1"):
        bottom = 1
    return Fraction(top, bottom) if top is not None and bottom is not None else None
