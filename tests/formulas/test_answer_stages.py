"""The stages from an answer to the equation that counts, each alone: what goes in, and what comes out."""

from __future__ import annotations

import pytest

from grader.formulas.answer.asked_for import AskedName, found_for
from grader.formulas.answer.assertions import assertion_of
from grader.formulas.answer.assignments import assigned
from grader.formulas.answer.clauses import clauses_in
from grader.formulas.answer.explaining import how_read
from grader.formulas.answer.growth_claims import GrowthClaim, said_by_interval, said_in_symbols, said_in_words
from grader.formulas.answer.hedges import offers, with_alternatives
from grader.formulas.answer.implicit_equations import with_implicit_equations
from grader.formulas.answer.remarks import begins_equation, remarks_apart, without_numbers
from grader.formulas.answer.stage_lines import stages_of
from grader.formulas.answer.statements import Proposed, read_statements
from grader.formulas.answer.token_stream import tokens_of
from grader.formulas.lexing.lexer import read_tokens
from grader.formulas.lexing.tokens import Token
from grader.formulas.provers.verdicts import Verdict
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.vocabulary import Vocabulary
from tests.formulas.spelling_out import BASES, KEYS, answer, read, spelled


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("$q = k_a$ and more", "| q = k_a | and more"),
        (r"$$q = \beta k_a \\ + \beta k_b$$", "| q = β k_a + β k_b |"),
        (r"$$q = k_a \\ p = k_b$$", "| q = k_a ⏎ p = k_b |"),
        ("First. Then q = k_a. Next q = k_b", "First ⏎ Then q = k_a ⏎ Next q = k_b"),
        ("`q = k_a  # q = k_b`", "| q = k_a |"),
        ("```python\nq = k_a\nq *= 2\n```", "| q = k_a ⏎ q = ( k_a ) * ( 2 ) |"),
        ("q =\n$\\beta k_a$", "q = | β k_a"),
        ("$q = k_a$ / $q = k_b$", "| q = k_a | or | q = k_b |"),
        (r"$\\beta k_a$", "β k_a"),
        (r"$q = \begin{pmatrix} 1 \\ 2 \end{pmatrix}$", r"| q = \begin{pmatrix} |"),
        ("q: k_a", "q = k_a"),
    ],
)
def test_pieces_become_one_stream_of_tokens(text: str, stream: str) -> None:
    found, unread = tokens_of(answer(text), KEYS)
    assert (spelled(token for token, _ in found), unread) == (stream, [])


