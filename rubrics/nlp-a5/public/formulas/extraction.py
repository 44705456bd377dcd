"""A matrix that takes one vector out of a sum of two: rewritten with what A and B are, and always sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader import Answer, Array, Outcome, Student, check
from grader.formulas import (
    HALF,
    ONE,
    UNSIZED,
    AskedName,
    Declared,
    Expression,
    Reading,
    Share,
    Symbol,
    Typed,
    Values,
    Verdict,
    Vocabulary,
    as_read,
    canonical,
    evaluate,
    formula_outcome,
    how_read,
    judged,
    partly,
    plain,
    read_by,
    right,
    seed_from,
    shown,
    symbols_in,
    wrong,
)

from . import rewriting

VOCABULARY = Vocabulary(
    declared=(
        Declared("A", ("d", "m")),
        Declared("B", ("d", "p")),
        Declared("a", ("d", ONE), ("m",), columns_of="A"),
        Declared("b", ("d", ONE), ("p",), columns_of="B"),
        Declared("v", ("d", ONE), labels=("a", "b")),
        Declared("s", ("d", ONE)),
    ),
    dimensions=("d", "m", "p"),
    asked=("M",),
)
EXPECTED = ("d", "d")
# d, m, p: rectangular, m larger and smaller than p, with and without room beside both, and spans of one vector.
_SIZES = ((7, 3, 2), (6, 2, 4), (5, 1, 3), (8, 4, 1), (4, 1, 1))
_EXACT = 1e-8  # of an entry; the vectors are of length about 2


def _question(name: str) -> AskedName:
    return AskedName(name, expected=EXPECTED)


def _as_read(answer: Answer, *, name: str = "M", partial: Share = HALF) -> list[Reading]:
    return [how_read(answer, VOCABULARY, _question(name))]


@read_by(_as_read)
@check
def extracts_one_vector_of_a_sum(
    student: Student, rng: np.random.Generator, *, name: str = "M", partial: Share = HALF
) -> Outcome:
    """M turns v_a + v_b into v_a, for all v_a in the span of A and v_b in the span of B."""
    return formula_outcome(_extracts, student, partial, name, seed_from(rng))


def _extracts(answer: Answer, name: str, seed: int) -> Verdict:
    return judged(answer, VOCABULARY, _question(name), lambda found: judge(found, np.random.default_rng(seed)))


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def judge(found: Typed, rng: np.random.Generator) -> Verdict:
    """What the matrix does to v_a + v_b, in five worlds."""
    formula = plain(found.expression)
    used = {symbol.name for symbol in symbols_in(found.expression)}
    if used & {"v", "s"}:
        which = "s" if "s" in used else "v_a or v_b"
        return wrong(
            "M must work for any v_a and v_b, so it cannot be made of them",
            f"{formula} uses {which}; use the basis vectors",
            code="uses_unknowns",
        )
    if found.shape == UNSIZED:
        return wrong("M is zero, so M s is 0", f"M = {formula}", code="formula_is_zero")
    if found.shape != EXPECTED:
        return _misshapen(found, formula)
    worlds = [_World.drawn(*size, rng) for size in _SIZES]
    scalars = VOCABULARY.free(found.expression)
    images = [world.image(found.expression, scalars, rng) for world in worlds]
    errors = [float(np.abs(image - world.v_a).max()) for world, image in zip(worlds, images, strict=True)]
    normal = rewriting.normal_form(found.expression)
    evidence: dict[str, Any] = {
        **as_read(found.expression),
        "canonical": canonical(found.expression, VOCABULARY) if normal is None else rewriting.shown(normal),
        "simplified": "" if normal is None else rewriting.shown(normal),
        "proved": normal is not None and rewriting.extracts(normal),
        "largest_error": max(errors) if np.isfinite(errors).all() else None,
        "sizes_sampled": [list(size) for size in _SIZES],
    }
    refuted = normal is not None and not rewriting.extracts(normal)  # what is right up to 10⁻⁹ is wrong
    if np.isfinite(errors).all() and max(errors) <= _EXACT and not refuted:
        if used & {"A", "a"}:
            return right("M s = v_a for every v_a and v_b", evidence=evidence)
        return partly(
            "M s = v_a holds, but M was to be built from the vectors a_i, and this one needs the b_i",
            f"{formula} removes v_b instead of keeping v_a; what if only A is known?",
            evidence,
            code="uses_other_basis",
        )
    what, numbers, code = _what_it_does(worlds, images)
    scale = f" (and {plain(scalars[0])} is not said to be 1)" if scalars else ""
    return wrong(f"M s is not v_a: {what}", f"{formula} {numbers}{scale}", evidence, code=code)


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
    evidence = {**as_read(found.expression), "shape": f"{rows}×{columns}"}
    return wrong("M has the wrong shape: it should be d×d", detail, evidence, code="wrong_shape")


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
        return np.asarray(evaluate(expression, replace(self.values, scalars=drawn)) @ (self.v_a + self.v_b))


def _what_it_does(worlds: list[_World], images: list[Array]) -> tuple[str, str, str]:
    """The named mistake, a counter-example's numbers, and a code."""
    world, image = worlds[0], images[0]
    sizes = world.values.sizes
    place = f"(sampled with d={sizes['d']}, m={sizes['m']}, p={sizes['p']})"
    if not np.isfinite(image).all():
        return "it does not exist for these A and B", f"gives no finite matrix {place}", "not_finite"

    def is_always(wanted: Callable[[_World, Array], Array]) -> bool:
        return all(np.allclose(got, wanted(one, got), atol=_EXACT) for one, got in zip(worlds, images, strict=True))

    if is_always(lambda one, got: one.v_a + one.v_b):
        return "it leaves s as it is", f"gives v_a + v_b back {place}", "changes_nothing"
    if is_always(lambda one, got: one.v_b):
        return "it gives v_b, the other part", f"gives v_b {place}", "gives_other_part"
    if is_always(lambda one, got: 0 * one.v_a):
        return "it gives 0", f"gives 0 {place}", "formula_is_zero"
    if is_always(lambda one, got: _share(one, got) * one.v_a):
        return "it gives a multiple of v_a", f"gives {_share(world, image):.3g} times v_a {place}", "wrong_factor"
    error = float(np.abs(image - world.v_a).max())
    return "it gives something else", f"is off by {error:.2g} in some entry {place}", "formula_wrong"


def _share(world: _World, image: Array) -> float:
    """How much of v_a is in the image."""
    return float((world.v_a * image).sum() / (world.v_a**2).sum())
