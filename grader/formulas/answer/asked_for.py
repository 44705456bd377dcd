"""From an answer to the one expression that counts, or to the line that says why there is none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from grader.formulas.answer.growth_claims import GrowthClaim
from grader.formulas.answer.hedges import with_alternatives
from grader.formulas.answer.statements import Proposed, Statements, read_statements
from grader.formulas.lexing.lexer import Unreadable, read_tokens
from grader.formulas.provers import identity
from grader.formulas.provers.verdicts import RESTATED, Verdict, undecided, wrong
from grader.formulas.syntax.expressions import Expression, Symbol, symbols_in
from grader.formulas.syntax.parser import parse
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.shapes import Misfit, Typed, typed
from grader.formulas.typing.vocabulary import ONE, SCALAR, Declared, Shape, Vocabulary
from grader.model import Answer
from grader.notation.letters import LETTERS
from grader.quoting import quote

MISFIT, UNREAD = "does_not_fit", "not_read"
_SHOWN_FORMULAS, _SHOWN_FORMULA = 3, 50  # how many formulas a message lists, and how much of each
_NUMBERS = "αβγεηλτ"  # letters of scales and rates; nobody means a vector by them
_MAX_LETTERS = 4  # that are tried as vectors
OFFERED = "alternatives"  # evidence that a person has to choose between answers


@dataclass(frozen=True)
class Formula(Typed):
    """One formula of an answer, read and typed, as a judge gets it."""

    statements: Statements
    relation: str = "="  # how it is joined to its name: `=`, `≈`, `∝`, or nothing where it stands alone

    @property
    def claims(self) -> dict[Symbol, GrowthClaim]:
        """The letters nobody declared, and what the answer says of the size of each."""
        return {symbol: self.statements.claim_about(symbol) for symbol in self.vocabulary.free(self.expression)}

    @property
    def vocabulary(self) -> Vocabulary:
        return self.statements.vocabulary


Judge = Callable[[Formula], Verdict]
JudgeTogether = Callable[[Mapping[str, Formula]], Verdict]


@dataclass(frozen=True)
class AskedName:
    """The name asked for, in the ways it may be written, and the shape its value should have."""

    name: str
    spellings: tuple[str, ...] = ()
    expected: Shape | None = None
    may_be_bare: bool = True
    given: frozenset[Symbol] = frozenset()  # letters the question itself gives; numbers for them are examples
    up_to_scale: bool = False  # whether `∝` says enough

    def written(self, vocabulary: Vocabulary) -> list[Expression]:
        return [expression(spelling, vocabulary) for spelling in (self.name, *self.spellings)]


def expression(text: str, vocabulary: Vocabulary) -> Expression:
    """An expression of our own, in the same language as students': rubric keys are written so."""
    return parse(read_tokens(text, vocabulary), vocabulary)


Finder = Callable[[AskedName, Statements], "Proposed | Verdict"]


def found_for(question: AskedName, statements: Statements) -> Proposed | Verdict:
    """The equation that counts: the last one stated for the name, or the only bare expression."""
    written = question.written(statements.vocabulary)
    names = {name for name in written if isinstance(name, Symbol)}
    proposals = with_alternatives(
        statements.proposals(written) or statements.proposals(_in_capitals(names, statements)), statements
    )
    if statements.answer.file.endswith((".yaml", ".yml")):  # the field is the answer; the reason only talks about it
        proposals = [one for one in proposals if one.kind != "prose"] or proposals
    stated = [one for one in proposals if one.assertion == "stated"]
    stated = stated or [one for one in proposals if one.assertion == "beside"]
    if question.given:  # where a formula is asked for, `β = 0` and `α ≈ 1` are examples
        stated = [one for one in stated if not _is_number(one)] or stated
    if stated and stated[-1].members:
        corrected = [fault for fault in statements.faults if fault.place > stated[-1].place and fault.defines & names]
        if corrected:
            return _unreadable(question, [str(corrected[-1])])
        return _with_rivals(stated[-1], question)
    if stated and stated[-1].faults:
        return _unreadable(question, [str(fault) for fault in stated[-1].faults])
    if open_questions := [one for one in proposals if one.others]:
        return _unclear(question, open_questions[-1])
    if denied := [one for one in proposals if one.members]:
        cause = f"{denied[-1].place}: '{quote(denied[-1].text, 60)}' is turned down, and no other formula is there"
        return undecided(f"no formula for {question.name} is stated", cause, code="formula_not_found")
    bare = _without_numbers(statements.bare(), question, statements) if question.may_be_bare else []
    distinct = list(dict.fromkeys(one.members for one in bare))
    if len(distinct) == 1 and not statements.faults:
        return bare[-1]
    if statements.faults:
        return _unreadable(question, [str(fault) for fault in statements.faults])
    where = f"{statements.answer.file}:{statements.answer.line}"
    if others := statements.named_otherwise:
        shown = " or ".join(f"'{quote(text, 2 * _SHOWN_FORMULA)}'" for text in others[-_SHOWN_FORMULAS:])
        message = f"{where}: no '{question.name} = …' was found; if {shown} is meant, write '{question.name} = …'"
        return undecided(message, code="formula_under_another_name")
    message = f"{where}: no '{question.name} = …' was found: {_what_was_read(statements)}"
    return undecided(message, code="formula_not_found")


