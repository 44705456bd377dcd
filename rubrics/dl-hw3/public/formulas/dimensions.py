"""Stated dimensions of projection matrices, held against the products they stand in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from grader import Answer, Outcome, Partial, Student, check, failed, needs_review, passed, quote
from grader.formulas import NotRead, Read, Reading, plain_text, read_by, sides_of, stated_sizes

from .sizes import HEADS, Size, Sizes

# A matrix W with what stands below and above it, in either order: W_Q^i, W^{(i)}_K, W_{V,i}.
_SCRIPT = r"\s*[_^]\s*(?:\{[^{}]*\}|\([^()]*\)|[A-Za-z0-9])"
_MATRIX = rf"W(?:{_SCRIPT})+"
_NAMES = rf"(?P<names>{_MATRIX}(?:\s*(?:,|and|;|&)\s*{_MATRIX})*)"
# What the projections give: Q_i, H_i or A, alone or with the product that it is.
_RESULT = (
    r"(?<![\w}^_\\])(?P<name>[QKVHA])(?P<head>\s*[_^]\s*(?:\{\s*\(?[ijh]\)?\s*\}|\([ijh]\)|[ijh]))?"
    r"(?P<product>\s*=(?:(?!\b(?:with|where|and|for|is|of)\b)[^∈;.\n=]){1,160}?)?"
)
_SIDE = r"\s*(\{[^{}]*\}|[A-Za-z0-9])"
_FRACTION = re.compile(rf"\\[dtc]?frac(?![A-Za-z]){_SIDE}{_SIDE}")
_SPACING = re.compile(r"\\(?:left|right|,|;|!|quad|displaystyle)(?![A-Za-z])")
_ONE_LETTER = re.compile(r"(?<![_^])(?<![_^]\s)\{\s*([A-Z])\s*\}")  # {W}_Q, and no {Q} below or above a letter
_LETTERS = {"q": "Q", "k": "K", "v": "V", "o": "O", "0": "O", "out": "O"}
_HEADS_JOINED = r"\{?\s*(?:\[|\\?\(?\s*\\?(?:[Cc]on)?cat|\\begin|H(?![A-Za-z])|\(\s*(?:H|head))"

# "the W are d × e": all that the answer multiplies by.
_ALL_OF_THEM = re.compile(
    r"\b(?:the|all|each|every)(?: (?:the|three|of the|projection))*[\s$]*(?:W(?:['’]?s)?|matrices|projections)[\s$]*"
    r"(?:are|is|has|have|with)?(?: all)?(?: (?:of )?(?:the )?(?:size|shape|dimensions?))?[\s$:]*"
    r"(?P<shape>[\w/]+\s*(?:×|x|\\times)\s*[\w/]+)"
)

_HEADS_CALLED = re.compile(r"(?<![A-Za-z\\])([A-Za-z])[$\s]+(?:attention\s+|parallel\s+)?heads\b")

_NONE_FOUND = "no dimensions of projection matrices were found"
_FOR_EXAMPLE = "write for example W_Q^i ∈ ℝ^{rows × columns}"


@dataclass(frozen=True)
class _Stated:
    """One matrix as the answer describes it."""

    written: str
    role: str
    rows: Size
    columns: Size
    shape: str

    @property
    def is_of_one_head(self) -> bool:
        return any(script.lower() not in _LETTERS for script in re.findall(r"[A-Za-z0-9]+", self.written[1:]))


@dataclass(frozen=True)
class _Clash:
    """Two sizes that should be one; `certain` unless letters of the answer's own decide it."""

    what: str
    certain: bool


def _as_read(answer: Answer, **_: object) -> list[Reading]:
    found, _unread = _stated(_plain(answer), Sizes())
    stated = [Read(one.written, f"{one.written} ∈ {one.shape}", "", "×".join(sides_of(one.shape))) for one in found]
    return [*stated] or [NotRead(f"{_NONE_FOUND}; {_FOR_EXAMPLE}")]


@read_by(_as_read, alone=False)
@check
def dimensions_fit(
    student: Student,
    rng: np.random.Generator,
    *,
    operands: dict[str, list[str]],
    features: dict[str, str | list[str]],
    partial: Partial = Partial(undefined_letter="1/2"),
) -> Outcome:
    """The dimensions stated for the projections, their products and the output layer fit together.

    `features` names the size of each input; several, if the question allows each of them.
    """
    answer = student.answer
    where = f"{answer.file}:{answer.line}"
    text = _plain(answer)
    sizes = Sizes()
    for letter in _HEADS_CALLED.findall(text):
        sizes.bound.setdefault(letter, Size(Fraction(HEADS)))
    stated, unread = _stated(text, sizes)
    if unread:
        message = f"{where}: the size of {quote(unread[0], 60)} could not be read"
        return needs_review(message, code="dimensions_unreadable")
    if not stated:
        message = f"{where}: {_NONE_FOUND}"
        return needs_review(message, detail=_FOR_EXAMPLE, code="dimensions_not_found")
    choices = [[size] if isinstance(size, str) else size for size in features.values()]
    readings = (dict(zip(features, chosen, strict=True)) for chosen in itertools.product(*choices))
    every = [list(_Layer(text, stated, sizes, operands, reading).clashes()) for reading in readings]
    clashes = min(every, key=_worst)
    for clash in clashes:
        if clash.certain:
            message = "the stated dimensions do not fit the products they stand in"
            return failed(message, clash.what, code="dimension_mismatch")
    if clashes:
        message = f"{where}: whether the stated dimensions fit hangs on letters that are not explained"
        return needs_review(message, partial["undefined_letter"], detail=clashes[0].what, code="undefined_letter")
    return passed("the stated dimensions fit", evidence={"matrices": len(stated)})


