"""A right formula with one fault in it, put back where it stood in the answer sheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from grader.formulas.answer.asked_for import expression
from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Divide,
    Expression,
    Multiply,
    Number,
    Power,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
    negative,
    symbols_in,
)
from grader.formulas.syntax.writer import latex, plain
from grader.formulas.typing.vocabulary import Vocabulary
from grader.model import Answer
from grader.proving.mutants import Mutant

_ANY = Vocabulary(())  # every letter is one of its own: what it stands for is the check's business


def formula_mutants(sheet: str, answer: Answer, formula: str) -> list[Mutant]:
    """Every mutant of a formula that stands, written like this, at one place of the answer: `U^T` or `P = U V^T`.

    LookupError if the answer does not have it or has it twice, Unreadable if it is no formula.
    """
    holding = [piece for piece in answer.pieces for _ in range(piece.text.count(formula))]
    if len(holding) != 1:
        times = "does not stand there" if not holding else f"stands there {len(holding)} times; write more of it"
        raise LookupError(f"'{formula}' {times}")
    start = sheet.index(formula, sum(len(line) for line in sheet.splitlines(keepends=True)[: holding[0].line - 1]))
    left, equals, formula = formula.rpartition("=")
    start += len(left + equals)
    right = expression(formula, _ANY)
    letters = symbols_in(right)
    line = sheet[:start].count("\n") + 1
    found = {
        plain(other): f"{sheet[:start]} {latex(other)}{sheet[start + len(formula) :]}"
        for other in (negative(right), *_faulty(right, letters))
        if plain(other) != plain(right)
    }
    return [Mutant(answer.file, answer.part, line, plain(right), becomes, text) for becomes, text in found.items()]


def _faulty(formula: Expression, letters: list[Symbol]) -> Iterator[Expression]:
    """With one part of it done wrong."""
    yield from _faults(formula, letters)
    match formula:
        case Add(terms):
            for place, term in enumerate(terms):
                for other in _faulty(term, letters):
                    yield Add((*terms[:place], other, *terms[place + 1 :]))
        case Multiply(left, right):
            yield from (replace(formula, left=other) for other in _faulty(left, letters))
            yield from (replace(formula, right=other) for other in _faulty(right, letters))
        case Divide(over, under):
            yield from (Divide(other, under) for other in _faulty(over, letters))
            yield from (Divide(over, other) for other in _faulty(under, letters))
        case Power(base, exponent):
            yield from (Power(other, exponent) for other in _faulty(base, letters))
            yield from (Power(base, other) for other in _faulty(exponent, letters))
        case Transpose(of) | PseudoInverse(of):
            yield from (replace(formula, of=other) for other in _faulty(of, letters))
        case Apply(_, arguments):
            for place, argument in enumerate(arguments):
                for other in _faulty(argument, letters):
                    yield replace(formula, arguments=(*arguments[:place], other, *arguments[place + 1 :]))
        case Sum(domain, body):
            yield from (Sum(domain, other) for other in _faulty(body, letters))


def _faults(part: Expression, letters: list[Symbol]) -> Iterator[Expression]:
    match part:
        case Number(value):
            yield from (Number(other) for other in (value + 1, 2 * value, -value) if other != value)
        case Symbol():
            yield from (other for other in letters if other != part)
        case Add(terms):
            for place, term in enumerate(terms):
                rest = (*terms[:place], *terms[place + 1 :])
                yield rest[0] if len(rest) == 1 else Add(rest)
                yield Add((*terms[:place], negative(term), *terms[place + 1 :]))
        case Multiply(left, right):
            if left != Number(Fraction(-1)):  # that is how a minus is kept: dropping it is the flipped sign
                yield left
            yield right
        case Divide(over, under):
            yield over
            yield Multiply(over, under)
        case Power(base, _):
            yield base
        case Transpose(of) | PseudoInverse(of) | Sum(_, of):
            yield of
        case Apply(_, arguments, below):
            yield arguments[0]
            if below is not None:
                yield replace(part, below=None)
