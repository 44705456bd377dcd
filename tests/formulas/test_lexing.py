"""The first stage alone: text → tokens, written as `KIND value · KIND value`; what cannot be read, with its place."""

from __future__ import annotations

from typing import Any

import pytest

from grader.formulas.lexing.lexer import Token, Unreadable, read_tokens
from grader.formulas.lexing.tokens import MAX_CHARACTERS, MAX_DEPTH, MAX_DIGITS, MAX_NAME, MAX_TOKENS
from grader.formulas.syntax.expressions import Domain
from grader.formulas.typing.vocabulary import Vocabulary
from tests.formulas.spelling_out import BASES, KEYS


def _value(value: Any) -> str:
    if isinstance(value, Domain):
        bounds = f"{value.low}..{value.high}" if value.high else ""
        without = f"≠{','.join(value.without)}" if value.without else ""
        return " ".join(part for part in (value.index, bounds, without) if part)
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _row(tokens: list[Token]) -> str:
    return " · ".join(f"{one.kind} {_value(one.value)}" if _value(one.value) else one.kind for one in tokens)


def _short(row: str) -> str:
    """Signs stand for themselves: `( (` is written `(`."""
    return " · ".join(word[0] if (word := one.split(" "))[:1] == word[1:] else one for one in row.split(" · "))


