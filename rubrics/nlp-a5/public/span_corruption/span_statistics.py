"""What many draws say about the random parts of span corruption, with bounds on misjudging correct work.

Each test is wrong about correct work at most once in 1 / ERROR_RATE times, and all of them together, on one submission,
less than once in a million. Four kinds of bound are used:

* Something that has probability p fails to occur in n draws with probability (1 − p)ⁿ. `DRAWS` is chosen so that what
  happens in half a per cent of draws is missed with probability 0.995⁴⁰⁰⁰ = 2·10⁻⁹.
* The mean of n numbers between 0 and 1 is further than `margin(n)` from its expectation with probability at most
  ERROR_RATE (Hoeffding), whatever their distribution. So no shape of distribution is presumed here.
* The mean share that is masked may be off a quarter by what the rubric says (`within`). It is decided once four
  standard errors lie on one side of that edge; until then more draws are made, up to `MOST` times as many, and at last
  it needs review. So no verdict depends on the seed. Work whose mean is a quarter fails only if 8,000 draws are off by
  `within` and more: for the some 4,200 long pieces among them and .05, a probability of 2·10⁻⁹ (Hoeffding).
* A masked length with a spread (standard deviation) of a character or more is measured below `_SPREAD` = ¾ of one with
  probability at most exp(−n·(1 − 9/16)²/2k), where k is the kurtosis: 10⁻¹⁶ for the some 4,000 draws of long pieces and
  k = 10. One more or one less, the narrowest choice that is accepted, has a spread of 0.82 and k = 1.5: 10⁻¹³.

Draws are made in goes, and no more once it is certain that all of them would pass too (`is_surely_…`): a mean is then
so far inside its bound that `_SURE` = 5.5 of its standard errors fit in between, which leaves 4·10⁻⁸ for the other
verdict (both sides of a normal distribution); the mean share needs `_DECIDED`. Only a pass ends the drawing before
`DRAWS`: correct work fails no more often than with all draws, and what is wrong is judged by all of them. A length
beyond its bounds may be rare: where these are looked at, all draws are made.

All checks judge one set of draws (`item_set`), so what they find may depend on each other. The bounds above are added
up, which holds however that is.

All are about documents as the course has them: thirty to some hundred characters, with blanks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from grader import Array

from .span_columns import Spans, joined
from .spans import SHORTEST

DRAWS = 4000
MOST = 16  # times as many: a mean share of .205 is accepted even if shares have a standard deviation of .2
ERROR_RATE = 5e-8
WITHIN = Fraction(1, 20)  # of a quarter, unless the rubric says otherwise

_LONG = Fraction(7, 16)  # of the block, and more: of such pieces shares are judged by themselves
_RARELY = 0.10  # of long pieces; uniform on 0 … T/2 is empty in 3 %, a geometric length in 7 %
_AT_TIMES = 0.25  # of pieces of thirty to sixty characters; there a geometric length is empty in 12 %
_FEWEST = 100  # draws that a mean is certain of
_STRIPPED = 2  # blanks at the ends of pieces may be
_SPREAD = 0.75  # characters; less is a fixed share, rounded this way or that
_DEPENDS = 0.05  # a mean share that is wrong and moves so much from document to document is taken from the whole of it
EDITIONS = (Fraction(7, 8), Fraction(3, 4))  # of the block, at most, is kept: what editions of the assignment ask for
_SURE = 5.5  # standard errors
_DECIDED = 4  # standard errors: work exactly at an edge is decided, one way or the other, less than once in 1,000 times
_WIDER = 2**20  # than any item


@dataclass(frozen=True)
class Finding:
    """A mistake, in words and numbers."""

    summary: str
    code: str
    evidence: dict[str, Any] = field(default_factory=dict)
    earns: str = ""  # which share of the check's `partial`; nothing if none
    sized_on_whole: bool = False  # the mask is: other checks may meet what follows from it
    undecided: bool = False  # more draws may tell


def is_slip(wrong: int, draws: int) -> bool:
    """Whether it may be one in a thousand: at that rate, more than ten in 2,000 draws are seen once in 10⁵ times."""
    return 200 * wrong <= max(draws, 400)


def margin(count: int) -> float:
    return math.sqrt(math.log(2 / ERROR_RATE) / (2 * count)) if count else math.inf


def longest_kept(block: int, share: Fraction) -> int:
    return math.floor(block * share)


def _edition(length: int, block: int, share: Fraction) -> str:
    """Whether another edition asks for this length at most, in words."""
    others = [other for other in EDITIONS if other != share and longest_kept(block, other) == length]
    return f" ({others[0]} of the block is another edition's bound)" if others else ""


def _exact(spans: Spans) -> bool:
    """Whether lengths can be told to a character: not where pieces miss some, or have some twice."""
    return int(spans.exact.sum()) >= 0.9 * len(spans)


def judge_bounds(spans: Spans, document: int, block: int, share: Fraction) -> Finding | None:
    """The kept length never leaves [4, ⌊share·block⌋]. Exact: no correct item is outside."""
    if not _exact(spans):
        return None
    most, exact = longest_kept(block, share), spans[spans.exact]
    lengths, unstripped = exact.kept, exact.kept + exact.blanks
    shortest, longest = int(lengths.min()), int(lengths.max())
    evidence = {"draws": len(lengths), "shortest": shortest, "longest": longest, "allowed": [SHORTEST, most]}
    if shortest == document > most:
        return Finding("the document is never truncated", "never_truncated", evidence)
    above = (
        f"more than ⌊{share} · {block}⌋ = {most} characters are kept, up to {longest}{_edition(longest, block, share)}"
    )
    below = f"fewer than {SHORTEST} characters are kept, down to {shortest}"
    sides = ((lengths > most, above, "kept_too_long"), (unstripped < SHORTEST, below, "kept_too_short"))
    for outside, said, code in sides:
        if count := int(outside.sum()):
            found = f"in {100 * count / len(lengths):.2g} % of {len(lengths):,} draws {said}"
            return Finding(found, code, evidence, "stray_items" if is_slip(count, len(lengths)) else "")
    return None


def judge_every_length(spans: Spans, block: int, share: Fraction) -> Finding | None:
    """For documents longer than any truncation: every length occurs, or in a large block those near both ends.

    A choice that gives each length half a per cent of `DRAWS` draws is misjudged with probability below
    25 · 0.995⁴⁰⁰⁰ = 5·10⁻⁸, a uniform choice with less than 10⁻⁶⁹. In the large block, drawn half as often, each outer
    eighth of the lengths should get one per cent: 2 · 0.99²⁰⁰⁰ = 4·10⁻⁹.
    """
    most = longest_kept(block, share)
    kept = set(spans.kept.tolist())
    stripped = {(length, n) for length, n in zip(spans.kept.tolist(), spans.blanks.tolist(), strict=True) if n}
    seen = kept | {length + blanks for length, most_blanks in stripped for blanks in range(most_blanks + 1)}
    evidence = {"draws": len(spans), "shortest": min(kept), "longest": max(kept), "allowed": [SHORTEST, most]}
    if len(kept) == 1:
        found = f"it is always truncated to {kept.pop()} characters; a random length is asked for"
        return Finding(found, "truncation_fixed", evidence)
    eighth = (most - SHORTEST) // 8
    if min(kept) > SHORTEST + eighth or max(kept) < most - eighth:
        ends, asked = f"{min(kept)} to {max(kept)} characters", f"every length from {SHORTEST} to {most} is asked for"
        found = f"it is truncated to {ends} only; {asked}{_edition(max(kept), block, share)}"
        return Finding(found, "truncation_too_narrow", evidence)
    wanted = range(SHORTEST, most + 1)
    missing = [length for length in wanted if length not in seen]
    if not missing or not _exact(spans) or len(wanted) > DRAWS // 100:  # with more lengths, some may be too rare
        return None
    if missing == [most]:
        hint = "does your range leave out its end, as randrange and numpy's randint do?"
        found = f"the longest length, {most}, never occurs; {hint}"
        return Finding(found, "longest_never_occurs", evidence, "longest_never_occurs")
    if missing == [SHORTEST]:
        found = f"the shortest length, {SHORTEST}, never occurs"
        return Finding(found, "shortest_never_occurs", evidence, "shortest_never_occurs")
    shown = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
    found = f"{len(missing)} of the {len(wanted)} possible lengths never occur ({shown})"
    return Finding(found, "lengths_never_occur", evidence)


def _shares(spans: Spans) -> tuple[Array, Array]:
    """Kept lengths, and the share of each that is masked."""
    kept = spans.kept.astype(np.float64)
    return kept, spans.masked / np.maximum(kept, 1)


def judge_masked_lengths(spans: Spans, longer: Spans, block: int, within: Fraction) -> Finding | None:
    """Draws from two documents, both longer than any truncation: what is masked must not tell them apart.

    The mean share of pieces that are shorter than half of the block may be off by one character of rounding more.
    """
    kept, share = _shares(joined([spans, longer]))
    half = float(block * _LONG)
    evidence: dict[str, Any] = {"draws": len(kept), "mean_share": round(float(share.mean()), 4)}
    parts = ((kept >= half, f"{math.ceil(half)} and more", 0), (kept < half, f"less than {math.ceil(half)}", 1))
    off = [
        _off_a_quarter(kept[some], share[some], f"of pieces of {which} characters", float(within), rounding)
        for some, which, rounding in parts
        if some.sum() >= _FEWEST
    ]
    found = min(filter(None, off), key=lambda one: one.undecided, default=None)
    if whole := _moves_with_the_document(spans, longer, half, surely=found is None or found.undecided):
        return replace(whole, evidence=evidence | whole.evidence)
    if fixed := _fixed(spans, half):
        return Finding(fixed, "masked_length_fixed", evidence)
    if found:
        return replace(found, evidence=evidence | found.evidence)
    for some, word in ((share > 0.25, "more"), (share < 0.25, "less")):
        if not some.any():
            never = f"it never masks {word} than a quarter; the length should vary around it"
            return Finding(never, f"never_masks_{word}", evidence)
    return None


def _off_a_quarter(
    kept: Array, share: Array, where: str, within: float, rounding: int, less_too: bool = True
) -> Finding | None:
    """Nothing, if the mean share is surely accepted; what is not surely wrong either is undecided."""
    mean, error = float(share.mean()), _DECIDED * _standard_error(share)
    off = abs(mean - 0.25) if less_too else mean - 0.25
    allowed = within + rounding * float((1 / np.maximum(kept, 1)).mean())
    if off + error <= allowed:
        return None
    found = f"{where} {100 * mean:.1f} % are masked on average; 25 % are asked for"
    evidence = {"mean_share": round(mean, 4), "tolerance": round(allowed, 4)}
    if off - error > allowed:
        return Finding(found, "wrong_masked_share", evidence)
    near = f"up to {100 * allowed:.1f} % more or less are accepted, and {len(share):,} draws do not tell which it is"
    summary = f"{found}; {near}; a person decides"
    return Finding(summary, "masked_share_undecided", evidence, "masked_share_undecided", undecided=True)


def _standard_error(values: Array) -> float:
    """Of their mean. That few values are alike does not make it nothing: one more at either end is added to them."""
    if np.ptp(values) == 0:
        values = np.append(values, (values.min() - 0.5, values.max() + 0.5))
    return float(values.std()) / math.sqrt(len(values))


def is_surely_a_quarter(spans: Spans, longer: Spans, block: int, draws: int, within: Fraction) -> bool:
    """Whether `judge_masked_lengths` would find nothing in `draws` draws of each either."""
    if judge_masked_lengths(spans, longer, block, within) is not None:
        return False
    half = float(block * _LONG)
    kept = joined([spans, longer]).kept
    if min((kept >= half).sum(), (kept < half).sum()) < _FEWEST:
        return False
    more = 2 * draws / len(kept)
    one, other = (share[kept >= half] for kept, share in map(_shares, (spans, longer)))
    apart = margin(int(len(one) * more)) + margin(int(len(other) * more))
    errors = math.sqrt(one.var() / len(one) + other.var() / len(other))
    stays = abs(float(one.mean() - other.mean())) + _SURE * errors <= apart
    return stays and _spread(spans[spans.kept >= half]) >= 2 * _SPREAD


def is_surely_rarely_empty(spans: Spans, block: int, document: int, draws: int) -> bool:
    """Whether `judge_emptiness` would find nothing in `draws` draws either."""
    least, allowed = (block * _LONG, _RARELY) if document > block else (Fraction(document, 2), _AT_TIMES)
    empty = (spans.masked[spans.kept >= float(least)] == 0).astype(np.float64)
    most = allowed + margin(int(len(empty) * draws / len(spans)))
    return len(empty) >= _FEWEST and float(empty.mean()) + _SURE * _standard_error(empty) <= most


def judge_what_is_left(spans: Spans, document: int, within: Fraction) -> Finding | None:
    """Draws from a document that is shorter than most drawn lengths: a quarter of what is there, not of what was drawn.

    Longer documents are masked as they should be, so it earns a part. Less than a quarter costs nothing: where a mask
    is placed in the drawn length its end is cut off, and short documents are few.
    """
    kept, share = _shares(spans[spans.kept >= document - _STRIPPED])
    if len(share) < _FEWEST:
        return None
    where = "where a document is shorter than the length drawn for it,"
    found = _off_a_quarter(kept, share, where, float(within), rounding=1, less_too=False)
    if found is None or found.undecided:
        return found
    cause = "it looks as if the masked length is taken from the drawn length, of which a short document has less"
    return replace(
        found,
        summary=f"{found.summary} of what is left; {cause}",
        code="masked_from_drawn_length",
        earns="masked_from_drawn_length",
    )


def _moves_with_the_document(spans: Spans, longer: Spans, half: float, surely: bool) -> Finding | None:
    """Where the mean is wrong anyway, less than certainty will do to say why."""
    shorter_share, longer_share = (share[kept >= half] for kept, share in map(_shares, (spans, longer)))
    if not len(shorter_share) or not len(longer_share):
        return None
    means = [round(float(some.mean()), 4) for some in (shorter_share, longer_share)]
    if abs(means[1] - means[0]) <= (margin(len(shorter_share)) + margin(len(longer_share)) if surely else _DEPENDS):
        return None
    told = f"{100 * means[0]:.0f} % are masked in a shorter document, {100 * means[1]:.0f} % in a longer one"
    found = f"the masked part is taken from the whole document, not from the truncated one: {told}"
    return Finding(found, "masked_from_whole_document", {"by_document": means}, sized_on_whole=True)


def _fixed(spans: Spans, half: float) -> str:
    """A masked length that is the same in every draw, or follows from the truncated length, or nearly does."""
    if not np.ptp(spans.masked):
        return f"the masked length is always {spans.masked[0]}; a random length is asked for"
    if len(np.unique(spans.kept * _WIDER + spans.masked)) == len(np.unique(spans.kept)):
        return "the masked length follows from the truncated length; a random length is asked for"
    spread = _spread(spans[spans.kept >= half])
    if spread < _SPREAD:
        told = f"in pieces of one length it varies by {spread:.1f} characters"
        return f"the masked length is in effect fixed: {told}; a random length is asked for"
    return ""


def _spread(spans: Spans) -> float:
    """The standard deviation of the masked length among pieces of one length; of all lengths together."""
    lengths, counts = np.unique(spans.kept, return_inverse=True)
    if len(spans) <= len(lengths):
        return math.inf
    masked = spans.masked.astype(np.float64)
    means = np.bincount(counts, masked) / np.bincount(counts)
    return math.sqrt(float(((masked - means[counts]) ** 2).sum()) / (len(spans) - len(lengths)))


def judge_emptiness(spans: Spans, block: int, document: int) -> Finding | None:
    """The masked part of longer pieces is empty in at most a small share of draws, and `margin` more."""
    least, allowed = (block * _LONG, _RARELY) if document > block else (Fraction(document, 2), _AT_TIMES)
    long = spans[spans.kept >= float(least)]
    empty = float((long.masked == 0).mean()) if len(long) else 0.0
    if empty <= allowed + margin(len(long)):
        return None
    found = f"the masked part was empty in {100 * empty:.0f} % of {len(long):,} draws"
    return Finding(found, "masked_part_often_empty", {"draws": len(long), "empty_share": round(empty, 4)})


def judge_positions(spans: Spans) -> Finding | None:
    """The place is left open, but three pieces are asked for: there is a prefix at times, and at times a suffix."""
    evidence = {"draws": len(spans)}
    for piece, end in (("prefix", "beginning"), ("suffix", "end")):
        if not getattr(spans, piece).any():
            found = f"the masked part is always at the {end}: there is never a {piece}"
            return Finding(found, f"never_a_{piece}", evidence)
    return None
