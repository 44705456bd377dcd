"""A rubric lists one way to read a question, and the others that are as fair follow from it."""

from __future__ import annotations

import numpy as np
import pytest

from grader.checks.formulas.conventions import each_way
from grader.checks.formulas.identities import formula_equals_the_key
from grader.checks.formulas.key_variants import AskedFor, KnownMistake, Reading, with_readable_keys
from grader.model import Outcome, Status
from tests.checks.answering import answering
from tests.formulas.conftest import in_this_process as in_this_process

P, F, R = Status.PASSED, Status.FAILED, Status.REVIEW
SYMBOLS = {"X": "d×n", "W": "e×d", "x_i": "d for i in n, column of X", "d": "size", "n": "size", "e": "size"}


@pytest.mark.parametrize("shape", ["mxn", "m×k", "m", "m×n×t", ""])
def test_a_size_of_a_result_that_is_none_stops_when_the_rubric_is_loaded(shape: str) -> None:
    symbols = {"Q": "d×n", "K": "d×m", "V": "t×m", "β": "scalar", "d": "size", "n": "size", "m": "size", "t": "size"}
    reading = Reading(name="H", symbols=symbols, equals=["V softmax_β(K^T Q)"], results={"A": shape})
    reading.softmax_normalises = ["each_column"]
    with pytest.raises(ValueError, match="the size of A"):
        with_readable_keys([reading])
    assert with_readable_keys([reading.model_copy(update={"results": {"A": "m×n", "H": "t×n"}})])


def _judged(text: str, *readings: Reading) -> Outcome:
    given = with_readable_keys(list(readings))
    outcome: Outcome = formula_equals_the_key(answering(text), np.random.default_rng(0), readings=given)
    return outcome


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("$Y = W X$", P, ""),
        ("$Y = X W$", P, "with tokens in rows"),
        ("`Y = X @ W`", P, "with tokens in rows"),
        ("$X \\in \\mathbb{R}^{n \\times d}$, $Y = X W$", P, "with tokens in rows"),
        ("$Y = X^T W^T$", F, ""),
        ("$Y_{ij} = \\sum_l W_{il} X_{lj}$", P, ""),
        ("$Y = 2 W X$", F, ""),
    ],
)
def test_tokens_in_rows_are_as_fair_as_in_columns(text: str, status: Status, said: str) -> None:
    outcome = _judged(text, Reading(name="Y", symbols=SYMBOLS, conventions=["columns", "rows"], equals=["W X"]))
    assert outcome.status is status, outcome
    assert said in outcome.message


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("$A = softmax(X^T X)$", P),
        ("$A = softmax(X^T X, dim=0)$", P),
        ("$A = softmax(X^T X, dim=1)$", F),
        ("$A = softmax(X^T X)^T$", P),
        ("$A = softmax(X^T X, dim=1)^T$", P),
        ("$A = softmax(X X^T)$", P),
        ("$A = softmax(X X^T, dim=-1)$", P),
        ("$A = softmax(X X^T, dim=0)$", F),
    ],
)
def test_a_softmax_that_is_left_open_may_go_either_way(text: str, status: Status) -> None:
    directions = ["each_column", "each_row"]
    reading = Reading(
        name="A",
        symbols=SYMBOLS,
        conventions=["columns", "rows"],
        equals=["softmax(X^T X)"],
        softmax_normalises=directions,
    )
    assert _judged(text, reading).status is status


