"""A written answer → its equations, what they define, and what is assumed about the letters in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grader.formulas import spelling
from grader.formulas.bounds import refuse_unbounded
from grader.formulas.expressions import (
    Constant,
    Expression,
    Multiply,
    Number,
    Power,
    PseudoInverse,
    Symbol,
    Transpose,
    rebuilt,
    symbols_in,
)
from grader.formulas.lexer import Token, Unreadable, read_tokens
from grader.formulas.parser import parse
from grader.formulas.vocabulary import Vocabulary
from grader.model import Answer, Piece
from grader.quoting import quote

_EQUAL = ("=", "≈", "∝", "∼")
_COMPARED = ("≫", "≪", ">", "<", "≥", "≤", "→")
_OPEN, _CLOSE = ("(", "{", "⟨", "NORM_OPEN", "BAR_OPEN"), (")", "}", "⟩", "NORM_CLOSE", "BAR_CLOSE")
_MAX_SUBSTITUTIONS = 12
_WRITTEN_OUT = re.compile(r"\\begin\{(\w*matrix|cases|array)\}.*?(?:\\end\{\1\}|\Z)", re.DOTALL)

# Words that may stand between a letter and what is said of its size: "β is some very large constant".
_LINKING = frozenset(
    [
        "is",
        "be",
        "are",
        "being",
        "was",
        "a",
        "an",
        "the",
        "some",
        "any",
        "very",
        "chosen",
        "to",
        "sufficiently",
        "arbitrarily",
        "extremely",
        "positive",
        "scalar",
        "constant",
        "number",
        "as",
        "with",
        "taken",
        "should",
        "must",
        "needs",
        "need",
        "goes",
        "go",
        "tends",
        "tend",
        "approaches",
        "going",
        "real",
        "value",
        "factor",
        "and",
        "that",
        "such",
        "becomes",
        "grows",
        "set",
        "fixed",
        "parameter",
        "scale",
        "denotes",
        "represents",
        "can",
        "made",
        "for",
        "where",
        "of",
        "towards",
        "toward",
        "quite",
        "really",
        "temperature",
        "inverse",
        "i",
        "e",
        "too",
        "enough",
        "which",
    ]
)


@dataclass(frozen=True)
class Place:
    """Where in the answer sheet something stands."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Fault:
    """Something written that cannot be read."""

    cause: str
    place: Place
    text: str
    defines: frozenset[Symbol] = frozenset()  # the letters that were being defined when it went wrong

    def __str__(self) -> str:
        return f"{self.place}: in '{quote(self.text, 60)}' {self.cause}"


@dataclass(frozen=True)
class Clause:
    """Members joined by relations: M = AAᵀ = Σ aᵢaᵢᵀ has three and two. One member alone is a bare expression."""

    members: tuple[tuple[Token, ...], ...]
    relations: tuple[str, ...]
    piece: Piece
    kind: str
    order: int = 0  # where in the stream of the whole answer it begins


@dataclass(frozen=True)
class Proposed:
    """One equation for an asked name: the readable members of its chain, and how it was related to the name."""

    chains: tuple[tuple[Expression, ...], ...]  # what is joined by `=`; between them stands ≈
    faults: tuple[Fault, ...]
    relation: str
    place: Place
    text: str

    @property
    def members(self) -> tuple[Expression, ...]:
        return tuple(member for chain in self.chains for member in chain)


@dataclass(frozen=True)
class Size:
    """What is said about a letter: `growth` is large, small or nothing; `sign` + or −."""

    growth: str = ""
    sign: str = ""


