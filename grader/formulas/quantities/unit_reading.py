"""Units as they are written behind a number: m/s, m s^-1, km per hour, kg·m/s²."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.notation.units import BINARY_PREFIXES, METRIC, PLAIN, PREFIX_WORDS, PREFIXES, WORDS

_NAME = re.compile(r"°C|[%‰°]|[^\W\d_]+")
_POWER = re.compile(r"\s*\^\s*\(?\s*([+-]?\d{1,2})\s*\)?")
_TIMES = re.compile(r"\s*[·×*]\s*|\s+")
_OVER = re.compile(r"\s*/\s*|\s+per\s+")


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
    own = tuple(word for word in _NAME.findall(text) if _known(word) is None)
    found = read_unit(text, 0, own)
    if found is None or text[found[1] :].strip():
        raise ValueError(f"'{text}' is no unit; write for example m/s, kg m/s^2, % or tokens")
    return found[0]


def own_words(text: str) -> tuple[str, ...]:
    """Those words of a rubric's unit that are units nowhere else."""
    return tuple(word for word in _NAME.findall(text) if _known(word) is None)


def read_unit(text: str, at: int, own: tuple[str, ...] = ()) -> tuple[Unit, int] | None:
    """The unit that begins here, and where it ends; None if there is none."""
    over = re.compile(r"\s*/\s*(?=[^\W\d_])").match(text, at)  # 3.5 /s
    unit, end = (Unit(1), at) if over else (None, at)
    while True:
        divides = unit is not None and (found := _OVER.match(text, end))
        joint = (
            found if divides else _TIMES.match(text, end) if unit is not None else re.compile(r"\s*").match(text, at)
        )
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
        if symbol in table:
            factor, dimensions = table[symbol]
            return Unit(factor * (scale or 1), dimensions)
    return None


def _ways(name: str) -> list[tuple[str, float | None]]:
    """Symbols that a name may stand for, with the prefix that it has."""
    ways: list[tuple[str, float | None]] = [(name, None), (WORDS.get(name.lower(), WORDS.get(name, "")), None)]
    ways += [(name[1:], PREFIXES[name[0]])] if name[:1] in PREFIXES else []
    ways += [(name[2:], BINARY_PREFIXES[name[:2]])] if name[:2] in BINARY_PREFIXES else []
    for word, scale in PREFIX_WORDS.items():
        if name.lower().startswith(word):
            ways.append((WORDS.get(name.lower().removeprefix(word), ""), scale))
    return ways


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")
