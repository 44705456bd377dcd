"""Pieces of SVG. Text is escaped here, so that no caller has to."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

WIDTH = 340  # of charts: the narrowest phones show it without scaling
_ROOMY = 1.4  # how much larger it is drawn where there is room


def image(width: float, height: float, label: str, parts: Sequence[Markup], look: str = "chart") -> Markup:
    shape = '<svg class="{}" role="img" viewBox="0 0 {} {}" width="{}" height="{}" aria-label="{}">{}</svg>'
    return element(shape, look, width, height, _ROOMY * width, _ROOMY * height, label, Markup("").join(parts))


def words_at(x: float, y: float, text: str, anchor: str, look: str = "", at: str = "") -> Markup:
    place = Markup(' transform="{}"').format(at) if at else element(' x="{}" y="{}"', x, y)
    style = Markup(' class="{}"').format(look) if look else Markup("")
    return Markup('<text{}{} text-anchor="{}">{}</text>').format(style, place, anchor, text)


def element(template: str, *values: float | str) -> Markup:
    """Numbers with five digits, finer than any screen; text escaped."""
    return Markup(template).format(*(f"{value:.5g}" if isinstance(value, int | float) else value for value in values))


def digits(value: float) -> str:
    """Three digits and a true minus sign."""
    return f"{value:.3g}".replace("-", "−") if abs(value) >= 5e-5 else "0"