@dataclass
class Statements:
    """Everything mathematical in one answer."""

    answer: Answer
    vocabulary: Vocabulary
    clauses: list[Clause] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)

    # ---- asked-for names ----

    def proposals(self, spellings: Sequence[Expression], *, through_approximations: bool = False) -> list[Proposed]:
        """Every equation one of whose members is the asked name, in the order they were written."""
        found = []
        for clause in self.clauses:
            for place, tokens in enumerate(clause.members):
                left = self.read(tokens)
                if left is None or len(clause.members) < 2 or len(tokens) > 12:
                    continue
                flipped = isinstance(left, Transpose)
                if any(_same_name(left.of if isinstance(left, Transpose) else left, one) for one in spellings):
                    proposed = self._proposed(clause, place, flipped, through_approximations)
                    if proposed is not None:
                        found.append(proposed)
                    break
        return found

    def bare(self) -> list[Proposed]:
        """Expressions that stand alone in mathematics or code and are more than a letter."""
        found = []
        for clause in self.clauses:
            if len(clause.members) == 1 and clause.kind != "prose" and len(clause.members[0]) > 1:
                expression = self.read(clause.members[0])
                if expression is not None and not isinstance(expression, (Symbol, Number)):
                    text = _text_of(clause, clause.members[0])
                    place = self._place(clause, clause.members[0][0].start)
                    found.append(Proposed(((expression,),), (), "", place, text))
        return found

    def _proposed(self, clause: Clause, place: int, flipped: bool, through: bool) -> Proposed | None:
        sides = self._related(clause, place, through)
        if not sides:
            return None
        relation = sides[0][1]
        chains: list[list[Expression]] = [[]]
        faults = []
        if any(not tokens for tokens, _ in sides):
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
                chains[-1].append(Transpose(expression) if flipped else expression)
        if not any(chains) and not faults:
            return None
        written = [token for tokens in (clause.members[place], *(tokens for tokens, _ in sides)) for token in tokens]
        first, last = min(token.start for token in written), max(token.end for token in written)
        text = clause.piece.text[first:last]
        return Proposed(
            tuple(tuple(chain) for chain in chains if chain), tuple(faults), relation, self._place(clause, first), text
        )

    def _related(self, clause: Clause, place: int, through: bool) -> list[tuple[tuple[Token, ...], str]]:
        """The members joined to this one: after it by `=` (the first step may be ≈ or ∝), else before it."""
        found: list[tuple[tuple[Token, ...], str]] = []
        for at in range(place, len(clause.relations)):
            relation = clause.relations[at]
            if relation not in _EQUAL or (found and relation != "=" and not through):
                break
            found.append((clause.members[at + 1], relation))
        if not found:
            for at in range(place - 1, -1, -1):
                if clause.relations[at] != "=":
                    break
                found.append((clause.members[at], "="))
        return found

    # ---- definitions and assumptions ----

    def definitions(self) -> dict[Symbol, Expression]:
        """What the answer itself introduces: `let P = AAᵀ`, `β = 10⁶`. The last word counts."""
        found: dict[Symbol, Expression] = {}
        for clause in self.clauses:
            for place, tokens in enumerate(clause.members[:-1]):
                left = self.read(tokens)
                if not isinstance(left, Symbol) or clause.relations[place] != "=":
                    continue
                if str(left) in self.vocabulary.asked or self.vocabulary.find(left.name, left.index):
                    continue
                right = self.read(clause.members[place + 1])
                if right is not None and left not in symbols_in(right):
                    found[left] = right
        return found

    def expanded(self, expression: Expression) -> Expression:
        """With the answer's own definitions put in, except of letters said to be large or small."""
        definitions = {name: meaning for name, meaning in self.definitions().items() if not self.size_of(name).growth}
        for _ in range(_MAX_SUBSTITUTIONS):
            refuse_unbounded(expression, self.vocabulary)
            changed = rebuilt(
                expression,
                lambda part: definitions.get(part, part) if isinstance(part, Symbol) else part,
            )
            if changed == expression:
                return expression
            expression = changed
        raise Unreadable("its definitions go round in a circle")

    def size_of(self, symbol: Symbol) -> Size:
        """What is said about a letter's size, in symbols or in words."""
        found = [_in_words(symbol, self.tokens)]
        for clause in self.clauses:
            for at, relation in enumerate(clause.relations):
                if relation in _COMPARED:
                    left, right = (self.read(clause.members[at + step]) for step in (0, 1))
                    found.append(_compared(symbol, left, relation, right))
        growth = [size.growth for size in found if size.growth]
        sign = [size.sign for size in found if size.sign]
        return Size(growth[-1] if growth else "", sign[-1] if sign else "")

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
        before = clause.piece.text[:at]
        line = clause.piece.line + before.count("\n")
        return Place(self.answer.file, line, at - (before.rfind("\n") + 1) + 1)

    def _fault(self, clause: Clause, fault: Unreadable, tokens: tuple[Token, ...]) -> Fault:
        at = fault.place or (tokens[0].start if tokens else 0)
        return Fault(fault.cause, self._place(clause, at), _text_of(clause, tokens) or clause.piece.text)


