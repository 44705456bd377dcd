"""`Problem 1(b) ii.` → ("1", "b", "ii"): how a part is named at the beginning of a line.

Only spelling is decided here. Whether the label leads anywhere depends on the parts there are and on what came before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")

_NOUN = re.compile(
    r"\s*(?:(?:problem|question|sub-?question|exercise|task|section|part|sub-?part|answer|solution|ans|sol|ex)\b"
    r"(?:\s+(?:to|for|of)\b)?|q(?=[\s.]?\d)|§)[\s.:#]*",
    re.IGNORECASE,
)
_STEP = re.compile(r"(?P<open>[(\[]?)(?P<token>[ivx]{2,5}|[a-z]|\d{1,2})(?P<close>[)\].:|]*)", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,/–—-]*")
_ABBREVIATION = re.compile(r"(?:i\.\s?e|e\.\s?g)\b", re.IGNORECASE)
_FORMULA_GOES_ON = re.compile(r"[=+*/<>≈≤≥≪≫∈∼~^_'’&]|-\s|\\(?:in|to|approx|gg|ll|cdot|sim)\b")
_LETTER_THEN_TITLE = re.compile(r"[a-h]\s+(?=[A-Z])")  # "Problem 2.1 b Which key wins?"
_DASH = re.compile(r"\s*[-–—]\s+(?=[A-Z$\\(])")  # "1.a.i - Positive": the answer goes on, and no formula
# "(b) and (c) together …" and "(ii) holds because …" speak about parts; they do not begin one.
_SPEAKS_ABOUT = re.compile(r"(?:and|or|is|are|was|holds?|implies|gives?|says|shows?|above|below|follows?)\b")
_ABBREVIATED = re.compile(r"\s*(?:q|ex|ans|sol)\b|\s*q$", re.IGNORECASE)
_MAX_STEPS = 5


@dataclass(frozen=True)
class Label:
    steps: tuple[str, ...]
    written: str
    rest: str  # of the line
    styles: tuple[str, ...]  # of each step, "(x)", "x." or "x)": lists within an answer are told from parts by it
    firm: bool  # marked as a label even in running text
    named: bool = False  # "Question 2", and not "2."


def read_label(text: str, *, heading: bool = False) -> Label | None:
    """The label a line begins with. A heading need not mark it: `## b ii`, `## 2 Attention`."""
    if heading and (words := _only_numerals(text)):
        return Label(words, text.strip(), "", ("x",) * len(words), True)
    start = len(text) - len(text.lstrip(" \t|*"))
    noun_end = _skip_nouns(text, start)
    if _ABBREVIATION.match(text, start):
        return None
    steps, styles, end, marked = _read_steps(text, noun_end, noun_end > start)
    if not steps:
        return None
    rest = text[end:].lstrip(" \t:.–—-|") if text[end:].strip() != "|" else ""
    written = text[start:end].strip(" \t|")
    if _FORMULA_GOES_ON.match(text[end:].lstrip()) and not (len(steps) > 1 and _DASH.match(text, end)):
        return None
    named = noun_end > start
    firm = _is_firm(steps, text[noun_end:end], rest, marked, named)
    if named and not firm and not _SPEAKS_ABOUT.match(rest):
        firm = _is_a_mark(text[start:noun_end], styles)
    if not firm and not (heading and _stands_alone(text[noun_end:end].strip(), rest)):
        return None
    return Label(tuple(step.lower() for step in steps), written, rest, styles, firm, named)


def _only_numerals(text: str) -> tuple[str, ...]:
    """`1 b ii`, `1-b-ii`, `Question 1, part b, ii`: nothing but numerals, several of them."""
    words = [word for word in re.split(r"[\s,/–—-]+", text.strip()) if not _NOUN.fullmatch(word)]
    if 1 < len(words) <= _MAX_STEPS and all(re.fullmatch(r"[a-z]|\d{1,2}|[ivx]+", w, re.I) for w in words):
        return tuple(word.lower() for word in words)
    return ()


def _skip_nouns(text: str, start: int) -> int:
    for _ in range(3):  # "Answer to question 3"
        if not (noun := _NOUN.match(text, start)) or noun.end() == start:
            break
        start = noun.end()
    return start


def _read_steps(text: str, position: int, named: bool) -> tuple[list[str], tuple[str, ...], int, bool]:
    """Steps, how each is written, where they end, and whether each that stands apart is marked."""
    steps: list[str] = []
    styles: list[str] = []
    end, brackets, marked = position, 0, True
    while len(steps) < _MAX_STEPS:
        glued = bool(steps) and position == end
        step = _STEP.match(text, position)
        if not step or not _is_numeral(step["token"]):
            break
        opened, closed = bool(step["open"]), step["close"]
        follows = text[step.end() : step.end() + 1]
        runs_on = not closed and (follows.isalnum() or follows in tuple("_^'’=\\"))
        if runs_on and not _may_run_on(step["token"], text[step.end() :], glued):
            break
        if closed.endswith(".") and follows.isalnum() and not _STEP.match(text, step.end()):
            break
        at_end = not text[step.end() :].strip(" |")
        this_marked = bool(closed) or at_end
        unmarked = named and steps and steps[-1].isdigit() and _LETTER_THEN_TITLE.match(text, step.start())
        if steps and not glued and not this_marked and not unmarked:
            break
        brackets += opened - sum(mark in ")]" for mark in closed)
        brackets = max(brackets, 0)
        steps.append(step["token"])
        marked = this_marked if len(steps) == 1 else marked and (this_marked or glued)
        styles.append(f"{step['open']}x{closed[:1]}")
        end = step.end()
        position = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]  # it matches nothing, too
    return ([], (), position, False) if brackets else (steps, tuple(styles), end, marked)


def _may_run_on(token: str, follows: str, glued: bool) -> bool:
    """`1b` and `1bii`: a number runs on to a letter, and a letter after a number to a roman one."""
    if token.isdigit():
        return bool(re.match(r"[a-z](?:[ivx]+\b|(?![a-z]))", follows))
    return glued and len(token) == 1 and bool(re.match(r"[ivx]+\b", follows))


def _is_numeral(token: str) -> bool:
    return len(token) == 1 or token.isdigit() or token.lower() in ROMANS


def _is_firm(steps: list[str], spelled: str, rest: str, marked: bool, named: bool) -> bool:
    spelled = spelled.strip()
    closed = spelled.endswith((")", "]", ".", ":", "|"))
    if _SPEAKS_ABOUT.match(rest):
        return False
    if named:  # "Part (b) shows that": a noun makes a label only if no sentence goes on
        goes_on = rest[:1].islower() and not spelled.endswith((".", ":"))
        return not goes_on and (closed or not rest or len(steps) > 1)
    if "".join(steps).isdigit() and len(steps) > 1 and not spelled.endswith((")", "]", ":")):
        return not rest or rest[0].isupper()  # "1.5 times" is a number, "1.5 Vision" a section
    if len(steps) > 1:
        return marked or closed or not rest or bool(re.match(r"\d+[a-z]|\w+\.\w+$", spelled))
    if spelled[0].isupper() and spelled.endswith(".") and steps[0] not in ("I", "V", "X") and len(steps[0]) == 1:
        return False  # an initial, as in "A. Vaswani"
    return closed


def _is_a_mark(noun: str, styles: tuple[str, ...]) -> bool:
    """`Q1 (a) i) because …`: who refers to a part in a sentence abbreviates no noun, and closes no bracket alone."""
    abbreviated = bool(_ABBREVIATED.match(noun)) and (len(styles) > 1 or styles[-1] == "(x)")
    return (abbreviated and styles[-1].endswith((")", "]"))) or styles[-1] in ("x)", "x]")


def _stands_alone(spelled: str, rest: str) -> bool:
    """In a heading a bare numeral is a label if nothing follows, or a title with a capital: not `## A remark`."""
    if not rest or spelled[-1:].isdigit() or len(re.split(r"[\s.]+", spelled)) > 1:
        return True
    return spelled.islower() and rest[:1].isupper()


def without_counter(steps: tuple[str, ...]) -> tuple[str, ...]:
    """LaTeX numbers a subsection outside any section 0.1: `0.1 (e)` means (e)."""
    if steps[0] != "0":
        return ()
    return tuple(step for step in steps if not step.isdigit())


def follows(last: str | None, step: str) -> bool:
    if last is None:
        return False
    if last.isdigit() and step.isdigit():
        return int(step) == int(last) + 1
    if last in ROMANS and step in ROMANS and ROMANS.index(step) == ROMANS.index(last) + 1:
        return True
    return len(last) == len(step) == 1 and ord(step) == ord(last) + 1


def after_steps(text: str, count: int) -> str:
    """The line without its first steps, where only these turned out to name a part."""
    for _ in range(count):
        text = (
            text.lstrip("([ ").lstrip("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").lstrip(")].: ")
        )
    return text
