"""What is wrong with text that is not YAML, in our words: PyYAML's speak of tokens, scalars and streams."""

from __future__ import annotations

from typing import Any

import yaml

ESCAPE = "a backslash between double quotes; write two of them, or use single quotes"
_INDENTED = (
    "this line is indented otherwise than the lines it belongs to, or a quotation mark is too many here or above"
)
# How what PyYAML says begins → what an author can do about it.
_CAUSES = {
    "mapping values are not allowed": "a ':' where none can stand; mind the indentation, write ': ' behind the key of "
    "the line above, or put the value into quotes",
    "could not find expected ':'": "a key needs a ':' behind it",
    "sequence entries are not allowed": "'- ' begins a list here; begin it on a line of its own",
    "mapping keys are not allowed": "'? ' has no place here; put the value into quotes",
    "found unknown escape character": ESCAPE,
    "expected escape sequence": ESCAPE,
    "found unexpected end of stream": "a quotation mark is never closed",
    "found unexpected document separator": "a quotation mark is never closed",
    "expected ',' or ']'": "a '[' is never closed, or a ',' is missing behind a value",
    "expected ',' or '}'": "a '{' is never closed, or a ',' is missing behind a value",
    "expected <block end>": _INDENTED,
    "expected '<document start>'": _INDENTED,
    "expected the node content": "a value should stand here, or a bracket closes that was never opened",
    "expected alphabetic or numeric": "a value that begins with '*', '&' or '!' needs quotes",
    "expected a single document": "a second '---'; one file holds one document",
    "special characters are not allowed": "a character that no text file has",
}
_WHERE_IT_BEGAN = ("while scanning a quoted scalar", "while scanning a simple key", "while parsing a flow")
_ANYTHING = "it cannot be read; look at quotes, brackets, colons and indentation here and in the line above"


def complaint(error: yaml.YAMLError | ValueError | OverflowError) -> tuple[int, str]:
    """The line, from 1, and the cause."""
    if not isinstance(error, yaml.YAMLError):
        return 1, ESCAPE
    if not isinstance(error, yaml.MarkedYAMLError):
        return 1, next((cause for begins, cause in _CAUSES.items() if begins in str(error)), _ANYTHING)
    problem, context = error.problem or "", error.context or ""
    mark: Any = error.problem_mark or error.context_mark
    if context.startswith(_WHERE_IT_BEGAN) and error.context_mark and "escape" not in problem:
        mark = error.context_mark
    line = mark.line + 1 if mark else 1
    if problem.startswith("found character"):
        return line, _cannot_begin(problem)
    told = (cause for begins, cause in _CAUSES.items() if problem.startswith(begins) or context.startswith(begins))
    return line, next(told, _ANYTHING)


def _cannot_begin(problem: str) -> str:
    if r"'\t'" in problem:
        return "a tab; indent with blanks"
    sign = problem.removeprefix("found character ").partition(" that cannot")[0].strip("'\"")
    return f"a value that begins with '{sign}' needs quotes"