def read_statements(answer: Answer, vocabulary: Vocabulary) -> Statements:
    found = Statements(answer, vocabulary)
    stream: list[tuple[Token, Piece]] = []
    for piece in answer.pieces:
        tokens: list[Token] = []
        for start, text in _rows(piece):
            try:
                row = read_tokens(text, vocabulary, prose=piece.kind == "prose")
            except Unreadable as fault:
                place = found._place(Clause((), (), piece, piece.kind), start + fault.place)
                found.faults.append(Fault(fault.cause, place, text, _defined_in(text[: fault.place], vocabulary)))
                row = []
            if tokens or start:
                tokens.append(Token("ROW", "", start, start))
            tokens.extend(Token(one.kind, one.value, one.start + start, one.end + start) for one in row)
        if (
            (piece.kind != "prose" and stream and stream[-1][1].kind != "prose")
            or (stream and piece.line > stream[-1][1].line + stream[-1][1].text.count("\n"))
            or (piece.kind != "prose" and any(one.kind == "RELATION" for one in tokens) and not _awaits(stream))
        ):
            stream.append((Token("BREAK", "", 0, 0), piece))
        stream.extend((token, piece) for token in tokens)
        if piece.kind != "prose" and any(one.kind == "RELATION" for one in tokens):
            stream.append((Token("BREAK", "soft", 0, 0), piece))
    found.tokens = [token for token, _ in stream]
    found.clauses = list(_clauses(stream))
    return found


def _defined_in(text: str, vocabulary: Vocabulary) -> frozenset[Symbol]:
    try:
        tokens = read_tokens(text, vocabulary)
    except Unreadable:
        return frozenset()
    pairs = zip(tokens, tokens[1:], strict=False)
    return frozenset(one.value for one, after in pairs if one.kind == "NAME" and after.value == "=")


def _rows(piece: Piece) -> Iterator[tuple[int, str]]:
    """Rows of a display, lines and sentences of prose: what is wrong in one does not spoil the others."""
    pattern = r"\\\\(?:\[[^\]]*\])?" if piece.kind == "math" else r"\n|(?<=[a-z)])\.\s+(?=[A-Z])"
    start = 0
    whole = [found.span() for found in _WRITTEN_OUT.finditer(piece.text)]
    for found in re.finditer(pattern, piece.text):
        if any(begin < found.start() < end for begin, end in whole):
            continue
        yield start, piece.text[start : found.start()]
        start = found.end()
    yield start, piece.text[start:]


def _awaits(stream: list[tuple[Token, Piece]]) -> bool:
    """Whether what stands before ends in the middle of a formula: `q =` and then the mathematics."""
    return bool(stream) and stream[-1][0].kind in ("RELATION", "OPERATOR", "+", "-", "(", "/")


