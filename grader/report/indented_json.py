"""JSON with a line for each value, as `json.dumps(data, ensure_ascii=False, indent=2)` writes it, but quicker.

Python's own writer of indented text hands each piece up through one generator for each level.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import Any


def indented(value: Any, margin: str = "\n") -> str:
    """`margin` is a line end and the blanks of the value's own level."""
    kind, inner = type(value), f"{margin}  "
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return repr(value)
    if kind is list and value:
        return f"[{inner}{f',{inner}'.join([indented(one, inner) for one in value])}{margin}]"
    if kind is dict and value and all(type(key) is str for key in value):
        lines = [f"{encode_basestring(key)}: {indented(one, inner)}" for key, one in value.items()]
        return f"{{{inner}{f',{inner}'.join(lines)}{margin}}}"
    # Whatever is left is a number, a word, empty, or something of which Python's own writer knows what to do.
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", margin)
