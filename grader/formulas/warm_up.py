"""What every verdict needs, done once before the first question."""

from __future__ import annotations

import gc

import sympy

from grader.formulas.compute.evaluation import Values, evaluate
from grader.formulas.lexing.lexer import read_tokens
from grader.formulas.syntax.parser import parse
from grader.formulas.typing.vocabulary import Vocabulary


def warm_up() -> None:
    """Build the grammar's tables and let sympy and numpy import what they import on first use."""
    evaluate(parse(read_tokens("exp(2) + 1", vocabulary := Vocabulary(())), vocabulary), Values({}))
    t = sympy.Symbol("t", positive=True)
    sympy.limit(sympy.expand(t * (t + 1)) - t, t, sympy.oo)
    sympy.simplify(1 / (1 + sympy.exp(-t)) - sympy.exp(t) / (1 + sympy.exp(t)))
    gc.freeze()  # what is loaded stays shared with the children instead of being copied at the first collection