def _clauses(stream: list[tuple[Token, Piece]]) -> Iterator[Clause]:
    run: list[tuple[Token, Piece]] = []
    earlier: Clause | None = None
    for order, (token, piece) in enumerate([*stream, (Token("BREAK", "", 0, 0), Piece("prose", "", 0))]):
        if token.kind in ("BREAK", "WORD", "ENVIRONMENT", "ROW") or (
            token.kind == "RELATION" and token.value in ("⇒", "∀", "|", "⊥", "∉")
        ):
            continues = bool(run) and run[0][0].kind == "RELATION"
            for clause in _split(run, order - len(run), earlier if continues else None):
                yield clause
                earlier = clause
            if token.kind == "WORD" or (token.kind == "BREAK" and token.value not in ("soft", "\n") and not run):
                earlier = earlier if token.kind == "BREAK" else None
            run = []
        else:
            run.append((token, piece))


def _split(run: list[tuple[Token, Piece]], order: int, earlier: Clause | None) -> Iterator[Clause]:
    """One run of tokens → its clause, after conditions in brackets have been taken out."""
    if not run:
        return
    piece = run[-1][1]
    kind = "prose" if all(one.kind == "prose" for _, one in run) else piece.kind
    tokens = _without_loose_brackets([token for token, _ in run])
    kept, conditions = _conditions_apart(tokens)
    for condition in conditions:
        yield from _joined(condition, piece, kind, order, None)
    yield from _joined(kept, piece, kind, order, earlier)


def _joined(tokens: list[Token], piece: Piece, kind: str, order: int, earlier: Clause | None) -> Iterator[Clause]:
    members: list[list[Token]] = [[]]
    relations: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token.kind in _OPEN) - (token.kind in _CLOSE)
        if token.kind == "RELATION" and depth == 0:
            relations.append(token.value)
            members.append([])
        else:
            members[-1].append(token)
    cut = [tuple(member) for member in members]
    listed = [_listed(member) for member in cut]
    if len(cut) == 2 and listed[0] and len(listed[0]) == len(listed[1]):  # (q_1, q_2) = (x, y)
        for one, other in zip(*listed, strict=True):
            yield Clause((one, other), tuple(relations), piece, kind, order)
        return
    if earlier is not None and not cut[0]:
        cut, relations = [*earlier.members, *cut[1:]], [*earlier.relations, *relations]
    if any(cut):
        yield Clause(tuple(cut), tuple(relations), piece, kind, order)


