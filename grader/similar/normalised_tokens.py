"""Python source → tokens that stay the same when names, comments, strings, numbers, annotations and layout change.

Source is cut by one pattern without backtracking, in time proportional to its length, however broken it is. tokenize of
the standard library stops at the first wrong indent, and does so otherwise in 3.12 than in 3.11; Pygments goes on, but
takes 20 s for 40 kB of lines that hold a blank.

Names that code chooses itself are all alike. Attributes that it does not define (`.exp`, `.transpose`) and Python's own
functions are a library's and stay. Imports, docstrings, `pass`, `print(…)` and brackets that only group say nothing.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.similar.material import Collected, Material

_TOKEN = re.compile(
    r"""
    (?P<text>[rbufRBUF]{0,2}(?:
        \"\"\"(?:[^"\\]|\\.|"(?!""))*+(?:\"\"\"|\Z)
      | '''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)
      | "(?:[^"\\\n]|\\.)*+"?
      | '(?:[^'\\\n]|\\.)*+'?))
  | (?P<comment>\#[^\n]*+)
  | (?P<number>(?:\d|\.\d)[\w.]*+)
  | (?P<name>[^\W\d]\w*+)
  | (?P<line>\n[ \t]*+)
  | (?P<blank>[^\S\n]++|\\\n)
  | (?P<sign>\*\*=?|//=?|->|:=|\.\.\.|[<>=!]=|<<=?|>>=?|[-+*/%@&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OWN = frozenset(dir(builtins))  # Python's, in any program
_NAME, _TEXT = "name", "text"  # each stands for all of its kind
_OPENING, _CLOSING = "([{", ")]}"
_DEFINING = ("def", "class", "async")
_SAYS_NOTHING = (["pass"], ["..."], ["return"], ["return", "None"])


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    form: str
    line: int
    outermost: bool = False  # it begins a line, in no function or class


def code_material(files: Mapping[str, str]) -> tuple[Material, Material]:
    """The code of one submission, normalised; and with the names it really has, which tell the course's own code."""
    normal, written = Collected(), Collected()
    statements = {file: list(_statements(text)) for file, text in files.items()}
    defined = {name for those in statements.values() for name in _defined(those)}
    for file, text in files.items():
        normal.begin(file, text)
        written.begin(file, "")
        inside = False
        for statement in statements[file]:
            # No fingerprint reaches into the next function or out of it, so that their order is free.
            if statement[0].form in (*_DEFINING, "@") or (inside and statement[0].outermost):
                normal.wall()
                written.wall()
            inside = not statement[0].outermost
            kept = _without_grouping(_without_annotations(statement))
            lines = [token.line for token in kept]
            normal.add(_normalised(kept, defined), lines)
            written.add([token.form for token in kept], lines)
    return normal.done(), written.done()


def _tokens(text: str) -> Iterator[Token]:
    line, outermost = 1, True
    for found in _TOKEN.finditer(text.replace("\r\n", "\n").replace("\r", "\n")):
        kind = found.lastgroup or ""
        if kind == "line":
            yield Token(kind, "\n", line)
        elif kind not in ("comment", "blank"):
            yield Token(kind, found[0] if kind in ("name", "sign") else kind, line, outermost)
        outermost = found[0] == "\n"
        line += found[0].count("\n") if kind in ("line", "blank", "text") else 0


def _statements(text: str) -> Iterator[list[Token]]:
    """Logical lines that say something. A definition begins one even where a bracket was never closed."""
    statement: list[Token] = []
    depth, begins = 0, True
    for token in _tokens(text):
        if begins and token.form in _DEFINING:
            depth = 0
            yield from _telling(statement)
            statement = []
        begins = token.kind == "line"
        if begins and depth == 0:
            yield from _telling(statement)
            statement = []
        elif not begins:
            depth = max(0, depth + (token.form in _OPENING) - (token.form in _CLOSING))
            statement.append(token)
    yield from _telling(statement)


def _telling(statement: list[Token]) -> Iterator[list[Token]]:
    forms = [token.form for token in statement]
    printed = forms[:2] == ["print", "("]
    imported = forms[:1] in (["import"], ["from"])
    if forms and not printed and not imported and forms not in _SAYS_NOTHING and set(forms) != {_TEXT}:
        yield statement


def _defined(statements: Sequence[list[Token]]) -> Iterator[str]:
    """Names that the code gives to its functions, classes and attributes: `self.a, self.b = …` gives two."""
    for statement in statements:
        before, assigned = "", _is_assignment(statement)
        for token, following in pairwise([*statement, Token("sign", "", 0)]):
            assigned &= token.form != "="
            is_attribute = before == "." and assigned and following.form in ("=", ",", ")", ":")
            if token.kind == "name" and (before in ("def", "class") or is_attribute):
                yield token.form
            before = token.form


def _is_assignment(statement: list[Token]) -> bool:
    depth = 0
    for token in statement:
        depth += (token.form in _OPENING) - (token.form in _CLOSING)
        if token.form == "=" and depth == 0:
            return True
    return False


def _without_annotations(statement: list[Token]) -> list[Token]:
    """The head of a function without the types of its parameters and of what it returns; anything else as it is."""
    if not any(token.form == "def" for token in statement[:2]):
        return statement
    kept: list[Token] = []
    depth, passing = 0, False
    for at, token in enumerate(statement):
        depth -= token.form in _CLOSING
        if (depth, token.form) in ((1, ","), (1, "="), (0, ")"), (0, ":")):
            passing = False
        elif (depth, token.form) in ((1, ":"), (0, "->")):
            passing = True
        if depth == 0 and token.form == ":":
            return [*kept, *statement[at:]]  # what it does may stand on the same line
        if not passing:
            kept.append(token)
        depth += token.form in _OPENING
    return kept


def _without_grouping(statement: list[Token]) -> list[Token]:
    """Without brackets that only group, commas before a closing one, and semicolons: formatters add and drop them."""
    kept: list[Token] = []
    groups: list[bool] = []  # of the brackets that are open
    before = Token("sign", "", 0)
    for token in statement:
        dropped = token.form == ";"
        if token.form in _OPENING:
            called = before.kind == "text" or before.form in _CLOSING or _is_a_name(before)
            groups.append(dropped := token.form == "(" and not called)
        elif token.form in _CLOSING:
            dropped = groups.pop() if groups else False
            if before.form == "," and kept:
                kept.pop()
        if not dropped:
            kept.append(token)
        before = token
    return kept


def _is_a_name(token: Token) -> bool:
    return token.kind == "name" and not keyword.iskeyword(token.form)


def _normalised(statement: list[Token], defined: set[str]) -> list[str]:
    forms, before = [], ""
    for token in statement:
        form = token.form
        if _is_a_name(token):
            of_a_library = form not in defined if before == "." else form in _OWN and form not in defined
            if not of_a_library:
                form = _NAME
        forms.append(form)
        before = token.form
    return forms
