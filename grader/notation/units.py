"""Units by every name they go by: how much of which base units each is."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.notation.word_lists import spelled, words

Dimensions = Mapping[str, int]  # base unit → power; none, for what only counts

PREFIXES = {"n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
PREFIXES |= {"K": 1e3}  # as in KB
BINARY_PREFIXES = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
PREFIX_WORDS = {
    "nano": 1e-9,
    "micro": 1e-6,
    "milli": 1e-3,
    "centi": 1e-2,
    "deci": 1e-1,
    "kilo": 1e3,
    "mega": 1e6,
    "giga": 1e9,
    "tera": 1e12,
}

# Symbols that take prefixes, and those that do not.
METRIC: dict[str, tuple[float, Dimensions]] = {
    "m": (1, {"m": 1}),
    "g": (1e-3, {"kg": 1}),
    "s": (1, {"s": 1}),
    "A": (1, {"A": 1}),
    "K": (1, {"K": 1}),
    "mol": (1, {"mol": 1}),
    "Hz": (1, {"s": -1}),
    "N": (1, {"kg": 1, "m": 1, "s": -2}),
    "Pa": (1, {"kg": 1, "m": -1, "s": -2}),
    "J": (1, {"kg": 1, "m": 2, "s": -2}),
    "W": (1, {"kg": 1, "m": 2, "s": -3}),
    "C": (1, {"A": 1, "s": 1}),
    "V": (1, {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "Ω": (1, {"kg": 1, "m": 2, "s": -3, "A": -2}),
    "T": (1, {"kg": 1, "s": -2, "A": -1}),
    "eV": (1.602176634e-19, {"kg": 1, "m": 2, "s": -2}),
    "L": (1e-3, {"m": 3}),
    "l": (1e-3, {"m": 3}),
    "bit": (1, {"bit": 1}),
    "B": (8, {"bit": 1}),
    "FLOP": (1, {"FLOP": 1}),
    "FLOPS": (1, {"FLOP": 1, "s": -1}),
}
PLAIN: dict[str, tuple[float, Dimensions]] = {
    "min": (60, {"s": 1}),
    "h": (3600, {"s": 1}),
    "day": (86400, {"s": 1}),
    "rad": (1, {}),
    "°": (math.pi / 180, {}),
    "%": (1e-2, {}),
    "‰": (1e-3, {}),
    "ppm": (1e-6, {}),
    "°C": (1, {"°C": 1}),  # no other scale is converted: zero lies elsewhere
    "dB": (1, {"dB": 1}),
    "nat": (1, {"nat": 1}),
    "k": (1e3, {}),  # 3.5k tokens
    "M": (1e6, {}),
}
WORDS = spelled(
    {
        "m": "meter metre meters metres",
        "g": "gram grams gramme grammes",
        "s": "second seconds sec secs",
        "A": "ampere amperes amp amps",
        "K": "kelvin kelvins",
        "mol": "mole moles",
        "Hz": "hertz",
        "N": "newton newtons",
        "Pa": "pascal pascals",
        "J": "joule joules",
        "W": "watt watts",
        "V": "volt volts",
        "Ω": "ohm ohms",
        "L": "liter litre liters litres",
        "bit": "bits",
        "B": "byte bytes",
        "min": "minute minutes mins",
        "h": "hour hours hr hrs",
        "day": "days",
        "rad": "radian radians",
        "°": "degree degrees deg",
        "%": "percent",
        "nat": "nats",
        "FLOP": "FLOPs flop flops",
        "k": "thousand",
        "M": "million",
    }
)
COUNTED = words("bit B FLOP FLOPS")  # no part of one is ever meant: mb is not a thousandth of a bit
# Words that go on with the sentence behind a number, and are no unit. Adverbs (approximately) need no place here.
NO_UNITS = words(
    """
    a about above after again all also altogether an and answer approx are as at away because before below but by
    cannot e etc even exact final follows for from given gives has have hence here holds how i if in instead into is
    it its less like max min minus more not now of off on only or out over overall per plus qed right rounded seems
    since so such than that the then there therefore they this thus till times to together too total until up using
    versus very vs was we were when where whereas which while whose will with without x you
    """
)
