"""Scores as pictures: a ring for one student, bars and a histogram for a class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from grader.report.svg import WIDTH, element, image, words_at


@lru_cache(maxsize=256)  # of a class most have one of few scores
def ring(share: float, points: str, of: str) -> Markup:
    """The score as a ring that closes at full marks."""
    full = 100 * min(max(share, 0.0), 1.0)
    arc = element('<circle class="arc" cx="60" cy="60" r="50" pathLength="100" stroke-dasharray="{} 100"/>', full)
    inside = Markup("").join(
        [
            Markup('<circle class="track" cx="60" cy="60" r="50"/>'),
            arc if full else Markup(""),  # a round cap would draw a dot for nothing
            Markup('<text class="big" x="60" y="64" text-anchor="middle">{}</text>').format(points),
            Markup('<text class="small" x="60" y="84" text-anchor="middle">of {}</text>').format(of),
        ]
    )
    return image(120, 120, f"{points} of {of} points", [inside], "ring")


def bar(share: float, label: str) -> Markup:
    """A share of one as a bar, for the cell of a table."""
    return image(
        100,
        10,
        label,
        [
            Markup('<rect class="track" width="100" height="10"/>'),
            element('<rect class="fill one" width="{}" height="10"/>', 100 * min(max(share, 0.0), 1.0)),
        ],
        "bar",
    )


def histogram(counts: Sequence[int], labels: Sequence[str], x: str) -> Markup:
    """How many students lie in each class of points."""
    height, bottom, step = 150, 128, (WIDTH - 8) / len(counts)
    most = max([*counts, 1])
    parts = [words_at(WIDTH / 2, height - 5, x, "middle")]
    for place, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall, left = 100 * count / most, 4 + place * step
        parts.append(
            element('<rect class="fill one" x="{}" y="{}" width="{}" height="{}"/>', left, 116 - tall, step - 3, tall)
        )
        parts.append(words_at(left + (step - 3) / 2, bottom, label, "middle"))
        if count:
            parts.append(words_at(left + (step - 3) / 2, 112 - tall, str(count), "middle"))
    said = "; ".join(f"{label}: {count}" for count, label in zip(counts, labels, strict=True))
    return image(WIDTH, height, f"Number of students by {x}. {said}", parts)
