"""A written answer → its equations, what they define, and what is assumed about the letters in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from grader.formulas.answer.assertions import Assertion, assertion_of
from grader.formulas.answer.clauses import Clause, clauses_in
from grader.formulas.answer.growth_claims import SIZING, GrowthClaim, said_by_interval, said_in_symbols, said_in_words
from grader.formulas.answer.places import Fault, Place
from grader.formulas.answer.token_stream import UnreadRow, tokens_of
from grader.formulas.lexing.tokens import Token, Unclosed, Unreadable
from grader.formulas.syntax.expressions import (
    Entries,
    Entry,
    Expression,
    Multiply,
    Number,
    Power,
    Symbol,
    Transpose,
    rebuilt,
    row_and_column,
    symbols_in,
    walk,
)
from grader.formulas.syntax.parser import parse
from grader.formulas.syntax.size_limits import refuse_unbounded
from grader.formulas.typing.vocabulary import Vocabulary
from grader.model import Answer, Piece
from grader.quoting import quote

_EQUAL = ("=", "≈", "∝", "∼")
_MAX_SUBSTITUTIONS = 12  # definitions within definitions; more are a circle
_GOES_ON = frozenset(["over", "divided", "plus", "minus", "multiplied", "squared"])
_LEADING = (
    "choose",
    "take",
    "use",
    "pick",
    "set to",
    "chosen as",
    "that is",
    "to be",
    "namely",
)  # words right before an answer
_ENDS_A_LINE = ("", ".", "\n", ",")
_JOINING = ("TRANSPOSE", "OPERATOR", "+", "^", "FRACTION")  # what only formulas have, in prose too
_SET_BEFORE = re.compile(r"^(\\?[A-Za-z]+)\}")  # what closes \mathrm{…
_MAX_LEFT_SIDE = 12  # tokens; longer ones than x̂_j − x_j nobody asks for


@dataclass(frozen=True)
class Proposed:
    """One equation for an asked name: the readable members of its chain, and how it was related to the name."""

    chains: tuple[tuple[Expression, ...], ...]  # what is joined by `=`; between them stands ≈
    faults: tuple[Fault, ...]
    relation: str
    place: Place
    text: str
    kind: str = "math"
    assertion: Assertion = "stated"
    begins: int = 0  # where in the tokens of the answer it stands, and the place of what ends it
    ends: int = 0
    is_named: bool = True  # `P = Uᵀ`, and not the Uᵀ of `P = UVᵀ or Uᵀ`
    is_listed: bool = False  # nothing but its place says that it is an alternative to the next
    others: tuple[Proposed, ...] = ()  # the alternatives that stand before it

    @property
    def members(self) -> tuple[Expression, ...]:
        return tuple(member for chain in self.chains for member in chain)

    def mapped(self, change: Callable[[Expression], Expression]) -> Proposed:
        """The same equation and its alternatives, with every member changed."""
        chains = tuple(tuple(change(member) for member in chain) for chain in self.chains)
        return replace(self, chains=chains, others=tuple(one.mapped(change) for one in self.others))

    @property
    def offered(self) -> tuple[Proposed, ...]:
        """All alternatives in the order they were written; this is the last of them."""
        return (*self.others, self)


@dataclass(frozen=True)
class Statements:
    """Everything mathematical in one answer."""

    answer: Answer
    vocabulary: Vocabulary
    clauses: tuple[Clause, ...]
    faults: tuple[Fault, ...]
    tokens: tuple[Token, ...]
    lines: tuple[int, ...]  # where the piece that each token stands in begins

    # ---- asked-for names ----

    def proposals(self, spellings: Sequence[Expression]) -> list[Proposed]:
        """Every equation one of whose members is the asked name, in the order they were written."""
        found = []
        for clause in self.clauses:
            place = self._place_of_name(clause, spellings)
            if place is not None and (proposed := self._proposed(clause, place)):
                found.append(proposed)
        return found

    def _place_of_name(self, clause: Clause, spellings: Sequence[Expression]) -> int | None:
        """Which member is the asked name or its transpose."""
        for place, tokens in enumerate(clause.members):
            if len(clause.members) < 2 or len(tokens) > _MAX_LEFT_SIDE:
                continue
            left = self.read(tokens)
            name = left.of if isinstance(left, Transpose) else left
            if name is not None and any(_same_name(name, one) for one in spellings):
                return place
        return None

    def bare(self) -> list[Proposed]:
        """Expressions that stand alone in mathematics or code and are more than a letter; else those of prose."""
        alone = [clause for clause in self.clauses if len(clause.members) == 1 and len(clause.members[0]) > 1]
        marked = [clause for clause in alone if clause.kind != "prose"]
        found = []
        for clause in marked or [clause for clause in alone if self._is_given(clause)]:
            expression = self.read(clause.members[0])
            if expression is not None and not (isinstance(expression, (Symbol, Number)) or self._is_a_size(expression)):
                found.append(self.alone(clause, expression))
        return found

    def _is_a_size(self, expression: Expression) -> bool:
        """m × n, which says how large a matrix is."""
        sides = (expression.left, expression.right) if isinstance(expression, Multiply) else ()
        names = [side.name for side in sides if isinstance(side, Symbol)]
        return len(names) == 2 and set(names) <= set(self.vocabulary.dimensions)

    def _is_given(self, clause: Clause) -> bool:
        """Whether a formula in prose is all that its line says, or is what the sentence leads to: "it is set to …"."""
        before = self.tokens[max(0, clause.order - 2) : clause.order]
        words = " ".join(str(token.value).lower() for token in before if token.kind == "WORD")
        after = self.tokens[clause.ends] if clause.ends < len(self.tokens) else None
        ends = after is None or after.kind == "ROW" or (after.kind == "BREAK" and after.value in _ENDS_A_LINE)
        opens = not before or before[-1].kind in ("ROW", "BREAK") or words.endswith(_LEADING)
        return opens and ends and assertion_of(self.tokens, clause.order, clause.ends) == "stated"

    @property
    def formulas(self) -> list[str]:
        """Everything that is read as a formula, as it was written: equations, and what stands alone."""
        found = []
        for clause in self.clauses:
            related = len(clause.members) > 1 and all(clause.members)
            joined = any(token.kind in _JOINING for token in clause.members[0]) or clause.kind != "prose"
            if related or (joined and len(clause.members[0]) > 1):
                written = [token for member in clause.members for token in member]
                found.append(clause.piece.text[written[0].start : written[-1].end])
        return found

    @property
    def named_otherwise(self) -> list[str]:
        """Equations for what the question does not know, from what it knows, as they were written: `out = …`."""
        found = []
        for clause in self.clauses:
            if clause.relations[:1] != ("=",):
                continue
            right, name = self.read(clause.members[1]), self._name_before(clause)
            if name is not None and right is not None and any(map(self._is_the_questions, symbols_in(right))):
                found.append(_SET_BEFORE.sub(r"\1", clause.piece.text[name : clause.members[1][-1].end]))
        return found

    def _name_before(self, clause: Clause) -> int | None:
        """Where the name begins that an equation is for, if it is a letter of the answer's own, a word, or a word with
        a bracket behind it: `P = …`, `out = …`, `attention(Q, K) = …`."""
        written, text = clause.members[0], clause.piece.text
        if written and written[0].kind != "(":
            letters = [token.value for token in written if isinstance(token.value, Symbol)]
            own = len(letters) == len(written) and not all(map(self._is_the_questions, letters))
            one_word = all(token.end == following.start for token, following in pairwise(written))
            return written[0].start if own and one_word else None
        before = self.tokens[clause.order - 1] if clause.order else None
        is_word = before is not None and before.kind == "WORD" and str(before.value) in text[before.start : before.end]
        return before.start if before and is_word else None

    def _is_the_questions(self, symbol: Symbol) -> bool:
        vocabulary = self.vocabulary
        return vocabulary.knows(symbol) or symbol.name in vocabulary.dimensions or str(symbol) in vocabulary.asked

    def alone(self, clause: Clause, expression: Expression) -> Proposed:
        """An expression that is a whole clause, as a formula for whatever is asked."""
        text, place = clause.text_of(clause.members[0]), self._place(clause, clause.members[0][0].start)
        chains, where = ((expression,),), (clause.order, clause.ends)
        return Proposed(chains, (), "", place, text, clause.kind, "stated", *where, is_named=False)

    def _proposed(self, clause: Clause, place: int) -> Proposed | None:
        sides = self._related(clause, place)
        if not sides:
            return None
        relation = sides[0][1]
        left = self.read(clause.members[place])
        flipped = isinstance(left, Transpose)  # yᵀ = … says what y is
        pair = row_and_column(left) if isinstance(left, Symbol) and str(left) not in self.vocabulary.asked else None
        chains: list[list[Expression]] = [[]]
        faults = []
        if any(not tokens for tokens, _ in sides):  # `y = = x`: what is missing is the fault to report
            sides = [side for side in sides if not side[0]]
        for tokens, joined in sides:
            if joined == "≈" and chains[-1]:
                chains.append([])
            try:
                expression = parse(tokens, self.vocabulary)
            except Unreadable as fault:
                faults.append(self._fault(clause, fault, tokens))
                continue
            if not (isinstance(expression, Symbol) and str(expression) in self.vocabulary.asked):
                if pair:  # M_ij = … says it entry by entry
                    expression = Entries(*pair, expression)
                chains[-1].append(Transpose(expression) if flipped else expression)
        following = self.tokens[clause.ends] if clause.ends < len(self.tokens) else None
        if following is not None and following.kind == "WORD" and str(following.value).lower() in _GOES_ON:
            cause = f"it goes on with '{quote(str(following.value), 20)}', and operations in words are not read"
            chains, faults = [], [self._fault(clause, Unreadable(cause), clause.members[place])]
        if not any(chains) and not faults:
            return None
        written = [token for tokens in (clause.members[place], *(tokens for tokens, _ in sides)) for token in tokens]
        first, last = min(token.start for token in written), max(token.end for token in written)
        readable = tuple(tuple(chain) for chain in chains if chain)
        text, where = clause.piece.text[first:last], self._place(clause, first)
        stands = assertion_of(self.tokens, clause.order, clause.ends)
        span = (clause.order, clause.ends)
        return Proposed(readable, tuple(faults), relation, where, text, clause.kind, stands, *span)

    def _related(self, clause: Clause, place: int) -> list[tuple[tuple[Token, ...], str]]:
        """The members joined to this one: those after it, else those before it that are joined by `=`."""
        found: list[tuple[tuple[Token, ...], str]] = []
        for at in range(place, len(clause.relations)):
            relation = clause.relations[at]
            if relation not in _EQUAL:
                break
            found.append((clause.members[at + 1], relation))
        if not found:
            for at in range(place - 1, -1, -1):
                if clause.relations[at] != "=":
                    break
                found.append((clause.members[at], "="))
        return found

    # ---- definitions and assumptions ----

    @cached_property
    def definitions(self) -> dict[Symbol, Expression]:
        """What the question or the answer itself introduces: `let P = UVᵀ`, `c = 10⁶`. The last word counts."""
        found: dict[Symbol, Expression] = {**self.vocabulary.where}
        for clause in self.clauses:
            for place, tokens in enumerate(clause.members[:-1]):
                left = self.read(tokens)
                if not isinstance(left, Symbol) or clause.relations[place] != "=":
                    continue
                known = self.vocabulary.find(left.name, left.index) and not left.mark  # ŷ is another letter than y
                if known or str(left) in self.vocabulary.asked:
                    continue
                if pair := row_and_column(left):
                    self._define_by_entries(left, pair, self.read(clause.members[place + 1]), found)
                self._define_vector(left, self.read(clause.members[place + 1]), found)
                if left.name in self.vocabulary.dimensions:  # `e.g. d = 1` is an example
                    continue
                if set(left.index) & {"i", "j", "l"}:  # `β_i = 0 otherwise` defines a family, with exceptions
                    continue
                right = self.read(clause.members[place + 1])
                if right is None or left in symbols_in(right):
                    continue
                if place and any(str(symbol) in self.vocabulary.asked for symbol in symbols_in(right)):
                    continue  # `uᵀy = c = wᵀy` says what follows of y, not what c is
                found[left] = right
        return found

    def _define_by_entries(
        self, left: Symbol, pair: tuple[str, str], body: Expression | None, found: dict[Symbol, Expression]
    ) -> None:
        """A_ij = … says what A is, and a_ij = … too, unless the question has such a letter."""
        whole = Symbol(left.name.upper())
        known = self.vocabulary.find(whole.name) or whole.name in (*self.vocabulary.asked, *self.vocabulary.dimensions)
        if body is not None and not known and whole not in found:
            found[whole] = Entries(*pair, body)

    def _define_vector(self, left: Symbol, body: Expression | None, found: dict[Symbol, Expression]) -> None:
        """q_i = exp(z_i)/Σ_j exp(z_j) says what q is; β_i = 0 is one of several cases."""
        whole, label = replace(left, index=()), "".join(left.index)
        if body is None or len(label) != 1 or not label.isalpha() or whole in found or whole in symbols_in(body):
            return
        has_index = any(
            (isinstance(part, Symbol) and label in part.index) or (isinstance(part, Entry) and part.row == label)
            for part in walk(body)
        )
        own = whole.mark or not (self.vocabulary.find(whole.name) or whole.name in self.vocabulary.dimensions)
        if own and has_index and str(whole) not in self.vocabulary.asked:
            found[whole] = Entries(label, "", body)

    @cached_property
    def redefined(self) -> frozenset[str]:
        """Sizes of the question that the answer sets equal to something else: d = n is no example, as d = 64 is."""
        found = set()
        for clause in self.clauses:
            for place, tokens in enumerate(clause.members[:-1]):
                left, right = self.read(tokens), self.read(clause.members[place + 1])
                sizes = self.vocabulary.dimensions
                names_a_size = isinstance(left, Symbol) and left.name in sizes and clause.relations[place] == "="
                if names_a_size and right is not None and right != left and symbols_in(right):
                    found.add(str(left))
        return frozenset(found)

    @property
    def equations(self) -> Iterator[tuple[Expression | None, Expression | None]]:
        """The two sides of everything joined by `=`; None is a side that cannot be read."""
        for clause in self.clauses:
            for place, relation in enumerate(clause.relations):
                if relation == "=":
                    yield self.read(clause.members[place]), self.read(clause.members[place + 1])

    def expanded(self, expression: Expression, given: frozenset[Symbol] = frozenset()) -> Expression:
        """With the answer's own definitions put in, except of letters said to be large or small.

        `given` are letters of the question itself: γ = 1 + ε may rename one, γ = 1 is only an example.
        """
        definitions = {
            name: meaning
            for name, meaning in self.definitions.items()
            if not self.claim_about(name).growth and (name not in given or set(self.vocabulary.free(meaning)) - given)
        }
        for _ in range(_MAX_SUBSTITUTIONS):
            refuse_unbounded(expression, self.vocabulary)
            changed = put_in(expression, definitions, self.vocabulary)
            if changed == expression:
                return expression
            expression = changed
        raise Unreadable("its definitions go round in a circle")

    def claim_about(self, symbol: Symbol) -> GrowthClaim:
        """What is said about a letter's size, in symbols or in words."""
        found = [said_in_words(symbol, self.tokens)]
        for clause in self.clauses:
            for at, relation in enumerate(clause.relations):
                if relation == "∈":
                    found.append(said_by_interval(symbol, clause.members[at], clause.members[at + 1]))
                elif relation in SIZING:
                    left, right = (self.read(clause.members[at + step]) for step in (0, 1))
                    found.append(said_in_symbols(symbol, left, relation, right))
        growth = [claim.growth for claim in found if claim.growth]
        sign = [claim.sign for claim in found if claim.sign]
        return GrowthClaim(growth[-1] if growth else "", sign[-1] if sign else "")

    def undefined(self, expression: Expression) -> Fault | None:
        """A letter of the expression that the answer defines by something unreadable."""
        used = set(symbols_in(expression))
        return next((fault for fault in self.faults if fault.defines & used), None)

    def read(self, tokens: tuple[Token, ...]) -> Expression | None:
        try:
            return parse(tokens, self.vocabulary)
        except Unreadable:
            return None

    def _place(self, clause: Clause, at: int) -> Place:
        return _place_in(self.answer, clause.piece, at)

    def _fault(self, clause: Clause, fault: Unreadable, tokens: tuple[Token, ...]) -> Fault:
        at = fault.place or (tokens[0].start if tokens else 0)
        if isinstance(fault, Unclosed):
            fault = fault.within(clause.piece.text, fault.place)
        return Fault(fault.cause, self._place(clause, at), clause.text_of(tokens) or clause.piece.text)


