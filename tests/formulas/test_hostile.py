"""What no honest student writes: it is refused or explained quickly, and nothing of it happens."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.formula_corpus import Entry, Grader
from grader.formulas import killable_child
from tests.conftest import sampled
from tests.formulas.conftest import in_one_process
from tests.formulas.fuzzing import fuzz

ATTACKS = {
    "import": "$q = __import__('os').system('touch pwned')$",
    "import in code": "`q = __import__('os').system('touch pwned')`",
    "import in prose": "q = __import__('os').system('touch pwned')",
    "tower": "$q = 9^{9^{9^9}}(k_a + k_b)$",
    "python tower": "`q = 9**9**9**9 * (k_a + k_b)`",
    "brackets": "$q = " + "(" * 100_000 + "k_a" + ")" * 100_000 + "$",
    "long sum": r"$q = \sum_{i=1}^{10^{12}} k_a$",
    "a megabyte": "$q = " + "k_a + " * 170_000 + "k_b$",
    "a hundred kilobytes": "$q = " + "k_a + " * 18_000 + "k_b$",
    "right to left": "$q = \u202e)b_k + a_k(ateb\\$",
    "definitions that double": "\n\n".join(f"$x_{{{n}}} = x_{{{n + 1}}} + x_{{{n + 1}}}$" for n in range(30))
    + "\n\n$q = x_{0} k_a$",
    "deep fractions": "$q = " + r"\frac{1}{" * 500 + "2" + "}" * 500 + " k_a$",
    "many equals": "$q " + "= k_a " * 2_000 + "$",
    "factorials": "$q = 100000!!!! (k_a + k_b)$",
    "nested roots": "$q = " + r"\sqrt{" * 300 + "2" + "}" * 300 + "(k_a+k_b)$",
    "a huge matrix power": "$q = (k_a k_a^T)^{999999999} k_b$",
}


@pytest.fixture(scope="module")
def grader() -> Grader:
    """Unlike that of the other tests here it asks the child that can be killed, as the grader does."""
    return Grader()


@pytest.mark.parametrize("attack", sampled(ATTACKS, 2))
def test_attack_earns_nothing_and_does_nothing(
    attack: str, grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    judged = grader(Entry(attack, "1.b.ii", f"# 1.b.ii\n\n{ATTACKS[attack]}\n", "answers.md", "", ""))
    assert judged.verdict in ("unreadable", "failed"), judged.message
    assert judged.message
    assert list(tmp_path.iterdir()) == []


def test_anchors_that_multiply_are_refused(grader: Grader) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]" for n in range(8)
    )
    judged = grader(Entry("bomb", "1.b.ii", bomb, "answers.yaml", "", ""))
    assert (judged.verdict, judged.code) == ("unreadable", "not_yaml")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(pow, (10, 10**9)), (statistics.mean, (itertools.count(),))],
    ids=["inside C", "in Python"],
)
def test_a_verdict_that_takes_too_long_is_given_up(function: Callable[..., object], arguments: tuple[object]) -> None:
    with pytest.raises(killable_child.TookTooLong):
        killable_child.in_killable_child(function, *arguments)
    assert killable_child.in_killable_child(len, "the next question is answered") == 29


def test_a_fault_of_ours_is_raised_and_not_lost() -> None:
    with pytest.raises(RuntimeError, match=r"ZeroDivisionError: .* \(killable_child\.py:\d+\)"):
        killable_child.in_killable_child(divmod, 1, 0)
    assert killable_child.in_killable_child(len, "still there") == 11


@pytest.mark.slow
def test_what_is_judged_apart_cannot_be_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grader: Grader
) -> None:
    (tmp_path / "sympy.py").write_text("raise SystemExit('a submission was imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(killable_child, "_server", None)
    judged = grader(Entry("plain", "1.b.ii", "# 1.b.ii\n\n$q = 1000(k_a+k_b)$\n", "answers.md", "", ""))
    assert judged.verdict == "passed"


@pytest.mark.slow
def test_damaged_answers_never_crash_or_hang() -> None:
    with in_one_process():
        tally, _ = fuzz(1_500, 7, Grader())
    assert tally["unreadable"] > 100
    assert tally["passed"] > 10