@pytest.mark.parametrize(
    ("text", "cause", "place", "defines"),
    [
        (r"$q = \foo$ and $k_a$", r"the command '\foo' is not known here", 4, {"q"}),
        (r"$x = k_a, \; p = \foo$", r"the command '\foo' is not known here", 16, {"x", "p"}),
        ("$q = k_a ± k_b$", "'±' leaves open which sign is meant; write one", 8, {"q"}),
        ("$" + "1" * 50 + "$", "a number of 50 digits; up to 40 are read", 0, set()),
        (r"$$q = k_a \\ \foo$$", r"the command '\foo' is not known here", 11, set()),
    ],
)
def test_a_row_without_tokens_says_why_and_what_it_was_to_define(
    text: str, cause: str, place: int, defines: set[str]
) -> None:
    _, (row,) = tokens_of(answer(text), KEYS)
    assert (row.cause, row.place, {str(symbol) for symbol in row.defines}) == (cause, place, defines)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("q = β(k_a + k_b), β ≫ 0", ["q = β ( k_a + k_b )", "β ≫ 0"]),
        ("(q = k_a)", ["q = k_a"]),
        ("q = k_a)", ["q = k_a"]),
        ("q = β k_a (β > 0)", ["β > 0", "q = β k_a"]),
        ("$(q, p) = (k_a, k_b)$", ["q = k_a", "p = k_b"]),
        ("$q = k_a = k_b$", ["q = k_a = k_b"]),
        ("$q = k_a$ $= k_b$", ["q = k_a", "q = k_a = k_b"]),
        ("k_a ⇒ k_b", ["k_a", "k_b"]),
        ("so q = k_a and then k_b", ["q = k_a", "k_b"]),
        ("q = = k_a", ["q =  = k_a"]),
        ("q = (k_a", ["q = ( k_a"]),
        ("nothing but words", []),
    ],
)
def test_tokens_become_clauses(text: str, clauses: list[str]) -> None:
    stream, _ = tokens_of(answer(text), KEYS)
    found = []
    for clause in clauses_in(stream):
        first, *rest = (spelled(member) for member in clause.members)
        found.append("".join([first, *(f" {one} {side}" for one, side in zip(clause.relations, rest, strict=True))]))
    assert found == clauses


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("M = A A^T", "stated"),
        ("That is wrong, so M = A A^T", "stated"),
        ("M = A A^T, i.e. nothing of B", "stated"),
        ("M = A^T is wrong", "denied"),
        ("M = A^T cannot be right", "denied"),
        ("Unlike M = A^T", "denied"),
        ("it is not M = A^T", "denied"),
        ("Is it M = A^T?", "denied"),
        ("If M = A^T we fail", "beside"),
        ("M = A^T would give m numbers", "beside"),
        ("My classmate has M = A^T", "beside"),
        ("instead of M = A^T", "beside"),
    ],
)
def test_a_sentence_asserts_its_equation_or_denies_it(text: str, says: str) -> None:
    statements = read_statements(answer(text), BASES)
    (clause,) = (one for one in statements.clauses if len(one.members) > 1)
    assert assertion_of(statements.tokens, clause.order, clause.ends) == says


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("M: A A^T", "M = A A ᵀ"),
        ("M → A A^T", "M = A A ᵀ"),
        ("M is A A^T", "M = A A ᵀ"),
        ("M should be the A A^T", "M = A A ᵀ"),
        ("| M | A A^T |", "| M = A A ᵀ |"),
        ("About M: A A^T", "About M = A A ᵀ"),
        ("M = A. M: A^T", "M = A | M | A ᵀ"),
        ("M is nice", "M is nice"),
        ("M A A^T", "M A A ᵀ"),
        ("M is given by A A^T = B", "M is given by A A ᵀ = B"),
    ],
)
def test_an_equation_may_lack_its_sign(text: str, stream: str) -> None:
    (piece,) = answer(text).pieces
    tokens = [(token, piece) for token in read_tokens(text, BASES, prose=True)]
    assert spelled(token for token, _ in with_implicit_equations(tokens, BASES)) == stream


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("M = A A^T (the projection onto A)", "M = A A ᵀ | the projection onto A |"),
        ("M = A A^T (d×d)", "M = A A ᵀ | d · d |"),
        ("M = A (B is dropped)", "M = A | B is dropped |"),
        ("M = A (A + B)", "M = A ( A + B )"),
        ("M = A - here A is known", "M = A | here A is known"),
        ("M = A -- since A is known", "M = A | | since A is known"),
        ("M = A - B", "M = A - B"),
        ("M = A -B is large", "M = A - B is large"),
        ("M = A^T / M = A A^T", "M = A ᵀ or M = A A ᵀ"),
        ("M = A / 2", "M = A / 2"),
    ],
)
def test_remarks_are_set_apart(text: str, tokens: str) -> None:
    assert spelled(remarks_apart(read_tokens(text, BASES, prose=True), text, BASES, prose=True)) == tokens


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ("(3) M = A", "M = A"),
        ("(2b) M ≈ A", "M ≈ A"),
        ("M = A   (2)", "M = A"),
        ("M = A ....(12)", "M = A"),
        ("M = (3)", "M = (3)"),
        ("(3) is odd", "(3) is odd"),
        ("(a) M = A", "(a) M = A"),
        ("M = A (123)", "M = A (123)"),
    ],
)
def test_the_number_of_an_equation_is_no_part_of_it(row: str, kept: str) -> None:
    assert without_numbers(row).strip() == kept
    assert len(without_numbers(row)) == len(row)


