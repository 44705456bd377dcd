"""One row → its text: what is smaller and lower becomes `_{…}`, what is smaller and higher `^{…}`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.answers.pdf_layout.boxes import GlyphBox

SMALLER = (
    0.87  # of the size around it: indices have 0.7 in TeX, 0.58 to 0.8 elsewhere; small capitals 0.8 and the same line
)
_RAISED, _LOWERED = 0.12, 0.06  # of the size around it: powers are raised by a third, indices lowered by a seventh
_TINY, _ON_THE_LINE = 0.6, 0.03  # of the size around it
_GAP = 0.17  # of the size: TeX sets words a third apart, and squeezes that to a fifth
_HANG_ON_NOTHING = frozenset("=≈≫≪<>≤≥∼→+−-·,;:")
_DEEPEST = 4  # indices of indices: nobody reads further


@dataclass(frozen=True)
class Word:
    text: str
    left: int
    right: int
    is_math: bool
    is_bold: bool
    is_doubtful: bool
    is_struck: bool


def words_of(boxes: Sequence[GlyphBox], y: int, size: int) -> list[Word]:
    """The words of a row; blanks stand where there is room for one."""
    words: list[Word] = []
    cells: list[tuple[str, list[GlyphBox]]] = []
    last = None
    for text, used in _cells(sorted(boxes, key=lambda box: (box.left, -box.size)), y, size, 0):
        begins = min(box.left for box in used)
        if last is not None and begins - last > _GAP * size and cells:
            words.append(_word(cells))
            cells = []
        cells.append((text, used))
        last = max(box.right for box in used)
    return [*words, _word(cells)] if cells else words


def row_text(boxes: Sequence[GlyphBox]) -> tuple[str, bool]:
    """The text of boxes that make up one row, and whether it is doubtful."""
    y, size = base_of(boxes)
    words = words_of(boxes, y, size)
    return " ".join(word.text for word in words), any(word.is_doubtful for word in words)


def base_of(boxes: Sequence[GlyphBox]) -> tuple[int, int]:
    """The line and the size of the largest; of those on several lines, the one most stand on."""
    size = max(box.size for box in boxes)
    lines = [box.y for box in boxes if box.size >= SMALLER * size and not box.is_large_sign]
    return (max(set(lines), key=lambda y: (lines.count(y), y)) if lines else boxes[0].y), size


def is_level(box: GlyphBox, y: int, size: int) -> bool:
    """Whether it stands on this line, rather than above or below it."""
    if box.is_large_sign:
        return True
    shift = box.y - y
    if box.size >= SMALLER * size:
        return abs(shift) <= _RAISED * size
    if box.size < _TINY * size:  # an index within a power comes down almost to the line
        return abs(shift) <= _ON_THE_LINE * size
    return -_LOWERED * size <= shift <= _RAISED * size


def _cells(boxes: Sequence[GlyphBox], y: int, size: int, depth: int) -> Iterator[tuple[str, list[GlyphBox]]]:
    """Each letter on the line with what hangs on it."""
    base: GlyphBox | None = None
    above: list[GlyphBox] = []
    below: list[GlyphBox] = []
    for box in [*boxes, None]:
        if box is not None and not is_level(box, y, size):
            (above if box.y > y else below).append(box)
            continue
        if base is not None or above or below:
            yield _cell(base, above, below, depth)
        base, above, below = box, [], []


def _cell(
    base: GlyphBox | None, above: list[GlyphBox], below: list[GlyphBox], depth: int
) -> tuple[str, list[GlyphBox]]:
    used = [*([base] if base else []), *above, *below]
    text = base.text if base else ""
    if depth >= _DEEPEST:
        return text + "".join(box.text for box in (*below, *above)), used
    for sign, group in (("_", below), ("^", above)):
        if group:
            y, size = base_of(group)
            inner = "".join(text for text, _ in _cells(group, y, size, depth + 1))
            text += f"{sign}{{{inner}}}"
    return text, used


def _word(cells: Sequence[tuple[str, list[GlyphBox]]]) -> Word:
    used = [box for _, boxes in cells for box in boxes]
    text = "".join(text for text, _ in cells)
    has_script = any(len(boxes) > 1 for _, boxes in cells)
    # Nothing hangs on an equals sign: what stands above and below it is a fraction whose bar was not found.
    orphan = any(len(boxes) > 1 and text[0] in _HANG_ON_NOTHING for text, boxes in cells)
    orphan = orphan or any(text.startswith(("_{", "^{")) for text, _ in cells)
    return Word(
        text,
        min(box.left for box in used),
        max(box.right for box in used),
        has_script or any(box.is_math for box in used),
        all(box.is_bold for box in used),
        orphan or any(box.is_doubtful for box in used) or _shifted_at_full_size(cells),
        all(box.is_struck for box in used),
    )


def _shifted_at_full_size(cells: Sequence[tuple[str, list[GlyphBox]]]) -> bool:
    """What stands higher or lower and is no smaller may be an index, or something stacked: a person can tell."""
    return any(len(boxes) > 1 and max(box.size for box in boxes[1:]) >= SMALLER * boxes[0].size for _, boxes in cells)
