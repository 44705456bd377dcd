"""What stands above and below each other becomes one box: fractions, roots, limits of sums, marks over letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.answers.pdf_layout.boxes import GlyphBox
from grader.answers.pdf_layout.row_text import SMALLER, row_text

Rule = tuple[int, int, int, int]  # left, bottom, right, top

_AXIS = 0.25  # of the size: how far bars of fractions and the middles of large signs are above the line
# How far the line of a numerator is above the bar, and that of a denominator below it, in sizes of their own.
_NUMERATOR, _DENOMINATOR = (0.05, 0.75), (0.5, 1.15)
_SLACK = 120  # hundredths of a point: bars are drawn a little wider than what they part
_TOUCHING = 0.2  # of the size: what is nearer belongs to the same word
_KERNED = 0.1  # of the size: letters may reach over each other by as much
_TINY = 0.6  # of the size: indices of indices
_BESIDE, _ON_THE_AXIS = 0.5, 0.12  # of the size
_STRIKE = (0.12, 0.48)  # of the size: where a line through letters runs, above the line they stand on
_MARKS = {"ˆ": "hat", "˜": "tilde", "¯": "bar", "˙": "dot", "⃗": "vec", "→": "vec", "~": "tilde", "^": "hat", "̂": "hat"}
_NEGATED = {"=": "≠", "∈": "∉", "≡": "≢"}
_WITH_LIMITS = frozenset("∑∏⋃⋂")
_OVERLAP = 0.5
_FAR = 3  # times the size: what belongs to a bar is nearer
_MOST_RULES = 300  # of a page: more are a table or a drawing


def put_together(boxes: Sequence[GlyphBox], rules: Sequence[Rule], body: int) -> list[GlyphBox]:
    """The boxes of a page, with one for each fraction, root, sum and marked letter; struck-out ones say so."""
    found = _marked(boxes)
    within = [sign for sign in found if any(_is_near(sign, rule) for rule in rules[:_MOST_RULES])]
    found = _limits(found, within, rules)  # a sum within a fraction is read first, one beside a fraction after it
    for rule in sorted(set(rules[:_MOST_RULES]), key=lambda rule: rule[2] - rule[0]):
        near = [box for box in found if abs(box.y - rule[1]) <= _FAR * box.size]
        whole = _root(near, rule) or _fraction(near, rule, body)
        found = _instead(found, *whole) if whole else _struck(found, rule)
    return _limits(found, found, rules)


def _is_near(sign: GlyphBox, rule: Rule) -> bool:
    left, bottom, right, _ = rule
    return sign.text in _WITH_LIMITS and left <= sign.middle <= right and abs(sign.y - bottom) <= 2 * sign.size


def _marked(boxes: Sequence[GlyphBox]) -> list[GlyphBox]:
    """In the order they were drawn: a mark comes just before or just after its letter, in the same place."""
    found: list[GlyphBox] = []
    for box in boxes:
        before = found[-1] if found else None
        if before is None or not _overlap(before, box) or abs(before.y - box.y) > box.size:
            found.append(box)
        elif before.text == "\u0338" and box.text in _NEGATED:
            found[-1] = replace(box, text=_NEGATED[box.text], is_math=True)
        elif before.text in _MARKS and box.text.isalpha():
            found[-1] = _with_mark(box, before)
        elif box.text in _MARKS and before.text.isalpha():
            found[-1] = _with_mark(before, box)
        else:
            found.append(box)
    return found


def _with_mark(letter: GlyphBox, mark: GlyphBox) -> GlyphBox:
    return replace(letter, text=f"\\{_MARKS[mark.text]}{{{letter.text}}}", is_math=True)


def _overlap(one: GlyphBox, other: GlyphBox) -> bool:
    shared = min(one.right, other.right) - max(one.left, other.left)
    if one.right <= one.left or other.right <= other.left:  # a mark without a width of its own
        return shared >= 0
    return shared > _OVERLAP * min(one.right - one.left, other.right - other.left) > 0


Composed = tuple[list[GlyphBox], GlyphBox]  # what one box stands for, and that box


def _root(boxes: Sequence[GlyphBox], rule: Rule) -> Composed | None:
    left, bottom, right, top = rule
    for sign in boxes:
        if (
            sign.text != "√"
            or abs(sign.right - left) > _SLACK + 0.1 * sign.size
            or abs(sign.top - top) > 0.3 * sign.size
        ):
            continue
        lowest = min(sign.bottom, sign.y) - _SLACK
        under = [
            box for box in boxes
            if box is not sign and left - _SLACK <= box.left and box.middle <= right and lowest <= box.y < bottom
        ]  # fmt: skip
        if under:
            text, doubt = row_text(under)
            largest = max(under, key=lambda box: box.size)
            whole = _whole([sign, *under], f"\\sqrt{{{text}}}", largest.y, largest.size, doubt)
            return [sign, *under], replace(whole, right=max(whole.right, right))
    return None


def _fraction(boxes: Sequence[GlyphBox], rule: Rule, body: int) -> Composed | None:
    left, _, right, _ = rule
    within = [box for box in boxes if left - _SLACK <= box.middle <= right + _SLACK and not box.is_struck]
    # A letter of the row above may stand as near to the bar of a fraction in a power as its own do.
    small = [box for box in within if box.size < SMALLER * body]
    return _fraction_of(within, boxes, rule, body) or (_fraction_of(small, boxes, rule, body) if small else None)


def _fraction_of(within: Sequence[GlyphBox], boxes: Sequence[GlyphBox], rule: Rule, body: int) -> Composed | None:
    left, bottom, right, top = rule
    above = _stack([box for box in within if box.y > top], top, _NUMERATOR)
    below = _stack([box for box in within if box.y < bottom], bottom, _DENOMINATOR, down=True)
    if not above or not below:
        return None
    used = [*above, *below]
    if min(box.left for box in used) < left - 2 * _SLACK or max(box.right for box in used) > right + 2 * _SLACK:
        return None  # the words go on beside it: it is a line under them
    beyond = [box for box in boxes if box not in used and box.right > left - box.size and box.left < right + box.size]
    if any(_touches(box, group) for group in (above, below) for box in beyond):
        return None
    (numerator, one), (denominator, other) = row_text(above), row_text(below)
    size = max(box.size for box in used)
    beside = _in_the_same_script(boxes, used, rule, size, body)
    if beside:  # R^{d/h × n}, with a bar: it stands in the power as its neighbour does
        y, size = beside.y, beside.size
    else:
        size = body if size < SMALLER * body else size  # in running text both are set smaller
        y = round((bottom + top) / 2 - _AXIS * size)
    whole = _whole(used, f"\\frac{{{numerator}}}{{{denominator}}}", y, size, one or other)
    return used, replace(whole, left=min(left, whole.left), right=max(right, whole.right))


def _in_the_same_script(
    boxes: Sequence[GlyphBox], used: Sequence[GlyphBox], rule: Rule, size: int, body: int
) -> GlyphBox | None:
    """A letter of a power or index just beside a fraction, if the bar is where a fraction of that line has it."""
    left, bottom, right, top = rule
    for box in boxes:
        if box in used or box.is_large_sign or not size <= box.size < SMALLER * body:
            continue
        near = min(abs(box.left - right), abs(left - box.right)) < _BESIDE * box.size
        if near and abs((bottom + top) / 2 - box.y - _AXIS * box.size) <= _ON_THE_AXIS * box.size:
            return box
    return None


def _stack(boxes: list[GlyphBox], edge: int, near: tuple[float, float], down: bool = False) -> list[GlyphBox]:
    """What belongs to the row next to the bar, with its own indices."""
    mains = [
        box for box in boxes if near[0] * box.size <= (edge - box.y if down else box.y - edge) <= near[1] * box.size
    ]
    if not mains:
        return []
    size = max(box.size for box in mains)
    y = min((box.y for box in mains if box.size == size), key=lambda y: abs(y - edge))
    return [box for box in boxes if -0.4 * size <= box.y - y <= (0.85 if box.size < _TINY * size else 0.6) * size]


def _touches(box: GlyphBox, group: Sequence[GlyphBox]) -> bool:
    level = [one for one in group if abs(one.y - box.y) <= 0.1 * one.size and one.size * SMALLER <= box.size]
    return any(
        -_KERNED * one.size <= apart < _TOUCHING * one.size
        for one in level
        for apart in (box.left - one.right, one.left - box.right)
    )


def _struck(boxes: list[GlyphBox], rule: Rule) -> list[GlyphBox]:
    left, bottom, right, top = rule
    middle, (low, high) = (bottom + top) / 2, _STRIKE
    under = [box for box in boxes if left - _SLACK <= box.middle <= right + _SLACK]
    struck = [box for box in under if low * box.size <= middle - box.y <= high * box.size]
    if not struck:
        return boxes
    y, size = struck[0].y, struck[0].size
    gone = {id(box) for box in struck}  # and their indices, which the line runs above
    gone |= {id(box) for box in under if box.size < SMALLER * size and abs(box.y - y) < 0.6 * size}
    return [replace(box, is_struck=True) if id(box) in gone else box for box in boxes]


def _limits(boxes: list[GlyphBox], signs: Sequence[GlyphBox], rules: Sequence[Rule]) -> list[GlyphBox]:
    for sign in [box for box in signs if box.text in _WITH_LIMITS and box.is_large_sign]:
        middle = (sign.bottom + sign.top) // 2
        y = round(middle - _AXIS * sign.size)
        small = [box for box in boxes if box is not sign and box.size < SMALLER * sign.size]
        near = [box for box in small if abs(box.y - middle) <= 2.2 * sign.size and _is_limit(box, sign, middle)]
        near = _of_one_manner([box for box in near if not _is_parted(box, sign, middle, rules)], sign, middle)
        # A range such as l = j−1 is wider than the sign: its letters follow each other.
        below, above = (_run(small, [box for box in near if (box.y > middle) is up]) for up in (False, True))
        text, doubt = sign.text, False
        for mark, group in (("_", below), ("^", above)):
            if group:
                inner, doubtful = row_text(group)
                text, doubt = f"{text}{mark}{{{inner}}}", doubt or doubtful
        used = [sign, *below, *above]
        whole = replace(sign, text=text, y=y, is_large_sign=False, is_math=True, is_doubtful=sign.is_doubtful or doubt)
        right = max(box.right for box in used) if len(used) > 1 else sign.right
        boxes = _instead(boxes, used, replace(whole, right=max(sign.right, min(right, sign.right + sign.size))))
    return boxes


def _is_parted(box: GlyphBox, sign: GlyphBox, middle: int, rules: Sequence[Rule]) -> bool:
    """Whether the bar of a fraction runs between a sum and what stands above or below it."""
    low, high = sorted((box.y, middle))
    return any(
        low < bottom < high and left <= sign.middle <= right and left - _SLACK <= box.middle <= right + _SLACK
        for left, bottom, right, _ in rules[:_MOST_RULES]
    )


def _of_one_manner(near: list[GlyphBox], sign: GlyphBox, middle: int) -> list[GlyphBox]:
    """Both limits stand beside the sign, or one above and one below it: an index of the row above is no limit."""
    beside = {id(box) for box in near if box.left >= sign.right - 0.1 * sign.size}
    lower = [id(box) in beside for box in near if box.y <= middle]
    return [box for box in near if box.y <= middle or not lower or (id(box) in beside) is any(lower)]


def _is_limit(box: GlyphBox, sign: GlyphBox, middle: int) -> bool:
    """Above or below the sign; in running text, beside its upper or lower end."""
    if -0.1 * sign.size <= box.left - sign.right <= 0.25 * sign.size:
        return box.y > middle + 0.2 * sign.size or box.y < middle - 0.4 * sign.size
    beyond = box.y < sign.bottom or box.y >= sign.top
    return beyond and sign.left - 0.2 * sign.size <= box.middle <= sign.right + 0.2 * sign.size


def _run(small: Sequence[GlyphBox], seeds: Sequence[GlyphBox]) -> list[GlyphBox]:
    """The seeds and what stands beside them on the same line, letter by letter."""
    if not seeds:
        return []
    found = list(seeds)
    y = found[0].y
    row = [box for box in small if abs(box.y - y) <= 0.4 * box.size]
    grown = True
    while grown:
        left, right = min(box.left for box in found), max(box.right for box in found)
        more = [
            box
            for box in row
            if box not in found and box.right >= left - 0.35 * box.size and box.left <= right + 0.35 * box.size
        ]
        found += more
        grown = bool(more)
    return found


def _whole(parts: Sequence[GlyphBox], text: str, y: int, size: int, doubt: bool) -> GlyphBox:
    return GlyphBox(
        text,
        *(min(box.left for box in parts), max(box.right for box in parts), y),
        *(min(box.bottom for box in parts), max(box.top for box in parts), size),
        is_math=True,
        is_doubtful=doubt or any(box.is_doubtful for box in parts),
    )


def _instead(boxes: Sequence[GlyphBox], used: Sequence[GlyphBox], whole: GlyphBox) -> list[GlyphBox]:
    gone = {id(box) for box in used}
    place = min(index for index, box in enumerate(boxes) if id(box) in gone)
    kept = [(index, box) for index, box in enumerate(boxes) if id(box) not in gone]
    before = [box for index, box in kept if index < place]
    return [*before, whole, *(box for index, box in kept if index > place)]
