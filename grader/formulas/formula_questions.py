"""What rubrics import to ask for formulas: `from grader.formulas import Vocabulary, judged, …`."""

from grader.formulas.answer.asked_for import (
    AskedName,
    Judged,
    combinations,
    expression,
    found_for,
    judged,
    judged_proposal,
    of_alternatives,
    settled,
)
from grader.formulas.answer.explaining import NotRead, Read, Reading, how_read, read_as
from grader.formulas.answer.growth_claims import GrowthClaim
from grader.formulas.answer.hedges import offers, with_alternatives
from grader.formulas.answer.stated_sizes import sides_of, stated_sizes
from grader.formulas.answer.statements import Proposed, Statements, read_statements
from grader.formulas.compute.evaluation import Values, evaluate, softmax
from grader.formulas.compute.symbolic import as_sympy, attempted, sympy_symbol
from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.outcomes import Share, formula_outcome, seed_from
from grader.formulas.provers.canonical_form import canonical, canonical_up_to_scale
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
from grader.notation.denials import DENIALS_OF_A_COST
from grader.notation.faces import FACE, FACES, TEXT_COMMANDS, any_of
from grader.notation.letters import LETTERS
from grader.registry import KeyToAFormula, read_by

__all__ = [
    "DENIALS_OF_A_COST",
    "FACE",
    "FACES",
    "HALF",
    "LETTERS",
    "ONE",
    "SCALAR",
    "TEXT_COMMANDS",
    "UNSIZED",
    "Add",
    "Apply",
    "AskedName",
    "Constant",
    "Declared",
    "Divide",
    "Expression",
    "GrowthClaim",
    "Identity",
    "Judged",
    "KeyToAFormula",
    "Misfit",
    "Multiply",
    "NotRead",
    "Number",
    "Power",
    "Proposed",
    "PseudoInverse",
    "Read",
    "Reading",
    "Share",
    "Statements",
    "Sum",
    "Symbol",
    "Token",
    "Transpose",
    "Typed",
    "Unreadable",
    "Values",
    "Verdict",
    "Vocabulary",
    "all_as_read",
    "any_of",
    "as_read",
    "as_sympy",
    "attempted",
    "canonical",
    "canonical_up_to_scale",
    "combinations",
    "evaluate",
    "expression",
    "formula_outcome",
    "found_for",
    "how_read",
    "judged",
    "judged_proposal",
    "negative",
    "of_alternatives",
    "offers",
    "partly",
    "plain",
    "read_as",
    "read_by",
    "read_statements",
    "rebuilt",
    "right",
    "seed_from",
    "settled",
    "shown",
    "sides_of",
    "softmax",
    "stated_sizes",
    "symbols_in",
    "sympy_symbol",
    "typed",
    "undecided",
    "walk",
    "with_alternatives",
    "wrong",
]