def _worst(clashes: list[_Clash]) -> tuple[bool, bool]:
    return any(clash.certain for clash in clashes), bool(clashes)


def _plain(answer: Answer) -> str:
    plain = re.sub(r"[ \t]+", " ", _SPACING.sub(" ", plain_text(answer)))
    plain = _FRACTION.sub(lambda found: f"({found[1].strip('{}')})/({found[2].strip('{}')})", plain)
    return _ONE_LETTER.sub(r"\1", plain)


def _stated(text: str, sizes: Sizes) -> tuple[list[_Stated], list[str]]:
    """The projections with their sizes, and what looks like one and is not read."""
    found: list[_Stated] = []
    unread: list[str] = []
    for said, shape in stated_sizes(text, _NAMES):
        sides = [sizes.of(side) for side in sides_of(shape)]
        for name in re.findall(_MATRIX, said["names"]):
            role = _role(name)
            if role and len(sides) == 2 and sides[0] is not None and sides[1] is not None:
                found.append(_Stated(name, role, sides[0], sides[1], shape))
            elif role and len(sides) > 1:
                unread.append(said[0])
    if not found and (every := _ALL_OF_THEM.search(text)):
        rows, columns = (sizes.of(side) for side in sides_of(every["shape"]))
        if rows is not None and columns is not None:
            written = {_role(name): name for name in re.findall(_MATRIX, text)}
            found = [_Stated(written[role], role, rows, columns, every["shape"]) for role in "QKV" if role in written]
    return found, unread


def _role(name: str) -> str:
    """Q, K, V or O, by what stands below or above the W."""
    scripts = (script.lower() for script in re.findall(r"[A-Za-z0-9]+", name[1:]))
    return next((_LETTERS[script] for script in scripts if script in _LETTERS), "")