def _without_numbers(bare: list[Proposed], question: AskedName, statements: Statements) -> list[Proposed]:
    """Where a vector or a matrix is asked for, a bare number εᵀy is no answer; a matrix of another size is one."""
    if question.expected in (None, SCALAR):
        return bare
    shapes = [_shape_of(one, statements) for one in bare]
    fits = all(shape in (SCALAR, question.expected) for shape in shapes)
    return [one for one, shape in zip(bare, shapes, strict=True) if shape != SCALAR] if fits else bare


def _shape_of(one: Proposed, statements: Statements) -> Shape | None:
    try:
        return typed(statements.expanded(one.members[-1]), statements.vocabulary).shape
    except (Misfit, Unreadable):
        return None


def _what_was_read(statements: Statements) -> str:
    """The formulas of an answer none of which says what was asked."""
    texts = list(dict.fromkeys(quote(text, _SHOWN_FORMULA) for text in statements.formulas))
    if not texts:
        return "no formula stands there"
    shown = ", ".join(f"'{text}'" for text in texts[:_SHOWN_FORMULAS])
    more = f" and {len(texts) - _SHOWN_FORMULAS} more" if len(texts) > _SHOWN_FORMULAS else ""
    return f"{shown}{more} {'was' if len(texts) == 1 else 'were'} read"


def _in_capitals(names: set[Symbol], statements: Statements) -> list[Expression]:
    """The asked names as capital letters, where those mean nothing else: `Q` for `q`."""
    capitals = [replace(name, name=name.name.upper()) for name in names]
    return [one for one in capitals if one not in names and not statements.vocabulary.knows(one)]


def _with_rivals(found: Proposed, question: AskedName) -> Proposed:
    """Without those alternatives that are examples, or only stand where an alternative could stand."""
    others = [one for one in found.others if one.members or not one.is_listed]
    if question.given:
        others = [one for one in others if not _is_number(one)]
    return replace(found, others=tuple(others))


def _unclear(question: AskedName, found: Proposed) -> Verdict:
    texts = " or ".join(f"'{quote(one.text, 60)}'" for one in found.offered)
    message = f"it is not clear which formula for {question.name} is meant"
    return undecided(message, f"{found.place}: {texts}", code="formula_unclear")


def _is_number(proposed: Proposed) -> bool:
    return bool(proposed.members) and not any(symbols_in(member) for member in proposed.members)


def _unreadable(question: AskedName, faults: list[str]) -> Verdict:
    message = f"the formula for {question.name} could not be read"
    return undecided(message, faults[0], {"unreadable": faults[:5]}, code="formula_unreadable")


def _settled(
    found: Proposed, question: AskedName, statements: Statements, sample: identity.Sample
) -> Formula | Verdict:
    """What an equation says, with its shape; or why it says nothing, or two things.

    The members of a chain are compared on values from `sample`: a step may use what the question defines (x_2 = u).
    """
    if not found.members:
        return _unreadable(question, [str(fault) for fault in found.faults])
    unread = f"the formula for {question.name} could not be read"
    try:
        members = [statements.expanded(member) for member in found.members]
        last = typed(members[-1], statements.vocabulary, question.expected)
        rng = np.random.default_rng(0)
        if any(
            not identity.agree(last, member, statements.vocabulary, rng, sample=sample).holds for member in members[:-1]
        ):
            detail = f"{found.place}: '{quote(found.text, 80)}' equates things that are not equal"
            message = f"the chain of equations for {question.name} contradicts itself"
            if len(found.chains) == 1:
                return wrong(message, detail, code="contradictory_chain")
            return undecided(message, detail, {"unclear": True}, code="contradictory_chain")
        return Formula(last.expression, last.shape, statements, found.relation)
    except Misfit as misfit:
        detail = f"in '{quote(found.text)}': {misfit.what}"
        return wrong(f"the formula for {question.name} does not fit together", detail, code="dimension_mismatch")
    except Unreadable as fault:
        return undecided(unread, f"{found.place}: {fault.cause}", code="formula_unreadable")


