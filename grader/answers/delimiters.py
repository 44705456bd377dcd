"""Where a formula in running text begins and ends: `$…$`, `$$…$$`, `\\(…\\)`, `\\[…\\]`, `\\begin{align}…`."""

from __future__ import annotations

import re

_ENVIRONMENT = re.compile(
    r"\\begin\{((?:equation|align|alignat|gather|multline|eqnarray|flalign|displaymath|math|aligned|gathered|split)\*?)\}"
)
_CLOSED_BY = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]"}
# `$5 and $6` are prices; `$ and $` is a currency sign on either side of a word.
_PRICE = re.compile(r"\d[\d.,]*[kKmM]?,?\s+(?:[a-z]\s+)?[a-z]{2,}\b")
_WORDS = re.compile(r"\s+[A-Za-z]{2,}(?:,?\s+[A-Za-z]{2,})+\s+|\s+(?:and|or|to|per|is|for)\s+")


def opening_at(text: str, position: int) -> tuple[str, str] | None:
    """How a formula that begins here opens and closes."""
    for opens in ("$$", "$", "\\(", "\\["):
        if text.startswith(opens, position):
            return opens, _CLOSED_BY[opens]
    if environment := _ENVIRONMENT.match(text, position):
        return environment[0], f"\\end{{{environment[1]}}}"
    return None


def find_closing(text: str, closes: str, position: int) -> int:
    """Where the closing delimiter stands, or -1. An escaped dollar closes nothing."""
    while True:
        position = text.find(closes, position)
        if position < 0 or not closes.startswith("$") or not _is_escaped(text, position):
            return position
        position += 1


def inside(opens: str, closes: str, content: str) -> str:
    """A formula without its delimiters; an environment is kept whole, its alignment means something."""
    return f"{opens}{content}{closes}" if opens.startswith("\\begin") else content.strip()


def is_money(content: str, follows: str) -> bool:
    """Whether what stands between two dollar signs is no formula: a price, or the words between two prices."""
    if not content.strip() or "`" in content or _WORDS.fullmatch(content) or _PRICE.match(content):
        return True
    return follows.isdigit() and (content[0].isdigit() or content[-1].isspace())


def _is_escaped(text: str, position: int) -> bool:
    backslashes = 0
    while position - backslashes > 0 and text[position - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1
