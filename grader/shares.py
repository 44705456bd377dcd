"""Parts of the points, as rubrics write them (`1/2`, `0.9`), and which outcomes earn one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from grader.model import Outcome, Status
from grader.rubric.hints import did_you_mean


def _exact(value: Any) -> Any:
    """0.07 is seven hundredths, as it was written: as a float, 0.07 · 300 is more than 21."""
    try:
        return Fraction(str(getattr(value, "text", value)))
    except (ValueError, ZeroDivisionError):
        raise ValueError("should be a number such as 0.1 or 1/2") from None


Rational = Annotated[Fraction, BeforeValidator(_exact)]
Share = Annotated[Rational, Field(ge=0, le=1)]


class Partial(dict[str, Fraction]):
    """What each of these outcomes earns, by its code, or by the check's own word for several codes.

    `partial: Partial = Partial(off_by_one="9/10")` in a check's signature, `partial: {off_by_one: 1/2}` in a rubric.
    What a rubric leaves out stays as the check has it.
    """

    def __init__(self, **shares: str | Fraction) -> None:
        super().__init__({code: Fraction(share) for code, share in shares.items()})

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{code}: {share}' for code, share in self.items())}}}"

    def applied(self, outcome: Outcome) -> Outcome:
        """What failed with one of these codes earns its share."""
        share = self.get(outcome.code, Fraction(0)) if outcome.status is Status.FAILED else Fraction(0)
        status = Status.PASSED if share == 1 else Status.PARTIAL
        return replace(outcome, status=status, score=share) if share else outcome

    @property
    def annotation(self) -> Any:
        """The type of a parameter that has these shares by default."""
        return Annotated[dict[str, Share], AfterValidator(self._changed)]

    def _changed(self, given: Mapping[str, Fraction]) -> Partial:
        if unknown := next((code for code in given if code not in self), None):
            raise ValueError(f"has no share for '{unknown}'{did_you_mean(unknown, self)}")
        return Partial(**{**self, **given})
