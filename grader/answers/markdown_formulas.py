"""Two rules for markdown-it: formulas on lines of their own, and formulas in running text.

The plugins there are for this each know some delimiters only, end a formula at what looks like a list (`+ b` on a line
of its own) or read prices as formulas.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from grader.answers.delimiters import find_closing, inside, is_money, opening_at

_MAX_LINES = 100  # of one formula: what is longer was not closed


def formulas(markdown: MarkdownIt) -> None:
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("fence", "formula", _own_lines, interrupts)
    markdown.inline.ruler.before("escape", "formula", _running_text)


def _own_lines(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    if state.is_code_block(first):
        return False
    begins = state.bMarks[first] + state.tShift[first]
    if state.src[begins : begins + 1] not in ("$", "\\"):
        return False
    opening = opening_at(state.src, begins)
    if opening is None or opening[0] in ("$", "\\("):
        return False
    opens, closes = opening
    if find_closing(state.src, closes, begins + len(opens)) < 0:
        return False
    gathered: list[str] = []
    for line in range(first, min(end, first + _MAX_LINES)):
        start = state.bMarks[line] + state.tShift[line]
        text = state.src[start : state.eMarks[line]]
        if line > first and (state.sCount[line] < state.blkIndent or text.startswith("#")):
            return False
        if not text.strip() and gathered[0].strip() and opens == "$$":
            return False  # `$$` opens and closes alike, so one that is forgotten must not turn the sheet inside out
        offset = len(opens) if line == first else 0
        closing = find_closing(text, closes, offset)
        if closing < 0:
            gathered.append(text[offset:])
            continue
        rest = text[closing + len(closes) :]
        if rest.strip() and line == first:
            return False  # it stands in running text
        if silent:
            return True
        gathered.append(text[offset:closing])
        _push(state, inside(opens, closes, "\n".join(gathered)), rest, first, line)
        return True
    return False


def _push(state: StateBlock, formula: str, rest: str, first: int, last: int) -> None:
    token = state.push("formula", "", 0)
    token.content, token.map, token.block = formula, [first, last + 1], True
    if rest.strip():
        words = state.push("inline", "", 0)
        words.content, words.map, words.children = rest.strip(), [last, last + 1], []
    state.line = last + 1


def _running_text(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    opening = opening_at(state.src, state.pos)
    if opening is None:
        return False
    opens, closes = opening
    if state.env.get("formulas in") is not state:
        state.env["formulas in"], state.env["unclosed"] = state, {}
    unclosed: dict[str, int] = state.env["unclosed"]
    begins = state.pos + len(opens)
    closing = -1 if unclosed.get(closes, begins + 1) <= begins else find_closing(state.src, closes, begins)
    if closing < 0:
        unclosed[closes] = min(begins, unclosed.get(closes, begins))  # so that each of many is not looked for again
        return False
    content, ends = state.src[begins:closing], closing + len(closes)
    if closes == "$" and is_money(content, state.src[ends : ends + 1]):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.markup = inside(opens, closes, content), state.src[state.pos : ends]
    state.pos = ends
    return True
