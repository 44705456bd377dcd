"""An .ipynb file → its code cells, parsed, and its text. Outputs, attachments and metadata are not looked at."""

from __future__ import annotations

import ast
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
    sources, text = _sources(folder / path)
    cells, broken = [], []
    for number, source in sources:
        magic = other_language(source)
        if magic:
            broken.append(f"cell {number} is no Python (%%{quote(magic, 20)})")
            continue
        try:
            cells.append(_parsed(number, source))
        except SyntaxError as error:
            broken.append(f"cell {number} is not valid Python (line {error.lineno or 1})")
        except (ValueError, MemoryError, RecursionError):  # surrogates, and nesting no person writes
            broken.append(f"cell {number} cannot be read as Python")
    if sum(len(cell.body) for cell in cells) > MAX_STATEMENTS:
        raise UnreadableNotebook(f"longer than {MAX_STATEMENTS} statements")
    note = _note(path, broken, [cell.number for cell in cells if _runs_something(cell)])
    return Notebook(path, tuple(cells), text, note)


def _sources(file: Path) -> tuple[list[tuple[int, str]], str]:
    """The code of each code cell, with the cell's number; and the text of all text cells."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UnreadableNotebook(f"larger than {MAX_BYTES >> 20} MiB; clear its outputs")
        raw = file.read_bytes()
    except OSError as error:  # a folder of that name, or no permission
        raise UnreadableNotebook(f"no file that can be read ({error.strerror})") from None
    if raw.startswith(b"PK"):
        raise UnreadableNotebook("a zip archive under another name; give it the ending .zip")
    cells = _upgraded(raw)
    if len(cells) > MAX_CELLS:
        raise UnreadableNotebook(f"longer than {MAX_CELLS} cells")
    if not all(isinstance(cell.get("cell_type"), str) for cell in cells):
        raise UnreadableNotebook(
            "one with cells that do not say whether they are code or text; save it again in Jupyter"
        )
    held = [(cell["cell_type"], cell.get("source", "")) for cell in cells]  # a cell that holds nothing is empty
    if not all(isinstance(source, str) for _, source in held):
        raise UnreadableNotebook("one with cells that do not hold text")
    found = [(number, source) for number, (kind, source) in enumerate(held, start=1) if kind == "code"]
    if sum(len(source) for _, source in found) > MAX_CODE_CHARACTERS:
        raise UnreadableNotebook(f"longer than {MAX_CODE_CHARACTERS} characters of code")
    return found, "\n\n".join(source for kind, source in held if kind == "markdown")


def _upgraded(raw: bytes) -> list[Any]:
    """Its cells, in the layout of version 4 whatever version it was written in."""
    import nbformat  # takes a tenth of a second, and most submissions have no notebook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cells without an id, and the like: every version 4.4 notebook
            book = nbformat.reader.reads(raw.decode("utf-8-sig"))  # type: ignore[no-untyped-call]  # nbformat has no types
            return list(nbformat.convert(book, 4).cells)  # type: ignore[no-untyped-call]  # the same
    except UnicodeDecodeError:
        raise UnreadableNotebook("not UTF-8 text") from None
    except nbformat.reader.NotJSONError:
        raise UnreadableNotebook("not JSON, or cut short; save it again in Jupyter") from None
    except RecursionError:
        raise UnreadableNotebook("nested deeper than any notebook") from None
    except Exception:  # its upgraders take the layout for granted and raise all kinds of things where it is not so
        raise UnreadableNotebook("JSON, but not laid out as a notebook; save it again in Jupyter") from None


def _parsed(number: int, source: str) -> Cell:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a string is not worth a line on the grader's terminal
        try:
            return Cell(number, source, tuple(ast.parse(source).body))
        except SyntaxError:  # only then: a line that begins with % may well continue an expression
            cleaned = without_magics(source)
            return Cell(number, cleaned, tuple(ast.parse(cleaned).body))


def _runs_something(cell: Cell) -> bool:
    return any(isinstance(node, ast.Expr | ast.For | ast.While | ast.With | ast.Assert) for node in cell.body)


def _note(path: str, broken: list[str], running: list[int]) -> str:
    said = broken[:_CELLS_NAMED]
    if len(broken) > _CELLS_NAMED:
        said.append(f"so are {len(broken) - _CELLS_NAMED} more")
    if running:
        named = ", ".join(str(number) for number in running[:_CELLS_NAMED]) + (", …" if running[_CELLS_NAMED:] else "")
        said.append(f"calls, loops and output were left out ({'cell' if len(running) == 1 else 'cells'} {named})")
    return f"{quote(path)} is read for its definitions and what they need: {'; '.join(said)}" if said else ""
