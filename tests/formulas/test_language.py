"""The answer language: every spelling means the same, and what is written can be read again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.formulas.compute.evaluation import Values, evaluate
from grader.formulas.lexing.lexer import Unreadable, read_tokens
from grader.formulas.syntax.expressions import Expression, Symbol
from grader.formulas.syntax.parser import parse
from grader.formulas.syntax.writer import latex, numpy_code, plain
from grader.formulas.typing.shapes import Misfit, typed
from grader.formulas.typing.vocabulary import Vocabulary
from tests.conftest import examples
from tests.formulas.expressions_drawn import matrices, queries
from tests.formulas.spelling_out import BASES, KEYS


def _read(text: str, vocabulary: Vocabulary = BASES) -> Expression:
    return parse(read_tokens(text, vocabulary), vocabulary)


SAME = {
    "A Aᵀ": [
        "A A^T",
        r"AA^\top",
        "A A'",
        "A @ A.T",
        "AAᵀ",
        r"A \cdot A^{\mathsf T}",
        r"\mathbf{A}\mathbf{A}^{\top}",
        "AAT",
        "A*A.T",
        r"A\,A^{\intercal}",
        "np.dot(A, A.T)",
        "A.dot(A.T)",
        "np.matmul(A, np.transpose(A))",
        "A × Aᵀ",
        r"\boldsymbol{A} {\bf A}^{\rm T}",
        r"\left(A\right)\left(A^\top\right)",
        r"\bigl(A\bigr) A^{\text{T}}",
        "A A⊤",
        r"[a_1, \dots, a_m] A^T",
        "𝐀𝐀ᵀ",
    ],
    "Σ_{i=1}^{m} a_i a_iᵀ": [
        r"\sum_{i=1}^m a_i a_i^\top",
        "∑_{i=1}^m a_i a_iᵀ",
        r"\sum\limits_{i=1}^{m} a_{i}a_{i}^{T}",
        "sum_{i=1}^m a_i a_i^T",
        r"a_1 a_1^\top + a_2 a_2^\top + \cdots + a_m a_m^\top",
        "sum(a_i @ a_i.T for i in range(m))",
        r"\sum_{1 \le i \le m} a_i a_i^\top",
    ],
    "A (Aᵀ A)^(-1) Aᵀ": [
        r"A(A^\top A)^{-1}A^\top",
        "A @ np.linalg.inv(A.T @ A) @ A.T",
        "A(AᵀA)⁻¹Aᵀ",
        "A (A^T A)**-1 A^T",
    ],
    "I - B Bᵀ": [r"I - BB^\top", r"\mathbf{I} - B B^{T}", "I − BBᵀ", r"I-B\,B'"],
    "1/2 A": [r"\frac{1}{2}A", r"\frac12 A", "½A", "1/2 A", r"\tfrac{1}{2} A", "1/2*A"],
}


@pytest.mark.parametrize(("meaning", "spelling"), [(key, text) for key, texts in SAME.items() for text in texts])
def test_spellings_mean_the_same(meaning: str, spelling: str) -> None:
    want = typed(_read(SAME[meaning][0]), BASES, ("d", "d"))
    got = typed(_read(spelling), BASES, ("d", "d"))
    assert got.shape == want.shape
    values = _bases(np.random.default_rng(3))
    np.testing.assert_allclose(evaluate(got.expression, values), evaluate(want.expression, values))


SCALED = [
    r"\beta(k_a+k_b)",
    "beta*(k_a + k_b)",
    "β(kₐ + k_b)",
    r"\beta\left(k_a + k_b\right)",
    r"\beta (\vec{k}_a + \vec{k}_b)",
    "β·(ka + kb)",
    r"\beta k_{a} + \beta k_{\text{b}}",
    r"\beta\, [k_a + k_b]",
    r"(k_a + k_b)\beta",
    r"\beta \sum_{i \in \{a, b\}} k_i",
    "beta * k_a + beta * k_b",
    r"\beta\{k_a + k_b\}",
    r"\beta \times (k_a+k_b)",
    "β (K_a + K_b)",
    r"\beta(\mathbf{k_a} + \mathbf{k_b})",
    r"\frac{k_a + k_b}{1/\beta}",
]


@pytest.mark.parametrize("text", SCALED)
def test_a_scale_before_a_bracket_multiplies(text: str) -> None:
    values = _keys(np.random.default_rng(5))
    got = evaluate(typed(_read(text, KEYS), KEYS).expression, values)
    k, beta = values.families["k"], values.scalars[Symbol("β")]
    np.testing.assert_allclose(got[:, 0], beta * (k[0] + k[1]))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (r"\beta(k_a + k_b", "never closed"),
        ("k_a + + * k_b", "cannot stand here"),
        ("k_a)", "closes nothing"),
        ("k_a +", "breaks off"),
        (r"\foo k_a", r"the command '\foo' is not known"),
        ("__import__('os')", ""),
        ("k_a ± k_b", "which sign"),
        ("1" * 50, "50 digits"),
        ("(" * 60 + "k_a" + ")" * 60, "nested more than"),
        ("k_a \u202e+ k_b", "direction of writing"),
        ("1e999", "too large"),
    ],
)
def test_what_cannot_be_read_is_explained_with_its_place(text: str, cause: str) -> None:
    with pytest.raises(Unreadable) as caught:
        _read(text, KEYS)
    assert cause in caught.value.cause
    assert 0 <= caught.value.place <= len(text)
    assert "\n" not in caught.value.cause


SOFTMAX = {
    "softmax(Aᵀ B, axis=1)": [
        "softmax(A.T @ B, dim=1)",
        "softmax(A.T @ B, dim=-1)",
        "softmax(A.T @ B, axis = -1)",
        "softmax(A^T B, -1)",
        "softmax(A^T B, 1)",
        "torch.softmax(A.transpose(-1, -2) @ B, dim=-1)",
        "F.softmax(A.transpose(0, 1) @ B, -1)",
        "torch.nn.functional.softmax(A.mT @ B, dim=-1)",
        "scipy.special.softmax(A.swapaxes(-2, -1) @ B, axis=-1)",
        "torch.softmax(torch.transpose(A, -1, -2) @ B, -1)",
        "softmax(np.swapaxes(A, 0, 1) @ B, axis=-1)",
        "(A.T @ B).softmax(dim=-1)",
        "(A.T @ B).softmax(-1)",
        r"\operatorname{softmax}(A^\top B, dim=-1)",
    ],
    "softmax(Aᵀ B, axis=0)": ["softmax(A.T @ B, dim=0)", "softmax(A.T @ B, -2)", "(A.T @ B).softmax(axis=-2)"],
    "softmax(Aᵀ B)": ["softmax(A.T @ B)", "F.softmax(A.transpose() @ B)"],
}


@pytest.mark.parametrize(("meaning", "spelling"), [(key, text) for key, texts in SOFTMAX.items() for text in texts])
def test_a_softmax_is_told_its_direction_as_in_numpy_and_torch(meaning: str, spelling: str) -> None:
    assert plain(_read(spelling)) == meaning


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("softmax(A.T @ B, dim=2)", "a matrix has the axes 0 and 1, or -2 and -1, and no axis 2"),
        ("softmax(A.T @ B, B)", "no axis B"),
        ("softmax(A.T @ B, -1, 0)", "'softmax' takes 1 argument"),
        ("(A.T @ B).softmax(A)", "no axis A"),
        ("A.transpose(0, 2)", "does not swap rows and columns"),
        ("torch.transpose(A, 0, 0)", "'transpose' takes 1 argument"),
    ],
)
def test_axes_that_a_matrix_does_not_have_are_not_guessed_at(text: str, cause: str) -> None:
    with pytest.raises(Unreadable) as caught:
        _read(text)
    assert cause in caught.value.cause


def test_a_function_of_a_matrix_is_not_guessed_at() -> None:
    """Entry by entry, or of the matrix? A person decides."""
    with pytest.raises(Unreadable, match="exp is taken of A, which is d×m"):
        typed(_read("exp(A)"), BASES)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("A^{-1}", "A is d×m, not square: it has no inverse"),
        ("A + B", "A is d×m and B is d×p: they cannot be added"),
        ("A B", "A is d×m and B is d×p: they cannot be multiplied"),
        ("a_i a_i^T", "stands outside a sum over i"),
        ("1/A", "it divides by A, which is d×m"),
    ],
)
def test_what_does_not_fit_together_is_said_in_the_students_symbols(text: str, what: str) -> None:
    with pytest.raises(Misfit) as caught:
        typed(_read(text), BASES)
    assert what in caught.value.what


def _bases(rng: np.random.Generator) -> Values:
    """Not orthonormal, so that nothing is equal by accident."""
    left, right = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    scalars = {Symbol(name): float(rng.uniform(0.5, 1.5)) for name in ("β", "C")}
    return Values({"d": 5, "m": 3, "p": 2}, {"A": left, "B": right}, {"a": left.T, "b": right.T}, scalars=scalars)


def _keys(rng: np.random.Generator) -> Values:
    scalars = {Symbol(name): float(rng.uniform(0.5, 1.5)) for name in ("β", "C")}
    return Values({"d": 6, "n": 4}, {}, {"k": rng.standard_normal((4, 6))}, {"a": 0, "b": 1}, scalars)


@settings(max_examples=examples(150), deadline=None)
@given(matrices(), st.sampled_from([plain, latex, numpy_code]))
def test_matrices_can_be_written_and_read_again(expression: Expression, write: object) -> None:
    _survives(expression, write(expression), BASES, _bases(np.random.default_rng(1)))  # type: ignore[operator]


@settings(max_examples=examples(150), deadline=None)
@given(queries(), st.sampled_from([plain, latex, numpy_code]))
def test_queries_can_be_written_and_read_again(expression: Expression, write: object) -> None:
    _survives(expression, write(expression), KEYS, _keys(np.random.default_rng(2)))  # type: ignore[operator]


def _survives(expression: Expression, text: str, vocabulary: Vocabulary, values: Values) -> None:
    want = typed(expression, vocabulary)
    got = typed(_read(text, vocabulary), vocabulary)
    assert got.shape == want.shape, text
    expected = evaluate(want.expression, values)
    np.testing.assert_allclose(
        evaluate(got.expression, values), expected, rtol=1e-8, atol=1e-8 * (1 + np.abs(expected).max()), err_msg=text
    )