GRADIENT = {"symbols": {"W": "k×d", "x": "d", "y": "k", "k": "size", "d": "size"}, "equals": ["(W x - y) x^T"]}
LEFT_SIDES = [
    "∇_W L",
    "\\nabla_W L",
    "\\nabla_{\\mathbf{W}} \\mathcal{L}(W)",
    "∂L/∂W",
    "\\partial L / \\partial W",
    "\\frac{\\partial L}{\\partial W}",
    "\\frac{\\partial \\mathcal{L}(W, x)}{\\partial \\mathbf{W}}",
    "\\frac{\\partial}{\\partial W} L",
    "\\partial_W L",
    "dL/dW",
    "\\frac{\\mathrm{d} L}{\\mathrm{d} W}",
]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name", ["∇_W L", "dL/dW", "\\frac{\\partial L}{\\partial W}"])
def test_a_derivative_has_many_spellings(name: str) -> None:
    answers = [f"${left} = (W x - y) x^\\top$" for left in LEFT_SIDES]
    answers += [f"So {left} = (W x - y) x^T." for left in ("∂L/∂W", "dL/dW", "∇_W L")]
    reading = Reading.model_validate({"name": name, **GRADIENT})
    assert [text for text in answers if _judged(text, reading).status is not P] == []


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("$\\nabla_W L = (y - W x) x^T$", F),
        ("$\\frac{\\partial L}{\\partial W} = \\frac{\\partial L}{\\partial z} x^T = (W x - y) x^T$, $z = W x$", P),
        ("With $z = W x$ and $∂L/∂z = z - y$: $\\partial L/\\partial W = ∂L/∂z\\, x^T$", P),
        ("∂L/∂W = (W x - y) x^T, because ∂z/∂W = x^T.", P),
        ("∂L/∂x = W^T (W x - y), ∂L/∂W = (W x - y) x^T", P),
        ("$\\partial L/\\partial W = \\partial L/\\partial z\\, x^T$", R),
        ("$\\partial J/\\partial W = (W x - y) x^T$", R),
        ("$\\nabla L = (W x - y) x^T$", R),
        ("$\\frac{\\partial L}{\\partial x} = W^T (W x - y)$", R),
        ("$\\frac{\\partial L}{\\partial W_{ij}} = (W x - y)_i x_j$", R),
        ("$\\frac{\\partial^2 L}{\\partial W^2} = (W x - y) x^T$", R),
    ],
)
def test_only_the_derivative_that_is_asked_for_counts(text: str, status: Status) -> None:
    outcome = _judged(text, Reading.model_validate({"name": "grad", "spelled": ["∇_W L"], **GRADIENT}))
    assert outcome.status is status, outcome


@pytest.mark.usefixtures("in_this_process")
def test_a_quotient_of_products_is_no_derivative_where_none_is_asked_for() -> None:
    symbols = {"d": "size", "L": "scalar", "W": "scalar"}
    assert _judged("r = dL/dW", Reading(name="r", symbols=symbols, equals=["d L W/d"])).status is P


def test_the_index_that_is_fixed_may_have_another_letter() -> None:
    mistake = KnownMistake(equals="v_{j-1} + v_j", because="it is no mean")
    symbols = {"v_l": "z for l in n", "z": "size", "n": "size"}
    about = {"at": ["j", "j-1"], "at_also": ["i"], "equals": ["(v_{j-1} + v_j)/2"], "mistakes": [mistake]}
    first, second = each_way([Reading(name="h_j", symbols=symbols, **about)])
    assert first.name == "h_j"
    assert (second.name, second.at, second.equals) == ("h_i", ["i", "i-1"], ["(v_{i-1} + v_i)/2"])
    assert second.mistakes[0].equals == "v_{i-1} + v_i"


def test_a_reading_without_symbols_has_those_of_the_one_before() -> None:
    (_, second) = each_way([AskedFor(name="Y", symbols=SYMBOLS), AskedFor(name="y")])
    assert second.symbols == SYMBOLS


def test_at_home_shapes_are_transposed_without_a_key() -> None:
    (_, rows) = each_way([AskedFor(name="Y", symbols=SYMBOLS, conventions=["columns", "rows"])])
    assert {name: rows.symbols[name] for name in ("X", "x_i", "d")} == {
        "X": "n×d",
        "x_i": "d for i in n, row of X",
        "d": "size",
    }


