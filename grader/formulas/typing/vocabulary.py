"""The symbols a question knows, with their shapes. Anything else is a free scalar, or a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from grader.formulas.syntax.expressions import Expression, Sum, Symbol, symbols_in, walk
from grader.notation.function_names import FUNCTIONS
from grader.notation.letters import LETTERS

ONE = "1"
SCALAR = (ONE, ONE)
_BELOW_A_WIDTH = ("k", "key", "head", "model")
Shape = tuple[str, str]  # rows and columns, each the name of a dimension or a number


@dataclass(frozen=True)
class Declared:
    """A symbol, or a family of them: k_i for i up to n, of which k_a and k_b may be two."""

    name: str
    shape: Shape = SCALAR
    runs_to: tuple[str, ...] = ()  # one dimension for each index it carries
    labels: tuple[str, ...] = ()  # indices with names of their own; without `runs_to` they are the only ones
    columns_of: str = ""  # a_i is column i of A
    aliases: tuple[str, ...] = ()
    rows_of: str = ""  # k_i is row i of K, where tokens stand in rows

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class Vocabulary:
    declared: tuple[Declared, ...]
    dimensions: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()  # the names an answer defines: known on the left, never used on the right
    functions: frozenset[str] = field(default_factory=frozenset)  # beyond the usual ones: O, say, or `declared`
    defined: Mapping[str, Expression] = field(default_factory=dict)  # functions of a number x that the question defines
    where: Mapping[Symbol, Expression] = field(default_factory=dict)  # letters that the question defines
    marks_matter: bool = False  # whether ĥ is another thing than h
    derivatives: bool = False  # whether dL/dW is one, as where one is asked for
    means: Mapping[str, str] = field(default_factory=dict)  # E[x_i] is m_i

    def find(self, name: str, index: tuple[str, ...] = ()) -> tuple[Declared, tuple[str, ...]] | None:
        """The declaration that a name with an index means, and the index as that declaration counts it."""
        for fits in (_exactly, _ignoring_case):
            for one in self.declared:
                if any(fits(spelling, name) for spelling in one.spellings):
                    labels = _as_indices(one, index)
                    if labels is not None:
                        return one, labels
            if any(name == one.name for one in self.declared) or name in self.dimensions:
                break  # the letter itself is known: its other case is another letter
        return None

    def symbol(self, name: str, index: tuple[str, ...], mark: str = "") -> Symbol:
        """The name as this question spells it."""
        found = self.find(name, index)
        if found is None and name in self.dimensions:
            return Symbol(name)  # d_k and d_model are d
        return Symbol(found[0].name, found[1], mark) if found else Symbol(name, index, mark)

    def knows(self, symbol: Symbol) -> bool:
        return self.find(symbol.name, symbol.index) is not None and not (symbol.mark and self.marks_matter)

    @cached_property
    def words(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Plain spellings without an underscore: `ka` for k_a."""
        found: dict[str, tuple[str, tuple[str, ...]]] = {}
        for one in self.declared:
            for spelling in one.spellings:
                if not one.runs_to:
                    found.setdefault(spelling, (one.name, ()))
                for label in (*one.labels, *(("i", "j", "1", "2", *one.runs_to) if one.runs_to else ())):
                    found.setdefault(f"{spelling}{label}", (one.name, (label,)))
                    if self.find(spelling.upper()) is None and spelling.upper() not in self.dimensions:
                        found.setdefault(f"{spelling.upper()}{label}", (one.name, (label,)))  # Ka
        for name in (*self.dimensions, *self.asked):
            letter, _, below = name.partition("_")
            found.setdefault(letter + below, (letter, (below,) if below else ()))
        if "d" in self.dimensions:  # dk and dmodel are d_k and d_model, which are d
            found |= {f"d{below}": ("d", ()) for below in _BELOW_A_WIDTH if f"d{below}" not in found}
        return found

    @cached_property
    def recognised(self) -> frozenset[str]:
        """Every run of letters that means something by itself: a symbol, a Greek letter, a function."""
        symbols = (spelling for one in self.declared for spelling in one.spellings)
        letters = (*LETTERS, *LETTERS.values(), "T", "I")
        return frozenset((*self.words, *symbols, *self.functions, *FUNCTIONS, *letters))

    def free(self, expression: Expression) -> list[Symbol]:
        """The letters nobody declared, in the order of first mention: scales and other numbers."""
        indices = {part.domain.index for part in walk(expression) if isinstance(part, Sum)}
        return [
            symbol
            for symbol in symbols_in(expression)
            if not self.knows(symbol)
            and symbol.name not in self.dimensions
            and not (symbol.name in indices and not symbol.index)
        ]


def _exactly(spelling: str, name: str) -> bool:
    return spelling == name


def _ignoring_case(spelling: str, name: str) -> bool:
    return spelling.lower() == name.lower() and len(name) == 1


def _as_indices(one: Declared, index: tuple[str, ...]) -> tuple[str, ...] | None:
    """The index as this declaration counts it, or None if it carries another number of them."""
    wanted = len(one.runs_to) or (1 if one.labels else 0)
    if len(index) == 1 and wanted > 1 and len(index[0]) == wanted:  # a_{ij}
        index = tuple(index[0])
    if len(index) != wanted:
        return None
    lowered = tuple(label.lower() for label in index)
    if one.labels and index[0] not in one.labels and lowered[0] in one.labels:  # K_A
        return lowered
    return index if one.runs_to or not one.labels or index[0] in one.labels else None
