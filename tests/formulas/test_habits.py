"""Habits of writing that are read past: remarks, numbers, colons, colours; and what they must not let through."""

from __future__ import annotations

import pytest

from benchmarks.formula_corpus import Entry, Grader


def _verdict(grader: Grader, part: str, text: str) -> str:
    return grader(Entry("", part, f"# {part}\n\n{text}\n", "answers.md", "", "")).verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("M = AA^T (which projects onto A)", "passed"),
        ("M = A^T (which projects onto A)", "failed"),
        ("M = A A^T (m×m)", "passed"),
        ("M = 2 A A^T (d×d)", "failed"),
        ("(2) M = A A^T", "passed"),
        ("M: A^T", "failed"),
        ("M is A^T A", "failed"),
        ("M is not AA^T", "unreadable"),
        ("$M$ could be $AA^\\top$ or $A^\\top$", "unreadable"),
        ("$M = A^\\top$. About M: $AA^\\top$ is a projection.", "failed"),
        ("M = A^T. For M: AA^T", "failed"),
        ("$M = A^T$ <!-- x --> `# M = A @ A.T`", "failed"),
        ("```python\nM = A\nM = M @ A.T\n```", "passed"),
        ("```python\nM = A @ A.T\nM *= 2\n```", "failed"),
        ("$\\textcolor{red}{M} = \\color{blue}{AA^T}$", "passed"),
        ("$M \\overset{!}{=} A^T$", "failed"),
        ("$M = \\sum_i |a_i\\rangle\\langle a_i|$", "passed"),
        ("$M = \\sum_i \\langle a_i | a_i \\rangle$", "failed"),
    ],
)
def test_matrix_is_read_as_its_reader_sees_it(grader: Grader, text: str, verdict: str) -> None:
    assert _verdict(grader, "1.b.i", text) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("q = β(k_a + k_b) (with β large)", "passed"),
        ("q = k_a + k_b (with equal weights)", "partial"),
        ("q = β(k_a + k_b) - here β is a large number", "passed"),
        ("q = β(k_a - k_b) - here β is a large number", "failed"),
        ("q = βk_a - βk_b where β is large", "failed"),
        ("q should be k_a + k_b", "partial"),
        ('`q = 1000 * (k["a"] + k["b"])`', "passed"),
        ("`q = 1000 * (k[a] - k[b])`", "failed"),
        ("$q = \\beta k_a \\\\ + \\beta k_b$", "passed"),
        ("```python\nq = k_a + k_b\nq*=1000\n```", "passed"),
        ("```python\nq = k_a - k_b\nq *= 1000\n```", "failed"),
        ("q* = 1000(k_a + k_b)", "passed"),
    ],
)
def test_query_is_read_as_its_reader_sees_it(grader: Grader, text: str, verdict: str) -> None:
    assert _verdict(grader, "1.b.ii", text) == verdict
