"""Mutants: which faults are made, which are not, and how each is told from the others."""

from __future__ import annotations

import ast
import textwrap

import pytest

from grader.formulas.lexing.lexer import Unreadable
from grader.model import Answer, Piece
from grader.proving.formula_mutants import formula_mutants
from grader.proving.mutants import Mutant, code_mutants
from tests.conftest import REPOSITORY


def mutants(body: str) -> list[Mutant]:
    return code_mutants(textwrap.dedent(body), "work.py")


def becomes(expression: str) -> set[str]:
    return {mutant.becomes.removeprefix("y = ") for mutant in mutants(f"def f(x):\n    y = {expression}\n    return x")}


@pytest.mark.parametrize(
    ("expression", "faulty"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a + b", {"a - b", "a", "b"}),
        ("a @ b", {"b @ a", "a", "b"}),
        ("a and b", {"a or b"}),
        ("not a", {"a"}),
        ("True", {"False"}),
        ("3", {"4", "2", "0", "6"}),
        ("1e30", {"0.0", "2e+30"}),
        ("10000", {"0", "20000"}),
        ("x[1:n]", {"x[2:n]", "x[0:n]", "x[:n]", "x[1:]", "x[1:n + 1]", "x[1:n - 1]"}),
        ("x.T", {"x"}),
        (
            "x.transpose(1, 2)",
            {"x", "x.transpose(1, 0)", "x.transpose(1, 1)", "x.transpose(2, 2)", "x.transpose(0, 2)"},
        ),
        ("f(a, b=c)", {"f(a)", "a"}),
        ("a if t else b", {"b if t else a", "a if not t else b"}),
    ],
)
def test_single_faults_of_an_expression(expression: str, faulty: set[str]) -> None:
    assert faulty <= becomes(expression)


def test_a_default_of_a_decorated_function_is_told_by_the_line_it_stands_in() -> None:
    found = mutants("@check\ndef f(x, n=3):\n    pass")
    assert ("def f(x, n=3):", "def f(x, n=4):") in {(mutant.statement, mutant.becomes) for mutant in found}


def test_statements_are_dropped_only_where_the_code_still_runs() -> None:
    found = mutants(
        """
        def f(x):
            y = x.copy()
            y = y.clip(lo)
            y[0] = a
            y += a
            self.note(y)
            return y
        """
    )
    dropped = [mutant.statement for mutant in found if mutant.becomes == "pass"]
    assert dropped == ["y = y.clip(lo)", "y[0] = a", "y += a", "self.note(y)"]
    assert "return x" in [mutant.becomes for mutant in found]


def test_what_computes_nothing_is_left_alone() -> None:
    found = mutants(
        '''
        import numpy as np
        def f(x: "3" = None) -> "4":
            """Adds 1 to 2."""
            assert x.ndim == 2, f"{x.ndim} axes, not 2"
            if x.size == 0:
                raise ValueError(5)
            print(6)
            return g
        if __name__ == "__main__":
            f(7)
        '''
    )
    assert [mutant.becomes for mutant in found] == ["return x"]


def test_every_mutant_of_the_gold_is_python_and_unlike_all_others() -> None:
    for path in sorted((REPOSITORY / "submissions" / "ada").glob("*.py")):
        source = path.read_text()
        found = code_mutants(source, path.name)
        texts = [ast.unparse(ast.parse(mutant.text)) for mutant in found]
        assert len(set(texts)) == len(texts) > 20
        assert ast.unparse(ast.parse(source)) not in texts
        told = [(mutant.within, mutant.line, mutant.statement, mutant.becomes) for mutant in found]
        assert len(set(told)) == len(told)


def test_definitions_choose_what_is_mutated_and_must_exist() -> None:
    source = "def f(x):\n    return x + 1\ndef g(x):\n    return x + 1\n"
    assert {mutant.within for mutant in code_mutants(source, "work.py", ["g"])} == {"g"}
    with pytest.raises(LookupError, match="does not define h"):
        code_mutants(source, "work.py", ["g", "h"])


SHEET = "# 1\n\nProse with A A^T in it.\n\n$$M = A A^T$$\n\nThen $M s = v_a$.\n"


def _answer(*maths: tuple[str, int]) -> Answer:
    return Answer("1", "answers.md", 1, tuple(Piece("math", text, line) for text, line in maths))


def test_formulas_are_changed_where_they_stand() -> None:
    found = formula_mutants(SHEET, _answer(("M = A A^T", 5), ("M s = v_a", 7)), "M = A A^T")
    assert {mutant.becomes for mutant in found} == {"-A Aᵀ", "A", "Aᵀ", "A A"}
    for mutant in found:
        assert mutant.line == 5
        assert mutant.text.startswith("# 1\n\nProse with A A^T in it.\n\n$$M =")
        assert mutant.text.endswith("$$\n\nThen $M s = v_a$.\n")


def test_a_formula_loses_factors_terms_signs_and_letters() -> None:
    found = {mutant.becomes for mutant in formula_mutants("b(k + m)", _answer(("b(k + m)", 1)), "b(k + m)")}
    assert {"b k", "b m", "k + m", "b(k - m)", "b(-k + m)", "b(k + k)", "k(k + m)", "-b(k + m)"} <= found


def test_a_formula_that_is_not_there_once_is_refused() -> None:
    with pytest.raises(LookupError, match="does not stand there"):
        formula_mutants(SHEET, _answer(("M = A A^T", 5)), "B B^T")
    with pytest.raises(LookupError, match="stands there 2 times"):
        formula_mutants("$A$ and $A$", _answer(("A", 1), ("A", 1)), "A")
    with pytest.raises(Unreadable):
        formula_mutants("$A +$", _answer(("A +", 1)), "A +")
