"""Lateness by a rule: a deadline, some grace, a share of the points for each day begun, at most so much.

A day is one of the calendar where the deadline names a zone such as Europe/Berlin, so that it ends at the same time
of day when clocks change; behind an offset such as +01:00 it has 24 hours. When work was handed in is what a platform
or a person says, never the time of a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from grader.errors import UsageError
from grader.quoting import quote

_SPAN = re.compile(r"(?:(?P<days>\d{1,3})d)?\s*(?:(?P<hours>\d{1,3})h)?\s*(?:(?P<minutes>\d{1,4})m(?:in)?)?")
_SHARE = re.compile(r"\d{1,3}(?:\.\d{1,4})?\s*%|[01](?:\.\d{1,6})?|\d{1,4}/[1-9]\d{0,3}")
_FRACTION_OF_A_SECOND = re.compile(r"(\.\d{6})\d+")  # Gradescope writes nanoseconds
_YEARS = range(2000, 3000)  # in which no sum of times runs over the end of the calendar
_BLANK_BEFORE_OFFSET = re.compile(r"\s+(?=[+-]\d{2}:?\d{2}$|Z$)")
_UTC = re.compile(r"(?<=\d)\s*UTC$")
_ZONE = re.compile(r"(?P<time>.+?)\s+\[?(?P<zone>[A-Za-z][\w+/-]*)\]?")


class Of(StrEnum):
    """What the share of a day is a share of."""

    EARNED = "earned"
    MAXIMUM = "maximum"


@dataclass(frozen=True)
class Span:
    """A length of time as people give it: days of the calendar, and minutes."""

    days: int = 0
    minutes: int = 0

    def __str__(self) -> str:
        hours, minutes = divmod(self.minutes, 60)
        said = [f"{number}{unit}" for number, unit in ((self.days, "d"), (hours, "h"), (minutes, "m")) if number]
        return "".join(said) or "0"

    def after(self, moment: datetime) -> datetime:
        return in_utc(moment + timedelta(days=self.days)) + timedelta(minutes=self.minutes)


@dataclass(frozen=True)
class LatenessRule:
    deadline: str  # as it was given
    grace: Span = Span()
    per_day: Fraction = Fraction(0)
    at_most: Fraction = Fraction(1)
    of: Of = Of.EARNED

    @property
    def due(self) -> datetime:
        return moment(self.deadline)

    def days_late(self, handed_in: datetime, extension: Span | None = None) -> int:
        """Days begun since the deadline; none within the grace."""
        more = extension or Span()
        due = self.due + timedelta(days=more.days)
        if in_utc(handed_in) <= Span(0, self.grace.minutes + more.minutes).after(due + timedelta(days=self.grace.days)):
            return 0
        days = max(0, (in_utc(handed_in) - Span(0, more.minutes).after(due)).days - 1)
        while in_utc(handed_in) > Span(days, more.minutes).after(due):
            days += 1
        return days

    def deduction(self, days: int, earned: Fraction, maximum: Fraction) -> Fraction:
        """Exactly what is taken off; never more than was earned."""
        base = earned if self.of is Of.EARNED else maximum
        return min(earned, base * min(self.at_most, days * self.per_day))

    def __str__(self) -> str:
        whose = "points earned" if self.of is Of.EARNED else "maximum"
        cap = f", at most {percent(self.at_most)}" if self.at_most < 1 else ""
        return f"{percent(self.per_day)} of the {whose} for each day begun{cap}"

    def as_data(self) -> dict[str, str]:
        shares = {"per_day": str(self.per_day), "at_most": str(self.at_most)}
        return {"deadline": self.deadline, "grace": str(self.grace), **shares, "of": str(self.of)}


def rule_from(data: dict[str, Any]) -> LatenessRule:
    shares = (Fraction(data["per_day"]), Fraction(data["at_most"]))
    return LatenessRule(data["deadline"], span(data["grace"]), *shares, Of(data["of"]))


def span(text: str) -> Span:
    """`2d`, `1h`, `1h30m`, `90min`; `0` for none."""
    found = _SPAN.fullmatch(text.strip())
    if text.strip() == "0":
        return Span()
    if not found or not any(found.groupdict().values()):
        raise UsageError(f"'{quote(text, 40)}' is no length of time, such as 1h, 2d or 1h30m")
    days, hours, minutes = (int(number or 0) for number in found.group("days", "hours", "minutes"))
    return Span(days, 60 * hours + minutes)


def share(text: str) -> Fraction:
    """`10%`, `12.5%`, `0.1` or `1/10`; from none to all of it."""
    plain = text.strip()
    if not _SHARE.fullmatch(plain):
        raise UsageError(f"'{quote(text, 40)}' is no share of the points, such as 10%")
    found = Fraction(plain.rstrip("% ")) / 100 if plain.endswith("%") else Fraction(plain)
    if found > 1:
        raise UsageError(f"'{quote(text, 40)}' is more than all of the points")
    return found


def percent(share_of_one: Fraction) -> str:
    return f"{float(100 * share_of_one):.4g}%"


def moment(text: str) -> datetime:
    """`2026-11-20T23:59+01:00`, `2026-11-20 23:59 Europe/Berlin`; refused if it does not say which zone."""
    plain = _BLANK_BEFORE_OFFSET.sub("", _UTC.sub("Z", _FRACTION_OF_A_SECOND.sub(r"\1", text.strip())))
    named = _ZONE.fullmatch(plain)
    try:
        found = datetime.fromisoformat(named["time"] if named else plain)
        if found.year not in _YEARS:
            raise ValueError("no year of any course")
    except ValueError:
        raise UsageError(f"'{quote(text, 60)}' is no time, such as 2026-11-20T23:59+01:00") from None
    if ":" not in plain[:16]:
        raise UsageError(f"'{quote(text, 60)}' is a day; say the time, too, such as 2026-11-20T23:59+01:00")
    if named and found.tzinfo is None:
        try:
            return found.replace(tzinfo=ZoneInfo(named["zone"]))
        except (KeyError, ValueError, OSError):  # not in the machine's list, or no name at all
            raise UsageError(f"'{quote(named['zone'], 40)}' is no time zone here, such as Europe/Berlin") from None
    if found.tzinfo is None:
        zones = "add +01:00 or Europe/Berlin, say"
        raise UsageError(f"'{quote(text, 60)}' does not say in which time zone; {zones}")
    return found


def in_utc(time: datetime) -> datetime:
    """Times of one zone are compared by their clocks' faces unless they stand in UTC. Of a time that comes twice, or
    never, when clocks change, the later reading counts."""
    return max(time.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
