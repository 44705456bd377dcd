"""Which number of an answer is meant, and whether it is the right one. What is not clear is left to a person."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from grader.formulas.provers.verdicts import HALF, Verdict, partly, right, undecided, wrong
from grader.formulas.quantities.found_numbers import PARAGRAPH, SENTENCE, Chain, Quantity, chains_in
from grader.formulas.quantities.plain_text import plain
from grader.formulas.quantities.unit_reading import Unit
from grader.model import Answer
from grader.notation.denials import CONSEQUENCES, TAKEN_BACK
from grader.notation.letters import LETTERS
from grader.quoting import quote

_SLACK = 1e-9  # of floats: not for students
_NEAR = 400  # characters before a number that may be its sentence
_LEAST_DIGITS = 2  # below, rounding tells too little: 4 is no rounding of 3.5 that anybody means
_CONCLUDING = "|".join(sorted(CONSEQUENCES | TAKEN_BACK | {"answer", "result", "total"}))
_CONCLUDES = re.compile(rf"(?:\b(?:{_CONCLUDING}|no(?=[,:]))\b|[⇒∴])", re.IGNORECASE)
_EXPLAINS = re.compile(r"\b(?:because|since|check|verify|for example)\b", re.IGNORECASE)
_OR = re.compile(r"\b(?:or|alternatively|maybe|perhaps)\b", re.IGNORECASE)
_FILLING = (
    r"(?:\s*\b(?:approximately|about|roughly|exactly|equal|to|around|nearly|simply|just|then|now|the|value|of)\b)*"
)
_RELATION = r"(?:[=≈≃→:]|\b(?:is|equals|was|becomes|gives)\b)"
_WORDS = {
    "zero": 0.0,
    "two": 2.0,
    "three": 3.0,
    "four": 4.0,
    "five": 5.0,
    "six": 6.0,
    "seven": 7.0,
    "eight": 8.0,
    "nine": 9.0,
    "ten": 10.0,
    "eleven": 11.0,
    "twelve": 12.0,
    "half": 0.5,
}  # fmt: skip - "one" is no number in most sentences
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)


class Fit(Enum):
    """How a number stands to the right one. The text of those that a person decides says why."""

    RIGHT = ""
    NO_UNIT = "the number is right, but its unit is missing"
    OTHER_UNIT = "the number is right, but its unit is not"
    BITS = "the number is right in bytes, and its unit says bits"
    ROUNDED = "this is the right number rounded further than is accepted"
    COVERED = "the number is off by more than is accepted, and the stated uncertainty covers it"
    OTHER_READING = "the number can be read in two ways, by a comma or a point, and only one is right"
    IN_RANGE = "a range or a bound stands where a number is asked for"
    CONTRADICTION = "numbers that differ are said to be the same, and only one of them is right"
    UNKNOWN = "the number could not be worked out"
    WRONG = "wrong"


_FOR_A_PERSON = (Fit.UNKNOWN, Fit.BITS, Fit.ROUNDED, Fit.COVERED, Fit.OTHER_READING, Fit.IN_RANGE, Fit.CONTRADICTION)
_THOUSANDS = ("k", "K", "M")  # alone; `K` would be kelvin
_CODES = {
    Fit.NO_UNIT: "unit_missing",
    Fit.OTHER_UNIT: "wrong_unit",
    Fit.BITS: "bits_for_bytes",
    Fit.ROUNDED: "rounded_too_far",
    Fit.COVERED: "within_its_uncertainty",
    Fit.OTHER_READING: "number_unclear",
    Fit.IN_RANGE: "range_given",
    Fit.CONTRADICTION: "contradictory_chain",
    Fit.UNKNOWN: "number_unreadable",
}


@dataclass(frozen=True)
class Key:
    """The right number."""

    value: float
    unit: Unit | None = None
    rtol: float = 0.0
    atol: float = 0.0
    needs_unit: bool = False
    names: tuple[str, ...] = ()  # what is asked for, as it may be written
    own_units: tuple[str, ...] = field(default=())

    def is_met_by(self, value: float) -> bool:
        slack = max((self.rtol + _SLACK) * abs(self.value), self.atol, _SLACK if self.value == 0 else 0.0)
        return math.isfinite(value) and abs(value - self.value) <= slack


def judge(answer: Answer, key: Key) -> Verdict:
    """Whether the answer gives this number."""
    text = plain(answer.text)
    where = f"{answer.file}:{answer.line}"
    every = [chain for chain in chains_in(text, key.own_units) if not chain.is_denied]
    if not every:
        return _without_digits(text, key, where)
    counted = counting(text, every, key)
    meant = _concluding(text, counted) or (counted[-1] if len({fit_of(one, key) for one in counted}) == 1 else None)
    if meant is None:
        return _unclear(where, counted)
    fit = fit_of(meant, key)
    others = [one for one in every if one not in counted and fit_of(one, key) is Fit.RIGHT]
    if fit is Fit.WRONG and others:
        return _unclear(where, [meant, *others])
    if key.unit and (unknown := _unknown_unit(meant.members[-1], key.unit)):
        message = f"it is not known how the unit '{quote(unknown, 20)}' compares with the one asked for"
        shown = " = ".join(one.text for one in meant.members)
        return undecided(f"{message}; a person decides", f"read as {shown}", code="unknown_unit")
    return _verdict(fit, meant, key)


def _unknown_unit(one: Quantity, asked: Unit) -> str:
    """The word behind a number that is no known unit, or what may be short for one: 2560 K for bytes."""
    first = one.unit.text.split(" ")[0] if one.unit and not one.unit.is_like(asked) else ""
    return first if first in _THOUSANDS else one.unknown_unit


def known_mistake(answer: Answer, key: Key, mistakes: Sequence[Key]) -> int | None:
    """Which of these wrong numbers stands where the right one should, with a unit or without; none beside an "or"."""
    text = plain(answer.text)
    every = [chain for chain in chains_in(text, key.own_units) if not chain.is_denied]
    if not every:
        return None
    *earlier, meant = counting(text, every, key)
    if any(_is_offered(text, one, meant) for one in earlier):
        return None
    fits = [fit_of(meant, mistake) for mistake in mistakes]
    return next((place for place, fit in enumerate(fits) if fit in (Fit.RIGHT, Fit.NO_UNIT)), None)


def _unclear(where: str, chains: Sequence[Chain]) -> Verdict:
    texts = " or ".join(dict.fromkeys(f"'{quote(chain.members[-1].text, 40)}'" for chain in chains))
    message = "it is not clear which number is the answer, so a person decides"
    return undecided(message, f"{where}: {texts}", code="number_unclear")


def _verdict(fit: Fit, chain: Chain, key: Key) -> Verdict:
    shown = " = ".join(one.text for one in chain.members)
    evidence = {"read_as": shown}
    if fit is Fit.RIGHT:
        return right("the number is right", f"read as {shown}", evidence)
    if fit in (Fit.NO_UNIT, Fit.OTHER_UNIT):
        return partly(fit.value, f"read as {shown}", evidence, code=_CODES[fit])
    if fit in _FOR_A_PERSON:
        return undecided(f"{fit.value}; a person decides", f"read as {shown}", evidence, HALF, code=_CODES[fit])
    detail = f"read as {shown}{_off_by(chain.members[-1], key)}"
    return wrong("the number is not right", detail, evidence, code="wrong_number")


def _off_by(one: Quantity, key: Key) -> str:
    value = _in_the_asked_unit(one, one.values[0], key)
    if value is None:
        return ", which is in another unit"
    if not key.value or not math.isfinite(value):
        return ""
    off = abs(value - key.value) / abs(key.value)
    return f"; it is off by {off:.2g} times the right value" if off >= 10 else f"; it is off by {off:.2%}"


# ---- which of several ----


def counting(text: str, chains: Sequence[Chain], key: Key) -> list[Chain]:
    """Those that may be the answer: given for the name asked for, else boxed, else in a unit like the one asked for,
    else stated by a relation or a verb, else all."""
    named = [chain for chain in chains if _is_named(text, chain, key.names)]
    if named:
        return [chain for chain in chains if chain in named or any(_is_offered(text, one, chain) for one in named)]
    if boxed := [chain for chain in chains if chain.boxed]:
        return boxed
    chains = [chain for chain in chains if not _EXPLAINS.search(_sentence(text, chain))] or chains
    unit = key.unit
    alike = [chain for chain in chains if unit and any(one.unit and one.unit.is_like(unit) for one in chain.members)]
    return alike or [chain for chain in chains if chain.is_stated] or list(chains)


def _sentence(text: str, chain: Chain) -> str:
    """What stands before it in its sentence."""
    return SENTENCE.split(_before(text, chain))[-1]


def _before(text: str, chain: Chain) -> str:
    return text[max(0, chain.begins - _NEAR) : chain.begins]


def _is_offered(text: str, first: Chain, chain: Chain) -> bool:
    """Whether it follows another in the same sentence by "or"."""
    between = text[first.ends : chain.begins]
    return bool(_OR.search(between)) and not SENTENCE.search(between)


def _is_named(text: str, chain: Chain, names: Sequence[str]) -> bool:
    before = PARAGRAPH.split(_before(text, chain))[-1]
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)\s*{_RELATION}(?:[^;,=≈\n]{{0,80}}[=≈])*{_FILLING}\s*$", before)
        for name in names
    )


def written_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names as a plain text has them, and Greek letters also spelled out."""
    found = [plain(name).strip() for name in names]
    spelled = [word for name in found for word, letter in LETTERS.items() if letter == name]
    return tuple(dict.fromkeys([*found, *spelled]))


