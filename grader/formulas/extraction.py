"""*extracts*: does M(v_a + v_b) = v_a hold for all v_a in A's span and v_b in B's? Rewritten, and always sampled."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from grader.formulas.evaluation import Array, Values, evaluate
from grader.formulas.expressions import (
    Add,
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
    symbols_in,
)
from grader.formulas.shapes import Typed, shown
from grader.formulas.verdicts import Verdict, right, wrong
from grader.formulas.vocabulary import Declared, Vocabulary
from grader.formulas.writer import plain

VOCABULARY = Vocabulary(
    declared=(
        Declared("A", ("d", "m")),
        Declared("B", ("d", "p")),
        Declared("a", ("d", "1"), ("m",), columns_of="A"),
        Declared("b", ("d", "1"), ("p",), columns_of="B"),
        Declared("v", ("d", "1"), labels=("a", "b")),
        Declared("s", ("d", "1")),
    ),
    dimensions=("d", "m", "p"),
    asked=("M",),
)
EXPECTED = ("d", "d")
# d, m, p: rectangular, m larger and smaller than p, with and without room beside both, and spans of one vector.
_SIZES = ((7, 3, 2), (6, 2, 4), (5, 1, 3), (8, 4, 1), (4, 1, 1))
_EXACT = 1e-8


def judge(found: Typed, rng: np.random.Generator) -> Verdict:
    """What the matrix does to v_a + v_b, in five worlds."""
    formula = plain(found.expression)
    used = {symbol.name for symbol in symbols_in(found.expression)}
    if used & {"v", "s"}:
        which = "s" if "s" in used else "v_a or v_b"
        return wrong(
            "M must work for any v_a and v_b, so it cannot be made of them",
            f"{formula} uses {which}; use the basis vectors",
        )
    if found.shape != EXPECTED:
        return _misshapen(found, formula)
    worlds = [_World.drawn(*size, rng) for size in _SIZES]
    scalars = VOCABULARY.free(found.expression)
    images = [world.image(found.expression, scalars, rng) for world in worlds]
    errors = [float(np.abs(image - world.v_a).max()) for world, image in zip(worlds, images, strict=True)]
    normal = normal_form(found.expression)
    evidence: dict[str, Any] = {
        "read_as": formula,
        "simplified": "" if normal is None else shown_words(normal),
        "proved": normal is not None and extracts_by_rewriting(normal),
        "largest_error": max(errors) if np.isfinite(errors).all() else None,
        "sizes_sampled": [list(size) for size in _SIZES],
    }
    if np.isfinite(errors).all() and max(errors) <= _EXACT:
        if used & {"A", "a"}:
            return right("M s = v_a for every v_a and v_b", evidence=evidence)
        return Verdict(
            Fraction(1, 2),
            "M s = v_a holds, but M was to be built from the vectors a_i, and this one needs the b_i",
            f"{formula} removes v_b instead of keeping v_a; what if only A is known?",
            evidence,
        )
    what, numbers = _what_it_does(worlds, images)
    scale = f" (and {plain(scalars[0])} is not said to be 1)" if scalars else ""
    return wrong(f"M s is not v_a: {what}", f"{formula} {numbers}{scale}", evidence)


def _misshapen(found: Typed, formula: str) -> Verdict:
    rows, columns = found.shape
    if (rows, columns) == ("m", "d"):
        detail = f"{formula} is m×d: it turns s into m coordinates, not into v_a ∈ ℝᵈ; go back with A"
    elif (rows, columns) == ("m", "m"):
        detail = f"{formula} is m×m and cannot be applied to s ∈ ℝᵈ (with orthonormal columns AᵀA is I_m)"
    elif columns == "d":
        detail = f"{formula} is {shown(found.shape)}: it turns s into {rows} numbers, not into v_a ∈ ℝᵈ"
    else:
        detail = f"{formula} is {shown(found.shape)}: it cannot be applied to s ∈ ℝᵈ"
    return wrong("M has the wrong shape: it should be d×d", detail, {"read_as": formula, "shape": f"{rows}×{columns}"})


@dataclass(frozen=True)
class _World:
    """Orthonormal A and B with AᵀB = 0, and one vector of each span."""

    values: Values
    v_a: Array
    v_b: Array

    @classmethod
    def drawn(cls, d: int, m: int, p: int, rng: np.random.Generator) -> _World:
        basis = np.linalg.qr(rng.standard_normal((d, m + p)))[0]  # (d, m+p)
        A, B = basis[:, :m], basis[:, m:]
        values = Values(
            sizes={"d": d, "m": m, "p": p},
            arrays={"A": A, "B": B},
            families={"a": A.T, "b": B.T},
        )
        return cls(values, A @ rng.standard_normal((m, 1)), B @ rng.standard_normal((p, 1)))

    def image(self, expression: Expression, scalars: list[Symbol], rng: np.random.Generator) -> Array:
        drawn = {symbol: float(rng.uniform(1.5, 3.0)) for symbol in scalars}
        values = Values(self.values.sizes, self.values.arrays, self.values.families, scalars=drawn)
        return evaluate(expression, values) @ (self.v_a + self.v_b)


def _what_it_does(worlds: list[_World], images: list[Array]) -> tuple[str, str]:
    """The named mistake, and a counter-example's numbers."""
    world, image = worlds[0], images[0]
    sizes = world.values.sizes
    place = f"(sampled with d={sizes['d']}, m={sizes['m']}, p={sizes['p']})"
    if not np.isfinite(image).all():
        return "it does not exist for these A and B", f"gives no finite matrix {place}"

    def is_always(target: Any) -> bool:
        return all(
            np.allclose(one, target(one_world), atol=1e-8) for one_world, one in zip(worlds, images, strict=True)
        )

    if is_always(lambda one: one.v_a + one.v_b):
        return "it leaves s as it is", f"gives v_a + v_b back {place}"
    if is_always(lambda one: one.v_b):
        return "it gives v_b, the other part", f"gives v_b {place}"
    if is_always(lambda one: 0 * one.v_a):
        return "it gives 0", f"gives 0 {place}"
    factors = [float((one.v_a * got).sum() / (one.v_a**2).sum()) for one, got in zip(worlds, images, strict=True)]
    if all(
        np.allclose(got, factor * one.v_a, atol=1e-8) for one, got, factor in zip(worlds, images, factors, strict=True)
    ):
        return "it gives a multiple of v_a", f"gives {factors[0]:.3g} times v_a {place}"
    error = float(np.abs(image - world.v_a).max())
    return "it gives something else", f"is off by {error:.2g} in some entry {place}"