def read_statements(answer: Answer, vocabulary: Vocabulary) -> Statements:
    stream, unread = tokens_of(answer, vocabulary)
    return Statements(
        answer,
        vocabulary,
        clauses=tuple(clauses_in(stream)),
        faults=tuple(_unread(row, answer) for row in unread),
        tokens=tuple(token for token, _ in stream),
        lines=tuple(piece.line for _, piece in stream),
    )


def _unread(row: UnreadRow, answer: Answer) -> Fault:
    return Fault(row.cause, _place_in(answer, row.piece, row.place), row.text, row.defines)


def _place_in(answer: Answer, piece: Piece, at: int) -> Place:
    before = piece.text[:at]
    number = next((number for number, one in enumerate(answer.pieces) if one is piece), 0)
    return Place(answer.file, number, piece.line + before.count("\n"), at - (before.rfind("\n") + 1) + 1)


def put_in(found: Expression, definitions: Mapping[Symbol, Expression], vocabulary: Vocabulary) -> Expression:
    """With definitions in place of their letters; z_j is an entry of z, if the question has no such letter."""

    def meaning(part: Expression) -> Expression:
        if not isinstance(part, Symbol):
            return part
        whole = definitions.get(replace(part, index=())) if len(part.index) == 1 else None
        if part in definitions or whole is None or vocabulary.knows(part) or not part.index[0].isalpha():
            return definitions.get(part, part)
        return Entry(whole, part.index[0])

    return rebuilt(found, meaning)


def _same_name(left: Expression, asked: Expression) -> bool:
    """Whether a left side is the asked name, however it was joined: q^{(1)} for q_1, Δ h and Δh."""
    if isinstance(left, Power) and isinstance(left.base, Symbol) and isinstance(left.exponent, Number):
        left = Symbol(left.base.name, (str(left.exponent.value),))
    if isinstance(left, Symbol) and isinstance(asked, Symbol):
        entrywise = left.name == asked.name and not asked.index and left.name.isupper() and row_and_column(left)
        return bool(entrywise) or (left.name, left.index) == (asked.name, asked.index)
    return left == asked
