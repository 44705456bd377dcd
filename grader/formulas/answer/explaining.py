"""How an answer was read, shown to its author: the formula written out again, its shape, and what its letters mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from grader.formulas.answer.asked_for import AskedName, Finder, found_for
from grader.formulas.answer.places import Fault, Place
from grader.formulas.answer.statements import Proposed, Statements, read_statements
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.provers.verdicts import Verdict
from grader.formulas.syntax.expressions import Expression, Symbol, symbols_in
from grader.formulas.syntax.writer import latex, plain
from grader.formulas.typing.shapes import UNSIZED, Misfit, Typed, shown, typed
from grader.formulas.typing.vocabulary import SCALAR, Vocabulary
from grader.model import Answer

_GROWTH = {"large": "large", "small": "not large"}
_SIGN = {"+": "positive", "−": "negative"}


@dataclass(frozen=True)
class Read:
    """A formula that was read, written out again; `statements`, `expanded` and `typed` are what the stages gave."""

    name: str
    plain: str
    latex: str
    shape: str = ""
    letters: Mapping[str, str] = field(default_factory=dict)  # what each stands for
    misfit: str = ""  # why it has no shape
    statements: Statements | None = None  # none, if the check reads without tokens
    expanded: Expression | None = None  # with the answer's own definitions put in
    typed: Typed | None = None
    relation: str = "="
    others: tuple[Reading, ...] = ()  # the alternatives that stand before it


@dataclass(frozen=True)
class NotRead:
    """Where reading stopped, and at which stage."""

    cause: str
    place: Place | None = None
    statements: Statements | None = None
    stage: Literal["tokens", "answer"] = "answer"


Reading = Read | NotRead


def how_read(answer: Answer, vocabulary: Vocabulary, question: AskedName, find: Finder = found_for) -> Reading:
    """The formula that counts for a name, as a check sees it before it judges; `find` is how the check finds it."""
    statements = read_statements(answer, vocabulary)
    found = find(question, statements)
    if isinstance(found, Verdict):
        return _not_read(found, statements, question)
    *others, last = (_proposal_as_read(one, statements, question) for one in found.offered)
    return replace(last, others=tuple(others)) if isinstance(last, Read) else last


def _proposal_as_read(found: Proposed, statements: Statements, question: AskedName) -> Reading:
    if not found.members:
        return NotRead(found.faults[0].cause, found.faults[0].place, statements)
    reading = read_as(question.name, found.members, statements, question)
    return replace(reading, relation=found.relation or "=") if isinstance(reading, Read) else reading


def read_as(
    name: str, members: Sequence[Expression], statements: Statements, question: AskedName | None = None
) -> Reading:
    given = question.given if question else frozenset()
    expected = question.expected if question else None
    written = members[-1]
    try:
        expanded = statements.expanded(written, given)
    except Unreadable as fault:
        return NotRead(fault.cause, statements=statements)
    shape, misfit, found = "", "", None
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
        statements,
        expanded,
        found,
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
    said = claimed(statements, symbol)
    return f"a number of your own; {f'you say it is {said}' if said else 'nothing is said about its size'}"


def claimed(statements: Statements, symbol: Symbol) -> str:
    """What the answer says of a letter's size: `large and positive`, or nothing."""
    claim = statements.claim_about(symbol)
    return " and ".join(words for words in (_GROWTH.get(claim.growth), _SIGN.get(claim.sign)) if words)


def _not_read(verdict: Verdict, statements: Statements, question: AskedName) -> NotRead:
    proposals: list[Proposed] = statements.proposals(question.written(statements.vocabulary))
    faults: list[Fault] = [fault for proposed in proposals for fault in proposed.faults]
    for fault in (*faults, *statements.faults):
        if str(fault) == verdict.detail:
            return NotRead(fault.cause, fault.place, statements, "answer" if fault in faults else "tokens")
    return NotRead(verdict.detail or verdict.message, statements=statements)
