"""Units as they are written behind a number: m/s, m s^-1, km per hour, kg·m/s²."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from grader.notation.units import BINARY_PREFIXES, COUNTED, METRIC, NO_UNITS, PLAIN, PREFIX_WORDS, PREFIXES, WORDS

_NAME = re.compile(r"°C|[%‰°]|[^\W\d_]+")
_POWER = re.compile(r" *\^ *\(? *([+-]?\d{1,2}) *\)?")
_TIMES = re.compile(r" *[·×*] *| +")
_SPACE = re.compile(r" *")
_OVER_ALONE = re.compile(r" */ *(?=[^\W\d_])")  # 3.5 /s
_OVER = re.compile(r" */ *| +per +")
_UNKNOWN = re.compile(r" *([(\[] *)?([^\W\d_]+)(?![\w-])(?(1) *[)\]])")  # apples, (apples)
_UNKNOWN_BELOW = re.compile(r"(/)([^\W\d_]+)")
_COUNTED_TOO = {"b": "bit", "Bs": "B"}  # behind a prefix: Mb, MBs
_LONGEST_SYMBOL = 4  # letters of a unit whose case may be mistaken: GiBs


@dataclass(frozen=True)
class Unit:
    """So many base units; `text` is how it was written."""

    factor: float
    dimensions: Mapping[str, int] = field(default_factory=dict)
    text: str = ""

    def is_like(self, other: Unit) -> bool:
        """Whether one can be converted to the other."""
        return dict(self.dimensions) == dict(other.dimensions)

    def raised(self, power: int) -> Unit:
        return Unit(self.factor**power, {name: many * power for name, many in self.dimensions.items()})

    def times(self, other: Unit) -> Unit:
        powers = {
            name: self.dimensions.get(name, 0) + other.dimensions.get(name, 0)
            for name in (*self.dimensions, *other.dimensions)
        }
        return Unit(self.factor * other.factor, {name: power for name, power in powers.items() if power})


def asked_unit(text: str) -> Unit:
    """The unit that a rubric names. A word that is no unit is one of its own: `tokens`, say."""
    for word in own_words(text):
        if meant := _in_other_case(word):
            raise ValueError(f"'{text}' is no unit; did you mean '{text.replace(word, meant)}'?")
    found = read_unit(text, 0, own_words(text))
    if found is None or text[found[1] :].strip():
        raise ValueError(f"'{text}' is no unit; write for example m/s, kg m/s^2, % or tokens")
    return found[0]


def own_words(text: str) -> tuple[str, ...]:
    """Those words of a rubric's unit that are units nowhere else."""
    return tuple(word for word in _NAME.findall(text) if _known(word) is None)


def _in_other_case(word: str) -> str:
    """The known unit that a word is when capitals and small letters are told apart: MB for mb; else nothing."""
    if len(word) > _LONGEST_SYMBOL:
        return ""
    ways = map("".join, product(*({letter: 0, letter.swapcase(): 0} for letter in word)))
    known = [way for way in ways if _known(way) is not None]
    return min(known, key=lambda way: way.endswith("b"), default="")  # bytes are meant rather than bits


def unknown_unit(text: str, at: int, has_unit: bool, own: tuple[str, ...] = ()) -> str:
    """The word behind a number, or below its unit, that stands there as a unit does and is none; else nothing."""
    found = (_UNKNOWN_BELOW if has_unit else _UNKNOWN).match(text, at)
    word = found[2] if found else ""
    if word.endswith("ly") or (word.lower() if len(word) > 1 else word) in NO_UNITS:
        return ""
    is_adjective = found and word.islower() and text[at : at + 1] == " " and read_unit(text, found.end(), own)
    return "" if is_adjective else word  # 350 input tokens


def read_unit(text: str, at: int, own: tuple[str, ...] = ()) -> tuple[Unit, int] | None:
    """The unit that begins here, and where it ends; None if there is none."""
    unit, end = (Unit(1), at) if _OVER_ALONE.match(text, at) else (None, at)
    while True:
        divides = unit is not None and (found := _OVER.match(text, end))
        joint = found if divides else _TIMES.match(text, end) if unit is not None else _SPACE.match(text, at)
        one = _factor(text, joint.end(), own) if joint else None
        if one is None:
            break
        factor, end = one[0].raised(-1) if divides else one[0], one[1]
        unit = factor if unit is None else unit.times(factor)
    if unit is None or end == at:
        return None
    return Unit(unit.factor, unit.dimensions, text[at:end].strip()), end


def _factor(text: str, at: int, own: tuple[str, ...]) -> tuple[Unit, int] | None:
    if text[at : at + 1] == "(":
        inside = read_unit(text, at + 1, own)
        if inside is None or text[inside[1] : inside[1] + 1] != ")":
            return None
        unit, end = inside[0], inside[1] + 1
    else:
        name = _NAME.match(text, at)
        known = name and _known(name[0], own)
        if not name or known is None:
            return None
        unit, end = known, name.end()
    if power := _POWER.match(text, end):
        return unit.raised(int(power[1])), power.end()
    return unit, end


def _known(name: str, own: tuple[str, ...] = ()) -> Unit | None:
    if any(_singular(name) == _singular(word) for word in own):
        return Unit(1, {_singular(name): 1})
    if name.startswith("μ"):  # the Greek letter; the sign of the prefix is another
        name = "µ" + name[1:]
    for symbol, scale in _ways(name):
        table = METRIC if scale is not None else METRIC | PLAIN
        if symbol in table and not (symbol in COUNTED and (scale or 1) < 1):
            factor, dimensions = table[symbol]
            return Unit(factor * (scale or 1), dimensions)
    return None


def _ways(name: str) -> list[tuple[str, float | None]]:
    """Symbols that a name may stand for, with the prefix that it has."""
    ways: list[tuple[str, float | None]] = [(name, None), (WORDS.get(name.lower(), WORDS.get(name, "")), None)]
    for length, prefixes in ((1, PREFIXES), (2, BINARY_PREFIXES)):
        if scale := prefixes.get(name[:length]):
            rest = name[length:]
            ways.append((_COUNTED_TOO.get(rest, rest), scale))
            ways += [(word, scale)] if (word := WORDS.get(rest.lower(), "")) in COUNTED else []
    for word, scale in PREFIX_WORDS.items():
        if name.lower().startswith(word):
            ways.append((WORDS.get(name.lower().removeprefix(word), ""), scale))
    return ways


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")