def _concluding(text: str, chains: Sequence[Chain]) -> Chain | None:
    """The last, where it is clearly meant: it is alone, or words say that it concludes and no "or" comes before it."""
    if len(chains) == 1:
        return chains[0]
    last, earlier = chains[-1], chains[-2]
    between = text[earlier.ends : last.begins]
    return last if _CONCLUDES.search(between) and not _OR.search(between) else None


# ---- one of them ----


def fit_of(chain: Chain, key: Key) -> Fit:
    """The last member counts. Who writes 7/2 ≈ 4 has given the number before, so a person looks at it."""
    fits = [_fit(one, key, chain) for one in chain.members]
    return Fit.CONTRADICTION if fits[-1] is Fit.WRONG and Fit.RIGHT in fits else fits[-1]


def _fit(one: Quantity, key: Key, chain: Chain) -> Fit:
    if one.up_to is not None or one.is_bound:
        ends = [_in_the_asked_unit(one, value, key) for value in (one.values[0], one.up_to) if value is not None]
        known = sorted(value for value in ends if value is not None)
        inside = bool(known) and (one.is_bound or known[0] <= key.value <= known[-1])
        return Fit.IN_RANGE if inside or any(map(key.is_met_by, known)) else Fit.WRONG
    return _of_number(one, key, chain)