@dataclass(frozen=True)
class Judged:
    """One of the alternatives an answer offers, and what it is worth."""

    verdict: Verdict
    found: Sequence[Proposed] = ()  # none, where there is no formula; several, where several names are asked for

    @property
    def text(self) -> str:
        return ", ".join(quote(one.text, 60) for one in self.found)


def judged(
    answer: Answer, vocabulary: Vocabulary, question: AskedName, judge: Judge, find: Finder = found_for
) -> Verdict:
    """Find the formula that counts and judge it.

    Every member of a chain has to say the same, and so have all alternatives that the answer offers. `find` is how the
    formula is found, if not by its name alone.
    """
    return of_alternatives(each_judged(answer, vocabulary, question, judge, find), question.name)


def each_judged(
    answer: Answer, vocabulary: Vocabulary, question: AskedName, judge: Judge, find: Finder = found_for
) -> list[Judged]:
    """Every alternative that the answer offers, the one that stands last being the last."""
    statements = read_statements(answer, vocabulary)
    found = find(question, statements)
    if isinstance(found, Verdict):
        return [Judged(found)]
    return [Judged(judged_proposal(one, statements, question, judge), [one]) for one in found.offered]


def judged_together(
    answer: Answer,
    vocabulary: Vocabulary,
    questions: Sequence[AskedName],
    judge: JudgeTogether,
    sample: identity.Sample,
    refuse: Callable[[str, Formula], Verdict | None] = lambda name, formula: None,
) -> Verdict:
    """Find the formulas for several names and judge them with each other.

    The members of a chain are compared on values from `sample`. `refuse` says what is wrong with one formula alone,
    which counts before another is missing.
    """
    statements = read_statements(answer, vocabulary)
    proposals = {question.name: found_for(question, statements) for question in questions}
    found = {name: one for name, one in proposals.items() if isinstance(one, Proposed)}
    missing = {name: one for name, one in proposals.items() if isinstance(one, Verdict)}

    def verdict_on(offered: Mapping[str, Proposed]) -> Verdict:
        formulas: dict[str, Formula] = {}
        for question in questions:
            if question.name in offered:
                formula = _settled(offered[question.name], question, statements, sample)
                if isinstance(formula, Verdict):
                    return formula
                if refused := refuse(question.name, formula):
                    return refused
                formulas[question.name] = formula
        unread = [verdict for verdict in missing.values() if verdict.evidence]
        return [*unread, _missing(missing)][0] if missing else judge(formulas)

    if not found:
        return next(iter(missing.values()))
    each = [Judged(verdict_on(offered), list(offered.values())) for offered in combinations(found)]
    return of_alternatives(each, " and ".join(proposals))


def _missing(missing: Mapping[str, Verdict]) -> Verdict:
    names = " and ".join(missing)
    message = f"{names} {'is' if len(missing) == 1 else 'are'} missing"
    return wrong(message, next(iter(missing.values())).message, code="formula_not_found")


def of_alternatives(judged: Sequence[Judged], name: str) -> Verdict:
    """What all alternatives are worth, if it is the same; a person decides if it is not."""
    last = judged[-1]
    others = [one for one in judged[:-1] if not (RESTATED in one.verdict.evidence or _is_only_listed(one))]
    scores = [one.verdict.score for one in (*others, last)]
    if len(set(scores)) == 1:
        return last.verdict
    place = others[0].found[0].place
    texts = " or ".join(f"'{one.text}'" for one in (*others, last))
    given = [
        {"formula": one.text, "score": None if one.verdict.score is None else str(one.verdict.score)}
        for one in (*others, last)
    ]
    mean = sum((score or Fraction(0) for score in scores), Fraction(0)) / len(scores)
    message = f"{len(scores)} answers for {name} stand side by side and do not earn the same, so a person decides"
    detail = f"{place}: {texts}; until then they earn the average"
    return undecided(message, detail, {OFFERED: given}, mean, code="several_answers")


def combinations(found: Mapping[str, Proposed]) -> list[dict[str, Proposed]]:
    """The answers that are offered where several names are asked for.

    The last alternatives belong together, and so do those before them; what has no alternatives belongs to all.
    """
    most = max(len(one.offered) for one in found.values())
    return [
        {name: one.offered[max(-back, -len(one.offered))] for name, one in found.items()} for back in range(most, 0, -1)
    ]


def _is_only_listed(one: Judged) -> bool:
    return one.verdict.score is None and all(proposed.is_listed for proposed in one.found)


