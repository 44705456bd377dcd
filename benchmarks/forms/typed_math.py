"""Formulas as people type them without LaTeX: Unicode in plain text, super- and subscripts in a word processor."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from benchmarks.forms.math_tree import Atom, Fraction, Node, Root, Row, Scripts, parsed

_SUPERSCRIPTS = dict(zip("0123456789+-=()Tihnm", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵀⁱʰⁿᵐ", strict=True))
_SUBSCRIPTS = dict(zip("0123456789+-=()aijkmnβ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐᵢⱼₖₘₙᵦ", strict=True))
_VULGAR = {("1", "2"): "½", ("1", "3"): "⅓"}
_ENDS = " ,.;)=≈"  # what may follow a fraction written with a slash without being taken for a part of it

Script = Callable[[str, str], str]


def plain(formula: str) -> str:
    """`q = β(kₐ + k_b)`: scripts as Unicode has them, with `_` and `^` where it does not."""
    return _row(parsed(formula), _unicode_script)


def html(formula: str) -> str:
    """`q = β(k<sub>a</sub> + k<sub>b</sub>)`."""
    return _row(parsed(formula), _html_script, escape)


def _unicode_script(kind: str, text: str) -> str:
    table = _SUBSCRIPTS if kind == "_" else _SUPERSCRIPTS
    if all(letter in table for letter in text):
        return "".join(table[letter] for letter in text)
    return f"{kind}{text}" if len(text) == 1 else f"{kind}({text})"


def _html_script(kind: str, text: str) -> str:
    tag = "sub" if kind == "_" else "sup"
    return f"<{tag}>{text}</{tag}>"


def _as_is(text: str) -> str:
    return text


def _row(row: Row, script: Script, letters: Callable[[str], str] = _as_is) -> str:
    written = [_node(node, script, letters) for node in row]
    for at, node in enumerate(row):
        rest = "".join(written[at + 1 :]).lstrip()
        if isinstance(node, Fraction) and "/" in written[at] and rest and rest[0] not in _ENDS:
            written[at] = f"({written[at]})"
    return "".join(written)


def _node(node: Node, script: Script, letters: Callable[[str], str]) -> str:
    if isinstance(node, Atom):
        return letters(node.text)
    if isinstance(node, Root):
        return f"√{_factor(node.of, script, letters)}"
    if isinstance(node, Scripts):
        below = script("_", _row(node.below, script, letters)) if node.below else ""
        above = script("^", _row(node.above, script, letters)) if node.above else ""
        return _node(node.base, script, letters) + below + above
    over, under = _factor(node.over, script, letters), _factor(node.under, script, letters)
    return _VULGAR.get((over, under), f"{over}/{under}")


def _factor(row: Row, script: Script, letters: Callable[[str], str]) -> str:
    """In brackets if it is more than one thing."""
    text = _row(row, script, letters)
    return text if len(row) == 1 else f"({text})"
