"""Calls of numpy by which code learns nothing but numbers: no memory as it was left, no clock, no text of a value.

An array of text makes text of whatever is put into it, and text of a function shows where that lies. So dtypes are
written out and are numbers, and where there may be text, numpy gets numbers alone (`NUMBERS`).
"""

from __future__ import annotations

import ast
import re

from .pure_imports import Imports, Keeps
from .pure_names import NUMBER_TYPES

_AS_TEXT = re.compile(r"[<>=|]?([?bBhHiIlLqQefdFD]|[biufc][1248]|c16)|bool|half|single|double|(u?int|float|complex)\d*")
_TOO_LONG = {"float128", "complex256"}  # with bytes between that nobody sets
_CONVERTING = {"numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"}
_HIDING = {"where", "out", "initial", "casting", None}  # leave memory as it was, or hide what is given
_WAYS = {"dtype", "order", "mode", "indexing", "side", "kind", "method", "norm", "ord", "optimize", "UPLO"}
# At which place a dtype may be given without its name.
_DTYPE_AT = {
    **dict.fromkeys(("array", "asarray", "asanyarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray"), 1),
    **dict.fromkeys(("zeros", "ones", "zeros_like", "ones_like", "identity", "indices", "fromiter"), 1),
    **dict.fromkeys(("full", "full_like", "sum", "mean", "std", "var", "prod", "cumsum", "cumprod"), 2),
    **dict.fromkeys(("nansum", "nanmean", "nanstd", "nanvar", "nanprod", "nancumsum", "nancumprod"), 2),
    **dict.fromkeys(("eye", "tri", "arange"), 3),
    **dict.fromkeys(("geomspace", "trace"), 4),
    **dict.fromkeys(("linspace", "logspace"), 5),
    **dict.fromkeys(("reduce", "accumulate"), 2),
}


def look_at_call(path: str, node: ast.Call, imports: Imports) -> None:
    """Raise if it may show more than numbers."""
    at = _DTYPE_AT.get(path.rpartition(".")[2])
    by_place = [] if at is None else node.args[at : at + 1]
    if at is not None and any(isinstance(one, ast.Starred) for one in node.args):
        raise Keeps(f"{path} with what is not written out")
    for keyword in node.keywords:
        if keyword.arg in _HIDING:
            raise Keeps(f"{path} with {keyword.arg}")
        if keyword.arg == "dtype":
            by_place.append(keyword.value)
    if not all(is_number_type(one, imports, path not in _CONVERTING) for one in by_place):
        raise Keeps("dtype")


def copies_dtype(node: ast.Call) -> bool:
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    return any(isinstance(one, ast.Attribute) and one.attr == "dtype" for one in given)


def says_how(path: str, keyword: ast.keyword) -> bool:
    """Whether it is a word, or a number, by which a function works, and that nobody gets back from it."""
    match keyword.value:
        case ast.Constant(value=str()):
            return path.startswith("numpy.") and keyword.arg in _WAYS
        case ast.Constant():
            return True
    return False


def is_number_type(node: ast.expr, imports: Imports, may_be_copied: bool = False) -> bool:
    match node:
        case ast.Name(id="float" | "int" | "bool" | "complex") | ast.Constant(value=None):
            return True
        case ast.Constant(value=str(text)):
            return _AS_TEXT.fullmatch(text) is not None and text not in _TOO_LONG
        case ast.Attribute(attr="dtype") if may_be_copied:
            return True
    return imports.dotted(node) in NUMBER_TYPES


def look_at_view(node: ast.Call, imports: Imports) -> None:
    """A tensor's `view` takes sizes. An array's takes a dtype, which may be text or a date, or numbers of other sizes:
    long ones have bytes between that nobody sets."""
    match node.args:
        case [one] if imports.dotted(one).startswith("torch."):
            return
        case sizes if any(map(_is_int, sizes)):
            return
        case [_, _, *_] as sizes if not any(isinstance(one, ast.Starred) for one in sizes):  # an array takes one
            return
    raise Keeps(".view")


def _is_int(node: ast.AST) -> bool:
    match node:
        case ast.UnaryOp(operand=ast.Constant(value=int())) | ast.Constant(value=int()):
            return True
    return False
