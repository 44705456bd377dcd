"""How an answer was read, shown to its author: the formula written out again, its shape, and what its letters mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.formulas.answer.asked_for import AskedName, found_for
from grader.formulas.answer.growth_claims import GrowthClaim
from grader.formulas.answer.statements import Fault, Place, Proposed, Statements, read_statements
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.provers.verdicts import Verdict
from grader.formulas.syntax.expressions import Expression, Symbol, symbols_in
from grader.formulas.syntax.writer import latex, plain
from grader.formulas.typing.shapes import UNSIZED, Misfit, shown, typed
from grader.formulas.typing.vocabulary import SCALAR, Vocabulary
from grader.model import Answer

_GROWTH = {"large": "large", "small": "not large"}
_SIGN = {"+": "positive", "−": "negative"}


@dataclass(frozen=True)
class Read:
    """A formula that was read, written out again."""

    name: str
    plain: str
    latex: str
    shape: str = ""
    letters: Mapping[str, str] = field(default_factory=dict)  # what each stands for
    misfit: str = ""  # why it has no shape


@dataclass(frozen=True)
class NotRead:
    cause: str
    place: Place | None = None


Reading = Read | NotRead


def how_read(answer: Answer, vocabulary: Vocabulary, question: AskedName) -> Reading:
    """The formula that counts for a question, as a check sees it before it judges."""
    statements = read_statements(answer, vocabulary)
    found = found_for(question, statements)
    if isinstance(found, Verdict):
        return _not_read(found, statements, question)
    return read_as(question.name, found.members, statements, question)


def read_as(
    name: str, members: Sequence[Expression], statements: Statements, question: AskedName | None = None
) -> Reading:
    given = question.given if question else frozenset()
    expected = question.expected if question else None
    written = members[-1]
    try:
        expanded = statements.expanded(written, given)
    except Unreadable as fault:
        return NotRead(fault.cause)
    shape, misfit = "", ""
    try:
        found = typed(expanded, statements.vocabulary, expected)
        fits = expected is None or found.shape in (expected, UNSIZED)
        shape = shown(found.shape) + ("" if fits or expected is None else f"; asked for is {shown(expected)}")
    except Misfit as fault:
        misfit = fault.what
    except Unreadable as fault:
        misfit = fault.cause
    return Read(
        name,
        " = ".join([name, *(plain(member) for member in members)]),
        latex(written),
        shape,
        {plain(symbol): _meaning(symbol, statements) for symbol in symbols_in(expanded)},
        misfit,
    )


def _meaning(symbol: Symbol, statements: Statements) -> str:
    vocabulary = statements.vocabulary
    if symbol.name in vocabulary.dimensions and not symbol.index:
        return "a size"
    if str(symbol) in vocabulary.asked:
        return "what is asked for"
    known = vocabulary.find(symbol.name, symbol.index)
    if known is not None:
        return shown(known[0].shape) + ("" if known[0].shape == SCALAR else ", given by the question")
    return f"a number of your own; {_said_of(statements.claim_about(symbol))}"


def _said_of(claim: GrowthClaim) -> str:
    said = [words for words in (_GROWTH.get(claim.growth), _SIGN.get(claim.sign)) if words]
    return f"you say it is {' and '.join(said)}" if said else "nothing is said about its size"


def _not_read(verdict: Verdict, statements: Statements, question: AskedName) -> NotRead:
    proposals: list[Proposed] = statements.proposals(question.written(statements.vocabulary))
    faults: list[Fault] = [fault for proposed in proposals for fault in proposed.faults]
    for fault in (*faults, *statements.faults):
        if str(fault) == verdict.detail:
            return NotRead(fault.cause, fault.place)
    return NotRead(verdict.detail or verdict.message)