# ---- rewriting with AᵀA = I, BᵀB = I, AᵀB = 0 ----

Word = tuple[str, ...]  # letters A, A', B, B'
Words = dict[Word, Fraction]
_RULES: dict[tuple[str, str], bool] = {
    ("A'", "A"): True,
    ("B'", "B"): True,
    ("A'", "B"): False,
    ("B'", "A"): False,
}


def normal_form(expression: Expression) -> Words | None:
    """A sum of words in A, Aᵀ, B, Bᵀ that no rule shortens; None if the expression is not of that kind."""
    try:
        return _words(expression)
    except _NotWords:
        return None


class _NotWords(Exception):
    pass


def _words(expression: Expression) -> Words:
    match expression:
        case Symbol("A" | "B", (), ""):
            return {(expression.name,): Fraction(1)}
        case Identity():
            return {(): Fraction(1)}
        case Number(value):
            return {(): value}
        case Add(terms):
            total: Words = {}
            for term in terms:
                for word, factor in _words(term).items():
                    total[word] = total.get(word, Fraction(0)) + factor
            return _nonzero(total)
        case Multiply(left, right):
            return _times(_words(left), _words(right))
        case Divide(over, Number(value)) if value:
            return {word: factor / value for word, factor in _words(over).items()}
        case Transpose(of):
            return {tuple(_turned(letter) for letter in reversed(word)): factor for word, factor in _words(of).items()}
        case Power(base, Number(value)) if value == -1:
            inner = _words(base)
            if set(inner) == {()} and inner[()]:
                return {(): 1 / inner[()]}
        case Power(base, Number(value)) if value.denominator == 1 and 1 <= value <= 8:
            inner = _words(base)
            product: Words = {(): Fraction(1)}
            for _ in range(int(value)):
                product = _times(product, inner)
            return product
        case PseudoInverse(of):
            inner = _words(of)
            if len(inner) == 1 and len(next(iter(inner))) == 1:  # orthonormal columns: A⁺ = Aᵀ
                ((word, factor),) = inner.items()
                return {(_turned(word[0]),): 1 / factor}
        case Sum(domain, Multiply(Symbol(one, (i,)), Transpose(Symbol(other, (j,))))) if one == other and i == j:
            whole = domain.low in ("", "1") and not domain.without and not domain.only and domain.index == i
            if whole and one in ("a", "b"):
                return {(one.upper(), f"{one.upper()}'"): Fraction(1)}
    raise _NotWords


def _turned(letter: str) -> str:
    return letter.removesuffix("'") if letter.endswith("'") else f"{letter}'"


def _times(left: Words, right: Words) -> Words:
    total: Words = {}
    for one, factor in left.items():
        for other, times in right.items():
            word = _shortened((*one, *other))
            if word is not None:
                total[word] = total.get(word, Fraction(0)) + factor * times
            if len(total) > 200:
                raise _NotWords
    return _nonzero(total)


def _shortened(word: Word) -> Word | None:
    """None is zero."""
    kept: list[str] = []
    for letter in word:
        rule = _RULES.get((kept[-1], letter)) if kept else None
        if rule is None:
            kept.append(letter)
        elif rule:
            kept.pop()
        else:
            return None
    return tuple(kept)


def _nonzero(words: Words) -> Words:
    return {word: factor for word, factor in words.items() if factor}


def extracts_by_rewriting(matrix: Words) -> bool:
    """M A = A and M B = 0 are all it takes."""
    return _times(matrix, {("A",): Fraction(1)}) == {("A",): Fraction(1)} and not _times(matrix, {("B",): Fraction(1)})


def shown_words(words: Words) -> str:
    pieces = []
    for word, factor in sorted(words.items()):
        letters = " ".join(letter.replace("'", "ᵀ") for letter in word) or "I"
        pieces.append(letters if factor == 1 else f"−{letters}" if factor == -1 else f"{factor} {letters}")
    return " + ".join(pieces).replace("+ −", "− ") or "0"
