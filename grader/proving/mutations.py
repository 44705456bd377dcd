"""Single-point faults: one node of right code, done wrong in every way we know."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_TRANSPOSED = ("T", "mT")
_SYMMETRIC = ("transpose", "swapaxes", "max", "min", "maximum", "minimum", "isclose", "allclose")  # in two arguments
_COUNTABLE = 64  # being off by one is a fault of counts and axes, not of 10000


@dataclass(frozen=True)
class Spot:
    """A node with what a fault in it depends on."""

    node: ast.AST
    parent: ast.AST
    field: str
    function: Function | None  # the innermost one around it
    modules: frozenset[str]  # names the file imports: `np` in `np.exp(x)` is no value that could be returned


def faults(spot: Spot) -> Iterator[ast.AST]:
    """What may stand in the node's place."""
    node = spot.node
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from _numbers(value)
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield ast.BinOp(right, ast.MatMult(), left)
            yield from (left, right)
        case ast.BinOp(left=left, op=operator, right=right):
            if type(operator) in _OPERATORS:
                yield ast.BinOp(left, _OPERATORS[type(operator)](), right)
            yield from (left, right)
        case ast.Compare(left=left, ops=[comparison], comparators=others):
            for other in _COMPARISONS[type(comparison)]:
                yield ast.Compare(left, [other()], others)
        case ast.BoolOp(op=operator_, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operator_, ast.And) else ast.And(), values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Call():
            yield from _calls(node, spot)
        case ast.Attribute(value=value, attr=name) if name in _TRANSPOSED:
            yield value
        case ast.Tuple(elts=elements, ctx=context):
            yield from (ast.Tuple(swapped, context) for swapped in _swaps(elements))
        case ast.Slice():
            yield from _bounds(node)
        case ast.AugAssign(target=target, op=operator, value=value):
            if type(operator) in _OPERATORS:
                yield ast.AugAssign(target, _OPERATORS[type(operator)](), value)
            yield ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Assign(targets=targets) if all(_still_bound(target, spot) for target in targets):
            yield ast.Pass()
        case ast.If(orelse=[]):
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value) if first := _first_parameter(spot.function):
            if ast.unparse(value) != first:
                yield ast.Return(ast.Name(first, ast.Load()))
    if spot.field == "test" and isinstance(node, ast.expr) and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), node)


def _numbers(value: int | float) -> Iterator[ast.Constant]:
    near = (value + 1, value - 1) if abs(value) <= _COUNTABLE else ()
    for other in dict.fromkeys((*near, type(value)(0), 2 * value)):
        if other != value:
            yield ast.Constant(other)


def _swaps(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    for place, (one, other) in enumerate(pairwise(items)):
        if not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
            yield [*items[:place], other, one, *items[place + 2 :]]


def _calls(call: ast.Call, spot: Spot) -> Iterator[ast.expr]:
    """Arguments swapped, keywords dropped, the call left out, a count one too long or too short."""
    function, arguments, keywords = call.func, call.args, call.keywords
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if not (len(arguments) == 2 and name in _SYMMETRIC):
        for swapped in _swaps(arguments):
            yield ast.Call(function, swapped, keywords)
    for place in range(len(keywords)):
        yield ast.Call(function, arguments, keywords[:place] + keywords[place + 1 :])
    if name == "range" and not isinstance(arguments[-1], ast.Constant):
        for other in _off_by_one(arguments[-1]):
            yield ast.Call(function, [*arguments[:-1], other], keywords)
    if isinstance(spot.parent, ast.Expr):
        return  # the statement is dropped as a whole
    if isinstance(function, ast.Attribute) and not _is_module(function.value, spot.modules):
        yield function.value
    if arguments and not name[:1].isupper() and not isinstance(arguments[0], ast.Starred):
        yield arguments[0]


def _is_module(value: ast.expr, modules: frozenset[str]) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and value.id in modules | {"self"}


def _bounds(piece: ast.Slice) -> Iterator[ast.Slice]:
    lower, upper, step = piece.lower, piece.upper, piece.step
    if lower is not None:
        yield ast.Slice(None, upper, step)
        if not isinstance(lower, ast.Constant):
            yield from (ast.Slice(other, upper, step) for other in _off_by_one(lower))
    if upper is not None:
        yield ast.Slice(lower, None, step)
        if not isinstance(upper, ast.Constant):
            yield from (ast.Slice(lower, other, step) for other in _off_by_one(upper))


def _off_by_one(value: ast.expr) -> Iterator[ast.expr]:
    yield ast.BinOp(value, ast.Add(), ast.Constant(1))
    yield ast.BinOp(value, ast.Sub(), ast.Constant(1))


def _still_bound(target: ast.expr, spot: Spot) -> bool:
    """Whether the code would still run without this assignment: the name had a value before."""
    if isinstance(target, ast.Subscript):
        return True
    if not isinstance(target, ast.Name) or spot.function is None:
        return False
    earlier = {
        node.id
        for node in ast.walk(spot.function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < target.lineno
    }
    return target.id in earlier | set(_parameters(spot.function))


def _parameters(function: Function | None) -> list[str]:
    return [] if function is None else [one.arg for one in function.args.args if one.arg not in ("self", "cls")]


def _first_parameter(function: Function | None) -> str:
    return next(iter(_parameters(function)), "")