LATEX = [
    (
        r"q = \beta(k_a+k_b), \beta \gg 0",
        "NAME q · RELATION = · NAME β · ( · NAME k_a · + · NAME k_b · ) · BREAK , · NAME β · RELATION ≫ · NUMBER 0",
    ),
    (r"\frac{1}{2}k_a", "FRACTION frac · { · NUMBER 1 · } · { · NUMBER 2 · } · NAME k_a"),
    (r"\frac12 k_a", "FRACTION frac · { · NUMBER 1 · } · { · NUMBER 2 · } · NAME k_a"),
    (r"\tfrac1n k_a", "FRACTION tfrac · { · NUMBER 1 · } · NAME n · NAME k_a"),
    (r"\mathbf{k}_a^{\top} q", "NAME k_a · TRANSPOSE T · NAME q"),
    (r"\mathbf{k_a}", "NAME k_a"),
    (r"\hat{k}_a", "NAME k̂_a"),
    (r"\bar{\mathbf{k}}", "NAME k̄"),
    (r"\sum_{i=1}^{n} k_i", "SUM i 1..n · NAME k_i"),
    (r"\sum\limits_{i \neq a} k_i", "SUM i ≠a · NAME k_i"),
    (r"\left\| k_a \right\|_2", "NORM_OPEN ‖ · NAME k_a · NORM_CLOSE ‖"),
    (r"|k_a|", "BAR_OPEN | · NAME k_a · BAR_CLOSE |"),
    (r"\operatorname{softmax}(k_a^T q)", "FUNCTION softmax · ( · NAME k_a · TRANSPOSE T · NAME q · )"),
    (r"\text{where } \beta \to \infty", "WORD where · NAME β · RELATION → · CONSTANT ∞"),
    (r"10^{6} k_a", "NUMBER 10 · ^ · { · NUMBER 6 · } · NAME k_a"),
    (r"10{,}000 k_a", "NUMBER 10000 · NAME k_a"),
    (r"q^* = k_{\text{a}}", "NAME q · STAR * · RELATION = · NAME k_a"),
    (r"k^T_a", "NAME k · TRANSPOSE T · INDEX a"),
    (r"k\_a", "NAME k · INDEX a"),
    (r"\color{red}{k_a}", "NAME k_a"),
    (r"\stackrel{!}{=} k_a", "RELATION = · NAME k_a"),
    (r"\begin{aligned} q &= k_a \end{aligned}", "BREAK aligned · NAME q · RELATION = · NAME k_a · BREAK aligned"),
    (r"\begin{pmatrix}1\\0\end{pmatrix} k_a", r"OPAQUE \begin{pmatrix} · NAME k_a"),
    (r"\lim_{\beta\to\infty} q", "NAME q"),
    (r"\langle k_a, q\rangle", "⟨ langle · NAME k_a · COMMA , · NAME q · ⟩ rangle"),
    (r"q \coloneqq k_a \quad \forall i", "NAME q · RELATION = · NAME k_a · BREAK quad · RELATION ∀ · NAME i"),
    (r"k_a \lor k_b", "NAME k_a · WORD or · NAME k_b"),
]
PLAIN = [
    ("q = beta*(ka + kb)", "NAME q · RELATION = · NAME β · OPERATOR * · ( · NAME k_a · + · NAME k_b · )"),
    ("q* = k2", "NAME q · STAR * · RELATION = · NAME k_2"),
    ("2βk_a", "NUMBER 2 · NAME β · NAME k_a"),
    ("1e6 k_a", "NUMBER 1000000 · NAME k_a"),
    ("10,000 k_a", "NUMBER 10000 · NAME k_a"),
    ("1,5 (k_a)", "NUMBER 3/2 · ( · NAME k_a · )"),
    ("k_a' q", "NAME k_a · PRIME ' · NAME q"),
    ("large_number * k_a", "NAME large_number · OPERATOR * · NAME k_a"),
    ("inf * k_a", "CONSTANT ∞ · OPERATOR * · NAME k_a"),
    ("x^2y", "NAME x · ^ · { · NUMBER 2 · } · NAME y"),
    ("x**2y", "NAME x · ^ · NUMBER 2 · NAME y"),
    ('k[a] + k["b"]', "NAME k · INDEX a · + · NAME k · INDEX b"),
    ("q <- k_a; q -> k_b", "NAME q · RELATION = · NAME k_a · BREAK ; · NAME q · RELATION → · NAME k_b"),
    ("sum_i k_i", "SUM i · NAME k_i"),
    ("softmax_rows(k)", "FUNCTION softmax over rows · ( · NAME k · )"),
    ("k_a % the first key", "NAME k_a"),
    ("k_a or k_b", "NAME k_a · WORD or · NAME k_b"),
]
UNICODE = [
    ("½(kₐ + k_b)", "NUMBER 1/2 · ( · NAME k_a · + · NAME k_b · )"),
    ("k̂_a", "NAME k̂_a"),
    ("𝐤_aᵀq", "NAME k_a · TRANSPOSE T · NAME q"),
    ("⟨k_a|q⟩", "( · NAME k_a · ) · TRANSPOSE T · ( · NAME q · )"),
    ("Σ_{i=1}^n k_i", "SUM i 1..n · NAME k_i"),
    ("Σ_a k_a", "NAME Σ_a · NAME k_a"),
    ("√d ≈ ∞", "SQRT √ · NAME d · RELATION ≈ · CONSTANT ∞"),
    ("x² − q", "NAME x · ^ · { · NUMBER 2 · } · - · NAME q"),
    ("к_a", "NAME k_a"),  # a Cyrillic letter
    ("k\u200b_a", "NAME k_a"),  # and a space that nobody sees
]
NUMPY = [
    ("M = A @ A.T", "NAME M · RELATION = · NAME A · OPERATOR @ · NAME A · TRANSPOSE T"),
    ("A.dot(A.t())", "NAME A · OPERATOR @ · ( · NAME A · TRANSPOSE T · )"),
    ("A.mm(A.mT)", "NAME A · OPERATOR @ · ( · NAME A · TRANSPOSE T · )"),
    ("np.linalg.inv(A)", "FUNCTION inverse · ( · NAME A · )"),
    ("np.eye(d)", "FUNCTION identity · ( · NAME d · )"),
    ("np.pi", "CONSTANT π"),
    ("A[:, i]", "NAME A · COLUMN i"),
    (
        "torch.softmax(A, dim=1)",
        "FUNCTION softmax · ( · NAME A · COMMA , · NAME dim · RELATION = · NUMBER 1 · )",
    ),
    (
        "sum(a_i @ a_i.T for i in range(m))",
        "SUM i 1..m · ( · NAME a_i · OPERATOR @ · NAME a_i · TRANSPOSE T · )",
    ),
    ("A %*% t(A)", "NAME A · OPERATOR @ · FUNCTION transpose · ( · NAME A · )"),  # R
]
MATRICES = [
    ("AAT", "NAME A · NAME A · TRANSPOSE T"),
    (r"A^{-\top}", "NAME A · ^ · { · NUMBER -1 · } · TRANSPOSE T"),
    ("A^+ I", "NAME A · DAGGER + · IDENTITY"),
    (r"\mathbb{1} - {\bf B}", "IDENTITY · - · { · NAME B · }"),
    (r"a_{i,j} \otimes b_i", "NAME a_ij · OPERATOR ⊗ · NAME b_i"),
]
PROSE = [
    (
        "We choose a large beta, so q = k_a.",
        "WORD We · WORD choose · WORD a · WORD large · NAME β · BREAK , · WORD so · NAME q · RELATION = · NAME k_a · "
        "BREAK .",
    ),
    ("I think A is a key, A", "WORD I · WORD think · WORD A · WORD is · WORD a · WORD key · BREAK , · NAME A"),
    ("| q | k_a |", "BREAK | · NAME q · BREAK | · NAME k_a · BREAK |"),
    ("这是 q", "WORD 这是 · NAME q"),
    ("A^T^ k_a", "NAME A · TRANSPOSE T · NAME k_a"),
    ("q = a large number times k_a", "NAME q · RELATION = · NAME scale · NAME k_a"),
    ("q is k_a times k_b", "NAME q · WORD is · NAME k_a · OPERATOR · · NAME k_b"),
    ("done.Then q ~ 5!", "WORD done · BREAK . · WORD Then · NAME q · RELATION ∼ · NUMBER 5 · BREAK !"),
    ("k_a € k_b", "NAME k_a · BREAK € · NAME k_b"),
]
UNREADABLE = [
    (r"k_a + \foo", r"the command '\foo' is not known here", 6),
    ("k_a ± k_b", "'±' leaves open which sign is meant; write one", 4),
    ("k_a + " + "1" * (MAX_DIGITS + 1), "a number of 41 digits; up to 40 are read", 6),
    ("1e400", "the number 1e400 is too large; exponents up to 300 are read", 0),
    ("(" * (MAX_DEPTH + 1) + "k_a", "brackets are nested more than 40 deep", 40),
    ("k_a_", "something should stand here, but the formula ends", 3),
    ("k_{a", "the bracket '{' is never closed", 2),
    ("q = _a", "'_' should stand after a letter", 4),
    ("k_a € k_b", "the character '€' has no meaning here", 4),
    ("q = k__a", "'= k__' is not mathematics", 4),
    ("k\u202e_a", "it holds a character that turns the direction of writing round; type it anew", 1),
    ("x" * (MAX_NAME + 1), "'xxxxxxxxxxxxxxxxxxx…' is no name of a symbol", 0),
    (r"q = \( k_a \)", r"'\(' begins or ends mathematics, and stands inside it", 4),
    (r"\hat{kq}", r"'\hat' should stand over one letter", 0),
    ("q = foo.bar", "'foo.bar' is not known here", 4),
    ("k" * (MAX_CHARACTERS + 1), "it is 20,001 characters long; formulas are read up to 20,000", 0),
    ("k+" * (MAX_TOKENS // 2 + 1), "it has more than 4,000 symbols", MAX_TOKENS),
]


@pytest.mark.parametrize(("text", "want"), [*LATEX, *PLAIN, *UNICODE])
def test_a_formula_is_read_as(text: str, want: str) -> None:
    assert _short(_row(read_tokens(text, KEYS))) == want


@pytest.mark.parametrize(("text", "want"), [*NUMPY, *MATRICES])
def test_matrices_are_read_as(text: str, want: str) -> None:
    assert _short(_row(read_tokens(text, BASES))) == want


@pytest.mark.parametrize(("text", "want"), PROSE)
def test_prose_is_read_as(text: str, want: str) -> None:
    assert _short(_row(read_tokens(text, KEYS, prose=True))) == want


@pytest.mark.parametrize(("text", "cause", "place"), UNREADABLE)
def test_what_cannot_be_read_is_said_with_its_place(text: str, cause: str, place: int) -> None:
    with pytest.raises(Unreadable) as told:
        read_tokens(text, KEYS)
    assert (told.value.cause, told.value.place) == (cause, place)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("q = kₐ", ["q", "=", "kₐ"]),
        (r"\mathbf{k}_a^{\top} q", ["k}_a", r"^{\top}", "q"]),
        ("𝐀 = 2,5 (x½)", ["𝐀", "=", "2,5", "(", "x", "½", ")"]),
        (r"\frac12", [r"\frac", "", "1", "", "", "2", ""]),
        ("A.dot(k)", ["A", ".dot", "(", "k", ")"]),
    ],
)
def test_a_token_knows_where_it_was_written(text: str, want: list[str]) -> None:
    assert [text[one.start : one.end] for one in read_tokens(text, Vocabulary(()))] == want


# One letter or transpose stays what it is in whatever face it is set.
FACES = ["mathbf", "boldsymbol", "bm", "textbf", "mathit", "textit", "mathsf", "mathrm", "mathtt", "mathcal", "mbox"]


@pytest.mark.parametrize("face", [*FACES, "text", "textrm", "operatorname", "textnormal"])
def test_a_face_changes_nothing(face: str) -> None:
    assert _row(read_tokens(rf"k_{{\{face}{{a}}}}", KEYS)) == "NAME k_a"
    assert _row(read_tokens(rf"A^{{\{face}{{T}}}}", BASES)) == "NAME A · TRANSPOSE T"
    assert _row(read_tokens(rf"\hat{{\{face}{{k}}}}_a", KEYS)) == "NAME k̂_a"


@pytest.mark.parametrize("face", ["rm", "bf", "it", "sf", "cal"])
def test_a_face_may_be_switched_on(face: str) -> None:
    assert _row(read_tokens(rf"k_{{\{face} a}}", KEYS)) == "NAME k_a"
    assert _row(read_tokens(rf"A^{{\{face} T}}", BASES)) == "NAME A · TRANSPOSE T"
