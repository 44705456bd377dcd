"""People find their way in this codebase: one name for one module, nothing twice."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, RUBRIC_CODE, RUBRICS

FILES = sorted((REPOSITORY / "grader").rglob("*.py"))
SHARED = 10  # lines
THIN = 2  # tokens: `)` and `else:` say nothing by being alike
SHARED_NAMES = ("__init__.py", "commands.py")  # every room has a door, and may have commands
_LEFT_OUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def test_a_name_stands_on_one_door() -> None:
    places = defaultdict(list)
    for path in FILES:
        if path.name not in SHARED_NAMES:
            places[path.name].append(str(path.relative_to(REPOSITORY)))
    assert not [those for those in places.values() if len(those) > 1]


def test_every_module_says_what_is_in_it() -> None:
    assert not [str(path) for path in (*FILES, *RUBRIC_CODE) if not re.match(r'r?"""\S', path.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("shaped", [False, True], ids=["the same", "of the same shape"])
def test_no_two_places_share_ten_lines(shaped: bool) -> None:
    seen: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path in (*FILES, *RUBRIC_CODE):
        lines = _lines(path.read_text(), shaped)
        for at in range(len(lines) - SHARED + 1):
            window = lines[at : at + SHARED]
            seen[tuple(text for _, text in window)].append((path.relative_to(REPOSITORY), window[0][0]))
    pairs = {
        f"{one}:{line} ~ {other}:{again}"
        for places in seen.values()
        for (one, line), (other, again) in combinations(places, 2)
        if one != other or abs(line - again) >= SHARED
    }
    assert not pairs


def _lines(source: str, shaped: bool) -> list[tuple[int, str]]:
    """Lines of code by number, without imports, docstrings and comments. In shapes all names are alike, and all values:
    constants, the rows of tables and classes of nothing but fields would be, whatever they are."""
    passed_over: set[int] = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (_tells_nothing(node) or (shaped and _is_data(node, tree))):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            passed_over |= set(range(first, (node.end_lineno or first) + 1))
        passed_over |= {one.lineno for one in getattr(node, "decorator_list", ())}
    tokens: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LEFT_OUT and token.start[0] not in passed_over:
            tokens[token.start[0]].append(_shape(token) if shaped else token.string)
    return [(line, " ".join(those)) for line, those in sorted(tokens.items()) if len(those) > THIN]


def _tells_nothing(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


def _is_data(node: ast.stmt, tree: ast.Module) -> bool:
    if isinstance(node, ast.ClassDef):
        return not any(isinstance(held, ast.FunctionDef) for held in node.body)
    return node in tree.body and isinstance(node, ast.Assign | ast.AnnAssign)


def _shape(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
        return "name"
    return {tokenize.STRING: "text", tokenize.NUMBER: "number"}.get(token.type, token.string)


def test_no_test_has_a_limit_of_time_of_its_own() -> None:
    """It would bind on a busy machine; the one in tests/waiting.py is for all of them."""
    own = re.compile(r"timeout[=(]\d+(?! \*)\b|\.(?:wait|join|communicate)\(\d|monotonic\(\) \+|deadline=\d")
    places = (
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in sorted([*(REPOSITORY / "tests").rglob("*.py"), *RUBRICS.glob("*/tests/**/*.py")])
        if path.name != "waiting.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if own.search(line) and "assert not " not in line  # what should not come in a second comes later or never
    )
    assert not list(places)
