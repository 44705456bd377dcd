"""The templates of the application. What any of them prints is made harmless and escaped without having to ask."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

from jinja2 import Environment

from grader.report.html import templates as templates_of
from grader.report.points import shown

_HERE = Path(__file__).parent
STATIC = {
    "review.css": (_HERE / "static" / "review.css", "text/css"),
    "keys.js": (_HERE / "static" / "keys.js", "text/javascript"),
    "icon.svg": (_HERE / "static" / "icon.svg", "image/svg+xml"),
    "style.css": (_HERE.parent / "report" / "templates" / "style.css", "text/css"),  # as students' pages have it
}


@cache
def templates() -> Environment:
    environment = templates_of(_HERE / "templates")
    environment.globals |= {
        "points": shown,
        "exact": exact,
        "signed": _signed,
        "number": float,
    }
    return environment


def exact(points: Fraction) -> str:
    """For fields: what is sent back unchanged changes nothing, so a third stays 1/3."""
    return shown(points) if Fraction(shown(points)) == points else str(points)


def _signed(points: Fraction) -> str:
    return f"+{shown(points)}" if points > 0 else f"−{shown(-points)}" if points < 0 else "0"
