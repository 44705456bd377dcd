"""Which line of a prediction file answers which question, and when that cannot be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from operator import eq

import numpy as np

from grader.checks.predictions.label_files import UNKNOWN, Split, normal
from grader.checks.predictions.prediction_files import PredictionFile
from grader.quoting import quote

_LINES_OFF = 5  # a file that is off by more was not shifted by an accident that a person could fix
_FAR = (11, 17, 23, 31)  # lines: further than any shift that is looked for
_QUOTED_CHARACTERS = 60
_SIGMAS = 4  # none of 18,000 honest files drawn at random looked shifted; a shifted one with 20 % right does


@dataclass(frozen=True)
class Doubt:
    """Why lines cannot be held against questions as they stand, and whether a person could fix it.

    `moved` are the predictions, one for each question, where it is beyond chance how they were shifted.
    """

    reason: str
    code: str
    fixable: bool
    moved: list[str] | None = None


def doubt_about(submitted: PredictionFile, split: Split, other_labels: str) -> Doubt | None:
    other = Split.read_questions(other_labels) if other_labels else None
    lines, asked = len(submitted.predictions), len(split.questions)
    if not lines or submitted.doubt:
        reason, code = (submitted.doubt, submitted.code) if submitted.doubt else ("it is empty", "file_empty")
        return Doubt(reason, code, fixable=lines > 0)
    predictions = [normal(prediction) for prediction in submitted.predictions]
    plain = _hits(predictions, split)
    count = f"it has {lines} lines, and {split.name} asks for {asked}" if lines != asked else ""
    if other and lines == len(other.questions):
        there = _hits(predictions, other)
        if count or _far_more(there, plain):
            hits = "" if other.labels[0] == UNKNOWN else f" ({there} right there, {plain} here)"
            looks = f"it looks made for {other.name}, which has {lines} lines{hits}"
            return Doubt(f"{count}; {looks}" if count else looks, "another_split", fixable=True)
    if abs(lines - asked) > _LINES_OFF:
        runs = lines // asked
        whole = runs > 1 and lines == runs * asked
        reason = f"{count}; were {runs} runs written into one file?" if whole else count
        return Doubt(reason, "wrong_line_count", fixable=whole)
    shifts = [lines - asked] if count else [shift for shift in range(-3, 4) if shift]
    moves = {shift: _best_move(predictions, split.labels, shift) for shift in shifts}
    shift, move = max(moves.items(), key=lambda item: item[1].gain)
    surely = _far_more(plain + move.gain, _by_chance(predictions, split))
    moved = _shifted_back(submitted.predictions, asked, shift, move.cut) if surely else None
    if _far_more(move.won, move.lost):
        what = f"{abs(shift)} line{'s' if abs(shift) > 1 else ''} too {'many' if shift > 0 else 'few'}"
        looks = f"its lines look shifted: from about line {move.cut + 1} on as if there were {what} before"
        reason = f"{looks} ({plain + move.gain} right if moved, {plain} as they stand)"
        if shift > 0 and not _hits(predictions[: move.cut], split):
            reason += f"; line 1 is '{quote(submitted.predictions[0], _QUOTED_CHARACTERS)}'"
        return Doubt(f"{count}; {reason}" if count else reason, "lines_shifted", fixable=True, moved=moved)
    if not count:
        return None
    if surely and not move.gain:
        end = "there were too many at the end" if shift > 0 else "the end were missing"
        reason = f"{count}; its lines look as if {end} ({plain} right)"
        return Doubt(reason, "wrong_line_count", fixable=True, moved=moved)
    return Doubt(f"{count}; which lines are amiss cannot be told", "wrong_line_count", fixable=True)


def _by_chance(predictions: Sequence[str], split: Split) -> int:
    """The hits of lines that are held against questions far from their own."""
    return max(_hits([*predictions[by:], *predictions[:by]], split) for by in _FAR)


def _shifted_back(predictions: Sequence[str], asked: int, shift: int, cut: int) -> list[str]:
    """Line by line from `cut` on moved up by `shift`; a question that is left without one has an empty answer."""
    sources = [at if at < cut else at + shift for at in range(asked)]
    return [predictions[at] if 0 <= at < len(predictions) else "" for at in sources]


def _hits(predictions: Sequence[str], split: Split) -> int:
    return sum(map(eq, predictions, split.labels))


@dataclass(frozen=True)
class _Move:
    """All lines from one line on moved: how many answers that puts right, and how many it puts wrong."""

    cut: int
    won: int = 0
    lost: int = 0

    @property
    def gain(self) -> int:
        return self.won - self.lost


def _best_move(predictions: Sequence[str], right: Sequence[str], shift: int) -> _Move:
    """Moving lines up by `shift`, from that line on where it gains most; of several such, from the last."""
    asked = len(right)
    stands = np.fromiter(map(eq, [*predictions[:asked], *[None] * asked], right), bool, asked)
    from_there = [None] * max(0, -shift) + [*predictions[max(0, shift) :], *[None] * (2 * asked)]
    moved = np.fromiter(map(eq, from_there, right), bool, asked)
    won, lost = (np.cumsum(some[::-1])[::-1] for some in (moved & ~stands, stands & ~moved))
    gain = won - lost
    if not asked or gain.max() <= 0:
        return _Move(asked)
    cut = int(np.flatnonzero(gain == gain.max())[-1])
    return _Move(cut, int(won[cut]), int(lost[cut]))


def _far_more(more: int, less: int) -> bool:
    return more - less > _SIGMAS * sqrt(more + less)
