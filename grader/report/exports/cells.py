"""What goes into a cell of a spreadsheet, where text that looks like a formula would be run."""

from __future__ import annotations

import re

# What Excel, LibreOffice and Sheets take for the start of a formula, and the wide forms some versions fold into them.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def harmless(text: str) -> str:
    """The text with an apostrophe before what would be run; numbers stay numbers."""
    start = text.lstrip(" ")
    return f"'{text}" if start.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(start) else text