class _Layer:
    """The projections of one answer, and which side of each meets what."""

    def __init__(
        self,
        text: str,
        stated: list[_Stated],
        sizes: Sizes,
        operands: dict[str, list[str]],
        features: dict[str, str],
    ) -> None:
        self._text, self._sizes, self._operands, self._features = text, sizes, operands, features
        self._stated = {one.role: one for one in reversed(stated)}  # the first of a role
        self._all = stated
        self._side: dict[str, Literal["left", "right"]] = {}  # from which side the projection multiplies
        self._inputs = self._sizes_of_inputs()

    def _sizes_of_inputs(self) -> dict[str, tuple[Size, Size]]:
        """The sizes of C, or of Q, K and V, where the answer states them: it may use other letters, or rows."""
        found: dict[str, tuple[Size, Size]] = {}
        for name in self._features:
            for said, shape in stated_sizes(self._text, rf"(?<![\w}}^_\\]){name}(?:\s*(?:,|and|=)\s*[QKVCX])*"):
                rows, columns = [*(self._sizes.of(side) for side in sides_of(shape)), None, None][:2]
                if rows and columns and not _is_a_factor(self._text, said.start()):
                    found.setdefault(name, (rows, columns))
        return found

    def _tokens(self, name: str) -> Size | None:
        """How many columns a product with this input has, or rows where tokens stand in rows."""
        projected = "C" in self._features
        inputs = [one for one in (["C", "X"] if projected else ["Q" if name == "H" else name]) if one in self._inputs]
        if inputs:
            return self._inputs[inputs[0]][0 if "right" in self._side.values() else 1]
        return self._sizes.of("n" if projected or name in ("Q", "H") else "m")

    def clashes(self) -> Iterator[_Clash]:
        for one in self._all:
            if one.role != "O":
                yield from self._with_its_operand(one)
        yield from self._scores()
        yield from self._output()
        yield from self._results()

    def _with_its_operand(self, one: _Stated) -> Iterator[_Clash]:
        letters = "|".join(re.escape(letter) for letter in self._operands[one.role])
        scripted = rf"W(?:{_SCRIPT})*\s*[_^]\s*\{{?\(?[^{{}}()\s]*{one.role}[^{{}}()\s]*\)?\}}?(?:{_SCRIPT})*"
        times = r"\s*(?:\\cdot|@|\*)?\s*"
        before = re.search(rf"{scripted}{times}(?P<operand>{letters})(?![A-Za-z])", self._text, re.IGNORECASE)
        after = re.search(rf"(?<![A-Za-z])(?P<operand>{letters}){times}{scripted}", self._text, re.IGNORECASE)
        product = before or after
        if product is None:  # nothing says from which side it multiplies
            return
        self._side[one.role] = "left" if before else "right"
        operand = next(letter for letter in self._operands[one.role] if letter.lower() == product["operand"].lower())
        where = f"{quote(one.written, 20)} {operand}" if before else f"{operand} {quote(one.written, 20)}"
        meets = self._features[operand]
        own = self._inputs.get(operand)
        known = self._sizes.of(meets) if own is None else own[0 if before else 1]
        if own is not None:
            meets = "the size stated for it"
        what = f"{quote(one.written, 20)} is {quote(one.shape, 30)}, but in {where} it meets {meets}"
        yield from self._differ(one.columns if before else one.rows, known, what)

    def _differ(self, one: Size | None, other: Size | None, what: str) -> Iterator[_Clash]:
        agree = True if one is None or other is None else self._sizes.agree(one, other)
        if not agree:
            yield _Clash(what, certain=agree is False)

    def _made(self, role: str) -> Size | None:
        """How many features a projection gives, if it is said from which side it multiplies."""
        one, side = self._stated.get(role), self._side.get(role)
        if one is None or side is None:
            return None
        return one.rows if side == "left" else one.columns

    def _scores(self) -> Iterator[_Clash]:
        queries, keys = self._stated.get("Q"), self._stated.get("K")
        if queries and keys:
            what = (
                f"{quote(queries.written, 20)} is {quote(queries.shape, 30)} and {quote(keys.written, 20)} is "
                f"{quote(keys.shape, 30)}, so queries and keys have no scalar product"
            )
            yield from self._differ(self._made("Q"), self._made("K"), what)

    def _output(self) -> Iterator[_Clash]:
        """W_O takes the values of all heads at once."""
        output, values, made = self._stated.get("O"), self._stated.get("V"), self._made("V")
        if output is None or values is None or made is None:
            return
        taken = made.times(Size(Fraction(HEADS))) if values.is_of_one_head else made
        name = re.escape(output.written)
        left = re.search(rf"{name}\s*(?:\\cdot|@|\*)?\s*{_HEADS_JOINED}", self._text)
        right = re.search(rf"(?:\]|\)|H|\}})\s*(?:\\cdot|@|\*)?\s*{name}(?!\s*(?:\\in|∈))", self._text)
        sides = [output.columns] if left else [output.rows] if right else [output.columns, output.rows]
        agree = [self._sizes.agree(side, taken) for side in sides]
        if not any(agree):
            heads = " over all heads" if values.is_of_one_head else ""
            what = (
                f"{quote(output.written, 20)} is {quote(output.shape, 30)}, and does not meet the values{heads}: "
                f"{quote(values.written, 20)} is {quote(values.shape, 30)}"
            )
            yield _Clash(what, certain=None not in agree)

    def _results(self) -> Iterator[_Clash]:
        """Q_i = W_Q^i Q ∈ ℝ^{…}: what comes out, where its size is stated too."""
        projected = "C" in self._features  # where Q, K and V themselves come out of projections
        for said, shape in stated_sizes(self._text, _RESULT):
            name = said["name"]
            sides = [self._sizes.of(side) for side in sides_of(shape)]
            if len(sides) != 2 or sides[0] is None or sides[1] is None or _is_a_factor(self._text, said.start()):
                continue
            if name == "A":
                wanted: tuple[Size | None, Size | None] = (self._tokens("K"), self._tokens("Q"))
            elif (said["head"] or projected) and not (name == "H" and not said["head"]):
                source = self._stated.get("V" if name == "H" else name)
                if source is None or bool(said["head"]) != source.is_of_one_head:
                    continue
                wanted = (self._made(source.role), self._tokens(name))
            else:
                continue
            if not self._fits((sides[0], sides[1]), wanted, name):
                written = quote(re.sub(r"\s+", " ", said[0].strip()), 60)
                yield _Clash(
                    f"the size in {written} is not that of the product", certain=self._is_certain(sides, wanted)
                )

    def _fits(self, sides: tuple[Size, Size], wanted: tuple[Size | None, Size | None], name: str) -> bool:
        turned = name == "A" or "right" in self._side.values()
        orders = [sides, sides[::-1]] if turned else [sides]
        return any(
            all(want is None or self._sizes.agree(side, want) for side, want in zip(order, wanted, strict=True))
            for order in orders
        )

    def _is_certain(self, sides: list[Size | None], wanted: tuple[Size | None, Size | None]) -> bool:
        return not any(one.letters for one in (*sides, *wanted) if one is not None)


def _is_a_factor(text: str, at: int) -> bool:
    """Whether a name stands at the end of a product, and not before the size of its own: `W_Q C ∈ …`."""
    before = text[:at].rstrip(" $`")
    return (
        bool(before)
        and (before[-1].isalnum() or before[-1] in "}=^_)")
        and not re.search(r"\b(?:with|where|and|so|then|is|gives|get)\Z", before)
    )
