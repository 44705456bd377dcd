"""The global names that a plain statement uses, found in its tree.

Python's own table of symbols knows them for every statement, and takes ten times as long: it has to be given text. A
name is a function's own if it is bound in it, and then also in what stands within: functions, lambdas, comprehensions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .trees import children

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

# By exact kind: this is asked of every node of a file.
_LESS_PLAIN = frozenset(
    {
        *(ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal),
        *(ast.AnnAssign, ast.NamedExpr, *ast.pattern.__subclasses__()),
    }
)
_WITH_A_SCOPE = frozenset({ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})


def names_in(node: ast.stmt) -> set[str] | None:
    """All global names that it uses, at once or when it is called; None if it is not plain enough to tell."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return set()
        case ast.FunctionDef():
            return _of_function(node)
        case ast.Assign() | ast.Expr():
            return None if (found := _names([node])) is None else found[0]
        case ast.AugAssign(target=target):
            found = _names([node])
            own = {target.id} if isinstance(target, ast.Name) else set()
            return None if found is None else found[0] | own
    return None


def _of_function(node: ast.FunctionDef | ast.Lambda) -> set[str] | None:
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    named += [one for one in (given.vararg, given.kwarg) if one is not None]
    around: list[ast.expr | None] = [*given.defaults, *given.kw_defaults]
    body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
    if isinstance(node, ast.FunctionDef):
        around += [*(one.annotation for one in named), *node.decorator_list, node.returns]
    outside, inside = _names(one for one in around if one is not None), _names(body)
    own = {one.arg for one in named}
    if outside is None or inside is None or len(own) < len(named) or getattr(node, "type_params", None):
        return None
    read, bound = inside
    if "super" in read:  # it uses a name that is not written
        return None
    return outside[0] | (read - bound - own)


def _of_comprehension(node: _Comprehension) -> set[str] | None:
    first, *others = node.generators
    items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    outside, inside = _names([first.iter]), _names([*items, first.target, *first.ifs, *others])
    if outside is None or inside is None or any(one.is_async for one in node.generators):
        return None
    return outside[0] | (inside[0] - inside[1])


def _names(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]] | None:
    """Those that are read, in scopes within too, and those that are bound."""
    read, bound = set[str](), set[str]()
    waiting = list(nodes)
    for one in waiting:  # grows meanwhile
        kind = type(one)
        if isinstance(one, ast.Name):
            (read if isinstance(one.ctx, ast.Load) else bound).add(one.id)
        elif kind in _LESS_PLAIN:
            return None
        elif kind in _WITH_A_SCOPE:
            if (used := _within(one)) is None:
                return None
            read |= used
            bound |= {one.name} if isinstance(one, ast.FunctionDef) else set()
        else:
            if isinstance(one, ast.ExceptHandler) and one.name:
                bound.add(one.name)
            elif isinstance(one, ast.alias):
                if one.name == "*":
                    return None
                bound.add(one.asname or one.name.partition(".")[0])
            waiting += children(one)
    return read, bound


def _within(node: ast.AST) -> set[str] | None:
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return _of_function(node)
    assert isinstance(node, _Comprehension)
    return _of_comprehension(node)