def _of_number(one: Quantity, key: Key, chain: Chain) -> Fit:
    likely, *unlikely = one.values
    if math.isnan(likely):
        return Fit.UNKNOWN
    value = _in_the_asked_unit(one, likely, key)
    if value is None:  # its unit is another kind of thing
        return Fit.OTHER_UNIT if key.is_met_by(likely) else Fit.WRONG
    if key.is_met_by(value) or _is_share(one, likely, key):
        has_unit = any(member.unit for member in chain.members)
        return Fit.NO_UNIT if key.needs_unit and key.unit and not has_unit else Fit.RIGHT
    if any(
        key.is_met_by(other) for reading in unlikely if (other := _in_the_asked_unit(one, reading, key)) is not None
    ):
        return Fit.OTHER_READING
    if one.unit and one.unit.text.endswith("b") and key.is_met_by(8 * value):
        return Fit.BITS
    scale = value / likely if likely else 1.0
    if abs(value - key.value) <= one.spread * abs(scale):
        return Fit.COVERED
    return Fit.ROUNDED if _is_rounded(one, key.value / scale) else Fit.WRONG


def _is_rounded(one: Quantity, exact: float) -> bool:
    """Whether it is this number to fewer digits."""
    if one.decimals is None or one.digits < _LEAST_DIGITS:
        return False
    return abs(one.values[0] - round(exact, one.decimals)) < _SLACK


def _in_the_asked_unit(one: Quantity, value: float, key: Key) -> float | None:
    """The value in the unit asked for. A bare number is taken to be in it; None if its unit cannot be converted."""
    if one.unit is None:
        return value
    if key.unit is None:
        return value * one.unit.factor if not one.unit.dimensions else value
    return value * one.unit.factor / key.unit.factor if one.unit.is_like(key.unit) else None


def _is_share(one: Quantity, value: float, key: Key) -> bool:
    """0.35 where 35 % is asked for."""
    return (
        one.unit is None and key.unit is not None and not key.unit.dimensions and key.is_met_by(value / key.unit.factor)
    )


def _without_digits(text: str, key: Key, where: str) -> Verdict:
    said = [word.lower() for word in _WORD.findall(text)]
    if said and len({_WORDS[word] for word in said}) == 1:
        if key.is_met_by(_WORDS[said[0]]):
            message = "the number is given in words, so a person decides"
            return undecided(message, f"{where}: {said[0]}", None, Fraction(1), code="number_in_words")
        return wrong("the number is not right", f"read as {said[0]}", code="wrong_number")
    example = "write for example 3.5, 7/2 or 3.5 m/s"
    return undecided(f"{where}: no number was found", example, code="number_not_found")
