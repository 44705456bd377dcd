"""Python source scanned as text, where it may be neither run nor parsed: what it defines, and what of it is a stub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

MAX_SOURCE_BYTES = 1 << 20  # no homework is longer; of what is, nothing is known
_LINE_CHARACTERS = 300  # of each line: what a definition does is seen long before

LONG_STRING = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*+"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*+\'\'\'', re.DOTALL)
NEXT_STATEMENT = re.compile(r"\n(?=[^\s)\]}#])")  # whatever begins at the margin, but for comments and closing brackets
IMPORTED = re.compile(r"(?m)^from[ \t]+([\w.]*)[ \t]*import[ \t]*(?:\(([^)]{0,2000})\)|([^\n(]*))")
_COMMENT = re.compile(r"(?m)^[ \t]*+#.*")
_DEFINITION = re.compile(r"(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_CONDITION = re.compile(r"(?:(?:el)?if[ \t(].*|else[ \t]*):[ \t]*|@.*")
_CALL = re.compile(r"(\w+)[ \t]*\(.*\)")
# A starter raises an exception of Python's own; one that a student has written is work, whatever it is worth.
_IDLE = re.compile(
    r"pass|\.\.\.|return(?:[ \t]+None)?|raise(?:[ \t]+(?:\w*Error|Exception|NotImplemented)\b.*)?"
    r"|(?:import|from)[ \t].*|\w+[ \t]*=[ \t]*None"
)
_TELLING = ("forward", "__call__", "__getitem__")  # what a class is written for


def text_of(path: Path) -> str | None:
    """The source in a file, or in the part of a notebook; None if nobody would write as much."""
    if path.stat().st_size > MAX_SOURCE_BYTES:
        return None
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if ".ipynb#" in path.name:  # made by us, from cells that were parsed
        text = "\n".join(cell["source"] for cell in json.loads(text)["cells"])
    return text


def code_of(path: Path) -> str | None:
    """The same without comments and long strings."""
    text = text_of(path)
    return None if text is None else _COMMENT.sub("", LONG_STRING.sub("", text))


def blocks(code: str) -> Iterator[tuple[str, str, bool]]:
    """Each statement at the margin, the name that it defines, if it is a definition, and whether that is a stub."""
    for block in NEXT_STATEMENT.split("\n" + code):
        if definition := _DEFINITION.match(block):
            yield block, definition[2], _is_stub(block, definition[1] == "class")
        else:
            yield block, "", False


def does_something(file: str) -> bool:
    """Whether there is more in a script than comments, imports, functions without a body, and calls of those."""
    code, stubs = code_of(Path(file)), set[str]()
    for block, name, is_stub in blocks(IMPORTED.sub("", code or "")):
        lines = [line for line in map(str.strip, block.splitlines()) if not _CONDITION.fullmatch(line)]
        if not is_stub and not is_idle(
            one for one in lines if not (call := _CALL.fullmatch(one)) or call[1] not in stubs
        ):
            return True
        stubs.add(name)
    return code is None


def _is_stub(block: str, is_class: bool) -> bool:
    if is_class and (first := re.search(r"\n[ \t]+(?=(?:async[ \t]+)?def[ \t])", block)):
        methods = re.split(rf"{first[0]}(?=(?:async[ \t]+)?def[ \t])", block)[1:]
        telling = [method for method in methods if re.match(rf"(?:async )?def ({'|'.join(_TELLING)})\b", method)]
        return all(_is_stub(method, False) for method in telling or methods)
    lines = [re.sub(r"[ \t]#.*", "", line[:_LINE_CHARACTERS]) for line in block.splitlines()]
    for at, line in enumerate(lines):  # the heading ends with a colon, or what it does comes after one
        if re.search(r":[ \t]*$", line):
            return is_idle(lines[at + 1 :])
        if one_line := re.search(r"(?:\)|^class \w+)(?:[ \t]*->[^:]*)?:[ \t]*(\S.*)$", line):
            return is_idle([one_line[1], *lines[at + 1 :]])
    return False


def is_idle(lines: Iterable[str]) -> bool:
    """Nothing but `pass`, `...`, imports, names set to None, and returning None or raising."""
    empty: set[str] = set()
    for line in filter(None, map(str.strip, lines)):
        if not _IDLE.fullmatch(line) and line.removeprefix("return ").strip() not in empty:
            return False
        if "=" in line:
            empty.add(line.partition("=")[0].strip())
    return True
