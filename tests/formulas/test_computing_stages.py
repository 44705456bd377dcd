"""The stages from a tree to shapes, numbers and normal forms, each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.formulas.compute.evaluation import Values, evaluate
from grader.formulas.compute.symbolic import NoProof, as_sympy, attempted
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.shapes import UNSIZED, Misfit, shown, typed
from grader.formulas.typing.vocabulary import SCALAR, Shape
from tests.formulas.spelling_out import BASES, read


@pytest.mark.parametrize(
    ("name", "index", "found"),
    [
        ("A", (), ("A", ())),
        ("a", ("i",), ("a", ("i",))),
        ("v", ("a",), ("v", ("a",))),
        ("v", ("A",), ("v", ("a",))),
        ("S", (), ("s", ())),
        ("a", (), None),
        ("v", ("c",), None),
        ("a", ("i", "j"), None),
        ("d", (), None),
        ("x", (), None),
    ],
)
def test_a_letter_and_its_index_are_looked_up(
    name: str, index: tuple[str, ...], found: tuple[str, tuple[str, ...]] | None
) -> None:
    declared = BASES.find(name, index)
    assert (declared and (declared[0].name, declared[1])) == found


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("A A^T", []),
        ("β A", ["β"]),
        ("C A + β B + C A", ["C", "β"]),
        ("x_1 A", ["x_1"]),
        ("d A", []),
        (r"\sum_i i a_i", []),
        ("v_a", []),
        ("v_c", ["v_c"]),
    ],
)
def test_letters_that_nobody_declared_are_free(text: str, free: list[str]) -> None:
    assert [str(symbol) for symbol in BASES.free(read(text))] == free


@pytest.mark.parametrize(
    ("text", "shape", "settled"),
    [
        ("A", ("d", "m"), "A"),
        ("A^T", ("m", "d"), "Aᵀ"),
        ("A^t", ("m", "d"), "Aᵀ"),
        ("A A^T + I", ("d", "d"), "A Aᵀ + I_d"),
        ("(A^T A)^{-1}", ("m", "m"), "(Aᵀ A)^(-1)"),
        ("a_1 · a_1", SCALAR, "a_1ᵀ a_1"),
        ("a_1 ⊗ b_1", ("d", "d"), "a_1 b_1ᵀ"),
        (r"\sum_i a_i", ("d", "1"), "Σ_{i}^{m} a_i"),
        ("β A", ("d", "m"), "β A"),
        ("A + 0", ("d", "m"), "A"),
        ("0 A", UNSIZED, "0"),
        ("2 I", UNSIZED, "2 I"),
        ("softmax(A)", ("d", "m"), "softmax(A)"),
        ("‖A‖ max(B)", SCALAR, "‖A‖ max(B)"),
        ("σ(A)", ("d", "m"), "σ(A)"),
        ("σ(0)", SCALAR, "logistic(0)"),
        ("sigmoid(A)", ("d", "m"), "logistic(A)"),
        ("e^{a_1}", ("d", "1"), "exp(a_1)"),
        ("1^T A", ("1", "m"), "sum(A)"),
        ("1^T a_1", SCALAR, "sum(a_1)"),
        ("1/(1 + e^{-a_1})", ("d", "1"), "1/(1 + exp(-a_1))"),
        ("max(0, a_1)", ("d", "1"), "relu(a_1)"),
    ],
)
def test_every_part_has_a_shape(text: str, shape: Shape, settled: str) -> None:
    found = typed(read(text), BASES)
    assert (found.shape, plain(found.expression)) == (shape, settled)


@pytest.mark.parametrize(
    ("text", "fault", "what"),
    [
        ("A + B", Misfit, "A is d×m and B is d×p: they cannot be added"),
        ("A B", Misfit, "A is d×m and B is d×p: they cannot be multiplied"),
        ("A + I", Misfit, "the identity is square, and A is d×m: they cannot be added"),
        ("A^{-1}", Misfit, "A is d×m, not square: it has no inverse"),
        ("1/0", Misfit, "it divides by zero"),
        ("2^A", Misfit, "the exponent A is d×m, not a number"),
        ("a_i", Misfit, "a_i stands outside a sum over i: say which one is meant"),
        (r"\sum v_a", Misfit, "it is not clear what the sum runs over"),
        ("softmax(2)", Misfit, "softmax is taken of 2, a single number"),
        ("M A", Misfit, "M is what is asked for; it cannot be used to say what it is"),
        ("U^T", Unreadable, "it is not said what U is"),
        ("a", Unreadable, "a stands without its index"),
        ("exp(A)", Unreadable, "exp is taken of A, which is d×m"),
        ("e^A", Unreadable, "exp is taken of A, which is d×m"),
        ("a_1 + 1", Misfit, "a_1 is a vector with d entries and 1 is a number: they cannot be added"),
        ("1/a_1", Misfit, "it divides by a_1, which is a vector with d entries"),
        ("tanh(a_1)^2", Unreadable, "tanh(a_1) is raised to a power entry by entry, which is not read"),
        (r"\sum_j e^{a_1}", Unreadable, "nothing in the sum of exp(a_1) has an index j"),
        ("1 1^T a_1", Unreadable, "it is not clear how many entries 1ᵀ has"),
        (r"\sum_i β_i a_i", Unreadable, "it is not said what β_i is"),
    ],
)
def test_what_has_no_shape_says_why(text: str, fault: type[Exception], what: str) -> None:
    with pytest.raises(fault) as caught:
        typed(read(text), BASES)
    assert str(caught.value) == what


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (SCALAR, "a number"),
        (("d", "1"), "a vector with d entries"),
        (("1", "d"), "a row with d entries"),
        (("d", "m"), "d×m"),
        (UNSIZED, "an identity matrix"),
    ],
)
def test_a_shape_is_said_in_words(shape: Shape, words: str) -> None:
    assert shown(shape) == words


MATRICES = {"A": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), "B": np.array([[1.0], [0.0], [0.0]])}
VALUES = Values(
    {"d": 3, "m": 2, "p": 1},
    MATRICES,
    {"a": MATRICES["A"].T, "b": MATRICES["B"].T},
    scalars={Symbol("β"): 2.0},
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A^T A", [[35, 44], [44, 56]]),
        ("A^T B", [[1], [2]]),
        ("2 β^3", [[16]]),
        ("1/d", [[1 / 3]]),
        (r"\sum_i a_i", [[3], [7], [11]]),
        (r"\sum_{i \neq 1} a_i", [[2], [4], [6]]),
        (r"\sum_{i=1}^{m-1} a_i", [[1], [3], [5]]),
        ("a_m", [[2], [4], [6]]),
        ("log_2(8)", [[3]]),
        ("‖a_1‖", [[np.sqrt(35)]]),
        ("max(A) + min(1, β)", [[7]]),
        ("softmax(B)", [[0.57611688], [0.21194156], [0.21194156]]),
        ("A^+ A", [[1, 0], [0, 1]]),
        ("I_d B", [[1], [0], [0]]),
        ("1/(β - 2)", [[np.inf]]),
        ("(A A^T)^{-1}", [[np.nan] * 3] * 3),
    ],
)
def test_a_tree_has_a_value(text: str, value: list[list[float]]) -> None:
    np.testing.assert_allclose(evaluate(typed(read(text), BASES).expression, VALUES), value, atol=1e-8)


@pytest.mark.parametrize(
    ("text", "fault", "what"),
    [
        ("a_3", Misfit, "a_3 is not one of the symbols of this question"),
        (r"\sum_{i=1}^{500} β", Misfit, "a sum of 500 terms; up to 200 are read"),
        (r"\sum_{i=1}^{z} β", Misfit, "the sum runs to 'z', which is no size here"),
        ("(A^T A)^{60}", Misfit, "a matrix is raised to a power beyond 50"),
        ("x", Unreadable, "it is not said what x is"),
    ],
)
def test_what_has_no_value_says_why(text: str, fault: type[Exception], what: str) -> None:
    with pytest.raises(fault) as caught:
        evaluate(typed(read(text), BASES).expression, VALUES)
    assert str(caught.value) == what


def _columns(count: int) -> list[Any]:
    import sympy

    return [sympy.Matrix(count, 1, lambda row, _, i=i: int(row == i)) for i in range(count)]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1/3 + 1/6", "1/2"),
        ("exp(β) exp(-β)", "1"),
        ("sqrt(β^2)", "β"),
        ("a_1^T a_1", "1"),
        ("a_1^T a_2", "0"),
        ("‖3 a_1‖", "3"),
        (r"a_2^T \sum_i a_i", "1"),
        (r"a_1^T \sum_{i \neq 1} a_i", "0"),
        ("β^{65}", None),
        ("a_9^T a_1", None),
        ("A", "A"),
        ("I", None),
    ],
)
def test_sympy_gets_the_same_expression(text: str, written: str | None) -> None:
    import sympy

    labels = {"1": 0, "2": 1}
    found = attempted(lambda: sympy.simplify(as_sympy(read(text), {"a": _columns(3)}, labels, 3)), cpu_seconds=5)
    assert (None if found is None else str(found)) == written


def _endless() -> None:
    while True:
        pass


def _no_proof() -> None:
    raise NoProof


@pytest.mark.parametrize(
    ("proof", "found"), [(lambda: 7, 7), (_no_proof, None), (lambda: 1 / 0, None), (_endless, None)]
)
def test_a_proof_is_given_up_in_time(proof: Any, found: int | None) -> None:
    assert attempted(proof, cpu_seconds=0.1) == found
