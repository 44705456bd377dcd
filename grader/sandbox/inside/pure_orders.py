"""Sets, and views of dictionaries that make sets: their order shows where their members lie."""

from __future__ import annotations

import ast
from collections import Counter

from .trees import is_read, walk

_ORDERED_AS_MADE = {"list", "tuple", "sorted", "len", "enumerate", "zip", "dict", "iter"}  # go through what they get
GOING_THROUGH = {ast.For, ast.comprehension, ast.Call, ast.Compare}


def in_any_order(node: ast.AST) -> ast.AST | None:
    """What is put into a set; None, if this is no set."""
    match node:
        case ast.Call(func=ast.Name(id="list"), args=[ast.Call() as inner], keywords=[]):
            return in_any_order(inner)
        case ast.Call(func=ast.Name(id="set"), args=[inside], keywords=[]):
            return inside
    return None


def gone_through(node: ast.AST) -> list[int]:
    """The `d.keys` and `d.items`, by their ids, whose views this node only goes through: no set is made of them."""
    match node:
        case ast.For(iter=one) | ast.comprehension(iter=one):
            places = [one]
        case ast.Call(func=ast.Name(id=name), args=args) if name in _ORDERED_AS_MADE:
            places = args
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=places):
            pass
        case _:
            return []
    return [id(one.func) for one in places if isinstance(one, ast.Call) and not one.args]


def handed_over(nodes: list[ast.stmt], mentioned: Counter[str]) -> dict[str, set[str]]:
    """Classes and functions, and the arguments that the grader alone gives them: to classes that the file itself does
    not build, and to functions that only these call, with what they were given."""
    found: dict[str, set[str]] = {}
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    calls: list[tuple[str, str]] = []
    for node in nodes:
        if isinstance(node, ast.ClassDef) and not mentioned[node.name]:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    found[node.name] = _arguments(method)
                    calls += _hands_on(method, found[node.name], functions)
    for name, argument in set(calls):
        if calls.count((name, argument)) == mentioned[name] and argument in _arguments(functions[name]):
            found.setdefault(name, set()).add(argument)
    return found


def _arguments(function: ast.FunctionDef) -> set[str]:
    """Those that mean nothing else in it."""
    inner = [one for one in walk(function) if isinstance(one, ast.Name) and not is_read(one)]
    named = Counter(one.arg for one in walk(function) if isinstance(one, ast.arg))
    return {name for name, count in named.items() if count == 1} - {one.id for one in inner}


def _hands_on(method: ast.FunctionDef, given: set[str], functions: dict[str, ast.FunctionDef]) -> list[tuple[str, str]]:
    found = []
    for one in walk(method):
        match one:
            case ast.Call(func=ast.Name(id=name), args=args) if name in functions:
                for argument, taken in zip(args, functions[name].args.args, strict=False):
                    if isinstance(argument, ast.Name) and argument.id in given:
                        found.append((name, taken.arg))
    return found
