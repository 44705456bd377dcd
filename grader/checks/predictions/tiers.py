"""How accurate is accurate enough: `{accuracy: 0.10, score: 1}`, `{accuracy: 0.05, score: 1/2}`, `{right: 1, …}`."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from grader.checks.predictions.label_files import Accuracy
from grader.shares import Share

SomeShare = Annotated[Share, Field(gt=0)]


class Tier(BaseModel):
    """A score, for a share of right answers or for a number of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    score: SomeShare
    accuracy: SomeShare | None = None
    right: Annotated[int, Field(ge=1)] | None = None

    def needed(self, total: int) -> int:
        return ceil(self.accuracy * total) if self.accuracy is not None else self.right or 0

    def met_by(self, reached: Accuracy) -> bool:
        return reached.right >= self.needed(reached.total)

    def __str__(self) -> str:
        bar = f"{float(100 * self.accuracy):g} %" if self.accuracy is not None else f"{self.right} right"
        return f"the tier from {bar} on, worth {'all' if self.score == 1 else self.score}"


def _in_order(tiers: list[Tier]) -> list[Tier]:
    if not tiers:
        raise ValueError("should hold at least one tier")
    if any((tier.accuracy is None) == (tier.right is None) for tier in tiers):
        raise ValueError("should give each tier either 'accuracy' or 'right'")
    ordered = sorted(tiers, key=lambda tier: tier.score, reverse=True)
    # A number of right answers stands below every share: how many lines there are is not known here.
    bars = [tier.accuracy if tier.accuracy is not None else Fraction(tier.right or 0, 10**9) for tier in ordered]
    if any(higher <= lower for higher, lower in pairwise(bars)):
        raise ValueError("should ask for more where it gives more")
    return ordered


Tiers = Annotated[list[Tier], AfterValidator(_in_order)]