def judged_proposal(found: Proposed, statements: Statements, question: AskedName, judge: Judge) -> Verdict:
    """A chain joined by `=` has to say one thing, and so have several joined by `≈`: 1/n ≈ 1/n² is no answer."""
    if not found.members:
        return _unreadable(question, [str(fault) for fault in found.faults])
    if found.relation == "∝" and not question.up_to_scale:
        detail = f"{found.place}: '{quote(found.text, 80)}' leaves a factor open"
        message = f"{question.name} is only said to be proportional to something"
        return wrong(message, detail, code="only_proportional")
    verdicts = [_judged_chain(chain, found, statements, question, judge) for chain in found.chains]
    decided = [one for one in verdicts if one.score is not None and not one.but_for_letters]
    if len({one.score for one in decided}) > 1:
        detail = f"{found.place}: '{quote(found.text, 80)}' calls things nearly equal that are not"
        message = f"it is not clear which formula for {question.name} is meant"
        return undecided(message, detail, code="formula_unclear")
    return max(verdicts, key=lambda one: -1 if one.score is None else one.score)


def _judged_chain(
    chain: Sequence[Expression], found: Proposed, statements: Statements, question: AskedName, judge: Judge
) -> Verdict:
    verdicts = [_judged_member(member, found, statements, question, judge) for member in chain]
    decided = [one for one in verdicts if one.score is not None]
    first = (decided or verdicts)[0]
    if any(one.score != first.score for one in decided):
        lowest = min(decided, key=lambda one: one.score or 0)
        if MISFIT in lowest.evidence:  # perhaps misread; the others can be right all the same
            message = f"not all of the formula for {question.name} could be read"
            return undecided(message, lowest.detail, code="formula_unreadable")
        message = f"the chain of equations for {question.name} contradicts itself"
        detail = f"'{quote(found.text, 80)}' equates things that are not equal; {lowest.detail or lowest.message}"
        return replace(lowest, message=message, detail=detail, code="contradictory_chain")
    return first


def _judged_member(
    member: Expression, found: Proposed, statements: Statements, question: AskedName, judge: Judge
) -> Verdict:
    unread = f"the formula for {question.name} could not be read"
    expanded = member
    try:
        expanded = statements.expanded(member, question.given)
        if fault := statements.undefined(expanded):
            return undecided(unread, str(fault), code="formula_unreadable")
        if redefined := statements.redefined & {str(symbol) for symbol in symbols_in(expanded)}:
            detail = f"{found.place}: {min(redefined)} is given by the question, and defined anew here"
            return undecided(unread, detail, code="letter_redefined")
        known = typed(expanded, statements.vocabulary, question.expected)
        if _says_nothing(known, statements.vocabulary, question):
            detail = f"{found.place}: it is not said what {plain(expanded)} is"
            return undecided(unread, detail, code="undefined_letter")
        return judge(Formula(known.expression, known.shape, statements, found.relation))
    except Unreadable as fault:
        detail = f"{found.place}: {fault.cause}"
        return undecided(unread, detail, {UNREAD: fault.cause}, code="formula_unreadable")
    except Misfit as misfit:
        if unsaid := letter_of_another_shape(expanded, statements):
            detail = f"{found.place}: it is not said what {unsaid} is"
            return undecided(unread, detail, {UNREAD: detail}, code="undefined_letter")
        detail = f"in {question.name} = {plain(member)}: {misfit.what}"
        message = f"the formula for {question.name} does not fit together"
        return wrong(message, detail, {MISFIT: misfit.what}, code="dimension_mismatch")


def letter_of_another_shape(found: Expression, statements: Statements, wanted: Shape | None = None) -> str:
    """A letter that nobody introduced and that is read as a number, if all would fit were it a vector or a matrix."""
    vocabulary = statements.vocabulary
    sides = (ONE, *vocabulary.dimensions)
    for letter in vocabulary.free(found)[:_MAX_LETTERS]:
        is_number = letter.name in _NUMBERS or statements.claim_about(letter).growth
        for shape in () if is_number or letter.index else itertools.product(sides, sides):
            with_letter = replace(vocabulary, declared=(*vocabulary.declared, Declared(letter.name, shape)))
            try:
                fits = typed(found, with_letter).shape
            except (Misfit, Unreadable):
                continue
            if wanted in (None, fits):
                return plain(letter)
    return ""


def _says_nothing(found: Typed, vocabulary: Vocabulary, question: AskedName) -> bool:
    """A vector or matrix is asked for, and only letters stand there that nobody has introduced."""
    symbols = symbols_in(found.expression)
    return (
        question.expected not in (None, SCALAR)
        and found.shape == SCALAR
        and bool(symbols)
        and symbols == vocabulary.free(found.expression)
        and symbols[0] == found.expression
        and not (symbols[0].name in LETTERS.values() and not symbols[0].index)  # a Greek letter is a number
    )
