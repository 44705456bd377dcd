"""A written answer with its formulas set as MathML, which browsers draw without any script.

The source is a student's. So its length and depth are bounded before it is read, what comes out is built anew from the
elements and attributes below, each word escaped, and a formula that does not fit stands there as it was written.
Nothing is drawn that could hide words from whoever decides: no colours, no sizes, no phantoms, no long blanks.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from grader.quoting import visible

Span = tuple[int, int, str]  # from, to, what was found there

MAX_SOURCE = 1000  # characters of one formula: the longest in the samples has 180; one of these takes some 15 ms
MAX_DEPTH = 24  # of braces and environments; the reader of formulas is recursive
_INDENT = 80
_CPU_SECONDS = 0.25  # for the formulas of one text; those that come later stand as they were written

# Definitions make short sources long; rules and raises draw over what stands beside them.
_REFUSED = re.compile(
    r"\\(?:[gex]?def|let|(?:re)?newcommand|providecommand|DeclareMathOperator|newenvironment|csname|rule|raisebox|llap|rlap"
    r"|smash|kern|mkern|hskip|mskip|hspace|href|unicode|char|require)(?![A-Za-z])"
)
_ALIGNED = re.compile(r"\\(begin|end)\{(?:align|aligned|split|eqnarray|gather|gathered)\*?\}")
_FORMULA = re.compile(r"\$\$?(?P<math>[^$]+)\$\$?|`(?P<code>[^`\n]+)`")
_WORD = re.compile(r"[A-Za-z]{3,}")  # `beta * k_a`: whoever writes no commands writes names, and LaTeX sets letters
_UNREAD = re.compile(r"\\[A-Za-z]|^&$")  # commands that the library does not know come back as they are

_LEAVES = ("mi", "mn", "mo", "mtext", "mspace")
_SCRIPTS = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
_ELEMENTS = {"math", "mrow", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd", "mstyle", *_LEAVES, *_SCRIPTS}
_AS_A_ROW = frozenset({"mphantom", "mpadded", "menclose", "merror"})  # shown, whatever they would do to it
_WORDS = re.compile(
    r"(?:left|center|right|true|false|normal|bold|italic|bold-italic|script|fraktur|double-struck)(?: |$)"
)
_ATTRIBUTES = {
    "mathvariant": _WORDS,
    "columnalign": re.compile(r"(?:(?:left|center|right) ?){1,12}"),
    "stretchy": _WORDS,
    "fence": _WORDS,
    "accent": _WORDS,
    "accentunder": _WORDS,
    "displaystyle": _WORDS,
    "scriptlevel": re.compile(r"[0-2]"),
    "linethickness": re.compile(r"0(?:pt|em|px)?"),
    "width": re.compile(r"[0-2](?:\.\d{1,4})?em"),  # of a blank
}
_NAMESPACE = re.compile(r"^\{[^}]*\}")


def typeset(text: str, marks: Sequence[Span] = ()) -> Markup:
    """The text line for line, formulas between $ and code between ` set as such, what was found marked in place."""
    text = visible(text)
    ends = time.thread_time() + _CPU_SECONDS
    pieces: list[Markup] = []
    at = 0
    for found in _FORMULA.finditer(text):
        start, end = found.span()
        pieces += _prose(text, at, start, marks)
        what = _said(marks, start, end)
        shown = _set(found, _stands_alone(text, start, end), ends)
        pieces.append(Markup('<mark title="{}">{}</mark>').format(what, shown) if what else shown)
        at = end
        if 'display="block"' in shown and text.startswith("\n", end):
            at += 1  # a block ends its line by itself
    return Markup("").join([*pieces, *_prose(text, at, len(text), marks)])


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether it has its lines to itself; what is indented further than anybody indents has not."""
    first, last = max(start - _INDENT, 0), end + _INDENT
    _, line, between = text[first:start].rpartition("\n")
    after = text[end:last].partition("\n")
    opened, closed = bool(line) or first == 0, bool(after[1]) or last >= len(text)
    return opened and closed and not (between + after[0]).strip()


def _set(found: re.Match[str], alone: bool, ends: float) -> Markup:
    if (code := found["code"]) is not None:
        return Markup("<code>{}</code>").format(code)
    source = found["math"].strip()
    formula = mathml(source, alone) if time.thread_time() < ends else None
    if formula is None:
        return Markup('<code class="source">{}</code>').format(found[0])
    return Markup('<span class="formula" title="{}">{}</span>').format(source, formula)


def _prose(text: str, start: int, end: int, marks: Sequence[Span]) -> Iterator[Markup]:
    """Words between formulas, cut where a mark begins or ends."""
    inside = [mark for mark in marks if mark[0] < end and mark[1] > start]
    cuts = sorted({start, end, *(min(max(place, start), end) for mark in inside for place in mark[:2])})
    for left, right in pairwise(cuts):
        said = _said(inside, left, right)
        words = escape(text[left:right])
        yield Markup('<mark title="{}">{}</mark>').format(said, words) if said else words


def _said(marks: Sequence[Span], start: int, end: int) -> str:
    return "; ".join(dict.fromkeys(what for begin, stop, what in marks if begin < end and stop > start))


@lru_cache(maxsize=4096)
def mathml(source: str, block: bool = False) -> Markup | None:
    """One formula, or None where it is to be shown as it was written."""
    from latex2mathml.converter import convert_to_element  # only pages need it

    if not source or len(source) > MAX_SOURCE or _depth(source) > MAX_DEPTH or _REFUSED.search(source):
        return None
    if "\\" not in source and _WORD.search(source):
        return None
    try:
        tree = convert_to_element(_ALIGNED.sub(_as_an_array, source), display="block" if block else "inline")
        shown = _built(tree, source)
    except Exception:  # it has a hundred ways to say that it cannot read a formula
        return None
    return shown


def _as_an_array(place: re.Match[str]) -> str:
    return r"\begin{array}{rl}" if place[1] == "begin" else r"\end{array}"


def _depth(source: str) -> int:
    depth = deepest = 0
    for token in re.finditer(r"\\begin|\\end|\\left|\\right|\\.|[{}^_]", source):
        if token[0] in ("{", "\\begin", "\\left"):
            depth += 1
        elif token[0] in ("}", "\\end", "\\right"):
            depth -= 1
        deepest = max(deepest, depth)
    return deepest


def _built(element: Any, source: str) -> Markup:
    """The element again, of what is allowed only. The library escapes some words: that is undone, then all are."""
    name = _NAMESPACE.sub("", str(element.tag))
    if name in _AS_A_ROW:
        name = "mrow"
    if name not in _ELEMENTS:
        raise ValueError(name)
    words = unescape(element.text or "")
    if name == "mi" and len(words) == 1 and unicodedata.category(words) == "Sm":
        name = "mo"  # − and ≫ that were typed as such are set with room around them, as `\gg` is
    if _UNREAD.search(words) or (element.tail or "").strip():
        raise ValueError(words)
    within = Markup("").join(_built(child, source) for child in element)
    kept = {
        key: value for key, value in element.attrib.items() if key in _ATTRIBUTES and _ATTRIBUTES[key].fullmatch(value)
    }
    if name == "math":
        kept = {"display": "block" if element.attrib.get("display") == "block" else "inline", "alttext": source}
    attributes = Markup("").join(Markup(' {}="{}"').format(Markup(key), value) for key, value in kept.items())
    return Markup("<{0}{1}>{2}{3}</{0}>").format(Markup(name), attributes, visible(words), within)
