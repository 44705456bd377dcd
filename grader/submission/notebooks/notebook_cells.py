"""An .ipynb file → its code cells, parsed, and its text. Outputs, attachments and metadata are not looked at."""

from __future__ import annotations

import ast
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.quoting import quote
from grader.sandbox.box.loading.magics import other_language, without_magics

# Plots kept as text make notebooks large, but not that large; and nobody writes this much code for a homework.
MAX_BYTES = 128 * 2**20
MAX_CELLS = 2_000
MAX_CODE_CHARACTERS = 500_000
MAX_STATEMENTS = 10_000  # outside functions and classes
_CELLS_NAMED = 12
_RUN = (ast.Expr, ast.For, ast.While, ast.With, ast.Assert)


class UnreadableNotebook(Exception):
    """It is no notebook, or none that anyone would write; the text says why, in words for a student."""


@dataclass(frozen=True)
class Cell:
    number: int  # counted from 1, text cells included
    source: str
    body: tuple[ast.stmt, ...]


@dataclass(frozen=True)
class Notebook:
    path: str  # relative to the submission
    cells: tuple[Cell, ...]
    text: str  # of its text cells, one after the other
    note: str  # what of it is not used, in one line


def read_notebook(folder: Path, path: str) -> Notebook:
    sources = _sources(folder / path)
    code = [(number, source) for number, (kind, source) in enumerate(sources, start=1) if kind == "code"]
    _limit(len(sources), MAX_CELLS, "cells")
    _limit(sum(len(source) for _, source in code), MAX_CODE_CHARACTERS, "characters of code")
    cells, ignored = [], []
    for number, source in code:
        if magic := other_language(source):
            ignored.append(f"cell {number} is no Python (%%{quote(magic, 20)})")
            continue
        try:
            cells.append(_parsed(number, source))
        except SyntaxError as error:
            ignored.append(f"cell {number} is not valid Python (line {error.lineno or 1})")
        except (ValueError, MemoryError, RecursionError):  # surrogates, and nesting no person writes
            ignored.append(f"cell {number} cannot be read as Python")
    _limit(sum(len(cell.body) for cell in cells), MAX_STATEMENTS, "statements")
    more = len(ignored) - _CELLS_NAMED
    ignored[_CELLS_NAMED:] = [f"so are {more} more"] if more > 0 else []
    if running := [str(cell.number) for cell in cells if any(isinstance(node, _RUN) for node in cell.body)]:
        running[_CELLS_NAMED:] = ["…"] if len(running) > _CELLS_NAMED else []
        cells_named = f"{'cell' if len(running) == 1 else 'cells'} {', '.join(running)}"
        ignored.append(f"calls, loops and output were left out ({cells_named})")
    note = f"{quote(path)} is read for its definitions and what they need: {'; '.join(ignored)}" if ignored else ""
    return Notebook(path, tuple(cells), "\n\n".join(text for kind, text in sources if kind == "markdown"), note)


def _limit(count: int, most: int, unit: str) -> None:
    if count > most:
        raise UnreadableNotebook(f"longer than {most} {unit}")


def _sources(file: Path) -> list[tuple[str, str]]:
    """The kind and the text of each cell."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UnreadableNotebook(f"larger than {MAX_BYTES >> 20} MiB; clear its outputs")
        raw = file.read_bytes()
    except OSError as error:  # a folder of that name, or no permission
        raise UnreadableNotebook(f"no file that can be read ({error.strerror})") from None
    if raw.startswith(b"PK"):
        raise UnreadableNotebook("a zip archive under another name; give it the ending .zip")
    try:
        book = json.loads(raw.decode("utf-8-sig"))
        # Until version 4, cells were in worksheets, and code was called input.
        cells = book["cells"] if "cells" in book else [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
        return [(cell["cell_type"], _joined(cell.get("source", cell.get("input", "")))) for cell in cells]
    except UnicodeDecodeError:
        raise UnreadableNotebook("not UTF-8 text") from None
    except RecursionError:
        raise UnreadableNotebook("nested deeper than any notebook") from None
    except ValueError:
        raise UnreadableNotebook("not JSON, or cut short; save it again in Jupyter") from None
    except (KeyError, TypeError, AttributeError):
        raise UnreadableNotebook("JSON, but not laid out as a notebook; save it again in Jupyter") from None


def _joined(source: Any) -> str:
    if not isinstance(source, str | list):
        raise TypeError
    return "".join(source)


def _parsed(number: int, source: str) -> Cell:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a string is not worth a line on the grader's terminal
        try:
            return Cell(number, source, tuple(ast.parse(source).body))
        except SyntaxError:  # only then: a line that begins with % may well continue an expression
            cleaned = without_magics(source)
            return Cell(number, cleaned, tuple(ast.parse(cleaned).body))
