"""One corrupted item read back: prefix ⁇ suffix ⁇ masked and pads, or in which way it is not that."""

from __future__ import annotations

from dataclasses import dataclass

from grader.checks.datasets.drawn_items import UNKNOWN
from reference.handout_constants import MASK_CHARACTER as MASK
from reference.handout_constants import PAD_CHARACTER as PAD

_UNMISTAKABLE = 6  # characters: a shorter piece may stand in another document by chance


@dataclass(frozen=True)
class Span:
    """The lengths of the three pieces a document was cut into."""

    prefix: int
    masked: int
    suffix: int

    @property
    def kept(self) -> int:
        """The length the document was truncated to."""
        return self.prefix + self.masked + self.suffix


def read_span(text: str, document: str, others: tuple[str, ...] = (), *, any_order: bool = False) -> Span | str:
    """The span, if its pieces in order are a piece of the document; else what is wrong, in words.

    In any order, for those who ask about lengths alone: prefix ⁇ masked ⁇ suffix is read too.
    """
    pieces = _pieces(text)
    if isinstance(pieces, str):
        return pieces
    prefix, suffix, masked = pieces
    if prefix + masked + suffix in document:
        return Span(len(prefix), len(masked), len(suffix))
    if any_order and prefix + suffix + masked in document:
        return Span(len(prefix), len(suffix), len(masked))
    return _misplaced(prefix, suffix, masked, document, others)


def _pieces(text: str) -> tuple[str, str, str] | str:
    core = text.rstrip(PAD)
    if UNKNOWN in text:
        return "some ids are in no vocabulary"
    if core.startswith(PAD):
        return f"the pads ({PAD}) stand at the beginning; they belong at the end"
    if PAD in core:
        return f"pads ({PAD}) stand between other characters; they belong at the end"
    marks = core.count(MASK)
    if marks > 3 and core.rstrip(MASK).count(MASK) <= 2:
        return f"it is padded with {MASK} instead of {PAD}"
    if marks not in (2, 3):
        return f"it has {marks or 'no'} {MASK}; it should be prefix {MASK} suffix {MASK} masked"
    prefix, suffix, masked, *rest = core.split(MASK)
    if rest not in ([], [""]):
        return f"text follows a third {MASK}; it should be prefix {MASK} suffix {MASK} masked"
    return prefix, suffix, masked


def _misplaced(prefix: str, suffix: str, masked: str, document: str, others: tuple[str, ...]) -> str:
    """Which of the usual mistakes it is. Only for items that cannot be put together, so chance finds do no harm."""
    whole = prefix + masked + suffix
    if len(whole) >= _UNMISTAKABLE and any(whole in other for other in others):
        return "the text is that of another document, not of the one asked for"
    if masked and masked in prefix + suffix and prefix + suffix in document:
        return "the masked text still stands in the prefix or the suffix"
    if prefix + suffix + masked in document:
        return "the masked text stands before the suffix; the suffix comes first, then the masked text"
    if suffix + masked + prefix in document:
        return "prefix and suffix have changed places"
    if not masked and prefix in document and suffix in document:
        return f"the text that was cut out is missing behind the second {MASK}"
    if prefix in document and suffix in document:
        return f"what stands behind the second {MASK} is not the piece that was cut out"
    return "put together again, prefix, masked text and suffix are no piece of the document"