@pytest.mark.parametrize(
    ("text", "begins"),
    [("M = A", True), ("M A", False), ("A = M", False), ("M", False), ("", False), ("M ∈ A", True)],
)
def test_where_an_equation_for_an_asked_name_begins(text: str, begins: bool) -> None:
    assert begins_equation(read_tokens(text, BASES), BASES) is begins


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        (["q = k_a"], "q = k_a"),
        (["q = k_a", "q *= 2"], "q = ( k_a ) * ( 2 )"),
        (["q = k_a", "q = q + k_b"], "q = ( k_a ) + k_b"),
        (["q = k_a", "q += k_b", "q /= 2"], "q = ( ( k_a ) + ( k_b ) ) / ( 2 )"),
        (["q = k_a", "q -= k_b"], "q = ( k_a ) - ( k_b )"),
        (["x = 2", "q = x k_a"], "q = x k_a"),
        (["q *= 2"], "q = q * ( 2 )"),
        (["q = k_a", "q"], "q"),
        (["q = k_a + k_b", *["q = q + q"] * 8], "q = q + q"),
    ],
)
def test_a_line_of_code_goes_on_from_the_one_before(lines: list[str], last: str) -> None:
    earlier: dict[Symbol, list[Token]] = {}
    assert spelled([assigned(read_tokens(line, KEYS), earlier) for line in lines][-1]) == last


@pytest.mark.parametrize(
    ("text", "growth", "sign"),
    [
        ("β ≫ 0", "large", "+"),
        ("0 ≪ β", "large", "+"),
        ("β > 0", "", "+"),
        ("β > 100", "large", "+"),
        ("β → ∞", "large", "+"),
        ("β → -∞", "large", "−"),
        ("β → 0", "small", ""),
        ("β ≪ 1", "small", ""),
        ("β < 0", "", "−"),
        ("β ≈ 1", "small", ""),
        ("γ ≫ 0", "", ""),
    ],
)
def test_symbols_claim_how_large_a_letter_is(text: str, growth: str, sign: str) -> None:
    (clause,) = read_statements(answer(f"${text}$"), KEYS).clauses
    left, right = (read(spelled(member), KEYS) for member in clause.members)
    assert said_in_symbols(Symbol("β"), left, clause.relations[0], right) == GrowthClaim(growth, sign)


@pytest.mark.parametrize(
    ("text", "growth", "sign"),
    [
        ("a very large constant β", "large", "+"),
        ("β is sufficiently large", "large", "+"),
        ("β and γ are large", "large", "+"),
        ("β tends to ∞", "large", "+"),
        ("β is not large", "small", ""),
        ("a small β", "small", ""),
        ("a negative β", "", "−"),
        ("β, while γ is large", "", ""),
        ("β is a number", "", ""),
        ("γ is large", "", ""),
    ],
)
def test_words_claim_how_large_a_letter_is(text: str, growth: str, sign: str) -> None:
    assert said_in_words(Symbol("β"), read_tokens(text, KEYS, prose=True)) == GrowthClaim(growth, sign)


@pytest.mark.parametrize(
    ("left", "right", "growth"),
    [("β", "(0, 1)", "small"), ("β", "(0, 100)", ""), ("γ", "(0, 1)", ""), ("β γ", "(0, 1)", ""), ("β", "1", "")],
)
def test_an_interval_claims_how_large_a_letter_is(left: str, right: str, growth: str) -> None:
    assert said_by_interval(Symbol("β"), read_tokens(left, KEYS), read_tokens(right, KEYS)) == GrowthClaim(growth)


