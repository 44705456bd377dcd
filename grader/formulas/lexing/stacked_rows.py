"""Matrices of rows or columns written out: [a_1 & … & a_m] as the list (a_1, …, a_m), rows stacked as its transpose.

What holds anything else is left as it stands, one thing that is not read.
"""

from __future__ import annotations

import re

_MATRIX = re.compile(
    r"\\begin\{(?P<kind>[bp]?matrix|smallmatrix|array)\}(?:\{[^{}]*\})?(?P<body>.{0,600}?)\\end\{(?P=kind)\}", re.DOTALL
)
_END_OF_ROW = re.compile(r"\\\\(?:\[[^\]]{0,40}\])?")
# Rules that are drawn beside rows and columns: — a_1ᵀ —, and bars above and below a_1.
_RULE = r"(?:[-–—|]|\\(?:mid|vert|hline|horzbar|vertbar)(?![A-Za-z])|\\rule\{[^{}]*\}\{[^{}]*\}|\\text\{[-–—]*\})"
_RULES = re.compile(rf"(?:\s*{_RULE})*\s*")
_DOTS = re.compile(r"\\(?:[vdclh]?dots)|…|⋮|⋯|\.\.\.")
_TURNED = re.compile(
    r"\^\s*(?:T|\\top(?![A-Za-z])|⊤|\{\s*(?:T|\\top|⊤|\\intercal|\\(?:mathsf|mathrm|text)\s*\{?T\}?)\s*\})|⊤"
)
_FEWEST = 2


def lists_of_columns(text: str) -> list[tuple[int, int, str]]:
    """Where a matrix stands that is made of rows or columns, and the list that says the same."""
    found = []
    for matrix in _MATRIX.finditer(text):
        if said := _said(matrix["body"]):
            found.append((*matrix.span(), said))
    return found


def _said(body: str) -> str:
    rows = [[_without_rules(cell) for cell in row.split("&")] for row in _END_OF_ROW.split(body)]
    rows = [cells for cells in ([cell for cell in row if cell] for row in rows) if cells]
    if len(rows) == 1 and len(rows[0]) >= _FEWEST:
        return f"({','.join(rows[0])})"
    if len(rows) < _FEWEST or any(len(cells) != 1 for cells in rows):
        return ""
    cells = [cells[0] for cells in rows]
    turned = [_TURNED.sub("", cell, count=1) for cell in cells]
    if not all(_DOTS.fullmatch(cell) or cell != bare for cell, bare in zip(cells, turned, strict=True)):
        return ""  # columns on top of each other
    return f"({','.join(turned)})^T"


def _without_rules(cell: str) -> str:
    begins = _RULES.match(cell)
    cell = cell[begins.end() :] if begins else cell
    while ends := re.search(rf"\s*{_RULE}\s*\Z", cell):
        cell = cell[: ends.start()]
    return cell.strip()
