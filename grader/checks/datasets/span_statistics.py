"""What many draws say about the random parts of span corruption, with bounds on misjudging correct work.

Each test is wrong about correct work at most once in 1 / ERROR_RATE times, and all of them together, on one submission,
less than once in a million. Two kinds of bound are used:

* Something that has probability p fails to occur in n draws with probability (1 − p)ⁿ. `DRAWS` is chosen so that what
  happens in half a per cent of draws is missed with probability 0.995⁴⁰⁰⁰ = 2·10⁻⁹.
* The mean of n numbers between 0 and 1 is further than `margin(n)` from its expectation with probability at most
  ERROR_RATE (Hoeffding), whatever their distribution. So no shape of distribution is presumed anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from grader.checks.datasets.spans import Span
from grader.compare import Array
from reference.handout_constants import SHORTEST

DRAWS = 4000
ERROR_RATE = 5e-8

# Rounding a masked length down, or letting it begin at one, moves its mean by up to a character.
_ROUNDING_CHARACTERS = 1.0
_RARELY = 0.10  # of draws from a long document; uniform on 0 … T/2 is empty in 3 %, a geometric length in 7 %
_MOSTLY = 0.5  # of draws from four characters; rounding down a uniform length gives just this


@dataclass(frozen=True)
class Finding:
    """A mistake, in words and numbers."""

    summary: str
    evidence: dict[str, Any] = field(default_factory=dict)
    score: Fraction = Fraction(0)


def margin(count: int) -> float:
    return math.sqrt(math.log(2 / ERROR_RATE) / (2 * count)) if count else math.inf


def longest_kept(block: int) -> int:
    return block * 7 // 8


def judge_bounds(spans: Sequence[Span], document: int, block: int) -> Finding | None:
    """The kept length never leaves [4, ⌊7/8·block⌋]. Exact: no correct item is outside."""
    lengths = np.array([span.kept for span in spans])
    least, most = min(SHORTEST, document), longest_kept(block)
    shortest, longest = int(lengths.min()), int(lengths.max())
    evidence = {"draws": len(lengths), "shortest": shortest, "longest": longest, "allowed": [least, most]}
    if shortest == document > most:
        return Finding("the document is never truncated", evidence)
    if longest > most:
        share = f"in {100 * np.mean(lengths > most):.0f} % of {len(lengths):,} draws"
        return Finding(f"{share} more than ⌊7/8 · {block}⌋ = {most} characters are kept, up to {longest}", evidence)
    if shortest < least:
        share = f"in {100 * np.mean(lengths < least):.0f} % of {len(lengths):,} draws"
        return Finding(f"{share} fewer than {least} characters are kept, down to {shortest}", evidence)
    return None


def judge_truncation(spans: Sequence[Span], document: int, block: int) -> Finding | None:
    """For documents longer than any truncation: every length occurs, or in a large block those near both ends.

    A choice that gives each length half a per cent of `DRAWS` draws is misjudged with probability below
    25 · 0.995⁴⁰⁰⁰ = 5·10⁻⁸, a uniform choice with less than 10⁻⁶⁹. In the large block, drawn half as often, each outer
    eighth of the lengths should get one per cent: 2 · 0.99²⁰⁰⁰ = 4·10⁻⁹.
    """
    if found := judge_bounds(spans, document, block):
        return found
    seen, most = {span.kept for span in spans}, longest_kept(block)
    evidence = {"draws": len(spans), "shortest": min(seen), "longest": max(seen), "allowed": [SHORTEST, most]}
    if len(seen) == 1:
        return Finding(f"it is always truncated to {seen.pop()} characters; a random length is asked for", evidence)
    eighth = (most - SHORTEST) // 8
    if min(seen) > SHORTEST + eighth or max(seen) < most - eighth:
        ends = f"{min(seen)} to {max(seen)} characters"
        return Finding(f"it is truncated to {ends} only; every length from {SHORTEST} to {most} is asked for", evidence)
    wanted = range(SHORTEST, most + 1)
    missing = [length for length in wanted if length not in seen]
    if not missing or len(wanted) > DRAWS // 100:  # with more lengths, some may be too rare to be missed
        return None
    if missing == [most]:
        hint = "does your range leave out its end, as randrange and numpy's randint do?"
        return Finding(f"the longest length, {most}, never occurs; {hint}", evidence, Fraction(1, 2))
    if missing == [SHORTEST]:
        return Finding(f"the shortest length, {SHORTEST}, never occurs", evidence, Fraction(1, 2))
    shown = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
    return Finding(f"{len(missing)} of the {len(wanted)} possible lengths never occur ({shown})", evidence)


def _shares(spans: Sequence[Span]) -> tuple[Array, Array]:
    """Kept lengths, and the share of each that is masked."""
    kept = np.array([span.kept for span in spans], dtype=np.float64)
    return kept, np.array([span.masked for span in spans]) / np.maximum(kept, 1)


def judge_masked_lengths(spans: Sequence[Span], longer: Sequence[Span], block: int) -> Finding | None:
    """Draws from two documents, both longer than any truncation: what is masked must not tell them apart.

    The mean share may be off ¼ by one character of rounding and by `margin` of the number of draws.
    """
    kept, share = _shares([*spans, *longer])
    half = longest_kept(block) / 2
    evidence: dict[str, Any] = {"draws": len(kept), "mean_share": round(float(share.mean()), 4)}
    (shorter_share, longer_share) = (s[k >= half] for k, s in map(_shares, (spans, longer)))
    if len(shorter_share) and len(longer_share):
        means = [round(float(some.mean()), 4) for some in (shorter_share, longer_share)]
        if means[1] - means[0] > margin(len(shorter_share)) + margin(len(longer_share)):
            told = f"{100 * means[0]:.0f} % are masked in a shorter document, {100 * means[1]:.0f} % in a longer one"
            found = f"the masked length is taken from the whole document, not from the truncated one: {told}"
            return Finding(found, evidence | {"by_document": means})
    if found := _fixed(spans):
        return Finding(found, evidence)
    for some, which in ((kept >= half, f"{math.ceil(half)} and more"), (kept < half, f"less than {math.ceil(half)}")):
        if not some.any():
            continue
        mean, allowed = float(share[some].mean()), margin(int(some.sum()))
        allowed += _ROUNDING_CHARACTERS * float((1 / kept[some]).mean())
        if abs(mean - 0.25) > allowed:
            found = f"of pieces of {which} characters {100 * mean:.1f} % are masked on average; 25 % are asked for"
            return Finding(found, evidence | {"mean_share": round(mean, 4), "tolerance": round(allowed, 4)})
    for some, word in ((share > 0.25, "more"), (share < 0.25, "less")):
        if not some.any():
            return Finding(f"it never masks {word} than a quarter; the length should vary around it", evidence)
    return None


def _fixed(spans: Sequence[Span]) -> str:
    """A masked length that is the same in every draw, or follows from the truncated length."""
    lengths = {span.masked for span in spans}
    if len(lengths) == 1:
        return f"the masked length is always {lengths.pop()}; a random length is asked for"
    if len({(span.kept, span.masked) for span in spans}) == len({span.kept for span in spans}):
        return "the masked length follows from the truncated length; a random length is asked for"
    return ""


def judge_emptiness(spans: Sequence[Span], allowed: float = _MOSTLY) -> Finding | None:
    """The masked part is empty in at most this share of draws, and `margin` more."""
    empty = float(np.mean([span.masked == 0 for span in spans]))
    if empty <= allowed + margin(len(spans)):
        return None
    found = f"the masked part was empty in {100 * empty:.0f} % of {len(spans):,} draws"
    return Finding(found, {"draws": len(spans), "empty_share": round(empty, 4)})


def judge_emptiness_of_long_pieces(spans: Sequence[Span], block: int) -> Finding | None:
    long = [span for span in spans if span.kept >= longest_kept(block) / 2]
    return judge_emptiness(long, _RARELY) if long else None


def judge_positions(spans: Sequence[Span]) -> Finding | None:
    """The mask is not tied to a place. Never at the ends is fine; a place that is free in a tenth of draws is free."""
    free = [span for span in spans if 0 < span.masked < span.kept]
    if not free:
        return Finding("no draw masks a part of the document", {"draws": len(spans)})
    starts = {span.prefix for span in free}
    evidence = {"draws": len(free), "places": len(starts)}
    if starts == {0}:
        return Finding("the masked part is always at the beginning", evidence)
    if all(span.suffix == 0 for span in free):
        return Finding("the masked part is always at the end", evidence)
    if all(span.prefix == 0 or span.suffix == 0 for span in free):
        return Finding("the masked part is always at one of the two ends", evidence)
    if len(starts) == 1:
        return Finding(f"the masked part always begins at character {starts.pop() + 1}", evidence)
    if len({(span.kept, span.masked, span.prefix) for span in free}) == len({(s.kept, s.masked) for s in free}):
        return Finding(
            "where the masked part begins follows from the two lengths; a random place is asked for", evidence
        )
    return None
