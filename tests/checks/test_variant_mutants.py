"""Small changes to right code: whatever changes what is computed, some check notices."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.engine import grade
from grader.model import Status
from grader.sandbox import BoxRunner
from tests.checks.variant_grading import RUBRIC, Files, right
from tests.conftest import MakeSubmission

_OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}

# Changes to these leave all that the assignment fixes as it was: first weights and dropout, which evaluation does not
# see, how far below all scores a masked one is, columns nobody needs, the order in which a rotation returns features.
_HARMLESS = (
    "pdrop",
    "_drop(",
    "nn.init",
    "10000000000.0",
    "self.block_size =",
    "config.block_size - 1 -> config.block_size + 1",
)
_SAME_SCORES = "rotated_x = torch.stack([first, second], dim=-1).flatten(-2)  [1 -> 2]"


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one thing done differently, in every way we know."""
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int(number)):
            yield ast.Constant(number + 1)
        case ast.Constant(value=float(number)):
            yield ast.Constant(number * 2)
        case ast.BinOp(left=left, op=ast.MatMult(), right=right_side):
            yield ast.BinOp(right_side, ast.MatMult(), left)
        case ast.BinOp(left=left, op=operator, right=right_side):
            yield ast.BinOp(left, _OTHER[type(operator)](), right_side) if type(operator) in _OTHER else left
            yield left
            yield right_side
        case ast.Call(func=ast.Attribute(attr="transpose")):  # the same with its arguments swapped
            return
        case ast.Call(func=function, args=[first, second, *rest], keywords=keywords):
            yield ast.Call(function, [second, first, *rest], keywords)
        case ast.Call(args=[only], keywords=[]):
            yield only
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=others):
            yield ast.Compare(left, [ast.NotEq()], others)
        case ast.Assign() | ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield ast.Pass()


def _mutants(source: str) -> Iterator[tuple[str, str]]:
    """A description and the source, for each single change."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Module | ast.Import | ast.ImportFrom):
            continue
        for other in _changed(node):
            twin = copy.deepcopy(tree)
            target = next(found for n, found in enumerate(ast.walk(twin)) if n == number)
            ast.fix_missing_locations(ast.copy_location(other, node))
            mutated = ast.unparse(_Swap(target, other).visit(twin))
            if mutated != ast.unparse(tree):
                line = source.splitlines()[getattr(node, "lineno", 1) - 1].strip()
                yield f"{line}  [{ast.unparse(node)} -> {ast.unparse(other)}]", mutated


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)


def _is_harmless(what: str) -> bool:
    change = what.partition("  [")[2]
    return what == _SAME_SCORES or any(harmless in change for harmless in _HARMLESS) or what.startswith("assert")


def _survives(variant: str, files: Files, boxes: BoxRunner, submission: MakeSubmission) -> bool:
    (problem,) = (problem for problem in RUBRIC.problems if problem.id == variant)
    for check in problem.checks:  # one at a time, because most fail the first
        rubric = replace(RUBRIC, problems=(replace(problem, checks=(check,)),))
        (graded,) = grade(rubric, submission(**files), boxes).problems
        if graded.checks[0].outcome.score < 1:
            assert graded.checks[0].outcome.status is not Status.UNGRADED, graded.checks[0].fault
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "file"), [("synthesizer", "attention.py"), ("perceiver", "model.py"), ("rope", "attention.py")]
)
def test_at_least_95_of_100_small_changes_are_noticed(submission: MakeSubmission, variant: str, file: str) -> None:
    files = right(variant)["starter"]
    mutants = [(what, text) for what, text in _mutants(files[file]) if not _is_harmless(what)]
    with BoxRunner(("numpy", "torch")) as boxes:
        alive = [what for what, text in mutants if _survives(variant, files | {file: text}, boxes, submission)]
    print(f"{variant}: {len(mutants)} changes, {len(alive)} unnoticed", *alive, sep="\n  ")
    assert len(alive) <= 0.05 * len(mutants), alive