def _listed(tokens: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The items of `(x, y)`; none if it is no list."""
    if len(tokens) < 5 or tokens[0].kind != "(" or _closing(list(tokens), 0) != len(tokens) - 1:
        return []
    items: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[1:-1]:
        depth += (token.kind in _OPEN) - (token.kind in _CLOSE)
        if token.kind == "COMMA" and depth == 0:
            items.append([])
        else:
            items[-1].append(token)
    return [tuple(item) for item in items] if len(items) > 1 else []


def _without_loose_brackets(tokens: list[Token]) -> list[Token]:
    """Brackets that belong to the sentence and not to the formula: `(q = β(k_a + k_b))`."""
    while tokens and tokens[0].kind == "(" and _closing(tokens, 0) in (None, len(tokens) - 1):
        inner = tokens[1:] if _closing(tokens, 0) is None else tokens[1:-1]
        if _closing(tokens, 0) is not None and not any(one.kind == "RELATION" for one in inner):
            break
        if _closing(tokens, 0) is None and not any(one.kind == "RELATION" for one in inner):
            break
        tokens = inner
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.kind in _OPEN) - (token.kind in _CLOSE)
        if depth < 0 and at == len(tokens) - 1 and token.kind == ")" and any(one.kind == "RELATION" for one in tokens):
            return tokens[:-1]
    return tokens


def _closing(tokens: list[Token], at: int) -> int | None:
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].kind in _OPEN) - (tokens[place].kind in _CLOSE)
        if depth == 0:
            return place
    return None


def _conditions_apart(tokens: list[Token]) -> tuple[list[Token], list[list[Token]]]:
    """`β(k_a + k_b) (β ≫ 0)`: a bracket that compares is a condition, not a factor."""
    kept: list[Token] = []
    conditions = []
    at = 0
    while at < len(tokens):
        end = _closing(tokens, at) if tokens[at].kind == "(" else None
        inner = tokens[at + 1 : end] if end is not None else []
        if end is not None and any(one.kind == "RELATION" and one.value in _COMPARED for one in inner):
            conditions.append(inner)
            at = end + 1
        else:
            kept.append(tokens[at])
            at += 1
    return kept, conditions


def _text_of(clause: Clause, tokens: Sequence[Token]) -> str:
    return clause.piece.text[tokens[0].start : tokens[-1].end] if tokens else ""


def _same_name(left: Expression, asked: Expression) -> bool:
    """Whether a left side is the asked name, however it was joined: q^{(1)} for q_1, Δ h and Δh."""
    if isinstance(left, Power) and isinstance(left.base, Symbol) and isinstance(left.exponent, Number):
        left = Symbol(left.base.name, (str(left.exponent.value),))
    if isinstance(left, Symbol) and isinstance(asked, Symbol):
        return (left.name, left.index) == (asked.name, asked.index)
    return left == asked


def _compared(symbol: Symbol, left: Expression | None, relation: str, right: Expression | None) -> Size:
    """β ≫ 0, 0 ≪ β, β > 0, β → ∞, β ≪ 1, β < 0."""
    if right == symbol and left is not None and relation != "→":
        turned = {"≫": "≪", "≪": "≫", ">": "<", "<": ">", "≥": "≤", "≤": "≥"}
        left, right, relation = right, left, turned[relation]
    if isinstance(right, PseudoInverse):  # τ → 0⁺
        right = right.of
    if left != symbol or right is None:
        return Size()
    value = right.value if isinstance(right, Number) else None
    negative = (value is not None and value < 0) or _is_minus_infinity(right)
    if relation == "→":
        if value is not None:
            return Size("small" if value == 0 else "")
        return Size("large", "−" if negative else "+")
    if relation in ("≫", ">", "≥"):
        large = relation == "≫" or value is None or value >= 5
        return Size("large" if large and not negative else "", "" if negative else "+")
    if value == 0 or negative:
        return Size("large" if relation == "≪" else "", "−")
    return Size("small" if value is not None and value <= 1 else "")


def _is_minus_infinity(expression: Expression) -> bool:
    return isinstance(expression, Multiply) and expression.right == Constant("∞")


def _in_words(symbol: Symbol, tokens: Sequence[Token]) -> Size:
    """'a very large constant C', 'β is sufficiently large', 't tends to infinity'."""
    if symbol.name in spelling.SCALE_WORDS:  # the scale itself was written as a word
        large = symbol.name in spelling.LARGE_WORDS
        return Size("large" if large else "small" if symbol.name in spelling.SMALL_WORDS else "")
    for at, token in enumerate(tokens):
        if token.kind == "NAME" and token.value == symbol:
            for nearby in (tokens[at + 1 : at + 10], tokens[max(0, at - 4) : at][::-1]):
                size = _said_by(nearby)
                if size != Size():
                    return size
    return Size()


def _said_by(nearby: Sequence[Token]) -> Size:
    """What the words next to a letter say, as long as they can be about it."""
    joined = False
    for distance, near in enumerate(nearby):
        word = str(near.value).lower()
        if near.kind == "CONSTANT" and word == "∞" and distance:
            return Size("large", "+")
        if (near.kind == "NAME" and len(word) > 1) or (near.kind == "NAME" and word != "a"):
            if not joined:
                return Size()
        elif near.kind == "WORD":
            if word == "negative":
                return Size("", "−")
            if word in spelling.LARGE_WORDS - {"sufficiently", "arbitrarily", "extremely"}:
                return Size("large", "+")
            if word in spelling.SMALL_WORDS:
                return Size("small")
            if word not in _LINKING:
                return Size()
        elif near.kind not in ("BREAK", "RELATION", "NUMBER") or near.value in (".", "=", "≈"):
            return Size()
        joined = word in ("and", ",", "")
    return Size()
