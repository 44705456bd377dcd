"""Every number in an answer, with its unit and what is said of it: `t = 7/2 s ≈ 3.5 s`, `not 4`, `3.5 ± 0.1`, `2–3 m`.

Numbers that say the same, joined by = or ≈ or a bracket, form one chain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from grader.formulas.answer.asked_for import expression
from grader.formulas.compute.evaluation import Values, evaluate
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.quantities.plain_text import BOX, END_OF_BOX
from grader.formulas.quantities.unit_reading import Unit, read_unit, unknown_unit
from grader.formulas.typing.shapes import UNSIZED, Misfit, typed
from grader.formulas.typing.vocabulary import SCALAR, Vocabulary
from grader.notation.denials import CONSEQUENCES, CONTRACTIONS, NEITHER, NOT, WRONG

_NUMBER = r"(?:\d{1,3}(?:[ '’]\d{3})+(?!\d)|\d+(?:[.,]\d{3})*(?!\d)|\d+)(?:[.,]\d+)?|\.\d+"
_NUMERAL = re.compile(rf"(?:{_NUMBER})(?:[eE][+-]?\d{{1,3}}(?![\d.]))?")
_TOKEN = re.compile(
    rf"\s*(?P<number>(?:{_NUMBER})(?:[eE][+-]?\d{{1,3}}(?![\d.]))?)"
    r"|\s*(?P<sign>[-+*/^()×·])"
    r"|\s*(?P<name>(?:sqrt|ln|log|exp|pi|π|e(?=\s*\^))(?![A-Za-z]))"
    r"|\s*(?P<by>x)(?=\s*10\s*\^)"
)
_BEGINS = re.compile(r"(?<![\w.,^_\\])(?=[-+(]{0,4}\s{0,3}(?:[\d.]|sqrt|ln|log|exp|π|pi\b|e\s*\^))")
_LABEL = re.compile(r"(?m)^[ \t]*(?:\(?\d{1,2}[.)]|\(\d{1,2}\))(?=\s)")
_SAME = re.compile(r"\s*(?:[=≈≃≅]|,?\s*(?:which is|that is|i\.\s?e\.,?|or (?:about|roughly|approximately)))\s*")
_IN_BRACKETS = re.compile(r"\s*\(\s*(?:[=≈]|about|approximately|roughly|i\.\s?e\.,?|or)?\s*")
_SPREAD = re.compile(r"\s*(?:±|\+\s*/\s*-|\+-)\s*")
_RANGE = re.compile(r"\s*(?:–|—|to|until|and)\s*")
_BOUND = re.compile(
    r"(?:[<>≤≥]|\b(?:at (?:least|most)|(?:less|more|greater|smaller|larger|fewer) than|below|above|up to|no more than))"
    r"\s*$"
)
_STATING = "|".join(
    (*sorted(CONSEQUENCES), "is|are|be|equals?|equal to|was|gives?|get|of|yields?|becomes?|about|roughly")
)
_STATED = re.compile(rf"(?:[=≈≃→⇒∴:∼]|\b(?:{_STATING}|approximately),?)\s*$", re.IGNORECASE)
_OPERATOR = re.compile(r"\s*([-+*/×·])\s*")
_BETWEEN = re.compile(r"\bbetween\s*$")
_DENYING = "|".join((*sorted(NOT | NEITHER | CONTRACTIONS), "unlike", "instead of", "rather than", "without"))
_DENIED = re.compile(
    rf"(?:\b(?:{_DENYING})(?:['’]t)?|n['’]t|≠)"
    r"(?:\s+(?:be|is|are|equal|to|about|exactly|the|a|an|simply))*\s*$"
)
_NOT_ONLY = re.compile(r"\bnot (?:only|just)\s*$")
_CALLED_WRONG = re.compile(rf"\s*(?:is|are|was|would be)\s+(?:{'|'.join(WRONG)})\b")
PARAGRAPH = re.compile(r"\n[ \t]*\n|\n[ \t]*[-*•](?= )")  # or an item of a list
SENTENCE = re.compile(rf"[.;!?]\s|{PARAGRAPH.pattern}")
_NEAR = 60  # characters before a number in which it is denied, stated or bounded
_LONGEST = 200  # characters of one calculation
_ANY = Vocabulary(())


@dataclass(frozen=True)
class Quantity:
    """One number as it stands in the text from `begins` to `ends`."""

    values: tuple[float, ...]  # how it may be read: 3,500 in two ways, the likelier first; NaN, if it is not known
    begins: int
    ends: int
    text: str
    unit: Unit | None = None
    unknown_unit: str = ""  # the word that stands where a unit does
    spread: float = 0.0
    up_to: float | None = None  # the other end of a range
    is_bound: bool = False
    is_stated: bool = False  # by a relation or a verb before it
    is_denied: bool = False
    decimals: int | None = None  # behind the point; None for what is computed
    digits: int = 0  # that say something


@dataclass(frozen=True)
class Chain:
    """Numbers that are said to be the same."""

    members: tuple[Quantity, ...]
    before: str = field(repr=False)  # what stands before it on its line
    boxed: bool = False

    @property
    def begins(self) -> int:
        return self.members[0].begins

    @property
    def ends(self) -> int:
        return self.members[-1].ends

    @property
    def is_denied(self) -> bool:
        return self.members[0].is_denied

    @property
    def is_stated(self) -> bool:
        return any(one.is_stated for one in self.members)


def chains_in(text: str, own_units: tuple[str, ...] = ()) -> list[Chain]:
    """Of a plain text (see `plain_text`), in the order in which they stand."""
    chains: list[Chain] = []
    for one in _quantities(_LABEL.sub(lambda found: " " * len(found[0]), text), own_units):
        between = text[chains[-1].ends : one.begins] if chains else ""
        signed = between + text[one.begins] if text[one.begins] in "+-" else between
        if chains and (operator := _OPERATOR.fullmatch(signed)):  # 7 m / 2 s, 7 m - 2 m
            *others, left = chains[-1].members
            chains[-1] = replace(chains[-1], members=(*others, _combined(left, operator[1], one)))
            continue
        if chains and (_SAME.fullmatch(between) or _IN_BRACKETS.fullmatch(between)):
            chains[-1] = replace(chains[-1], members=(*chains[-1].members, one))
            continue
        line = text.rfind("\n", 0, one.begins) + 1
        boxed = text.rfind(BOX, 0, one.begins) > text.rfind(END_OF_BOX, 0, one.begins)
        chains.append(Chain((one,), text[line : one.begins], boxed))
    return chains


def _combined(left: Quantity, operator: str, right: Quantity) -> Quantity:
    """A calculation with units in it. Sums are not worked out: nobody gives one as an answer."""
    one, other = left.unit or Unit(1), right.unit or Unit(1)
    joined = replace(left, ends=right.ends, text=f"{left.text} {operator} {right.text}", decimals=None)
    if operator in "+-" or not right.values[0]:
        return replace(joined, values=(math.nan,))
    if operator == "/":
        return replace(joined, values=(left.values[0] / right.values[0],), unit=one.times(other.raised(-1)))
    return replace(joined, values=(left.values[0] * right.values[0],), unit=one.times(other))


def _quantities(text: str, own_units: tuple[str, ...]) -> Iterator[Quantity]:
    at = 0
    while found := _BEGINS.search(text, at):
        one = _quantity(text, found.end(), own_units)
        if one is None:
            at = found.end() + 1
            continue
        yield one
        at = one.ends


def _quantity(text: str, at: int, own_units: tuple[str, ...]) -> Quantity | None:
    number = _number(text, at)
    if number is None:
        return None
    values, end, decimals, digits = number
    spread, up_to = 0.0, None
    before = text[max(0, at - _NEAR) : at]
    sentence = SENTENCE.split(before)[-1]
    first_unit = read_unit(text, end, own_units)
    if (plus := _SPREAD.match(text, end)) and (other := _number(text, plus.end())):
        spread, end = other[0][0], other[1]
    else:
        link = _RANGE.match(text, first_unit[1] if first_unit else end)
        is_range = link and (link[0].strip() not in ("and",) or _BETWEEN.search(before))
        if is_range and link and (other := _number(text, link.end())):
            up_to, end = other[0][0], other[1]
    unit = read_unit(text, end, own_units)
    ends = unit[1] if unit else end
    denied = bool(_DENIED.search(sentence)) and not _NOT_ONLY.search(sentence)
    return Quantity(
        values=values,
        begins=at,
        ends=ends,
        text=" ".join(text[at:ends].split()),
        unit=unit[0] if unit else first_unit[0] if first_unit and up_to is not None else None,
        unknown_unit=unknown_unit(text, ends, unit is not None, own_units),
        spread=abs(spread),
        up_to=up_to,
        is_bound=bool(_BOUND.search(sentence)),
        is_stated=bool(_STATED.search(sentence)),
        is_denied=denied or bool(_CALLED_WRONG.match(text, ends)),
        decimals=decimals,
        digits=digits,
    )


def _number(text: str, at: int) -> tuple[tuple[float, ...], int, int | None, int] | None:
    """The longest calculation that begins here: its values, where it ends, its decimals and its digits."""
    pieces: list[tuple[str, int]] = []  # as the language of formulas writes it, and where each ends
    end, after_number = at, False
    while (token := _TOKEN.match(text, end)) and token.end() - at <= _LONGEST:
        if token["number"] and after_number:
            break
        if token["number"]:
            pieces.append((f"({readings_of(token['number'])[0]!r})", token.end()))
        else:
            written = token["name"] or token["sign"] or token["by"]
            pieces.append(({"×": "*", "·": "*", "x": "*", "π": "pi"}.get(written, written), token.end()))
        end, after_number = token.end(), bool(token["number"])
    for count in range(len(pieces), 0, -1):
        value = computed(" ".join(piece for piece, _ in pieces[:count]))
        if value is None:
            continue
        if count < len(pieces) and pieces[count][0] == "^":  # too large to be worked out
            return (math.nan,), end, None, 0
        numeral = _NUMERAL.fullmatch(text[at : pieces[count - 1][1]].strip(" ()+-"))
        sign = -1 if text[at:].lstrip(" (").startswith("-") else 1
        if not numeral:
            return (value,), pieces[count - 1][1], None, 0
        mantissa = re.split("[eE]", numeral[0])[0]
        shown = re.sub(r"\D", "", mantissa).lstrip("0")
        point = max(mantissa.rfind("."), mantissa.rfind(","))
        decimals = len(mantissa) - point - 1 if point >= 0 and "e" not in numeral[0].lower() else 0
        readings = tuple(sign * one for one in readings_of(numeral[0]))
        return readings, pieces[count - 1][1], decimals if mantissa == numeral[0] else None, len(shown)
    return None


def computed(text: str) -> float | None:
    """What a calculation comes to; None if it is none, or has letters in it."""
    try:
        found = typed(expression(text, _ANY), _ANY)
        if found.shape not in (SCALAR, UNSIZED):  # a zero has any size
            return None
        value = float(evaluate(found.expression, Values({}))[0, 0])
    except (Unreadable, Misfit, OverflowError):
        return None
    return value if math.isfinite(value) else None


def readings_of(numeral: str) -> Sequence[float]:
    """3,5 is 3.5; 1.234,5 is 1234.5; 3,500 is 3500 or 3.5, the likelier first."""
    numeral = re.sub(r"[ '’]", "", numeral)
    mantissa, _, exponent = numeral.replace("E", "e").partition("e")
    scale = f"e{exponent}" if exponent else ""
    signs = [sign for sign in mantissa if sign in ".,"]
    if len(set(signs)) == 2:
        decimal, grouping = signs[-1], signs[0]
        return [float(mantissa.replace(grouping, "").replace(decimal, ".") + scale)]
    if not signs:
        return [float(mantissa + scale)]
    as_groups = float(re.sub("[.,]", "", mantissa) + scale)
    if len(signs) > 1:
        return [as_groups]
    as_decimal = float(mantissa.replace(",", ".") + scale)
    whole, _, part = mantissa.replace(",", ".").partition(".")
    if len(part) != 3 or not 1 <= len(whole) <= 3 or whole == "0":
        return [as_decimal]
    return [as_groups, as_decimal] if signs[0] == "," else [as_decimal, as_groups]
