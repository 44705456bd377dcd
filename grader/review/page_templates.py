"""The templates of the application. What any of them prints is made harmless and escaped without having to ask."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.quoting import visible
from grader.report.html import harmless_value, status_sign
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
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=harmless_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "status": status_sign,
        "points": shown,
        "exact": exact,
        "signed": _signed,
        "number": float,
        "lines": _lines,
    }
    return environment


def exact(points: Fraction) -> str:
    """For fields: what is sent back unchanged changes nothing, so a third stays 1/3."""
    return shown(points) if Fraction(shown(points)) == points else str(points)


def _signed(points: Fraction) -> str:
    return f"+{shown(points)}" if points > 0 else f"−{shown(-points)}" if points < 0 else "0"


def _lines(text: str) -> Markup:
    """Words as they are, line for line; other values are shown in one line."""
    return Markup("{}").format(visible(text))
