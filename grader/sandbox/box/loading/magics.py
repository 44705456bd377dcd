"""What only IPython understands (`%matplotlib inline`, `!pip install`, `np.dot?`) taken out, line for line."""

from __future__ import annotations

import re

# These work on Python. Every other cell magic (%%bash, %%html, %%writefile, …) makes its cell something else.
_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "python", "python3", "memit", "mprun", "lprun", "debug"}
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
# Of a line without the spaces around it: a pattern that may take them in two ways tries all ways to share them out.
_LINE_MAGIC = re.compile(r"%{1,2}\w|[!?]|[\w.,\s]+=\s*[%!]|[^#'\"]*[\w)\]]\?{1,2}$")


def other_language(source: str) -> str:
    """The cell magic that makes it no Python, or an empty string."""
    found = _CELL_MAGIC.match(source)
    return found[1] if found and found[1] not in _PYTHON_CELLS else ""


def without_magics(source: str) -> str:
    """The same lines, with `pass` where IPython would have been asked for something."""
    lines, continued = [], False
    for line in source.split("\n"):
        if continued or _LINE_MAGIC.match(line.strip()):
            indent = line[: len(line) - len(line.lstrip())]
            lines.append("" if continued else f"{indent}pass")
            continued = line.rstrip().endswith("\\")
        else:
            lines.append(line)
    return "\n".join(lines)