LAYER = {"W": "K×d", "h": "d", "y": "K", "K": "size", "d": "size"}


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("text", "status"),
    [
        # an index below a bracket
        (r"$G = \left(\frac{e^{Wh}}{\sum_j e^{(Wh)_j}} - y\right)h^\top$", P),
        (r"$G = \left(\frac{\exp(Wh)}{\sum_{j=1}^K \exp([Wh]_j)} - y\right)h^\top$", P),
        (r"$G = \left(\frac{\exp(Wh)}{\sum_k \exp(Wh)_k} - y\right)h^\top$", P),
        ("G = (exp(W h)/sum_j exp((W h)_j) - y) h^T", P),
        ("G = (exp(W h)/sum_j exp((W h)_1) - y) h^T", R),
        (r"$G = \left(\frac{e^{Wh}}{\sum_{j=1}^C e^{(Wh)_j}} - y\right)h^\top$", R),
        (r"$G = \left(\frac{e^{Wh}}{\sum_j (Wh)_j} - y\right)h^\top$", F),
        (r"$G = (W)_j h^\top$", R),
        (r"$G = (Wh)_j h^\top$", R),
        (r"$G = e^{(W)_j} h^\top$", R),
        # entry by entry
        (r"$G_{ij} = (\mathrm{softmax}(Wh)_i - y_i) h_j$", P),
        (r"$G_{ij} = (\mathrm{softmax}(Wh)_i - y_j) h_j$", F),
        (r"$G_{ij} = ((Wh)_i - y_i) h_j$", F),
        (r"$(q - y)h^\top$ where $q_i = e^{z_i}/\sum_j e^{z_j}$ and $z = Wh$", P),
        (r"$G = (q - y)h^\top$ where $q_k = \frac{e^{(Wh)_k}}{\sum_j e^{(Wh)_j}}$", P),
        (r"$G = (q - y)h^\top$ where $q_i = e^{z_i}$ and $z = Wh$", F),
        (r"$G = (q - y)h^\top$ where $q_i = e^{z_i}/\sum_j e^{z_j}$", R),
        # letters that nobody introduced
        ("(softmax(z) - y) h^T", R),
        ("(p - y) h^T", R),
        (r"$G = (\hat{p} - y) h^\top$", R),
        (r"$G = \delta h^\top$", R),
        (r"$G = \beta h^\top$", F),
        ("(y - W h) h", F),
        # a hat makes another letter
        (r"$\hat{y} = \mathrm{softmax}(Wh)$, $G = (\hat{y} - y) h^\top$", P),
        (r"$G = (\hat{y} - y) h^\top$ where $\hat{y} = \operatorname{softmax}(Wh)$", P),
        (r"ŷ = softmax(W h), so $G = (\hat{y} - y) h^\top$", P),
        (r"$\hat{y} = Wh$, $G = (\hat{y} - y) h^\top$", F),
        (r"$G = (\hat{y} - y) h^\top$", R),
    ],
)
def test_letters_of_an_answer_are_read_or_left_to_a_ta(text: str, status: Status) -> None:
    outcome = _judged(text, Reading(name="G", symbols=LAYER, equals=["(softmax(W h) - y) h^T"]))
    assert outcome.status is status, outcome


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("(softmax(z) - y) h^T", P, ""),
        (r"$G = (\operatorname{softmax}(Wh) - y) h^\top$", P, ""),
        (r"$G = \left(\frac{e^z}{\sum_j e^{z_j}} - y\right)h^\top$", P, ""),
        (r"$G = (\hat{y} - y) h^\top$", P, ""),
        ("(z - y) h^T", F, "without the softmax"),
        (r"$G = (Wh - y) h^\top$", F, "without the softmax"),
        ("G = (softmax(z) - y) h^T with z = 2 W h", F, "is not right"),
    ],
)
def test_a_question_defines_letters(text: str, status: Status, said: str) -> None:
    mistake = KnownMistake(equals="(z - y) h^T", because="without the softmax")
    where = {"z": "W h", "ŷ": "softmax(z)"}
    key = "(exp(z) / (sum_j exp(z_j)) - y) h^T"
    outcome = _judged(text, Reading(name="G", symbols=LAYER, where=where, equals=[key], mistakes=[mistake]))
    assert outcome.status is status, outcome
    assert said in outcome.message
