"""What students see of an outcome. A hidden check shows nothing that their code could use to carry inputs out.

Code sees hidden inputs and can choose what it does wrong. So a hidden check tells the verdict and its cause, numbers to
two digits, and nothing that only the code itself can know: no exception, no line, no word of its own.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

from grader.errors import StudentFault
from grader.model import Check, Outcome, Status, Visibility

# 0.2137, 1.5e-07, 12345, 1,234; not float64, hw3.ipynb, 2×128×64 or a number below 1000, which authors write too.
_NUMBER = re.compile(r"(?<![\w.×,])(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d{4,}|\d{1,3}(?:,\d{3})+)(?![\w×])")
_PLACE = re.compile(r" at \(\d+(?:, \d+)*,?\)")  # in an array: code chooses where it is wrong
_LEAST, _MOST = 1e-9, 1e9  # errors beyond these look alike


def concealed(outcome: Outcome) -> Outcome:
    """What a hidden check tells of an outcome that code had a hand in."""
    evidence: dict[str, str | float] = {}
    for name, value in outcome.evidence.items():
        if isinstance(value, str | bool):
            evidence[name] = value
        elif isinstance(value, int | float) and outcome.status is not Status.PASSED:  # a pass would tell for free
            evidence[name] = type(value)(_clamped(value))
    message = _rounded(outcome.message)
    return replace(outcome, message=message, evidence=evidence)


def from_fault(fault: StudentFault, check: Check) -> Outcome:
    hidden = check.visibility == "hidden"
    message, code = (_rounded(fault.concealed), fault.concealed_code) if hidden else (fault.message, fault.code)
    return Outcome(fault.status, Fraction(0), message, detail=fault.detail, code=code)


def with_output(outcome: Outcome, printed: str) -> Outcome:
    """What did not pass comes with what the code printed: often that is how its author looks for mistakes."""
    if outcome.status is Status.PASSED or not printed:
        return outcome
    return replace(outcome, revealing={**outcome.revealing, "printed": printed})


def as_shown(outcome: Outcome, check: Check, seed: int) -> Outcome:
    """Hidden checks give away neither inputs nor expected values: their details end here, for all reports."""
    if check.visibility == "hidden" or outcome.status is Status.UNGRADED:
        return replace(outcome, detail="", revealing={}, trial=None)
    message = f"{outcome.message}: {outcome.detail}" if outcome.detail else outcome.message
    if outcome.trial is not None:
        message += f" (seed {seed}, trial {outcome.trial})"
    evidence = {**outcome.evidence, **outcome.revealing}
    return replace(outcome, message=message, detail="", evidence=evidence, revealing={}, trial=None)


def seconds_shown(seconds: float, visibility: Visibility) -> float:
    """How long a check took; of a hidden one, only whether that was 1, 10 or 100 s: code can sleep as it likes."""
    if visibility == "public":
        return round(seconds, 3)
    return next((most for most in (1, 10, 100) if seconds <= most), 1000)


def _rounded(message: str) -> str:
    def two_digits(found: re.Match[str]) -> str:
        number = _clamped(float(found[0].replace(",", "")))
        return f"{number:.0f}" if 10 <= number < 1e6 else f"{number:.2g}"

    return _NUMBER.sub(two_digits, _PLACE.sub("", message))


def _clamped(number: float) -> float:
    if not number or number != number:
        return number
    return float(f"{math.copysign(min(max(abs(number), _LEAST), _MOST), number):.2g}")
