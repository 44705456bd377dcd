"""The order of a problem's checks is found once for a class, and what follows from it with it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from grader import turns
from grader.model import Check, Outcome, passed
from grader.sharing import gates_above, in_turn, may_share
from grader.turns import turns_of


def _passes(*asked: Any, **given: Any) -> Outcome:
    return passed("it does")


def _check(name: str, **more: Any) -> Check:
    return Check(name, _passes, {}, "It works.", Fraction(1), **more)


CHECKS = (
    _check("hidden", visibility="hidden", files=("a.py", "a.txt")),
    _check("gate", gate=True, files=("b.py",)),
    _check("needs_it", needs=("hidden",), files=("a.py",)),
    _check("last"),
)


def test_they_are_what_the_rules_say_of_these_checks() -> None:
    found, order = turns_of(CHECKS), in_turn(CHECKS)
    assert list(found.order) == order
    assert found.gates == {check.id: gates_above(check, CHECKS) for check in CHECKS}
    assert (found.files, found.asks_code) == (["b.py", "a.py"], True)
    assert not turns_of((CHECKS[-1],)).asks_code
    for keeps_nothing in (False, True):
        sharing = [may_share(check, order, keeps_nothing) for check in CHECKS]
        assert [found.may_share(check, keeps_nothing) for check in CHECKS] == sharing
    assert {found.may_share(CHECKS[0], keeps_nothing) for keeps_nothing in (False, True)} == {False, True}


def test_they_are_found_once_for_the_same_checks_and_anew_for_others() -> None:
    """Checks with a student's own numbers are others, though all but the numbers is equal."""
    assert turns_of(CHECKS) is turns_of((*CHECKS,))
    own = (*CHECKS[:3], replace(CHECKS[3], parameters={"x": 2}))
    assert any(check is own[3] for check in turns_of(own).order)
    assert turns_of(own) is not turns_of(CHECKS)


def test_few_are_kept() -> None:
    for number in range(turns._KEPT + 10):
        checks = (_check(f"check {number}"),)
        assert turns_of(checks).order == checks
    assert len(turns._found) == turns._KEPT
