"""What an expression is, as far as its form alone tells."""

from __future__ import annotations

import ast


def is_constant(node: ast.AST) -> bool:
    return isinstance(node.value if isinstance(node, ast.keyword) else node, ast.Constant | ast.UnaryOp)


def makes_text(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="str" | "repr")):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod()):
            return makes_text(left)
    return False


def makes_keys(called: str) -> bool:
    """Whether the names of what it is called with become texts."""
    return called == "dict" or called.startswith("collections.")


def word(node: ast.AST) -> str:
    """The text that it is, if it is one that is written out."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_one_of_a_kind(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, True, False)
