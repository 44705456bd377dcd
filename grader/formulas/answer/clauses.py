"""The tokens of a whole answer → clauses: members joined by relations, each with the conditions taken out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.formulas.answer.growth_claims import COMPARED
from grader.formulas.lexing.tokens import Token
from grader.model import Piece

Stream = list[tuple[Token, Piece]]  # every token with the piece of the answer it stands in

_OPENING = ("(", "{", "⟨", "NORM_OPEN", "BAR_OPEN")
_CLOSING = (")", "}", "⟩", "NORM_CLOSE", "BAR_CLOSE")
_BETWEEN_CLAUSES = ("BREAK", "WORD", "ROW")
_BETWEEN_STATEMENTS = ("⇒", "∀", "|", "⊥", "∉")  # relations that end a clause
_SHORTEST_LIST = 5  # tokens of (x, y)


@dataclass(frozen=True)
class Clause:
    """Members joined by relations: P = UVᵀ = Σ uᵢvᵢᵀ has three and two. One member alone is a bare expression."""

    members: tuple[tuple[Token, ...], ...]
    relations: tuple[str, ...]
    piece: Piece
    kind: str
    order: int = 0  # where in the stream of the whole answer it begins
    ends: int = 0  # and the place of what ends it

    def text_of(self, tokens: Sequence[Token]) -> str:
        return self.piece.text[tokens[0].start : tokens[-1].end] if tokens else ""


def clauses_in(stream: Stream) -> Iterator[Clause]:
    """In the order they were written; one that begins with a relation goes on where the one before ended."""
    run: Stream = []
    earlier: Clause | None = None
    for order, (token, piece) in enumerate([*stream, (Token("BREAK", "", 0, 0), Piece("prose", "", 0))]):
        ends = token.kind in _BETWEEN_CLAUSES or (token.kind == "RELATION" and token.value in _BETWEEN_STATEMENTS)
        if not ends:
            run.append((token, piece))
            continue
        continues = bool(run) and run[0][0].kind == "RELATION"
        for clause in _clauses_of(run, order - len(run), earlier if continues else None):
            earlier = replace(clause, ends=order)
            yield earlier
        if token.kind == "WORD":
            earlier = None
        run = []


def _clauses_of(run: Stream, order: int, earlier: Clause | None) -> Iterator[Clause]:
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


def _joined(tokens: Sequence[Token], piece: Piece, kind: str, order: int, earlier: Clause | None) -> Iterator[Clause]:
    members = _cut(tokens, "RELATION")
    relations = [str(token.value) for token in _at_the_top(tokens, "RELATION")]
    listed = [_listed(member) for member in members]
    if len(members) == 2 and listed[0] and len(listed[0]) == len(listed[1]):  # (q_1, q_2) = (x, y)
        for one, other in zip(*listed, strict=True):
            yield Clause((one, other), tuple(relations), piece, kind, order)
        return
    if earlier is not None and not members[0]:
        members, relations = [*earlier.members, *members[1:]], [*earlier.relations, *relations]
    if any(members):
        yield Clause(tuple(members), tuple(relations), piece, kind, order)


def _listed(tokens: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The items of `(x, y)`; none if it is no list."""
    if len(tokens) < _SHORTEST_LIST or tokens[0].kind != "(" or _closing(tokens, 0) != len(tokens) - 1:
        return []
    items = _cut(tokens[1:-1], "COMMA")
    return items if len(items) > 1 else []


def _cut(tokens: Sequence[Token], kind: str) -> list[tuple[Token, ...]]:
    """What stands between the tokens of a kind that are in no bracket."""
    places = [at for at, depth in enumerate(_depths(tokens)) if depth == 0 and tokens[at].kind == kind]
    starts, ends = [0, *(at + 1 for at in places)], [*places, len(tokens)]
    return [tuple(tokens[start:end]) for start, end in zip(starts, ends, strict=True)]


def _at_the_top(tokens: Sequence[Token], kind: str) -> list[Token]:
    return [token for token, depth in zip(tokens, _depths(tokens), strict=True) if depth == 0 and token.kind == kind]


def _depths(tokens: Sequence[Token]) -> Iterator[int]:
    """How many brackets are open after each token."""
    depth = 0
    for token in tokens:
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        yield depth


def _closing(tokens: Sequence[Token], at: int) -> int | None:
    """Where the bracket that opens here is closed."""
    return next((at + ahead for ahead, depth in enumerate(_depths(tokens[at:])) if depth == 0), None)


def _relates(tokens: Sequence[Token]) -> bool:
    return any(token.kind == "RELATION" for token in tokens)


def _without_loose_brackets(tokens: list[Token]) -> list[Token]:
    """Brackets that belong to the sentence and not to the formula: `(y = c(u − w))`."""
    while tokens and tokens[0].kind == "(":
        close = _closing(tokens, 0)
        inner = tokens[1:] if close is None else tokens[1:-1]
        if close not in (None, len(tokens) - 1) or not _relates(inner):
            break
        tokens = inner
    while tokens and tokens[-1].kind == "(":  # `UVᵀ (or …)`: what it holds is words
        tokens = tokens[:-1]
    if tokens and tokens[-1].kind == ")" and list(_depths(tokens))[-1] < 0:
        return tokens[:-1]
    return tokens


def _conditions_apart(tokens: Sequence[Token]) -> tuple[list[Token], list[Sequence[Token]]]:
    """`c(u − w) (c ≫ 0)`: a bracket that compares is a condition, not a factor."""
    kept: list[Token] = []
    conditions: list[Sequence[Token]] = []
    at = 0
    while at < len(tokens):
        end = _closing(tokens, at) if tokens[at].kind == "(" else None
        inner = tokens[at + 1 : end] if end is not None else []
        if end is not None and any(one.kind == "RELATION" and one.value in COMPARED for one in inner):
            conditions.append(inner)
            at = end + 1
        else:
            kept.append(tokens[at])
            at += 1
    return kept, conditions
