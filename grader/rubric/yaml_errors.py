"""What is wrong with text that is not YAML: in PyYAML's words, which can be searched for, and what helps most often."""

from __future__ import annotations

import yaml

ESCAPE = "a backslash between double quotes; write two of them, or use single quotes"
_HELP = {
    "cannot start any token": "; put the value into quotes; indent with blanks, not tabs",
    "mapping values are not allowed": "; put a value with ': ' into quotes, and mind the indentation",
}
_WHERE_IT_BEGAN = ("while scanning a quoted scalar", "while scanning a simple key", "while parsing a flow")


def complaint(error: yaml.YAMLError | UnicodeEncodeError) -> tuple[int, str]:
    """The line, from 1, and the cause."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return 1, str(error).partition("\n")[0]
    problem, context = error.problem or "", error.context or ""
    mark = error.context_mark if context.startswith(_WHERE_IT_BEGAN) else error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    if "escape" in problem:
        return line, ESCAPE
    help = next((help for words, help in _HELP.items() if words in problem), "")
    return line, f"{', '.join(filter(None, [context, problem]))}{help}"
