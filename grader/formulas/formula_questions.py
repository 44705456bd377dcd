"""What rubrics import to ask for formulas: `from grader.formulas import Vocabulary, judged, …`.

A question is its symbols (`Vocabulary` of `Declared`) and the name asked for (`AskedName`). Its check hands the answer
to a judge in a process that can be killed, and the judge says how much the formula is worth and why:

    SYMBOLS = Vocabulary((Declared("W", ("d", "d")),), dimensions=("d",), asked=("M",))
    ASKED = AskedName("M", expected=("d", "d"))

    @check
    def is_symmetric(student: Student, rng: np.random.Generator, *, partial: Share = HALF) -> Outcome:
        "M is symmetric, whatever W is."
        return formula_outcome(_judged, student, partial, seed_from(rng))

    def _judged(answer: Answer, seed: int) -> Verdict:  # at the top level: it is found by its name
        return judged(answer, SYMBOLS, ASKED, lambda found: _is_symmetric(found, np.random.default_rng(seed)))

    def _is_symmetric(found: Formula, rng: np.random.Generator) -> Verdict:
        M = evaluate(found.expression, Values({"d": 5}, {"W": rng.normal(size=(5, 5))}))
        return right("M is symmetric") if np.allclose(M, M.T) else wrong("M is not symmetric", code="not_symmetric")
"""

from grader.formulas.answer.asked_for import AskedName, Formula, expression, found_for, judged, judged_together
from grader.formulas.answer.explaining import NotRead, Read, Reading, how_read, read_as
from grader.formulas.answer.growth_claims import GrowthClaim
from grader.formulas.answer.hedges import offers
from grader.formulas.answer.stated_sizes import plain_text, sides_of, stated_sizes
from grader.formulas.answer.statements import Proposed, Statements, read_statements
from grader.formulas.compute.evaluation import Values, evaluate, softmax
from grader.formulas.compute.symbolic import as_sympy, attempted, sympy_symbol
from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.outcomes import formula_outcome, seed_from
from grader.formulas.provers.canonical_form import canonical, canonical_up_to_scale
from grader.formulas.provers.identity import agree
from grader.formulas.provers.verdicts import HALF, Verdict, partly, right, undecided, wrong
from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Constant,
    Divide,
    Expression,
    Identity,
    Multiply,
    Number,
    Power,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
    negative,
    rebuilt,
    symbols_in,
    walk,
)
from grader.formulas.syntax.writer import all_as_read, as_read, plain
from grader.formulas.typing.shapes import UNSIZED, Misfit, Typed, shown, typed
from grader.formulas.typing.vocabulary import ONE, SCALAR, Declared, Vocabulary
from grader.notation.denials import DENIALS
from grader.registry import KeyToAFormula, read_by
from grader.shares import Rational, Share

__all__ = [  # noqa: RUF022 - by what they are for
    # a question
    "AskedName", "Declared", "Vocabulary", "ONE", "SCALAR", "KeyToAFormula",
    # its check, and how it reads an answer, for `grader formula`
    "Share", "Rational", "HALF", "formula_outcome", "seed_from",
    "read_by", "how_read", "read_as", "Reading", "Read", "NotRead",
    # its judge: formulas that were found, and verdicts
    "judged", "judged_together", "found_for", "Formula", "Proposed", "GrowthClaim",
    "Verdict", "right", "partly", "wrong", "undecided",
    # what a formula is in numbers, and whether two are the same
    "Values", "evaluate", "softmax", "agree", "canonical", "canonical_up_to_scale",
    "as_sympy", "attempted", "sympy_symbol",
    # what it is made of, and its shape
    "Expression", "Add", "Apply", "Constant", "Divide", "Identity", "Multiply", "Number", "Power", "PseudoInverse",
    "Sum", "Symbol", "Transpose", "negative", "rebuilt", "symbols_in", "walk", "expression",
    "Typed", "typed", "UNSIZED", "Misfit", "Unreadable",
    # written out again
    "plain", "as_read", "all_as_read", "shown",
    # all that an answer says
    "Statements", "read_statements", "Token", "offers", "DENIALS", "plain_text", "stated_sizes", "sides_of",
]  # fmt: skip
