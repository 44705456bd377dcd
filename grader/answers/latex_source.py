"""The body of a LaTeX file, line for line: no preamble, no comments, and the author's own short names spelled out."""

from __future__ import annotations

import re
from itertools import islice

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand\*?\s*\{?|def\s*|providecommand\*?\s*\{?|(DeclareMathOperator)\*?\s*\{?)"
    r"\\([A-Za-z]+)\}?\s*(?:\[1\]\s*)?(?=\{)"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)(\{[^{}\n]{0,80}\})?")
_MAX_DEFINITIONS = 200
_MAX_GROUP = 2_000  # characters: a title or argument that is longer was not closed
_MAX_ROUNDS = 5  # a name may stand for other names
_MAX_GROWTH = 2**17  # characters that spelling out may add: names that double each other grow without end


def body(text: str) -> str:
    text = "\n".join(_COMMENT.sub(r"\1", line) for line in text.split("\n"))
    names = _definitions(text)
    begin = text.find("\\begin{document}")
    if begin >= 0:
        begin += len("\\begin{document}")
        end = text.find("\\end{document}", begin)
        text = "\n" * text.count("\n", 0, begin) + text[begin : end if end >= 0 else None]
    return _spelled_out(text, names)


def group_end(text: str, position: int) -> int:
    """Where the group that opens here closes, just after its brace; the end of the line if it never does."""
    depth = 0
    for brace in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, position, position + _MAX_GROUP):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0 and brace[0] == "}":
            return brace.end()
    newline = text.find("\n", position)
    return newline if newline >= 0 else len(text)


def _definitions(text: str) -> dict[str, str]:
    """Names with one argument or none. What takes more is left as it is written."""
    names: dict[str, str] = {}
    for found in islice(_DEFINITION.finditer(text), _MAX_DEFINITIONS):
        meaning = text[found.end() + 1 : group_end(text, found.end()) - 1]
        if "#" not in meaning.replace("#1", "") and len(meaning) < 500:
            written = " ".join(meaning.split())
            names[found[2]] = f"\\operatorname{{{written}}}" if found[1] else written
    return names


def _spelled_out(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    limit = len(text) + _MAX_GROWTH

    def meaning(command: re.Match[str]) -> str:
        written = names.get(command[1])
        if written is None or ("#1" in written and command[2] is None):
            return command[0]
        given = command[2] or ""
        return written.replace("#1", given[1:-1]) if "#1" in written else written + given

    text = _DEFINITION.sub("", text)
    for _ in range(_MAX_ROUNDS):
        longer = _COMMAND.sub(meaning, text)
        if longer == text or len(longer) > limit:
            break
        text = longer
    return text