@pytest.mark.parametrize(
    ("between", "joined"),
    [
        ("or", True),
        ("or maybe", True),
        ("alternatively", True),
        ("or, in terms of means,", True),
        ("or rather", False),
        ("or not", False),
        ("and", False),
        ("or. Then", False),
        ("or for that matter something else entirely", False),
        ("", False),
    ],
)
def test_little_more_than_an_or_offers_an_alternative(between: str, joined: bool) -> None:
    assert offers(read_tokens(between, BASES, prose=True)) is joined


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("M = A^T or M = B", [("M = A^T", []), ("M = B", ["M = A^T"])]),
        ("M = A, no, M = B", [("M = A", []), ("M = B", [])]),
        ("M = A. Another option is M = B", [("M = A", []), ("M = B", ["M = A"])]),
        ("Option 1: M = A. Option 2: M = B", [("M = A", []), ("M = B", ["M = A"])]),
        ("M = A, M = B", [("M = A", []), ("M = B", ["M = A"])]),
        ("M = A^T or B A", [("M = A^T", []), ("B A", ["M = A^T"])]),
        ("M = A, and hence M = B", [("M = A", []), ("M = B", [])]),
        ("`M = A` `M = B`", [("M = A", []), ("M = B", [])]),
    ],
)
def test_each_equation_knows_its_alternatives(text: str, offered: list[tuple[str, list[str]]]) -> None:
    statements = read_statements(answer(text), BASES)
    found = with_alternatives(statements.proposals([Symbol("M")]), statements)
    assert [(one.text, [other.text for other in one.others]) for one in found] == offered


@pytest.mark.parametrize(
    ("text", "definitions", "redefined"),
    [
        ("let P = A A^T", {"P": "A Aᵀ"}, set()),
        ("P = A and then P = B", {"P": "B"}, set()),
        ("M = A", {}, set()),
        ("A = B", {}, set()),
        ("e.g. d = 1", {}, set()),
        ("with d = m", {}, {"d"}),
        ("β_i = 0 otherwise", {}, set()),
        ("P = P + A", {}, set()),
        ("P ≈ A", {}, set()),
    ],
)
def test_statements_know_what_an_answer_defines(text: str, definitions: dict[str, str], redefined: set[str]) -> None:
    statements = read_statements(answer(text), BASES)
    assert {str(name): plain(meaning) for name, meaning in statements.definitions.items()} == definitions
    assert statements.redefined == redefined


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("M = A^T. Then M = A A^T", "M = A A^T"),
        ("M = A A^T. M = A^T is wrong", "M = A A^T"),
        ("M^T = A", "M^T = A"),
        ("$A A^T$", "A A^T"),
        ("A A^T = M", "A A^T = M"),
        ("M = A(", "M = A"),
        ("M = (A", "formula_unreadable"),
        ("M is not A A^T", "formula_not_found"),
        ("it is not M = A", "formula_not_found"),
        ("$A A^T$ $B B^T$", "formula_not_found"),
        ("M = A A^T $M = \\foo$", "formula_unreadable"),
        ("words", "formula_not_found"),
    ],
)
def test_one_equation_counts_or_a_code_says_why_none_does(text: str, counts: str) -> None:
    found = found_for(AskedName("M", expected=("d", "d")), read_statements(answer(text), BASES))
    assert (found.text if isinstance(found, Proposed) else found.code) == counts


