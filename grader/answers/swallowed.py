"""Parts that may stand within another one's answer: lines there that look like their labels, or far too much text.

Nothing is cut by it. It only keeps what stands in the sheet from being called missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import median

from grader.answers.labels import read_label
from grader.answers.lines import Line
from grader.answers.outline import Node, Outline

# A name from the question on, written in any way: "Q 1 b-ii", "\myown{1.b.ii}", "#1b(ii".
_LIKE_A_NAME = re.compile(
    r"\W*(?:\\[A-Za-z]+\W*)*(?:(?i:problem|question|q|part|p|exercise|ex|task|answer|ans|section|sec|no|nr)\W{0,3})?"
    r"(?P<steps>\d{1,2}(?:\W{0,3}(?:\d{1,2}|[ivx]+|[a-z])(?![A-Za-z]))+)"
)
_STEP = re.compile(r"\d{1,2}|[ivx]+|[a-z]")
_MANY_WORDS, _TIMES = 150, 8  # so long, and so many times longer than most, an answer holds others


def labels_within(node: Node, lines: Sequence[Line], outline: Outline) -> Iterator[tuple[Node, Line]]:
    """Parts that lines of this part's answer may begin."""
    for line in lines:
        label = read_label(line.lead)
        meant = outline.climb(node, label.steps) if label else None
        if label and len(label.steps) == 1 and (meant not in outline.leaves or label.steps[0].isdigit()):
            meant = None  # "1.", "2." count within an answer
        if meant is None and (name := _LIKE_A_NAME.match(line.text[:60])):
            steps = tuple(_STEP.findall(name["steps"]))
            ends = (outline.descend((), steps[:length]) for length in range(len(steps), 1, -1))
            meant = next((one for one in ends if one is not None), None)
        if meant is not None and meant != node:
            yield from ((leaf, line) for leaf in outline.leaves_under(meant))


def far_too_long(
    words: Mapping[Node, int], unanswered: Collection[Node], outline: Outline
) -> Iterator[tuple[Node, Node]]:
    """An answer that is many times longer than most, with each unanswered part that would follow it."""
    for node, count in words.items():
        others = [other for one, other in words.items() if one != node]
        if count < _MANY_WORDS or count < _TIMES * median(others or [0]):
            continue
        first = outline.place(node)
        last = min((outline.place(one) for one in words if outline.place(one) > first), default=len(outline.leaves))
        yield from ((node, leaf) for leaf in unanswered if first < outline.place(leaf) < last)
