"""One corrupted item read back: prefix ⁇ suffix ⁇ masked and pads, or in which way it is not that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

# What the handout names.
PAD = "\u25a1"  # □
MASK = "\u2047"  # ⁇
SHORTEST = 4  # characters kept by a truncation, if the document has as many

UNKNOWN = "\ufffd"  # stands for an id that is in no vocabulary
_UNMISTAKABLE = 6  # characters: a shorter piece may stand in another document by chance


class Cause(NamedTuple):
    """Why an item is not what was asked for, in words, and the code of that."""

    text: str
    code: str


CUT_OUT_IS_MISSING = Cause(f"the text that was cut out is missing behind the second {MASK}", "masked_text_missing")
CUT_OUT_IS_ANOTHER = Cause(
    f"what stands behind the second {MASK} is not the piece that was cut out", "masked_text_differs"
)
CUT_OUT_STILL_STANDS = Cause("the masked text still stands in the prefix or the suffix", "masked_text_remains")


@dataclass(frozen=True)
class Span:
    """The lengths of the three pieces a document was cut into, and how many blanks beside them may be stripped."""

    prefix: int
    masked: int
    suffix: int
    blanks: int = 0
    exact: bool = True  # the pieces are the document's, so nothing is missing or there twice

    @property
    def kept(self) -> int:
        """The length the document was truncated to."""
        return self.prefix + self.masked + self.suffix


def read_span(text: str, document: str, others: tuple[str, ...] = ()) -> Span | Cause:
    """The span, if its pieces in order are a piece of the document; else what is wrong.

    Each piece may have lost a blank at its ends: to strip is left open.
    """
    pieces = _pieces(text)
    if isinstance(pieces, Cause):
        return pieces
    prefix, suffix, masked = pieces
    return _placed(prefix, masked, suffix, document) or _misplaced(prefix, suffix, masked, document, others)


def measured(text: str, document: str) -> Span | None:
    """The lengths of the three pieces, whatever their text; prefix ⁇ masked ⁇ suffix is known by its text."""
    pieces = _pieces(text)
    if isinstance(pieces, Cause):
        return None
    prefix, suffix, masked = pieces
    orders = ((prefix, masked, suffix), (prefix, suffix, masked))
    first, second, third = next((order for order in orders if "".join(order) in document), orders[0])
    return _placed(first, second, third, document) or Span(len(first), len(second), len(third), exact=False)


def form_mistake(text: str, document: str) -> Cause | None:
    """What keeps an item from being prefix ⁇ suffix ⁇ masked and pads, whatever text these are.

    A document with less than four characters may be filled up with pads first, or give nothing but pads.
    """
    if len(document) < SHORTEST:
        text = text.replace(PAD, "") or 2 * MASK
    pieces = _pieces(text)
    return pieces if isinstance(pieces, Cause) else None


def _placed(prefix: str, masked: str, suffix: str, document: str) -> Span | None:
    """Where in the document these pieces stand in a row."""
    whole = prefix + masked + suffix
    start, length = document.find(whole), len(whole)
    if start < 0:
        stripped = re.search(" ?".join(re.escape(piece) for piece in (prefix, masked, suffix) if piece), document)
        if stripped is None:
            return None
        start, length = stripped.start(), stripped.end() - stripped.start()
    beside = document[max(0, start - 1) : start], document[start + length : start + length + 1]
    before, after = (length - len(whole), 0) if prefix else (0, length - len(whole))  # what was stripped in between
    return Span(len(prefix) + before, len(masked), len(suffix) + after, beside.count(" "))


def _pieces(text: str) -> tuple[str, str, str] | Cause:
    core = text.rstrip(PAD)
    if UNKNOWN in text:
        return Cause("some ids are in no vocabulary", "unknown_ids")
    if core.startswith(PAD):
        return Cause(f"the pads ({PAD}) stand at the beginning; they belong at the end", "pads_first")
    if PAD in core:
        return Cause(f"pads ({PAD}) stand between other characters; they belong at the end", "pads_inside")
    marks = core.count(MASK)
    if marks > 3 and core.rstrip(MASK).count(MASK) <= 2:
        return Cause(f"it is padded with {MASK} instead of {PAD}", "padded_with_masks")
    if marks not in (2, 3):
        cause = f"it has {marks or 'no'} {MASK}; it should be prefix {MASK} suffix {MASK} masked"
        return Cause(cause, "wrong_mask_count")
    prefix, suffix, masked, *rest = core.split(MASK)
    if rest not in ([], [""]):
        cause = f"text follows a third {MASK}; it should be prefix {MASK} suffix {MASK} masked"
        return Cause(cause, "text_after_masked")
    return prefix, suffix, masked


def _misplaced(prefix: str, suffix: str, masked: str, document: str, others: tuple[str, ...]) -> Cause:
    """Which of the usual mistakes it is. Only for items that cannot be put together, so chance finds do no harm."""
    whole = prefix + masked + suffix
    if len(whole) >= _UNMISTAKABLE and any(whole in other for other in others):
        return Cause("the text is that of another document, not of the one asked for", "another_document")
    if masked and masked in prefix + suffix and prefix + suffix in document:
        return CUT_OUT_STILL_STANDS
    if prefix + suffix + masked in document:
        cause = "the masked text stands before the suffix; the suffix comes first, then the masked text"
        return Cause(cause, "masked_before_suffix")
    if suffix + masked + prefix in document:
        return Cause("prefix and suffix have changed places", "suffix_before_prefix")
    if not masked and prefix in document and suffix in document:
        return CUT_OUT_IS_MISSING
    if prefix in document and suffix in document:
        return CUT_OUT_IS_ANOTHER
    cause = "put together again, prefix, masked text and suffix are no piece of the document"
    return Cause(cause, "not_the_document")