@pytest.mark.parametrize(
    ("vocabulary", "name", "text", "stages"),
    [
        (
            KEYS,
            "q",
            r"$q = \beta(k_a+k_b)$ with β ≫ 0",
            {
                "tokens": "NAME q · REL = · NAME β · ( · NAME k_a · + · NAME k_b · ) · ¦ · WORD with · NAME β"
                " · REL ≫ · NUM 0",
                "clauses": "q = β(k_a + k_b) | β ≫ 0",
                "answer": "q := β(k_a + k_b), with β large and positive",
                "types": "β scalar · k_a, k_b ∈ ℝᵈ · q ∈ ℝᵈ",
            },
        ),
        (
            BASES,
            "M",
            "P = A, so M = P A^T",
            {
                "tokens": "NAME P · REL = · NAME A · , · WORD so · NAME M · REL = · NAME P · NAME A · TRANSPOSE T",
                "clauses": "P = A | M = P Aᵀ",
                "answer": "M := P Aᵀ, which is A Aᵀ",
                "types": "A ∈ ℝᵈˣᵐ · M ∈ ℝᵈˣᵈ",
            },
        ),
        (
            BASES,
            "M",
            "M = A B",
            {
                "tokens": "NAME M · REL = · NAME A · NAME B",
                "clauses": "M = A B",
                "answer": "M := A B",
                "types": "A ∈ ℝᵈˣᵐ · B ∈ ℝᵈˣᵖ · no type: A is d×m and B is d×p: they cannot be multiplied",
            },
        ),
        (
            BASES,
            "M",
            "M = A^T",
            {
                "tokens": "NAME M · REL = · NAME A · TRANSPOSE T",
                "clauses": "M = Aᵀ",
                "answer": "M := Aᵀ",
                "types": "A ∈ ℝᵈˣᵐ · M ∈ ℝᵐˣᵈ (asked for is d×d)",
            },
        ),
        (
            BASES,
            "M",
            "M ∝ d I",
            {
                "tokens": "NAME M · REL ∝ · NAME d · IDENTITY",
                "clauses": "M ∝ d I",
                "answer": "M ∝ d I",
                "types": "d size · M ∈ ℝᵈˣᵈ",
            },
        ),
        (
            BASES,
            "M",
            "M = (A",
            {
                "tokens": "NAME M · REL = · ( · NAME A",
                "clauses": "M = '(A'",
                "answer": "not read: the bracket '(' is never closed",
            },
        ),
        (BASES, "M", r"$M = \foo$", {"tokens": r"not read: 'M = \foo': the command '\foo' is not known here"}),
        (
            BASES,
            "M",
            "nothing",
            {
                "tokens": "WORD nothing",
                "clauses": "none",
                "answer": "not read: answers.md:1: no 'M = …' was found: no formula stands there",
            },
        ),
    ],
)
def test_every_stage_has_its_line_down_to_where_reading_stops(
    vocabulary: Vocabulary, name: str, text: str, stages: dict[str, str]
) -> None:
    expected = ("d", "1") if name == "q" else ("d", "d")
    assert dict(stages_of(how_read(answer(text), vocabulary, AskedName(name, expected=expected)))) == stages


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r"$k_a^\top q = \beta$ and $k_i^\top q = 0$", r"'k_a^\top q = \beta', 'k_i^\top q = 0' were read"),
        (r"$k_a^\top q = \beta k_a^\top (k_a + k_b) = \beta$", "was read"),
        ("ka . q = L, kb . q = L, ki . q = 0, so ka . q = kb . q", "and 1 more were read"),
        ("$c = 1$", "'c = 1' was read"),
        ("large along both keys", "no formula stands there"),
    ],
)
def test_formulas_that_do_not_answer_are_listed(text: str, said: str) -> None:
    found = found_for(AskedName("q", expected=("d", "1")), read_statements(answer(text), KEYS))
    assert isinstance(found, Verdict)
    assert found.message.endswith(said)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("out = A A^T", "out = A A^T"),
        ("`out = A @ A.T`", "out = A @ A.T"),
        ("$out = A A^T$", "out = A A^T"),
        (r"$\text{out} = A A^\top$", r"\text{out} = A A^\top"),
        (r"$\mathrm{Project}(s) = A A^\top$", r"Project(s) = A A^\top"),
        ("$P = A A^T$", "P = A A^T"),
        ("```python\ndef project(A):\n    result = A @ A.T\n```", "result = A @ A.T"),
        ("$P = A A^T$ and $R = B B^T$", "P = A A^T' or 'R = B B^T"),
    ],
)
def test_a_formula_under_another_name_is_asked_about(text: str, other: str) -> None:
    found = found_for(AskedName("M", expected=("d", "d")), read_statements(answer(text), BASES))
    assert isinstance(found, Verdict)
    assert (found.score, found.code) == (None, "formula_under_another_name")
    assert found.message == f"answers.md:1: no 'M = …' was found; if '{other}' is meant, write 'M = …'"


@pytest.mark.parametrize(
    "text", ["$d = 64$", "$A = B$", "$\\beta \\gg 0$", "$A^T A = I$", "$c = 3$", "s = v_a + v_b", "so it works"]
)
def test_what_the_question_knows_is_no_other_name(text: str) -> None:
    found = found_for(AskedName("M", may_be_bare=False), read_statements(answer(text), BASES))
    assert isinstance(found, Verdict)
    assert found.code == "formula_not_found"
